#pragma once

#include "kernels/conv/epilogue.cuh"
#include "kernels/conv/geometry.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/device/ptx/min_max.cuh"
#include "kernels/device/ptx/predicated.cuh"
#include "kernels/device/vector.cuh"

#include <cstdint>
#include <limits>

/// How a thread of `depthwise` stores a run of outputs.
namespace heddle::kernels::conv {

inline constexpr float lowest = -std::numeric_limits<float>::infinity();

/// As store() of epilogue.cuh, of a packet. `lines` has scale and, a pitch further, bias of its channels.
template <class Values, class In, class Out>
__device__ void store_packet(const arguments<In, Out>& a, const pixel_place& at, std::int64_t channel,
                             const Values& sum, const float* lines, int pitch) {
    constexpr int packet = sizeof(Values) / sizeof(float);
    using pixel = vector<Out, packet>;
    pixel& out = reinterpret_cast<pixel&>(element(a.output, at, channel));
    const epilogue<Out>& e = a.epilogue;
    const Values scale = *reinterpret_cast<const Values*>(lines),
                 bias = *reinterpret_cast<const Values*>(lines + pitch);
    const pixel old = a.beta != 0 ? out : pixel{};
    pixel stored;
#pragma unroll
    for (int i = 0; i < packet; ++i) {
        float x = a.alpha * sum[i];
        if (a.beta != 0) x += a.beta * static_cast<float>(old[i]);
        if (!e.is_identity) {
            const float residual =
                e.residual.data != nullptr ? static_cast<float>(element(e.residual, at, channel + i)) : 0;
            x = x * scale[i] + bias[i] + (e.residual_before_activation ? residual : 0);
            x = activated<Out>(e.activation, x) + (e.residual_before_activation ? 0 : residual);
        }
        stored[i] = static_cast<Out>(x);
    }
    out = stored;
}

/// A run of outputs, `place` packets behind `to`. What most convolutions end with is unrolled; the rest is too long for that.
template <class Shape, class Place, class In, class Out>
__device__ void store_run(const arguments<In, Out>& a, const pixel_place& at, std::int64_t channel, Out* to,
                          Place place, const typename Shape::values (&sums)[Shape::outputs],
                          const float* lines, int pitch) {
    using values = Shape::values;
    const epilogue<Out>& e = a.epilogue;
    using packet = vector<Out, Shape::packet>;
    packet* const first = reinterpret_cast<packet*>(to);
    const auto col = static_cast<Place>(a.output.col_stride / Shape::packet);
    const int count = static_cast<int>(::min(a.output.width - at.x, std::int64_t{Shape::outputs}));
    const bool is_relu = e.activation == matmul_activation::relu;
    if (a.beta != 0 || e.residual.data != nullptr || (!is_relu && e.activation != matmul_activation::none)) {
        values copies[Shape::outputs];
#pragma unroll
        for (int w = 0; w < Shape::outputs; ++w) copies[w] = sums[w];
#pragma unroll 1
        for (int w = 0; w < count; ++w)
            store_packet(a, {at.image, at.y, at.x + w}, channel, copies[w], lines, pitch);
        return;
    }
    const float least = is_relu ? 0 : lowest;
    const values scale = *reinterpret_cast<const values*>(lines),
                 bias = *reinterpret_cast<const values*>(lines + pitch);
#pragma unroll
    for (int w = 0; w < Shape::outputs; ++w) {
        packet stored;
#pragma unroll
        for (int i = 0; i < Shape::packet; ++i)
            stored[i] = static_cast<Out>(ptx::max_nan(a.alpha * sums[w][i] * scale[i] + bias[i], least));
        ptx::store_if(w < count, first + place, stored);
        place += col;
    }
}

}  // namespace heddle::kernels::conv
