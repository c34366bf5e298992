#pragma once

#include "benchmarks/cliffs/operands.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

/// What is expected of a result, and bounds of docs/accuracy.md that operations on rows share.
namespace heddle::bench::cliffs {

/// What a result of T may be off by: `bound` is that of its value in float, which is rounded once more to 16 bits.
template <class T>
double rounded(double value, double bound) {
    return bound + (sizeof(T) == 2 ? roundoff<T>() : 0) * (std::abs(value) + bound) + least<T>();
}

/// What some places of a result should have, in their order, and what they may be off by.
struct expected_places {
    std::vector<place> places;
    std::vector<double> values, bounds;

    void add(double value, double bound) {
        values.push_back(value);
        bounds.push_back(bound);
    }
    /// What is wrong with the result of this name: between its elements too, where poison() was the last to write there.
    template <class T>
    [[nodiscard]] std::string wrong(const std::string& name, operand<T>& result, double slack,
                                    bool was_poisoned = true) const {
        std::string what = mismatch(result.view(), places, values, bounds, slack);
        if (what.empty() && was_poisoned) what = result.changed_gap();
        return what.empty() ? what : name + ": " + what;
    }
};

/// Additions on the way of an element to the sum over a row of n, of any rung but those of losses.
inline double additions_of_row(double n) {
    return std::max({std::min(n, 4096.0) + n / 4096 + 1, 64 + n / 512, n / 128 + 40});
}

/// The errors of softmax's exponentials, in units of float's roundoff.
template <class T>
inline constexpr double error_of_exponential = sizeof(T) == 2 ? 5 : 3;
/// And what they grow by with the distance from the largest element.
template <class T>
inline constexpr double slope_of_exponential = sizeof(T) == 2 ? 3.35 : 1;

/// A share of softmax's sum of exponentials over a row of n, in first order: S of docs/accuracy.md.
template <class T>
double error_of_exponentials(double n, double additions, double rescalings) {
    return 0x1p-24 * (slope_of_exponential<T> * std::log(n) + 3 * error_of_exponential<T> + additions +
                      rescalings * (error_of_exponential<T> + 2));
}

}  // namespace heddle::bench::cliffs
