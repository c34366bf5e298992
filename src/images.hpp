#pragma once

#include "src/validate.hpp"
#include <heddle/image.hpp>
#include <heddle/tensor.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

/// Checks that all operations on batches of images share.
namespace heddle::detail {

template <class T>
bool is_empty(const image_batch_view<T>& images) {
    return images.first.width == 0 || images.first.height == 0 || images.count == 0;
}

/// All checks of a batch's images except those of their address.
inline void validate_images(const char* operation, const char* name, const tensor_layout& images) {
    const auto element_bytes = static_cast<std::size_t>(images.element_bytes);
    require(images.width >= 0, operation, {name, "width"}, images.width, "zero or more");
    require(images.height >= 0, operation, {name, "height"}, images.height, "zero or more");
    require(images.channels >= 1 && images.channels <= 4, operation, {name, "channels"}, images.channels,
            "1 to 4");
    require(is_addressable(0, 0, images.width, images.channels, element_bytes), operation, {name, "width"},
            images.width, "an extent whose bytes fit 63 bits");
    const std::int64_t row = images.width * images.channels;
    validate_bytes(operation, name, {images.height, images.row_stride, "height", "row_stride"},
                   {row, 1, "width", "width"}, element_bytes);
    require(images.height <= 1 || images.row_stride >= row, operation, {name, "row_stride"},
            images.row_stride, "at least {} (width * channels)", row);
    require(images.count >= 0, operation, {name, "count"}, images.count, "zero or more");
    require(images.count <= 1 || images.image_stride >= 0, operation, {name, "stride"}, images.image_stride,
            "zero or more");
    validate_batch_bytes(operation, name, images.count, images.image_stride,
                         images.height * images.row_stride + row, element_bytes);
}

/// Checks that no two images of a batch that is written share an element. Images may lie one after another, or with
/// their rows side by side.
inline void validate_apart(const char* operation, const char* name, const tensor_layout& images) {
    if (images.count <= 1 || images.width == 0 || images.height == 0) return;
    const std::int64_t row = images.width * images.channels;
    const std::int64_t image = (images.height - 1) * images.row_stride + row;
    const std::int64_t row_of_all = (images.count - 1) * images.image_stride + row;
    const bool is_side_by_side = images.height > 1 && row_of_all <= images.row_stride;
    require(images.image_stride >= image || (images.image_stride >= row && is_side_by_side), operation,
            {name, "stride"}, images.image_stride, "at least {} (an image)", image);
}

/// Checks that the region lies inside the source and has the destination's size.
inline void validate_region(const char* operation, const char* name, const tensor_layout& source,
                            const tensor_layout& destination, const std::optional<image_region>& region) {
    if (region) {
        const auto require_inside = [&](const char* begin_name, const char* size_name, std::int64_t begin,
                                        std::int64_t size, std::int64_t all) {
            require(size >= 0 && size <= all, operation, {name, size_name}, size, "0 to {} (the source)",
                    all);
            require(begin >= 0 && begin <= all - size, operation, {name, begin_name}, begin,
                    "0 to {} (inside of the source)", all - size);
        };
        require_inside("x", "width", region->x, region->width, source.width);
        require_inside("y", "height", region->y, region->height, source.height);
    }
    const char* const wanted_name = region ? name : "source";
    const image_region wanted = region.value_or(image_region{0, 0, source.width, source.height});
    require(wanted.width == destination.width, operation, {wanted_name, "width"}, wanted.width,
            "{} (destination.width)", destination.width);
    require(wanted.height == destination.height, operation, {wanted_name, "height"}, wanted.height,
            "{} (destination.height)", destination.height);
}

/// Checks the layouts of a filter's images and the region of the source.
inline void validate_filtered(const char* operation, const tensor_layout& source,
                              const tensor_layout& destination, const char* region_name,
                              const std::optional<image_region>& region) {
    require(source.count == destination.count, operation, {"source", "count"}, source.count,
            "{} (destination.count)", destination.count);
    require(source.channels == destination.channels, operation, {"source", "channels"}, source.channels,
            "{} (destination.channels)", destination.channels);
    validate_region(operation, region_name, source, destination, region);
    validate_apart(operation, "destination", destination);
}

template <class T>
void validate_images(const char* operation, const char* name, const image_batch_view<T>& images,
                     bool have_elements) {
    validate_images(operation, name, layout_of(images));
    if (have_elements && !is_empty(images)) validate_pointer(operation, name, images.first.data);
}

/// All checks of a filter's images and of the region of the source; without elements, only of layouts and region.
template <class From, class To>
void validate_images(const char* operation, const image_batch_view<const From>& source,
                     const image_batch_view<To>& destination, const std::optional<image_region>& region,
                     bool have_elements = true) {
    validate_images(operation, "source", source, have_elements);
    validate_images(operation, "destination", destination, have_elements);
    validate_filtered(operation, layout_of(source), layout_of(destination), "options.region", region);
    require(!have_elements || !overlap(footprint_of(source), footprint_of(destination)), operation,
            "destination", "a view that overlaps source", "memory apart from it");
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

/// The border's value; only border::constant uses it. The options must be valid.
template <class T, class Options>
T border_value_of(const Options& options) {
    return options.border == border::constant ? static_cast<T>(options.border_value) : T{};
}

}  // namespace heddle::detail
