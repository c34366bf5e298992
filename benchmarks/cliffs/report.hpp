#pragma once

#include "benchmarks/cliffs/run.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace heddle::bench::cliffs {

/// Sums up the right cases of a family: those beside a vendor's call, or those beside a copy.
struct summary {
    std::size_t cases = 0;
    double geometric_mean = 1;
    double below_80 = 0, below_95 = 0,
           below_100 = 0;  ///< shares of the cases with a ratio below 0.8, 0.95, 1
};

summary summarize(const std::vector<outcome>& outcomes, bool of_stand_ins);

/// The worst cases, the mean, the shares, and what is wrong, on stdout.
void print_family(std::string_view family, const std::vector<outcome>& outcomes);

/// Pairs whose first takes too long, the worst first, and the share of the others, on stdout. Whether these are at least
/// 98 %, and none takes twice as long as it may.
bool print_pairs(std::string_view family, std::vector<pair_outcome> pairs);

/// One case with all that is known of it.
void print_case(const outcome& of);

}  // namespace heddle::bench::cliffs
