// register_tiled: a thread has up to 8 x 8 sums in registers. The next windows and filters are copied meanwhile.
//
//   a step: 32 of the depth R S C              a thread, for each k
//
//   k   | 128 windows | 64 filters |           8 of windows  ---+
//   k+1 | 128 windows | 64 filters |                            +---  8 x 8 FMAs
//   ...                                        8 of filters  ---+
//
// In tiled a thread reads 8 elements from shared memory for 16 products. Here it reads 16 for 64 products, and early.
// Windows and filters lie along k in memory; cp.async copies words, which transposes them. If channels come in fours, one
// bounds test serves four words. In small tiles several sets of warps divide a step along k, and add up their sums in a
// fixed order. Needs compute capability 8.0. Takes any address. What limits it: FMA units, and reads of fragments.

#include "kernels/conv/kernels.hpp"
#include "kernels/conv/launch.hpp"
#include "kernels/conv/mma_loader.cuh"
#include "kernels/conv/mma_store.cuh"
#include "kernels/device/fragment.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/sync.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::conv {
namespace {

template <const auto& kernels, std::size_t kernel>
struct float_tile {
    static constexpr register_kernel config = kernels[kernel];
    static constexpr int lanes_m = 4, lanes_n = 8;
    static constexpr int thread_m = config.thread_m, thread_n = config.thread_n;
    static constexpr int warp_m = lanes_m * thread_m, warp_n = lanes_n * thread_n;
    static constexpr int warps_n = config.warps_n;
    static constexpr int m = config.tile().m, n = config.tile().n;
    static constexpr int slices = config.slices;  ///< of a step along k, each for other warps
    static constexpr int slice_warps = config.warps_m * warps_n;
    static constexpr int threads = slices * slice_warps * 32;
    static constexpr int stages = config.stages;
    static constexpr int blocks = config.blocks;
    static constexpr int k = mma_row_bytes / 4, part_k = 8;  ///< of a step, and of a part of the loop
    static constexpr int pitch = m + n + 4;                  ///< from one k of a stage to the next
    static constexpr int stage_size = k * pitch;
    static constexpr int sums_pitch = n + 4;
    static constexpr int swaps = 1;
    static constexpr int places_bytes = m * 16;
    static constexpr int shared_bytes = places_bytes + 4 * std::max(stages * stage_size, m* sums_pitch);

    /// The place of term `at` of row `row` of a stage; windows come first, then filters. A warp copies words of four rows and
    /// all packets along k at once, which lie in different banks.
    static __device__ int place(int row, int at) { return at * pitch + (row ^ (at / part_k * 4)); }
};

/// Stores a thread's sums to those of the tile, or adds them there; `to` is the first sum of its warp.
template <class tile>
__device__ void put_sums(const float (&sums)[tile::thread_m][tile::thread_n], float* to, int lane,
                         bool adds) {
#pragma unroll
    for (int i = 0; i < tile::thread_m; ++i)
#pragma unroll
        for (int j = 0; j < tile::thread_n; j += 4) {
            const int row = position<tile::lanes_m>(lane_of_four(lane), i),
                      col = position<tile::lanes_n>(lane_of_eight(lane), j);
            auto& kept = reinterpret_cast<vector<float, 4>&>(to[row * tile::sums_pitch + col]);
            auto four = swapped({sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]});
#pragma unroll
            for (int e = 0; e < 4; ++e)
                if (adds) four[e] += kept[e];
            kept = four;
        }
}

