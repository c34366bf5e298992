#pragma once

#include "kernels/matmul/tuning/tuning.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace heddle::bench::tuning {

/// A time or a rate of a card, with its name.
struct number {
    std::string name;
    double* value;
};
std::vector<number> numbers_of(kernels::matmul::tuning& of);

/// The text of kernels/matmul/tuning/<card>.hpp, with the lines of its comment.
std::string header_of(std::string_view card, const kernels::matmul::tuning& of, std::string_view comment);

}  // namespace heddle::bench::tuning
