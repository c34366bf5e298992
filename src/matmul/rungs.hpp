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

/// The rungs for these types of operands and result.
template <class In, class Out>
rung_table<matmul_rung<In, Out>> matmul_rungs();

void add_facts(facts& to, const matrix_layout& m);
void add_facts(facts& to, const matmul_problem& p);

/// The rung for a valid problem that is not empty, with its plan.
/// @throws unsupported  the requested algorithm has no kernel for the types, or cannot run the problem
template <class In, class Out>
planned_matmul<In, Out> plan_matmul(const matmul_problem& problem, const device_traits& device,
                                    const matmul_options& options);

/// Whether why_not() of a valid problem is empty. Makes no text.
bool can_run(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device,
             std::string_view kernel = {});

/// @throws unsupported  the algorithm has no such kernel for these operands
void require_kernel(matmul_algorithm algorithm, element_type operands, std::string_view kernel);

/// @throws invalid_argument  the algorithm or precision is unknown, or the algorithm has no such kernel
void validate_choice(const char* operation, const matmul_options& options);

/// @throws invalid_argument  as select() says
void validate_problem(const char* operation, const matmul_problem& problem, const device_traits& device);

}  // namespace heddle::detail
