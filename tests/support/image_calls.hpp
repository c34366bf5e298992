#pragma once

#include <heddle/view.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace heddle::test {

/// The images of a valid call. Tests of wrong arguments read and write nothing, so any address will do, and no device
/// is needed.
struct image_call {
    alignas(16) std::array<float, 4096> memory = [] {
        std::array<float, 4096> numbers{};
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * i % 101);
        return numbers;
    }();
    image_view<const float> source{memory.data(), 10, 8, 3, 40};
    image_view<float> destination{memory.data() + 1024, 10, 8, 3, 32};
};

/// Calls rejected(argument, change) for every error of the images; change(call) makes that argument wrong.
template <class Rejected>
void for_each_wrong_image(Rejected rejected) {
    using call = image_call;
    rejected("source.width", [](call& c) { c.source.width = 9; });
    rejected("source.width", [](call& c) { c.source.width = -1; });
    rejected("source.height", [](call& c) { c.source.height = 7; });
    rejected("destination.height", [](call& c) { c.destination.height = -1; });
    for (const std::int64_t channels : {1, 2, 5})
        rejected("source.channels", [=](call& c) { c.source.channels = channels; });
    rejected("destination.channels", [](call& c) { c.destination.channels = 0; });
    rejected("source.row_stride", [](call& c) { c.source.row_stride = 29; });
    rejected("destination.row_stride", [](call& c) { c.destination.row_stride = -32; });
    rejected("source.data", [](call& c) { c.source.data = nullptr; });
    rejected("destination.data", [](call& c) { c.destination.data = nullptr; });
    rejected("destination.data", [](call& c) {
        c.destination.data = reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(c.memory.data()) + 2);
    });
    rejected("destination", [](call& c) { c.destination.data = c.memory.data() + 30; });
    rejected("destination", [](call& c) {
        c.destination.data = c.memory.data();
        c.destination.row_stride = c.source.row_stride;
    });
}

}  // namespace heddle::test
