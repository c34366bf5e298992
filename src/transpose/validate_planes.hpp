#pragma once

#include "src/conv/validate.hpp"
#include <heddle/planes.hpp>

#include <cstdint>

/// Checks of the arguments of to_nhwc() and to_nchw(), on the GPU and the CPU.
namespace heddle::detail {

/// A tensor whose pixels are the planes' rows and whose rows are the planes.
template <class T>
tensor_view<T> as_tensor(const planes_view<T>& p) {
    return {p.data, p.count, p.channels, p.height, p.width, p.row_stride, p.channel_stride, p.image_stride};
}

inline named_tensor named_planes(const char* name, const tensor_layout& lies) {
    return {.name = name,
            .lies = lies,
            .height = "channels",
            .row_stride = "channel_stride",
            .width = "height",
            .col_stride = "row_stride",
            .channels = "width"};
}

template <class Source, class Destination>
void validate_same_extents(const char* operation, const Source& source, const Destination& destination) {
    const auto require_equal = [&](const char* member, std::int64_t value, std::int64_t expected) {
        require(value == expected, operation, {"destination", member}, value, "{} (source.{})", expected,
                member);
    };
    require_equal("count", destination.count, source.count);
    require_equal("height", destination.height, source.height);
    require_equal("width", destination.width, source.width);
    require_equal("channels", destination.channels, source.channels);
}

template <class T>
void validate_apart(const char* operation, const tensor_view<const T>& source,
                    const tensor_view<T>& destination) {
    validate_elements(operation, "source", source);
    validate_elements(operation, "destination", destination);
    require(!overlap(footprint_of(source), footprint_of(destination)), operation, "destination",
            "a view that overlaps source", "memory apart from it");
}

template <class T>
void validate_to_nhwc(const char* operation, const planes_view<const T>& source,
                      const tensor_view<T>& destination) {
    validate_layout(operation, named_planes("source", layout_of(as_tensor(source))));
    validate_layout(operation, {"destination", layout_of(destination)});
    validate_same_extents(operation, source, destination);
    validate_apart(operation, as_tensor(source), destination);
}

template <class T>
void validate_to_nchw(const char* operation, const tensor_view<const T>& source,
                      const planes_view<T>& destination) {
    validate_layout(operation, {"source", layout_of(source)});
    validate_layout(operation, named_planes("destination", layout_of(as_tensor(destination))));
    validate_same_extents(operation, source, destination);
    validate_apart(operation, source, as_tensor(destination));
}

}  // namespace heddle::detail
