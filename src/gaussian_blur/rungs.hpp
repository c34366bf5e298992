#pragma once

#include "kernels/separable_filter/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/gaussian_blur.hpp>

#include <cstdint>

namespace heddle::detail {

template <class T>
using blur_rung = rung<gaussian_blur_algorithm, kernels::separable_filter::problem,
                       kernels::separable_filter::plan, kernels::separable_filter::arguments<T>>;

void add_facts(facts& to, const kernels::separable_filter::problem& p);

/// The rungs of the blur, which convolutions and boxes take too.
template <class T>
rung_table<blur_rung<T>> blur_rungs();

/// 0 where the rung cannot run the problem.
std::int64_t workspace_bytes(const kernels::separable_filter::problem& problem, const device_traits& device,
                             gaussian_blur_algorithm algorithm);

}  // namespace heddle::detail
