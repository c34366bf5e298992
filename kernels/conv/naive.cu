// naive: the definition. One thread, one element of the output, neighbours in a warp on neighbouring channels.
//
//   thread i -> channel i % K of pixel i / K:   the sum over r, s, c of  input(window + (r, s), c) * filter(r, s, c)
//
// A warp's threads read one input element for all, and each a filter of its own: a load for every multiply-add, 32 cache lines
// apart. Any shape, any address.

#include "kernels/conv/epilogue.cuh"
#include "kernels/conv/geometry.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::conv {
namespace {

struct tile {
    static constexpr int threads = 256;
};

template <class In, class Out>
__global__ void __launch_bounds__(tile::threads)
    naive(const __grid_constant__ arguments<In, Out> a, const __grid_constant__ geometry g) {
    const std::int64_t outputs = a.output.channels, step = std::int64_t{gridDim.x} * tile::threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x; i < g.pixels * outputs;
         i += step) {
        const std::int64_t pixel = i / outputs, output = i - pixel * outputs;
        const pixel_place at = g.place_of_pixel(pixel);
        const window<In> from = window_of(a, at, output / g.outputs_of_a_group);
        const In* const filter = a.filters.data + output * a.filters.output_stride;
        float sum = 0;
        for (std::int64_t r = 0; r < a.filters.height; ++r)
            for (std::int64_t s = 0; s < a.filters.width; ++s)
                for (std::int64_t c = 0; c < a.filters.channels; ++c)
                    sum += input_value(a, from, {r, s, c}) * filter_value(a, filter, {r, s, c});
        store(a, at, output, sum);
    }
}

}  // namespace

plan plan_naive(const conv_problem& problem, const device_traits&) {
    const std::int64_t blocks = (output_pixels(problem) * problem.output.channels - 1) / tile::threads + 1;
    return {.blocks = {std::min(blocks, max_grid_x)}, .threads = {tile::threads}};
}

template <class In, class Out>
void launch_naive(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream}, naive<In, Out>, a,
           geometry(a));
}

template void launch_naive(const plan&, const arguments<float, float>&, cudaStream_t);
template void launch_naive(const plan&, const arguments<half, half>&, cudaStream_t);
template void launch_naive(const plan&, const arguments<half, float>&, cudaStream_t);
template void launch_naive(const plan&, const arguments<bfloat16, bfloat16>&, cudaStream_t);
template void launch_naive(const plan&, const arguments<bfloat16, float>&, cudaStream_t);

}  // namespace heddle::kernels::conv
