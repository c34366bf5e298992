#pragma once

#include "kernels/conv/epilogue.cuh"
#include "kernels/conv/geometry.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/device/launch.hpp"

#include <cstdint>

/// The kernel of the rung `naive`.
namespace heddle::kernels::conv {

struct naive_tile {
    static constexpr int threads = 256;
};

template <class In, class Out, class Activation>
__global__ void __launch_bounds__(naive_tile::threads)
    naive(const __grid_constant__ arguments<In, Out, Activation> a, const __grid_constant__ geometry g) {
    const std::int64_t outputs = a.output.channels, step = std::int64_t{gridDim.x} * naive_tile::threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * naive_tile::threads + threadIdx.x;
         i < g.pixels * outputs; i += step) {
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

template <class In, class Out, class Activation>
void launch_naive(const plan& plan, const arguments<In, Out, Activation>& a, cudaStream_t stream) {
    launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream}, naive<In, Out, Activation>, a,
           geometry(a));
}

}  // namespace heddle::kernels::conv
