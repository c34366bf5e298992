#pragma once

#include "kernels/device/row_plan.hpp"
#include "kernels/loss/facts.hpp"
#include "kernels/loss/plan/label_hits.hpp"
#include <heddle/device.hpp>
#include <heddle/loss.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace heddle::kernels::loss {

/// The logits have at least one element. `loss` has one element per row, or none. `gradient` has the logits' shape, or no
/// element; it may be the logits, and overlaps nothing else.
template <class T>
struct cross_entropy_arguments {
    matrix_view<const T> logits;
    vector_view<const std::int32_t> labels;
    vector_view<float> loss;
    matrix_view<T> gradient;
    float scale;
    float smoothing;
    std::int64_t ignored;  ///< label that is ignored; the smallest int64 where there is none
};

/// The same, but `gradient` may be the prediction or the target.
template <class T>
struct mean_squared_error_arguments {
    matrix_view<const T> prediction;
    matrix_view<const T> target;
    vector_view<float> loss;
    matrix_view<T> gradient;
    float scale;
};

template <class T>
struct label_hits_arguments {
    matrix_view<const T> scores;
    vector_view<const std::int32_t> labels;
    vector_view<std::int32_t> hits;
};

/// How a rung computes a problem.
struct plan {
    row_plan rows;  ///< naive and warp_per_row use only its blocks and threads
    int width = 1;  ///< elements per load
};

/// Each rung has a plan and a launch. The plan is pure. It takes the problems that meet the needs in the rung's row.
/// The launch computes a cross_entropy_arguments<T> or a mean_squared_error_arguments<T>, by the plan for it.
#define DECLARE(rung, ...)                                                    \
    plan plan_##rung(const loss_facts& problem, const device_traits& device); \
    template <class Arguments>                                                \
    void launch_##rung(const plan& plan, const Arguments& arguments, cudaStream_t stream);
HEDDLE_LOSS_RUNGS(DECLARE)
#undef DECLARE

/// vectorized has a kernel for each operation. Squares wait for no sum, so that no thread holds a row of them.
plan plan_vectorized_squares(const loss_facts& problem, const device_traits& device);
template <class T>
void launch_vectorized(const plan& plan, const cross_entropy_arguments<T>& arguments, cudaStream_t stream);
template <class T>
void launch_vectorized(const plan& plan, const mean_squared_error_arguments<T>& arguments,
                       cudaStream_t stream);

/// Each launches one of the kernels that a label_hits_plan names.
template <class T>
void launch_label_hits(const label_hits_plan& plan, const label_hits_arguments<T>& arguments,
                       cudaStream_t stream);
template <class T>
void launch_label_hits_of_warps(const label_hits_plan& plan, const label_hits_arguments<T>& arguments,
                                cudaStream_t stream);

}  // namespace heddle::kernels::loss
