// mma_sync: tensor cores multiply windows by filters, while threads copy the next ones from where they lie in memory.
//
//   a step: 128 bytes of each row, over taps and channels in order; a ring of three or four steps
//   128 windows | packet p of row r lies at p ^ r % 8    ldmatrix       64 x 32 sums a warp
//   128 filters |                                        --------->    mma.sync of 16 x 8 x 16
//
// In tiled each thread computes the address of each element. Here a thread copies the same place along k of several rows:
// one tap and channel, which advances by carries. Shared memory holds the starts of windows. What remains for each copy is
// an addition and a test whether it lies in the image; else cp.async fills in zeros.
//
// Copies are of 16-byte packets where channels, addresses and strides are multiples, else of 4-byte words, or of single
// elements through registers. Floats are rounded to TF32. Sums pass through shared memory and are stored in packets. Needs
// compute capability 8.0. What limits it: instructions that find and copy windows and move fragments.

#pragma once

#include "kernels/conv/mma_loader.cuh"
#include "kernels/conv/mma_store.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/mma.cuh"
#include "kernels/device/ptx/sync.cuh"
#include <heddle/types.hpp>

#include <mma.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heddle::kernels::conv {

template <const auto& kernels, std::size_t row>
struct mma_tile {
    static constexpr mma_kernel config = kernels[row];
    static constexpr int m = config.m;
    static constexpr int n = config.n;
    static constexpr int warp_m = config.warp_m;
    static constexpr int warp_n = 32;
    static constexpr int warps_n = n / warp_n;
    static constexpr int threads = m / warp_m * warps_n * 32;
    static constexpr int stages = config.stages;
    static constexpr int blocks = config.blocks;
    static constexpr int places_bytes = m * 16;
    static constexpr int stage_bytes = (m + n) * mma_row_bytes;
    static constexpr int sums_pitch = n + 8;  ///< rows that a warp stores at once lie in different banks
    static constexpr int swaps = 0;           ///< neighbours are not swapped
    static constexpr int sums_bytes = m * sums_pitch * static_cast<int>(sizeof(float));
};

template <class In>
__device__ void multiply(float (&sums)[4], const unsigned (&a)[4], unsigned b_low, unsigned b_high) {
    if constexpr (std::is_same_v<In, float>)
        ptx::mma_tf32(sums, a, b_low, b_high);
    else
        ptx::mma<In>(sums, a, b_low, b_high);
}

/// Loads a fragment and rounds floats to TF32, as tensor cores ignore their lower bits.
template <class In>
__device__ void load_fragment(unsigned (&to)[4], const unsigned char* row) {
    ptx::load_matrices<false>(to, row);
    if constexpr (std::is_same_v<In, float>)
#pragma unroll
        for (unsigned& x : to) x = __float_as_uint(nvcuda::wmma::__float_to_tf32(__uint_as_float(x)));
}

/// Stores a warp's sums to shared memory as rows.
template <class tile, int parts_m, int parts_n>
__device__ void put_sums(const float (&sums)[parts_m][parts_n][4], float* to) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < parts_m; ++i)
#pragma unroll
        for (int j = 0; j < parts_n; ++j)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int row = i * 16 + lane / 4 + half * 8, col = j * 8 + lane % 4 * 2;
                *reinterpret_cast<float2*>(to + row * tile::sums_pitch + col) =
                    make_float2(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
            }
}

