// separable: two passes over the image, one along x and one along y.
//
//   source --(2r + 1 taps along x)--> intermediate (float, DRAM) --(2r + 1 taps along y)--> destination
//
// The Gaussian of x and y is a product, so 2 (2r + 1) multiplications a value do what took `naive`
// (2r + 1)^2. Both passes are one kernel: a value is the sum over a line of its neighbours, `step` elements
// apart. Each still fetches every one of its inputs with a load of its own, and the intermediate image costs
// a write and a read of DRAM. Any shape, any alignment, any radius: the taps stand in shared memory, a chunk
// at a time.
//
// 4096 x 4096 float, radius 2, on an H200: 379 us.

#include "kernels/device/grid.hpp"
#include "kernels/gaussian_blur/border.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"
#include <heddle/error.hpp>

#include <algorithm>

namespace heddle::kernels::gaussian_blur {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int taps_chunk = 1024;
};

template <class Input, class Output>
struct pass {
    const Input* input;
    std::int64_t input_stride;
    Output* output;
    std::int64_t output_stride;
    std::int64_t rows;
    std::int64_t row_values;
    std::int64_t channels;
    bool along_y;
    heddle::border border;
    Input border_value;
    gaussian_blur::taps taps;
};

/// The weights of `first`, first + 1, ... into shared memory. All threads of the block call it.
__device__ void stage_taps(const taps& all, int first, int count, float* chunk) {
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < count; i += tile::threads) {
        const int distance = abs(first + i);
        const double t = distance / all.sigma;
        chunk[i] = all.radius <= taps::table_radius ? all.table[distance]
                                                    : static_cast<float>(all.scale * exp(-0.5 * t * t));
    }
    __syncthreads();
}

template <class Input, class Output>
__global__ void __launch_bounds__(tile::threads) separable(const __grid_constant__ pass<Input, Output> p) {
    __shared__ float chunk[tile::taps_chunk];
    const std::int64_t x = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    const std::int64_t size = p.along_y ? p.rows : p.row_values / p.channels;
    const std::int64_t step = p.along_y ? p.input_stride : p.channels;
    const int taps_end = p.taps.radius + 1;

    int staged = taps_end;  // none yet
    for (std::int64_t y = blockIdx.y; y < p.rows; y += gridDim.y) {
        const std::int64_t at = p.along_y ? y : x / p.channels;
        const Input* line = p.along_y ? p.input + x : p.input + y * p.input_stride + x % p.channels;
        float sum = 0;
        for (int first = -p.taps.radius; first < taps_end; first += tile::taps_chunk) {
            const int count = min(tile::taps_chunk, taps_end - first);
            if (staged != first) stage_taps(p.taps, first, count, chunk);
            staged = first;
            if (x >= p.row_values) continue;
            const std::int64_t begin = at + first;
            if (begin >= 0 && begin + count <= size) {
                const Input* input = line + begin * step;
                for (int i = 0; i < count; ++i) sum = fmaf(chunk[i], to_float(input[i * step]), sum);
            } else {
                for (int i = 0; i < count; ++i) {
                    const std::int64_t index = source_index(begin + i, size, p.border);
                    sum = fmaf(chunk[i], to_float(index < 0 ? p.border_value : line[index * step]), sum);
                }
            }
        }
        if (x < p.row_values) p.output[y * p.output_stride + x] = from_float<Output>(sum);
    }
}

template <class Input, class Output>
void launch(const pass<Input, Output>& pass, cudaStream_t stream) {
    const std::int64_t across = (pass.row_values + tile::threads - 1) / tile::threads;
    const dim3 grid(static_cast<unsigned>(across),
                    static_cast<unsigned>(std::min<std::int64_t>(pass.rows, max_grid_y)));
    separable<<<grid, tile::threads, 0, stream>>>(pass);
    check(cudaGetLastError());
}

}  // namespace

template <class T>
void launch_separable(const arguments<T>& a, const device_traits&, cudaStream_t stream) {
    const std::int64_t row_values = a.source.width * a.source.channels;
    launch<T, float>(
        {a.source.data, a.source.row_stride, a.intermediate, a.intermediate_stride, a.source.height,
         row_values, a.source.channels, false, a.border, a.border_value, a.taps},
        stream);
    launch<float, T>(
        {a.intermediate, a.intermediate_stride, a.destination.data, a.destination.row_stride, a.source.height,
         row_values, a.source.channels, true, a.border, static_cast<float>(a.border_value), a.taps},
        stream);
}

template void launch_separable(const arguments<float>&, const device_traits&, cudaStream_t);
template void launch_separable(const arguments<std::uint8_t>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
