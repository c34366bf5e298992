#pragma once

#include "benchmarks/tuning/cases.hpp"

#include <span>
#include <string_view>

namespace heddle::bench::tuning {

/// Changes the operation's costs number by number, as long as that makes what is lost smaller (coordinate descent).
void fit(const operation& operation, std::span<timed_case> to);

/// Predicts all choices by the costs of now.
void predict(std::span<timed_case> cases);

/// What choices lose over the best, and how far predictions are off.
void print_losses(std::string_view title, std::span<const timed_case> of);

}  // namespace heddle::bench::tuning
