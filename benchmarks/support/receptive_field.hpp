#pragma once

#include "benchmarks/support/networks.hpp"

namespace heddle::bench {

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
