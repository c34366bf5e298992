#pragma once

#include "kernels/matmul/cost/cost.hpp"
#include "kernels/matmul/plan/plan.hpp"
#include <heddle/device.hpp>
#include <heddle/matmul.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::bench::tuning {

/// The costs that plans of this program are made with.
extern kernels::matmul::costs current;

/// A kernel that `automatic` chooses from.
struct choice {
    std::string_view kernel;  ///< one of matmul_kernels()
    double measured_us = 0;
    /// By the costs that it was measured with. Where another plans otherwise, as with other parts along k, nobody knows its time.
    kernels::matmul::plan plan = {};
};

/// A product of which all choices were timed.
struct timed_product {
    std::string name, words, type;
    device_traits device;
    matmul_problem problem;
    std::vector<choice> choices;
    double best_us = 0;
};

/// Those of a record of `heddle-bench cliffs --choices`. `current` has the costs that the record was made with.
/// @throws std::runtime_error  no such record
std::vector<timed_product> read_products(const std::filesystem::path& record);

/// The plan of `current`.
kernels::matmul::plan plan_of(const matmul_problem& problem, const device_traits& device,
                              std::string_view kernel);

struct chosen {
    const choice* taken;
    kernels::matmul::plan plan;
    double distance =
        0;  ///< of the predicted times from the measured ones, of those that matter: a mean logarithm
};
chosen choose(const timed_product& of);

/// Beyond the best choice's time, in microseconds.
double lost_us(const timed_product& of, const choice& chosen);
/// Whether that is within 2 % or 0.3 us.
bool is_within_target(const timed_product& of, const choice& chosen);

}  // namespace heddle::bench::tuning
