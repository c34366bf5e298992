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

/// A layer of a network.
struct layer {
    std::string name;
    std::variant<conv_shape, pool_shape> shape;
    /// The layer whose output it reads, by its place in the network; -1 for the image.
    std::int64_t input;
};

struct network {
    std::string_view name;
    std::vector<layer> (*layers)(std::int64_t count);
};

/// The convolutions and poolings of networks for `count` images of 224 x 224, in order.
///
/// resnet50: ResNet-50 v1.5 (He and others, "Deep Residual Learning for Image Recognition", 2015; the stride stands on the 3 x 3
/// convolution). vgg16: Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image Recognition", 2014.
/// efficientnet-lite0: Tan and Le, "EfficientNet", 2019, without squeeze and excitation; padded on both sides alike.
std::span<const network> networks();

std::vector<layer> resnet50(std::int64_t count);
std::vector<layer> vgg16(std::int64_t count);
std::vector<layer> efficientnet_lite0(std::int64_t count);

/// The convolutions of a network, each shape once, in the order in which they come first.
std::vector<conv_shape> distinct_convolutions(const std::vector<layer>& layers);

/// The pixels of a network's image that an output depends on, along one side.
struct receptive_field {
    double jump = 1;      ///< from the pixels of one output to those of the next
    double size = 1;      ///< from the first to the last of them, both included
    double variance = 0;  ///< of their places, each counted by its weight in the output

    /// Luo, Li, Urtasun and Zemel, "Understanding the Effective Receptive Field in Deep Convolutional Networks", 2016: where all
    /// weights of a window are alike, a pixel's share of the output is that of a sum of uniform steps, a layer each; of many,
    /// a Gaussian. A layer of k taps adds (k^2 - 1) / 12 jump^2 to its variance. The effective field is two standard deviations
    /// on either side of the middle, where the paper's experiments draw the line (beyond are 4.55 % of the weight), and never
    /// more than the whole. Poolings count as windows of equal weights; rectifiers, and all that skips layers, as nothing.
    [[nodiscard]] double effective_size() const;

    /// That of a layer whose input has this one.
    [[nodiscard]] receptive_field of_layer(std::int64_t taps, std::int64_t stride,
                                           std::int64_t dilation) const;
};

struct receptive_fields {
    receptive_field y, x;
};

/// One for each layer.
std::vector<receptive_fields> receptive_fields_of(const std::vector<layer>& layers);

}  // namespace heddle::bench
