#pragma once

#include "src/packets.hpp"
#include "src/validate.hpp"
#include <heddle/image.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

/// What operations on batches of images ask of them, and know of how they lie in memory.
namespace heddle::detail {

template <class T>
bool is_empty(const image_batch_view<T>& images) {
    return images.first.width == 0 || images.first.height == 0 || images.count == 0;
}

/// The largest power of two that divides so many bytes, up to those of a packet.
constexpr int alignment_of(std::uint64_t bytes) {
    const std::uint64_t bits = bytes | std::uint64_t{packet_bytes};
    return static_cast<int>(bits & -bits);
}

/// The alignment of the steps, in bytes, from one row to the next and from one image to the next.
template <class T>
int alignment_of_steps(const image_batch_view<T>& images) {
    const auto bytes = [](std::int64_t elements) { return static_cast<std::uint64_t>(elements) * sizeof(T); };
    return alignment_of((images.first.height > 1 ? bytes(images.first.row_stride) : 0) |
                        (images.count > 1 ? bytes(images.stride) : 0));
}

/// The alignment of the places where rows begin, counted from an element of them.
template <class T>
int alignment_of_rows(const image_batch_view<T>& images, std::int64_t element = 0) {
    const auto address = reinterpret_cast<std::uintptr_t>(images.first.data) +
                         static_cast<std::uintptr_t>(element) * sizeof(T);
    return alignment_of(address | static_cast<std::uint64_t>(alignment_of_steps(images)));
}

/// What a filter of images asks of them and of the region of the source that is wanted.
template <class From, class To>
void validate_images(const char* operation, const image_batch_view<const From>& source,
                     const image_batch_view<To>& destination, const std::optional<image_region>& region) {
    validate(operation, "source", source);
    validate(operation, "destination", destination);
    require(source.count == destination.count, operation, {"source", "count"}, source.count,
            "{} (destination.count)", destination.count);
    require(source.first.channels == destination.first.channels, operation, {"source", "channels"},
            source.first.channels, "{} (destination.channels)", destination.first.channels);
    if (region) {
        constexpr const char* name = "options.region";
        const auto require_inside = [&](const char* begin_name, const char* size_name, std::int64_t begin,
                                        std::int64_t size, std::int64_t all) {
            require(size >= 0 && size <= all, operation, {name, size_name}, size, "0 to {} (the source)",
                    all);
            require(begin >= 0 && begin <= all - size, operation, {name, begin_name}, begin,
                    "0 to {} (inside of the source)", all - size);
        };
        require_inside("x", "width", region->x, region->width, source.first.width);
        require_inside("y", "height", region->y, region->height, source.first.height);
    }
    const char* name = region ? "options.region" : "source";
    const image_region wanted = region.value_or(image_region{0, 0, source.first.width, source.first.height});
    require(wanted.width == destination.first.width, operation, {name, "width"}, wanted.width,
            "{} (destination.width)", destination.first.width);
    require(wanted.height == destination.first.height, operation, {name, "height"}, wanted.height,
            "{} (destination.height)", destination.first.height);
    validate_apart(operation, "destination", destination);
    require(!overlap(footprint_of(source), footprint_of(destination)), operation, "destination",
            "a view that overlaps source", "memory apart from it");
}

template <class T>
void validate_border(const char* operation, border kind, float value) {
    switch (kind) {
        case border::replicate:
        case border::reflect:
        case border::reflect_101:
        case border::wrap:
            return;
        case border::constant: {
            const argument_name name{"options", "border_value"};
            if constexpr (std::is_integral_v<T>) {
                constexpr int largest = std::numeric_limits<T>::max();
                require(value >= 0 && value <= largest && value == std::floor(value), operation, name, value,
                        "a whole number from 0 to {}", largest);
            } else if constexpr (std::is_same_v<T, half>) {
                constexpr float largest = 65504;
                require(!std::isfinite(value) || std::abs(value) <= largest, operation, name, value,
                        "at most {} in magnitude", largest);
            }
            return;
        }
    }
    require(false, operation, {"options", "border"}, static_cast<int>(kind), "an enumerator of border");
}

/// The options are valid. No border but `constant` has a use for the value.
template <class T, class Options>
T border_value_of(const Options& options) {
    return options.border == border::constant ? static_cast<T>(options.border_value) : T{};
}

}  // namespace heddle::detail
