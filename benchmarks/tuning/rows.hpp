#pragma once

#include "kernels/matmul/plan/plan.hpp"
#include <heddle/device.hpp>
#include <heddle/matmul.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::bench::tuning {

/// A product of the benchmarks, and what `automatic` took by the costs that stood.
struct row {
    std::string name;
    matmul_problem problem;
    device_traits device;
    std::string_view kernel;
    kernels::matmul::plan plan;
};
std::vector<row> rows_of_benchmarks(const device_traits& device);

/// Whether `automatic` does it in the same way by `current`.
bool is_as_before(const row& of);
/// The kernel that it takes by `current`.
std::string_view kernel_of(const row& of);

/// Whether plans differ in nothing but their predicted time.
bool is_same(kernels::matmul::plan a, const kernels::matmul::plan& b);

}  // namespace heddle::bench::tuning
