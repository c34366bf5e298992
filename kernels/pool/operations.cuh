#pragma once

#include "kernels/device/ptx/min_max.cuh"
#include "kernels/pool/launch.hpp"

#include <cstdint>
#include <limits>

namespace heddle::kernels::pool {

/// The part of a window that lies in the image.
struct clipped_window {
    std::int64_t y, x, height, width;

    __device__ std::int64_t pixels() const { return height * width; }
};

__device__ inline void clip(std::int64_t& begin, std::int64_t& extent, std::int64_t window,
                            std::int64_t image) {
    const std::int64_t end = ::min(begin + window, image);
    begin = ::max(begin, std::int64_t{0});
    extent = ::max(end - begin, std::int64_t{0});
}

template <class T>
__device__ clipped_window window_of(const arguments<T>& a, std::int64_t y, std::int64_t x) {
    const pool_geometry& g = a.geometry;
    clipped_window w{y * g.stride.y - g.padding.top, x * g.stride.x - g.padding.left, 0, 0};
    clip(w.y, w.height, g.window.y, a.input.height);
    clip(w.x, w.width, g.window.x, a.input.width);
    return w;
}

struct largest {
    using wide = float;  ///< has room for the result of any number of pixels
    static constexpr bool needs_parts = false;
    static constexpr float identity = -std::numeric_limits<float>::infinity();
    static __device__ float combine(float a, float b) { return ptx::max_nan(a, b); }
    template <class T>
    static __device__ float finish(float x, const arguments<T>&, const clipped_window&) {
        return x;
    }
};

struct mean {
    using wide = double;
    static constexpr bool needs_parts = true;  ///< a float sum of very many terms stops growing
    static constexpr float identity = 0;
    template <class Sum>
    static __device__ Sum combine(Sum a, Sum b) {
        return a + b;
    }
    template <class Sum, class T>
    static __device__ Sum finish(Sum sum, const arguments<T>& a, const clipped_window& w) {
        const std::int64_t count =
            a.mode == pool_mode::padded_average ? a.geometry.window.y * a.geometry.window.x : w.pixels();
        return sum / static_cast<Sum>(count);
    }
};

}  // namespace heddle::kernels::pool
