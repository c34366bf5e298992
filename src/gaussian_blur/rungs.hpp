#pragma once

#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/gaussian_blur.hpp>

#include <cstdint>

namespace heddle::detail {

template <class T>
using blur_rung = rung<gaussian_blur_algorithm, kernels::gaussian_blur::filter_facts,
                       kernels::gaussian_blur::plan, kernels::gaussian_blur::arguments<T>>;

void add_facts(facts& to, const kernels::gaussian_blur::filter_facts& f);

/// The rungs of the blur. Separable convolutions and box blurs use them too.
template <class T>
rung_table<blur_rung<T>> blur_rungs();

/// 0 if the rung cannot run the problem.
std::int64_t workspace_bytes(const kernels::gaussian_blur::filter_facts& facts, const device_traits& device,
                             gaussian_blur_algorithm algorithm);

}  // namespace heddle::detail