/// A thread copies `copied` bytes at once: 16, 4, or an element of 2.
template <class tile, int copied, class In, class Out, class Activation>
__global__ void __launch_bounds__(tile::threads, copied < 4 ? 2 : tile::blocks)
    mma_sync(const __grid_constant__ arguments<In, Out, Activation> a,
             const __grid_constant__ step_geometry g, bool stores_packets) {
    extern __shared__ __align__(128) unsigned char storage[];
    auto* const windows = reinterpret_cast<window_place*>(storage);
    const auto stage_at = [](int stage) { return storage + tile::places_bytes + stage * tile::stage_bytes; };
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;

    // locate
    const auto [group, pixel, output, outputs] = tile_place<tile>(g, a.geometry.groups);
    for (int i = thread; i < tile::m; i += tile::threads)
        windows[i] =
            pixel + i < g.pixels ? window_place_of(a, g.place_of_pixel(pixel + i), group) : no_window();
    ptx::sync_threads();

    // load
    constexpr int parts = mma_row_bytes / 32;  // an instruction multiplies 32 bytes of a row
    constexpr bool by_register = copied < 4;
    using loader_type = step_loader<tile, copied, In>;
    loader_type loader(g);
    const In* const filter = a.filters.data + output * a.filters.output_stride;
    In moved[by_register ? loader_type::windows + loader_type::filters : 1];
    const auto each = [&]<int count>(int part, int stage, auto function) {
        loader.template each<count, mma_row_bytes>(
            part, stage_at(stage), a, windows, filter, outputs,
            [&](int i, unsigned char* rows, int row, const In* from, bool is_there) {
                function(i, swizzled(rows, row, loader.column), from, is_there);
            });
    };
    const auto copy = [&](int stage) {
        each.template operator()<1>(0, stage, [&](int, unsigned char* to, const In* from, bool is_there) {
            if constexpr (!by_register) ptx::cp_async<copied>(to, from, is_there ? copied : 0);
        });
        loader.advance(g);
    };
    const auto load_part = [&](int part, int stage) {
        each.template operator()<parts>(part, stage,
                                        [&](int i, unsigned char*, const In* from, bool is_there) {
                                            moved[i] = is_there ? *from : In(0.0f);
                                        });
    };
    const auto store_part = [&](int part, int stage) {
        each.template operator()<parts>(part, stage, [&](int i, unsigned char* to, const In*, bool) {
            *reinterpret_cast<In*>(to) = moved[i];
        });
        if (part == parts - 1) loader.advance(g);
    };
#pragma unroll 1
    for (int stage = 0; stage < tile::stages - 1; ++stage) {
        if (stage < g.steps) {
            if constexpr (!by_register) copy(stage);
#pragma unroll
            for (int part = 0; by_register && part < parts; ++part)
                load_part(part, stage), store_part(part, stage);
        }
        ptx::cp_async_commit_group();
    }

    // compute
    constexpr int parts_m = tile::warp_m / 16, parts_n = tile::warp_n / 16;
    const int warp_row = warp / tile::warps_n * tile::warp_m, warp_col = warp % tile::warps_n * tile::warp_n;
    const int low = lane % 8, second = lane / 8 % 2, third = lane / 16;
    float sums[parts_m][2 * parts_n][4] = {};
    int stage = 0, next_stage = tile::stages - 1;
    for (int step = 0; step < g.steps; ++step) {
        ptx::cp_async_wait_group<tile::stages - 2>();
        // Now this step has arrived for all, and all are done with the stage that is overwritten next.
        ptx::sync_threads();
        const bool has_next = step + tile::stages - 1 < g.steps;
        if (!by_register && has_next) copy(next_stage);
        ptx::cp_async_commit_group();
        unsigned char* const rows = stage_at(stage);
#pragma unroll
        for (int part = 0; part < parts; ++part) {
            if (step + 1 == g.steps && part >= g.last_parts) break;
            // Single elements are loaded in parts while parts of this step are multiplied: registers hold one part.
            if (by_register && has_next) load_part(part, next_stage);
            // Lanes 8 i .. 8 i + 7 give the rows of matrix i. A's second matrix is 8 rows below, B's a packet further.
            unsigned as[parts_m][4], bs[parts_n][4];
#pragma unroll
            for (int i = 0; i < parts_m; ++i)
                load_fragment<In>(
                    as[i], swizzled(rows, warp_row + i * 16 + second * 8 + low, part * 32 + third * 16));
#pragma unroll
            for (int j = 0; j < parts_n; ++j)
                load_fragment<In>(bs[j], swizzled(rows, tile::m + warp_col + j * 16 + third * 8 + low,
                                                  part * 32 + second * 16));
#pragma unroll
            for (int i = 0; i < parts_m; ++i)
#pragma unroll
                for (int j = 0; j < 2 * parts_n; ++j)
                    multiply<In>(sums[i][j], as[i], bs[j / 2][j % 2 * 2], bs[j / 2][j % 2 * 2 + 1]);
            if (by_register && has_next) store_part(part, next_stage);
        }
        stage = stage + 1 == tile::stages ? 0 : stage + 1;
        next_stage = next_stage + 1 == tile::stages ? 0 : next_stage + 1;
    }

    // store
    ptx::sync_threads();  // all have read the last stage
    auto* const places = reinterpret_cast<output_place*>(storage);
    auto* const tile_sums = reinterpret_cast<float*>(stage_at(0));
    for (int i = thread; i < tile::m; i += tile::threads)
        places[i] = pixel + i < g.pixels ? place_in(a, g.place_of_pixel(pixel + i)) : output_place{-1, 0};
    put_sums<tile>(sums, tile_sums + warp_row * tile::sums_pitch + warp_col);
    ptx::sync_threads();
    if constexpr (!std::is_same_v<Activation, matmul_activation>)
        store_elements<tile>(a, g, tile_sums, pixel, output, outputs);
    else if (stores_packets)
        store_tile<tile, output_packet>(a, places, tile_sums, output, outputs);
    else
        store_tile<tile, 1>(a, places, tile_sums, output, outputs);
}

template <class tile, int copied, class In, class Out, class Activation>
void launch_mma_tile(const plan& plan, const arguments<In, Out, Activation>& a, cudaStream_t stream) {
    const step_geometry g(a);
    const auto bytes = [](int stages) {
        return static_cast<std::size_t>(tile::places_bytes +
                                        std::max(stages * tile::stage_bytes, tile::sums_bytes));
    };
    launch({.blocks = plan.blocks,
            .threads = {tile::threads},
            .shared_bytes = bytes(std::min(tile::stages, g.steps)),
            .shared_limit = bytes(tile::stages),
            .stream = stream},
           mma_sync<tile, copied, In, Out, Activation>, a, g, plan.stores_packets);
}

/// Launches the plan's row of these kernels, which copy `copied` bytes at once.
template <const auto& kernels, int copied, class In, class Out>
void launch_row_of(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    frame::with_row<kernels>(plan.kernel, [&]<std::size_t row>() {
        launch_mma_tile<mma_tile<kernels, row>, copied>(plan, a, stream);
    });
}

template <class In, class Out>
void launch_mma_sync(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    launch_row_of<mma_packet_kernels, 16>(plan, a, stream);
}
template <class In, class Out>
void launch_mma_sync_words(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    launch_row_of<mma_word_kernels, 4>(plan, a, stream);
}
template <class In, class Out>
void launch_mma_sync_elements(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    launch_row_of<mma_element_kernels, 2>(plan, a, stream);
}
/// Launches the one of these kernels that is compiled with a user's function.
template <class In, class Out, class Activation>
void launch_mma_sync_with_function(const plan& plan, const arguments<In, Out, Activation>& a,
                                   cudaStream_t stream) {
    launch_mma_tile<mma_tile<mma_element_kernels, 0>, 2>(plan, a, stream);
}

}  // namespace heddle::kernels::conv
