#pragma once

#include "tests/support/guarded.hpp"
#include <heddle/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace heddle::test {

/// Gaps of a tensor, in elements: behind each pixel, row and image, and before the first.
struct tensor_gaps {
    std::int64_t pixel = 0, row = 0, image = 0, offset = 0;
};

/// A tensor, or filters, as `guarded` has matrices: its gaps are canaries too, and NaN.
template <class T>
class guarded_tensor {
  public:
    guarded_tensor(std::int64_t count, std::int64_t height, std::int64_t width, std::int64_t channels,
                   const tensor_gaps& gaps = {}, bool is_on_host = false)
        : view_{nullptr, count, height, width, channels, channels + gaps.pixel},
          memory_(span(gaps), gaps.offset,
                  is_on_host ? guarded<T>::memory::host : guarded<T>::memory::device) {
        view_.data = memory_.data();
    }

    tensor_view<T> tensor() const { return view_; }
    filter_view<T> filters() const {
        return {view_.data,     view_.count,      view_.height,     view_.width,
                view_.channels, view_.col_stride, view_.row_stride, view_.image_stride};
    }

    /// Takes the elements in the order of a dense tensor.
    void upload(const std::vector<T>& elements) {
        std::vector<T> all(static_cast<std::size_t>(span_));
        if (!all.empty()) std::memset(static_cast<void*>(all.data()), poison, all.size() * sizeof(T));
        for_each([&](std::size_t at, std::size_t i) { all[at] = elements[i]; });
        memory_.upload(all);
    }
    /// Waits for the device. Gives the elements, and whether every byte outside of them is unchanged.
    typename guarded<T>::reading inspect() {
        auto [all, are_alive] = memory_.inspect();
        std::vector<T> elements(
            static_cast<std::size_t>(view_.count * view_.height * view_.width * view_.channels));
        for_each([&, &all = all](std::size_t at, std::size_t i) {
            elements[i] = all[at];
            std::memset(static_cast<void*>(&all[at]), poison, sizeof(T));
        });
        const auto* byte = reinterpret_cast<const unsigned char*>(all.data());
        for (std::size_t i = 0; i < all.size() * sizeof(T); ++i) are_alive = are_alive && byte[i] == poison;
        return {elements, are_alive};
    }
    std::vector<T> download() { return inspect().elements; }
    bool canaries_alive() { return inspect().canaries_alive; }
    /// Whether no byte at all has changed since the last upload (or since it was made).
    bool untouched() { return memory_.untouched(); }

  private:
    static constexpr unsigned char poison = 0xff;

    /// Completes the strides, and gives the number of elements from the first to the last.
    std::int64_t span(const tensor_gaps& gaps) {
        view_.row_stride = view_.width * view_.col_stride + gaps.row;
        view_.image_stride = view_.height * view_.row_stride + gaps.image;
        if (view_.count * view_.height * view_.width * view_.channels > 0)
            span_ = (view_.count - 1) * view_.image_stride + (view_.height - 1) * view_.row_stride +
                    (view_.width - 1) * view_.col_stride + view_.channels;
        return span_;
    }

    /// function(place in memory, place in a dense tensor).
    template <class Function>
    void for_each(Function function) const {
        std::size_t i = 0;
        for (std::int64_t n = 0; n < view_.count; ++n)
            for (std::int64_t y = 0; y < view_.height; ++y)
                for (std::int64_t x = 0; x < view_.width; ++x)
                    for (std::int64_t c = 0; c < view_.channels; ++c)
                        function(static_cast<std::size_t>(n * view_.image_stride + y * view_.row_stride +
                                                          x * view_.col_stride + c),
                                 i++);
    }

    tensor_view<T> view_;
    std::int64_t span_ = 0;
    guarded<T> memory_;
};

}  // namespace heddle::test
