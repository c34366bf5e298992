#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/row_plan.hpp"
#include "kernels/device/strip_plan.hpp"
#include "kernels/norm/facts.hpp"
#include <heddle/device.hpp>
#include <heddle/norm.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::norm {

/// x and y have one shape, with at least one element. y is x, or overlaps nothing else. gamma and beta have x.cols
/// elements, or none.
template <class T>
struct arguments {
    matrix_view<const T> x;
    vector_view<const T> gamma;
    vector_view<const T> beta;
    matrix_view<T> y;
    float epsilon;
};

/// How a rung computes a problem.
struct plan {
    row_plan rows;  ///< naive and block_per_row use only its blocks and threads
    int width = 1;  ///< elements per load
    strip_plan strips = {};
};

/// Each rung has a plan and a launch. The plan is pure. It takes the problems that meet the needs in the rung's row.
/// The launch computes layer_norm, which subtracts the mean, where `centred`, and else rms_norm, by the plan for these
/// arguments.
#define DECLARE(rung, ...)                                                    \
    plan plan_##rung(const norm_facts& problem, const device_traits& device); \
    template <bool centred, class T>                                          \
    void launch_##rung(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);
HEDDLE_NORM_RUNGS(DECLARE)
#undef DECLARE

/// x, dy and dx have one shape, with at least one element. gamma, dgamma and dbeta are as long as a row.
/// gamma, dx, dgamma and dbeta may be empty. dx is x or dy, or overlaps nothing else.
template <class T>
struct gradient_arguments {
    matrix_view<const T> x;
    vector_view<const T> gamma;
    matrix_view<const T> dy;
    matrix_view<T> dx;
    vector_view<T> dgamma;
    vector_view<T> dbeta;
    float epsilon;
    std::byte* scratch = nullptr;  ///< scratch_bytes() of the plan
};

/// How a rung computes a problem.
struct gradient_plan {
    launch_extents threads{1};  ///< vectorized: lanes per row, and rows per block
    std::int64_t blocks = 1;    ///< that go over the rows
    std::int64_t cluster = 1;   ///< blocks that share each row
    int width = 1;              ///< elements per load
    std::int64_t shared_bytes = 0;
    std::int64_t shared_limit = 0;
    bool begins_early = false;  ///< whether the kernel that adds partial sums begins early
    // Scratch memory has these where column sums are wanted:
    std::int64_t statistics = 0;  ///< rows with their means and scales
    std::int64_t partials = 0;    ///< partial sums of each column, for dgamma and for dbeta
    std::int64_t cols = 0;
};

inline std::int64_t statistics_bytes(const gradient_plan& plan) {
    constexpr std::int64_t of_row = 2 * sizeof(float), unit = 16;
    return round_up(plan.statistics * of_row, unit);
}
inline std::int64_t scratch_bytes(const gradient_plan& plan) {
    return statistics_bytes(plan) + plan.partials * plan.cols * std::int64_t{2 * sizeof(float)};
}
inline bool needs_tickets(const gradient_plan&) {
    return false;
}

/// Whether gradient_vectorized has room for rows of the problem's length.
bool holds_gradient_row(const gradient_facts& problem, const device_traits& device);

/// The same for the rungs of the gradients.
#define DECLARE(rung, ...)                                                                          \
    gradient_plan plan_gradient_##rung(const gradient_facts& problem, const device_traits& device); \
    template <bool centred, class T>                                                                \
    void launch_gradient_##rung(const gradient_plan& plan, const gradient_arguments<T>& arguments,  \
                                cudaStream_t stream);
HEDDLE_NORM_GRADIENT_RUNGS(DECLARE)
#undef DECLARE

}  // namespace heddle::kernels::norm
