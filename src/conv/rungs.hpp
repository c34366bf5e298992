#pragma once

#include "kernels/conv/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/conv.hpp>

namespace heddle::detail {

template <class In, class Out>
using conv_rung = rung<conv_algorithm, conv_problem, kernels::conv::plan, kernels::conv::arguments<In, Out>>;

void add_facts(facts& to, const tensor_layout& t);
void add_facts(facts& to, const conv_steps& s);
void add_facts(facts& to, const conv_padding& p);
void add_facts(facts& to, const conv_geometry& g);
void add_facts(facts& to, const conv_problem& p);

/// Launches im2col, which computes a convolution by matmul's kernels (im2col.cpp).
template <class In, class Out>
void launch_im2col(const kernels::conv::plan& plan, const kernels::conv::arguments<In, Out>& arguments,
                   cudaStream_t stream);

/// Launches kn2row, which adds up products of pixels and taps by matmul's kernels (kn2row.cpp).
template <class In, class Out>
void launch_kn2row(const kernels::conv::plan& plan, const kernels::conv::arguments<In, Out>& arguments,
                   cudaStream_t stream);

/// The rungs for these types of operands and result.
template <class In, class Out>
rung_table<conv_rung<In, Out>> conv_rungs();

/// @throws invalid_argument  the algorithm or precision is unknown, or the algorithm has no such kernel
void validate_choice(const char* operation, const conv_options& options);

}  // namespace heddle::detail
