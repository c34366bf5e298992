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

}  // namespace heddle::bench
