#pragma once

#include "benchmarks/tuning/cases.hpp"
#include "kernels/matmul/cost/cost.hpp"

#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace heddle::bench::tuning {

/// The numbers of a card beside its rows.
inline constexpr auto members_of_card =
    std::to_array<std::pair<std::string_view, double kernels::matmul::costs::*>>(
        {{"memory_bytes_per_us", &kernels::matmul::costs::memory_bytes_per_us},
         {"l2_bytes_per_us", &kernels::matmul::costs::l2_bytes_per_us},
         {"copied_bytes_per_us", &kernels::matmul::costs::copied_bytes_per_us},
         {"launch_us", &kernels::matmul::costs::launch_us},
         {"combine_us", &kernels::matmul::costs::combine_us},
         {"elements_per_us", &kernels::matmul::costs::elements_per_us},
         {"by_element", &kernels::matmul::costs::by_element},
         {"adding", &kernels::matmul::costs::adding},
         {"epilogue_us", &kernels::matmul::costs::epilogue_us}});
static_assert(sizeof(kernels::matmul::costs) ==
                  sizeof(kernels::matmul::costs::rows) + members_of_card.size() * sizeof(double),
              "a member is missing");

/// Changes `current` number by number, as long as that makes what is lost smaller (coordinate descent). A row's last two numbers
/// stay where they are as they begin.
void fit(std::span<timed_product> to);

/// Predicts all choices by `current`.
void predict(std::span<timed_product> products);

/// What choices lose over the best, and how far predictions are off.
void print_losses(std::string_view title, std::span<const timed_product> of);

}  // namespace heddle::bench::tuning
