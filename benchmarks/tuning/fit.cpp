#include "benchmarks/tuning/fit.hpp"

#include "benchmarks/tuning/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace heddle::bench::tuning {
namespace {

/// A plan that was not measured counts as so much slower, as a logarithm.
constexpr double unmeasured = 0.1;
/// A row of the benchmarks is worth many drawn products.
constexpr double unmeasured_row = 1;
/// Predictions that are right of measured products are so of others, too: they count beside what is chosen.
constexpr double of_distance = 0.2;
/// A number moves where it saves so much, within these factors of what it was. A single one of some hundred products should not
/// move one: what it gains so is lost on products that the fit has not seen.
constexpr double least_gain = 6e-4, most_factor = 2.5;
constexpr int most_passes = 8;

double loss(std::span<const timed_product* const> products, std::span<const row> rows) {
    double sum = 0;
    for (const timed_product* of : products) {
        const chosen best = choose(*of);
        if (!is_within_target(*of, *best.taken)) sum += std::log(best.taken->measured_us / of->best_us);
        if (!is_same(best.plan, best.taken->plan)) sum += unmeasured;
        sum += of_distance * best.distance;
    }
    for (const row& of : rows)
        if (!is_as_before(of)) sum += unmeasured_row;
    return sum / static_cast<double>(products.size());
}

double with_three_digits(double value) {
    return std::strtod(fmt::format("{:.3g}", value).c_str(), nullptr);
}

}  // namespace

void fit(std::span<const timed_product* const> to, std::span<const row> rows) {
    std::vector<number> numbers = numbers_of(current);
    std::vector<double> begin;
    for (const number& each : numbers) begin.push_back(*each.value);
    double least = loss(to, rows);
    for (int pass = 0; pass < most_passes; ++pass) {
        const double before = least;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            double& value = *numbers[i].value;
            const double was = value;
            double best = was;
            const bool is_start = numbers[i].name.ends_with(".start_us");  // none may have been known
            for (const double factor : {0.7, 0.84, 0.92, 0.96, 1.04, 1.09, 1.2, 1.4}) {
                const double tried = with_three_digits((was == 0 ? 1 : was) * factor);
                if (!is_start && (tried > begin[i] * most_factor || tried * most_factor < begin[i])) continue;
                value = tried;
                if (const double lost = loss(to, rows); lost < least - least_gain) {
                    least = lost;
                    best = tried;
                }
            }
            value = best;
        }
        fmt::print(stderr, "pass {}: loss {:.4f}\n", pass + 1, least);
        if (least == before) break;
    }
}

}  // namespace heddle::bench::tuning
