#pragma once

#include "benchmarks/support/layers.hpp"

namespace heddle::bench {

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
