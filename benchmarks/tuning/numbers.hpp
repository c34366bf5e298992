#pragma once

#include "kernels/matmul/cost/cost.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace heddle::bench::tuning {

/// A time or a rate of a card, with its name.
struct number {
    std::string name;
    double* value;
};
std::vector<number> numbers_of(kernels::matmul::costs& of);

/// The text of kernels/matmul/cost/<card>.hpp with these costs as the card's, and these lines as their comment.
/// @throws std::runtime_error  the text has no costs of that card
std::string header_with(std::string text, std::string_view card, const kernels::matmul::costs& of,
                        std::string_view comment);

}  // namespace heddle::bench::tuning
