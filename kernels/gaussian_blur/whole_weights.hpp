#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace heddle::kernels::gaussian_blur {

constexpr int whole(double value) {
    return static_cast<int>(value + 0.5);
}

/// What makes whole numbers below 2^16, of a sum of about max_sum at most, of the weights. It is free, as the
/// result is divided by the numbers' sum: of some scales that use all bits, the one whose rounding errs
/// least.
inline double best_scale(std::span<const float> weights, double max_sum) {
    constexpr int work = 256;  // roundings
    const double widest =
        std::min(0xffff / double{*std::max_element(weights.begin(), weights.end())}, max_sum);
    const auto sum_of = [&](double scale) {
        double sum = 0;
        for (const float weight : weights) sum += whole(scale * weight);
        return sum;
    };
    const auto square_error = [&](double scale) {
        const double sum = sum_of(scale);
        double error = 0;
        for (const float weight : weights) {
            const double difference = whole(scale * weight) / sum - weight;
            error += difference * difference;
        }
        return error;
    };

    double best = std::exp2(std::floor(std::log2(widest)));  // exact for weights that are multiples of 2^-15
    double least = square_error(best);
    const int count = work / static_cast<int>(weights.size());
    for (int i = 0; i < count; ++i) {
        const double scale = widest * (1 - 0.5 * i / count);
        if (const double error = square_error(scale); error < least && sum_of(scale) <= max_sum) {
            best = scale;
            least = error;
        }
    }
    return best;
}

}  // namespace heddle::kernels::gaussian_blur
