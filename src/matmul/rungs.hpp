#pragma once

#include "kernels/matmul/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/matmul.hpp>
#include <heddle/types.hpp>

#include <string_view>

namespace heddle::detail {

template <class In, class Out>
using matmul_rung = rung<matmul_algorithm, kernels::matmul::product_facts, kernels::matmul::plan,
                         kernels::matmul::product<In, Out>>;

template <class In, class Out>
using planned_matmul = planned<matmul_rung<In, Out>>;

/// The rungs for operands and a result of these types.
template <class In, class Out>
rung_table<matmul_rung<In, Out>> matmul_rungs();

void add_facts(facts& to, const matrix_layout& m);
void add_facts(facts& to, const matmul_problem& p);

/// The rung for a valid problem that is not empty, and its plan.
/// @throws unsupported  the algorithm that was asked for has no kernel for the types, or cannot run the problem
template <class In, class Out>
planned_matmul<In, Out> plan_matmul(const matmul_problem& problem, const device_traits& device,
                                    const matmul_options& options);

/// Whether why_not() is empty, of a valid problem, without a text that nobody reads.
bool can_run(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device,
             std::string_view kernel = {});

/// @throws unsupported  the algorithm has no such kernel for these operands
void require_kernel(matmul_algorithm algorithm, element_type operands, std::string_view kernel);

/// @throws invalid_argument  an unknown algorithm or precision, or a kernel that the algorithm does not have
void validate_choice(const char* operation, const matmul_options& options);

/// @throws invalid_argument  as select() says
void validate_problem(const char* operation, const matmul_problem& problem, const device_traits& device);

}  // namespace heddle::detail
