// wgmma: a warpgroup multiplies windows by filters from shared memory, which one thread fills.
//
//   | tap and 64 channels: 128 windows, 128 filters | multiply 128 x 128 x 64 | the next ...
//
// mma_sync spends most instructions on finding elements of windows and testing for padding. Here the tensor memory
// accelerator does this in im2col mode. Its map has the images, their padding, the strides of the windows and how many to
// read. One instruction reads a tap of 128 windows, across rows and images, with zeros for the padding.
//
// Needs pixels at multiples of 16 bytes, or copies (copies.cu), and windows with steps of at most 8 that reach at most
// 255 pixels. With several groups, each needs a multiple of 64 channels and of 128 outputs. What limits it: loading and
// multiplying alternate, and only other blocks of the multiprocessor fill the gaps. Sums are stored one by one.

#include "kernels/conv/epilogue.cuh"
#include "kernels/conv/geometry.cuh"
#include "kernels/conv/windows.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/ptx/wgmma.cuh"
#include "kernels/frame/sums.cuh"
#include <heddle/types.hpp>

namespace heddle::kernels::conv {
namespace {

struct tile {
    static constexpr int m = wgmma_tile.m;
    static constexpr int n = wgmma_tile.n;
    static constexpr int parts = m / warpgroup_m;
};

template <class In>
struct shared_storage {
    using a_tile = warpgroup_tile<In, tile::m, true>;
    using b_tile = warpgroup_tile<In, tile::n, true>;
    unsigned char a[a_tile::bytes];
    unsigned char b[b_tile::bytes];
    ptx::mbarrier full;
};

template <class In, class Out>
__global__ void __launch_bounds__(warpgroup_threads)
    wgmma(const __grid_constant__ arguments<In, Out> a, const __grid_constant__ geometry g,
          const __grid_constant__ window_steps steps, int count) {
    using shared_tiles = shared_storage<In>;
    using a_tile = typename shared_tiles::a_tile;
    using b_tile = typename shared_tiles::b_tile;
    extern __shared__ __align__(1024) unsigned char storage[];
    auto& shared = *reinterpret_cast<shared_tiles*>(storage);
    if (threadIdx.x == 0) {
        ptx::init(&shared.full, 1);
        ptx::fence_mbarrier_init();
    }
    ptx::sync_threads();

    const unsigned across = static_cast<unsigned>((a.output.channels - 1) / tile::n + 1);
    const int pixel = static_cast<int>(blockIdx.x / across) * tile::m;
    const int output = static_cast<int>(blockIdx.x % across) * tile::n;

    float sums[tile::parts][tile::n / 2];
    for (int step = 0; step < count; ++step) {
        if (threadIdx.x == 0) {
            ptx::arrive_and_expect(&shared.full, a_tile::bytes + b_tile::bytes);
            steps.template load_windows<a_tile>(shared.a, pixel, output, step, &shared.full);
            steps.template load_filters<b_tile>(shared.b, output, step, &shared.full);
        }
        ptx::wait(&shared.full, step % 2);

        const std::uint64_t b_descriptor = b_tile::descriptor(shared.b, 0);
        ptx::wgmma_fence();
#pragma unroll
        for (int part = 0; part < tile::parts; ++part) {
            const std::uint64_t a_descriptor = a_tile::descriptor(shared.a, part * warpgroup_m);
#pragma unroll
            for (int i = 0; i < a_tile::depth / a_tile::step; ++i)
                ptx::wgmma<In, tile::n, true, true>(sums[part], a_descriptor + i * a_tile::advance,
                                                    b_descriptor + i * b_tile::advance, step > 0 || i > 0);
        }
        ptx::wgmma_commit();
        ptx::wgmma_wait<0>();
        ptx::sync_threads();  // all have multiplied before the tiles are overwritten
    }

#pragma unroll
    for (auto& part_sums : sums) ptx::wgmma_results(part_sums);

#pragma unroll
    for (int part = 0; part < tile::parts; ++part)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const std::int64_t i = pixel + part * warpgroup_m + frame::row_of_thread(half);
            if (i >= g.pixels) continue;
            const pixel_place at = g.place_of_pixel(i);
#pragma unroll
            for (int pair = 0; pair < tile::n / 8; ++pair)
#pragma unroll
                for (int side = 0; side < 2; ++side)
                    if (const int k = output + pair * 8 + frame::col_of_thread() + side;
                        k < a.output.channels)
                        store(a, at, k, sums[part][pair * 4 + half * 2 + side]);
        }
}

}  // namespace

template <class In, class Out>
void launch_wgmma(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    launch({.blocks = plan.blocks,
            .threads = plan.threads,
            .shared_bytes = sizeof(shared_storage<In>),
            .shared_limit = sizeof(shared_storage<In>),
            .stream = stream},
           wgmma<In, Out>, a, geometry(a), window_steps(a, tile::m, tile::n),
           window_steps::steps_of(a.filters));
}

HEDDLE_LAUNCHES_OF_16_BITS(launch_wgmma, plan, arguments)

}  // namespace heddle::kernels::conv