/// A thread copies `terms` neighbouring terms of a row at once, which lie in one tap.
template <class tile, int terms>
__global__ void __launch_bounds__(tile::threads, terms == 1 ? 2 : tile::blocks)
    register_tiled(const __grid_constant__ arguments<float, float> a, const __grid_constant__ step_geometry g,
                   bool stores_packets) {
    extern __shared__ __align__(128) unsigned char storage[];
    auto* const windows = reinterpret_cast<window_place*>(storage);
    auto* const stages = reinterpret_cast<float*>(storage + tile::places_bytes);
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;

    // locate
    const auto [group, pixel, output, outputs] = tile_place<tile>(g, a.geometry.groups);
    for (int i = thread; i < tile::m; i += tile::threads)
        windows[i] =
            pixel + i < g.pixels ? window_place_of(a, g.place_of_pixel(pixel + i), group) : no_window();
    ptx::sync_threads();

    // load
    step_loader<tile, 4 * terms, float> loader(g);
    const float* const filter = a.filters.data + output * a.filters.output_stride;
    const auto copy = [&](int stage) {
        loader.template each<1, 1>(0, stages + stage * tile::stage_size, a, windows, filter, outputs,
                                   [&](int, float* rows, int row, const float* from, bool is_there) {
                                       float* const to = rows + tile::place(row, loader.column / 4);
#pragma unroll
                                       for (int e = 0; e < terms; ++e)
                                           ptx::cp_async<4>(to + e * tile::pitch, from + e, is_there ? 4 : 0);
                                   });
        loader.advance(g);
    };
#pragma unroll 1
    for (int stage = 0; stage < tile::stages - 1; ++stage) {
        if (stage < g.steps) copy(stage);
        ptx::cp_async_commit_group();
    }

    // compute; fragments of the next k are read before those of this k are multiplied
    const int all_warps = __shfl_sync(~0u, thread / 32, 0), slice = all_warps / tile::slice_warps,
              warp = all_warps % tile::slice_warps;
    const int warp_row = warp / tile::warps_n * tile::warp_m, warp_col = warp % tile::warps_n * tile::warp_n;
    const int lane_m = lane_of_four(lane), lane_n = lane_of_eight(lane);
    float sums[tile::thread_m][tile::thread_n] = {};
    float as[2][tile::thread_m], bs[2][tile::thread_n];
    int stage = 0;
#pragma unroll 1
    for (int step = 0; step < g.steps; ++step) {
        ptx::cp_async_wait_group<tile::stages - 2>();
        // Now this step has arrived for all, and all are done with the stage that is overwritten next.
        ptx::sync_threads();
        if (step + tile::stages - 1 < g.steps) copy(stage == 0 ? tile::stages - 1 : stage - 1);
        ptx::cp_async_commit_group();
        const int parts = step + 1 == g.steps ? g.last_parts : tile::k / tile::part_k;
        const auto read = [&](int part, int k) {
            const float* const row =
                stages + stage * tile::stage_size + (part * tile::part_k + k) * tile::pitch;
            load_fragment<tile::lanes_m>(as[k % 2], row + warp_row, lane_m ^ part);
            load_fragment<tile::lanes_n>(bs[k % 2], row + tile::m + warp_col, lane_n ^ part);
        };
        if (slice < parts) read(slice, 0);
#pragma unroll 1
        for (int part = slice; part < parts; part += tile::slices)
#pragma unroll
            for (int k = 0; k < tile::part_k; ++k) {
                if (k + 1 < tile::part_k)
                    read(part, k + 1);
                else if (part + tile::slices < parts)
                    read(part + tile::slices, 0);
                kernels::multiply(sums, as[k % 2], bs[k % 2]);
            }
        stage = stage + 1 == tile::stages ? 0 : stage + 1;
    }

    // store; slices add their sums one after another
    ptx::sync_threads();  // all have read the last stage
    auto* const places = reinterpret_cast<output_place*>(storage);
    for (int i = thread; i < tile::m; i += tile::threads)
        places[i] = pixel + i < g.pixels ? place_in(a, g.place_of_pixel(pixel + i)) : output_place{-1, 0};
#pragma unroll 1
    for (int turn = 0; turn < tile::slices; ++turn) {
        if (turn == slice)
            put_sums<tile>(sums, stages + warp_row * tile::sums_pitch + warp_col, lane, turn > 0);
        ptx::sync_threads();
    }
    if (stores_packets)
        store_tile<tile, output_packet>(a, places, stages, output, outputs);
    else
        store_tile<tile, 1>(a, places, stages, output, outputs);
}

template <const auto& kernels, int terms>
void launch_terms(const plan& plan, const arguments<float, float>& a, cudaStream_t stream) {
    const step_geometry g(a);
    frame::with_row<kernels>(plan.kernel, [&]<std::size_t row>() {
        using tile = float_tile<kernels, row>;
        launch({.blocks = plan.blocks,
                .threads = {tile::threads},
                .shared_bytes = tile::shared_bytes,
                .shared_limit = tile::shared_bytes,
                .stream = stream},
               register_tiled<tile, terms>, a, g, plan.stores_packets);
    });
}

}  // namespace

template <class In, class Out>
void launch_register_tiled(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    launch_terms<register_four_kernels, 4>(plan, a, stream);
}
template <class In, class Out>
void launch_register_tiled_words(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    launch_terms<register_word_kernels, 1>(plan, a, stream);
}

template void launch_register_tiled(const plan&, const arguments<float, float>&, cudaStream_t);
template void launch_register_tiled_words(const plan&, const arguments<float, float>&, cudaStream_t);

}  // namespace heddle::kernels::conv
