#pragma once

#include "kernels/device/launch.hpp"
#include <heddle/device.hpp>
#include <heddle/pool.hpp>
#include <heddle/tensor.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::pool {

/// The shapes agree, and the output is not empty.
template <class T>
struct arguments {
    tensor_view<const T> input;
    tensor_view<T> output;
    pool_mode mode = pool_mode::max;
    pool_geometry geometry{};
};

/// How a rung computes a problem.
struct plan {
    std::int64_t blocks = 1;
    launch_extents threads{1};
    std::int64_t cluster = 1;  ///< blocks that share a window
    bool has_packets = false;  ///< a thread takes 16 bytes of channels, else one channel
};

/// The most pixels that a window has.
constexpr std::int64_t window_pixels(const pool_problem& p) {
    const conv_steps& window = p.geometry.window;
    return std::min(window.y, p.input.height) * std::min(window.x, p.input.width);
}

/// Each kernel has a plan and a launch. The plan is pure, and takes any problem. The launch pools by the plan for these
/// arguments.
#define DECLARE(rung, ...)                                                      \
    plan plan_##rung(const pool_problem& problem, const device_traits& device); \
    template <class T>                                                          \
    void launch_##rung(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);
#define DECLARE_KERNEL(rung, kernel, ...) DECLARE(rung##_##kernel)
HEDDLE_POOL_RUNGS(DECLARE, HEDDLE_NOTHING, DECLARE_KERNEL)
#undef DECLARE
#undef DECLARE_KERNEL

}  // namespace heddle::kernels::pool
