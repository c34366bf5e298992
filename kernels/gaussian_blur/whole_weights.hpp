#pragma once

#include "kernels/gaussian_blur/plan/mma_xy_by_channel.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::kernels::gaussian_blur {

constexpr int whole(double value) {
    return static_cast<int>(value + 0.5);
}

/// The scale that turns weights into whole numbers below 2^16 with a sum of about max_sum at most. The choice is free, as
/// the result is divided by the numbers' sum. Of some scales that use all bits, this one has the smallest rounding errors.
inline double best_scale(std::span<const float> weights, double max_sum) {
    constexpr int work = 256;  // roundings to spend
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

/// Weights as whole numbers below 2^16. Their sum times a small multiplier is 2^24, or off by up to max_residue. Of some
/// such sums that use all bits, it takes the one that errs least. There are at most 2 max_radius + 1 weights.
class whole_weights {
  public:
    static constexpr int max_residue = 2;
    static constexpr int max_radius = 32;

    explicit whole_weights(std::span<const float> weights) {
        constexpr int largest = 0xffff - 1;  // each may be rounded up by one
        constexpr double max_sum = 0x1p20;
        constexpr int work = 256;  // weights rounded
        const double widest =
            std::min(largest / double{*std::max_element(weights.begin(), weights.end())}, max_sum);
        const auto fewest = static_cast<unsigned>(std::ceil(unit / widest));
        double least = take(weights, std::bit_ceil(fewest));  // exact for multiples of 2^-8
        int left = work / static_cast<int>(weights.size());
        for (unsigned multiplier = fewest; multiplier < 2 * fewest && left > 0; ++multiplier) {
            const double residue = std::round(unit / multiplier) * multiplier - unit;
            if (std::abs(residue) > max_residue) continue;
            --left;
            whole_weights other(*this);
            const double error = other.take(weights, multiplier);
            if (error >= least) continue;
            least = error;
            *this = other;
        }
    }

    /// `count` times one number.
    whole_weights(std::size_t count, int number) { std::fill_n(numbers_.begin(), count, number); }

    unsigned multiplier() const { return multiplier_; }
    std::uint8_t high(int i) const { return static_cast<std::uint8_t>(at(i) >> 8); }
    std::uint8_t low(int i) const { return static_cast<std::uint8_t>(at(i)); }

  private:
    static constexpr double unit = 0x1p24;

    int at(int i) const { return numbers_[static_cast<std::size_t>(i)]; }

    /// Takes the numbers for this multiplier, and returns their square error. It rounds running sums of weights, so that an
    /// edge in the image errs by no more than a weight.
    double take(std::span<const float> weights, unsigned multiplier) {
        multiplier_ = multiplier;
        const double sum = std::round(unit / multiplier);
        double passed = 0, error = 0;
        int taken = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            passed += weights[i];
            const int next = whole(i + 1 < weights.size() ? sum * passed : sum);
            numbers_[i] = next - taken;
            taken = next;
            const double difference = numbers_[i] / sum - weights[i];
            error += difference * difference;
        }
        return error;
    }

    unsigned multiplier_ = 0;
    std::array<int, 2 * max_radius + 1> numbers_{};
};

}  // namespace heddle::kernels::gaussian_blur
