// decimated, third step: each result is interpolated between 4 x 4 blurred samples, with the weights of the cubic B-spline.
//
// A thread makes 64 rows of 4 values. Where a cell begins, it interpolates a line of samples along x. Along y it evaluates
// the cubic of the cell, with 3 FMAs a value.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/gaussian_blur/decimated/samples.cuh"
#include "kernels/gaussian_blur/pixel.cuh"

#include <cstdint>

namespace heddle::kernels::gaussian_blur::decimated {
namespace {

template <class T>
__global__ void __launch_bounds__(tile::threads)
    interpolate(const __grid_constant__ decimation p, const __grid_constant__ image_batch_view<T> destination,
                bool aligned) {
    ptx::let_next_grid_begin();
    const image_view<T>& image = destination.first;
    const int channels = p.channels;
    const int row_values = static_cast<int>(image.width) * channels;
    const int height = static_cast<int>(image.height);
    const std::int64_t index = blockIdx.z;
    const int at = static_cast<int>(blockIdx.x) * tile::values + 4 * static_cast<int>(threadIdx.x);
    const int top = static_cast<int>(blockIdx.y) * tile::out_rows;
    const int rows = ::min(tile::out_rows, height - top);
    if (at >= row_values) return;

    // Along x: the first of the 4 samples of each value, and their weights.
    int from[4];
    float4 weights[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int value = ::min(at + i, row_values - 1);
        const int pixel = value / channels;
        const int cell = (p.x.phase + pixel) / p.x.factor;
        from[i] = cell * channels + value - pixel * channels;
        weights[i] =
            b_spline_weights(static_cast<float>(p.x.phase + pixel - cell * p.x.factor) * p.x.inverse);
    }
    const int cell = (p.y.phase + top) / p.y.factor;
    int phase = p.y.phase + top - cell * p.y.factor;
    const int pitch = p.x.blurred * channels;
    const float* row = p.blurred + (index * p.y.blurred + cell) * pitch;
    float lines[support][4];
    const auto take_line = [&](float* line) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const float* four = row + from[i];
            line[i] = weights[i].x * four[0] + weights[i].y * four[channels] +
                      weights[i].z * four[2 * channels] + weights[i].w * four[3 * channels];
        }
        row += pitch;
    };
    ptx::wait_for_grids_before();
#pragma unroll
    for (int s = 0; s < support; ++s) take_line(lines[s]);

    // The cubic of the cell is made from differences of its lines, so that it is exact where they are equal.
    float cubic[4][4];
    const auto take_cubic = [&] {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const float before = lines[1][i] - lines[0][i];
            const float within = lines[2][i] - lines[1][i];
            const float after = lines[3][i] - lines[2][i];
            cubic[0][i] = lines[1][i] + (within - before) * sixth;
            cubic[1][i] = (within + before) / 2;
            cubic[2][i] = (within - before) / 2;
            cubic[3][i] = (after - within - (within - before)) * sixth;
        }
    };
    take_cubic();

    T* out = image.data + index * destination.stride + std::int64_t{top} * image.row_stride + at;
    const bool is_vector = aligned && at + 4 <= row_values;
    const int count = ::min(4, row_values - at);
    for (int i = 0; i < rows; ++i, ++phase, out += image.row_stride) {
        if (phase == p.y.factor) {
            phase = 0;
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                lines[0][v] = lines[1][v];
                lines[1][v] = lines[2][v];
                lines[2][v] = lines[3][v];
            }
            take_line(lines[3]);
            take_cubic();
        }
        const float u = static_cast<float>(phase) * p.y.inverse;
        float values[4];
#pragma unroll
        for (int v = 0; v < 4; ++v)
            values[v] = fmaf(fmaf(fmaf(cubic[3][v], u, cubic[2][v]), u, cubic[1][v]), u, cubic[0][v]);
        if (is_vector) {
            *reinterpret_cast<quad<T>*>(out) = quad<T>::from_floats(values);
        } else {
#pragma unroll
            for (int v = 0; v < 4; ++v)
                if (v < count) out[v] = from_float<T>(values[v]);
        }
    }
}

}  // namespace

template <class T>
void launch_interpolate(const decimated_plan& plan, const decimation& d, const arguments<T>& a,
                        cudaStream_t stream) {
    launch(config_of(plan.interpolate, stream), interpolate<T>, d, a.destination, plan.aligned_stores);
}

template void launch_interpolate(const decimated_plan&, const decimation&, const arguments<float>&,
                                 cudaStream_t);
template void launch_interpolate(const decimated_plan&, const decimation&, const arguments<half>&,
                                 cudaStream_t);
template void launch_interpolate(const decimated_plan&, const decimation&, const arguments<std::uint16_t>&,
                                 cudaStream_t);
template void launch_interpolate(const decimated_plan&, const decimation&, const arguments<std::uint8_t>&,
                                 cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur::decimated
