#pragma once

#include "benchmarks/support/headers.hpp"

namespace heddle::bench {

/// A convolution of dense images (NHWC) with dense filters, whatever its type.
struct conv_shape {
    std::int64_t count, height, width, channels;
    std::int64_t filters, filter_height, filter_width;
    conv_geometry geometry{};

    bool operator==(const conv_shape&) const = default;

    [[nodiscard]] std::int64_t output_height() const {
        return conv_output_height(height, filter_height, geometry);
    }
    [[nodiscard]] std::int64_t output_width() const {
        return conv_output_width(width, filter_width, geometry);
    }
    [[nodiscard]] std::int64_t input_size() const { return count * height * width * channels; }
    [[nodiscard]] std::int64_t filters_size() const {
        return filters * filter_height * filter_width * (channels / geometry.groups);
    }
    [[nodiscard]] std::int64_t output_size() const {
        return count * output_height() * output_width() * filters;
    }
};

/// A pooling of dense images.
struct pool_shape {
    std::int64_t count, height, width, channels;
    pool_mode mode;
    pool_geometry geometry{};

    bool operator==(const pool_shape&) const = default;

    [[nodiscard]] std::int64_t output_height() const { return pool_output_height(height, geometry); }
    [[nodiscard]] std::int64_t output_width() const { return pool_output_width(width, geometry); }
    [[nodiscard]] std::int64_t input_size() const { return count * height * width * channels; }
    [[nodiscard]] std::int64_t output_size() const {
        return count * output_height() * output_width() * channels;
    }
    /// Whether the window is the image.
    [[nodiscard]] bool is_global() const { return geometry == pool_geometry{.window = {height, width}}; }
};

/// The types of a convolution's rows. tf32 is float, multiplied as TF32.
inline constexpr std::string_view conv_types[] = {"bf16", "f16", "tf32", "f32"};

/// images-filters-steps: 32x56x56x64-k64-3x3-s2-p1, where steps of 1, padding of 0, dilations and groups of 1 are left out.
std::string text(const conv_shape& s);
std::string text(const pool_shape& s);

/// relu(conv + bias) of one of conv_types. Bytes are those of the pixels that a window meets, of filters, bias and output.
/// Operations are two for each tap and channel of each output, those in the padding too, as the field counts them. They limit
/// where they are the tensor cores': a depthwise convolution has the limit of its bytes alone.
problem problem_of(const conv_shape& s, std::string_view type);

/// One of conv_types, of which tf32 is f32. Bytes alone.
problem problem_of(const pool_shape& s, std::string_view type);

}  // namespace heddle::bench
