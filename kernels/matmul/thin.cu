// thin: C with a short side, or a short k: A is read once and C is written once, at the memory's rate.
//
//   a block:    256 rows of 8, 16 or 32 columns of C, or 128 of 64;  16 of k at a time, three stages
//   a thread:   2 or 4 rows, 32 apart, of 8 or 16 columns; warps side by side share rows
//   A's tile    lies as A does: along k, read four at a time, or along m;  B's: read by all lanes at once
//   C's tile    passes through shared memory, and is stored in packets or in whole lines, however C lies
//
// Tiles of pipelined are at least 64 wide, and skinny is made for few rows that all blocks share. Here a block has little to
// begin and to end, and several of them on a multiprocessor hide one another's loads and stores. Where C counts, its tile is
// fetched into L2 before the products. Needs a unit stride along one dimension of A and of B. What limits it: the memory; from
// 32 columns on FFMA comes close.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/prefetch.cuh"
#include "kernels/matmul/fragment.cuh"
#include "kernels/matmul/tile_loader.cuh"
#include "kernels/matmul/tile_split.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace heddle::kernels::matmul {
namespace {

template <int warps_m, int warps_n, int thread_m_, int thread_n_>
struct tile_config {
    static constexpr int thread_m = thread_m_;
    static constexpr int thread_n = thread_n_;
    static constexpr int warps_across = warps_n;
    static constexpr int warp_m = 32 * thread_m;
    static constexpr int threads = warps_m * warps_n * 32;
    static constexpr int m = warps_m * warp_m;
    static constexpr int n = warps_n * thread_n;
    static constexpr int k = 16;
    static constexpr int stages = 3;
    static constexpr int blocks_per_sm = 3;
    static constexpr int gap = 4;  ///< keeps packets of neighbouring lines in different banks
    static constexpr int b_stride = n + gap;
    static constexpr int b_size = k * b_stride;
    static constexpr int c_size = std::max(m * (n + gap), n* m);
};

using tile_of_8 = tile_config<4, 1, 2, 8>;
using tile_of_16 = tile_config<4, 1, 2, 16>;
using tile_of_32 = tile_config<2, 2, 4, 16>;
using tile_of_64 = tile_config<1, 4, 4, 16>;

/// A's tile in shared memory: lines along k, or along m.
template <class Tile, bool k_major>
struct a_tile {
    static constexpr int lines = k_major ? Tile::m : Tile::k;
    static constexpr int length = k_major ? Tile::k : Tile::m;
    static constexpr int stride = k_major ? Tile::k + Tile::gap : Tile::m;
    static constexpr int size = lines * stride;
};

/// How the lines of C's tile run in shared memory: as those of C in memory, along n or along m.
template <class Tile, bool along_n>
struct c_tile {
    static constexpr int lines = along_n ? Tile::m : Tile::n;
    static constexpr int length = along_n ? Tile::n : Tile::m;
    static constexpr int stride = along_n ? Tile::n + Tile::gap : Tile::m;
    /// Neighbours along n lie in each other's place: tile_split.cuh says why.
    static __device__ int place(int line, int at) { return line * stride + (along_n ? at ^ 1 : at); }
};

/// Lines of a matrix: `next` from one to the next. Elements of a line are neighbours.
struct lines_of {
    const float* data;
    std::int64_t next;
};

/// Starts the copies of `lines` lines of `length` elements, `width` at once. The elements beyond `lines_left` and `length_left`
/// become zero and are not read.
template <int lines, int length, int width, int line_stride, int stride, int threads>
__device__ void copy_async(float* to, lines_of from, std::int64_t lines_left, std::int64_t length_left) {
    constexpr int across = length / width;  ///< copies of a line
    constexpr int at_once = threads > across ? threads / across : 1;
    constexpr int parts = across > threads ? across / threads : 1;
    static_assert(lines % at_once == 0 && (at_once * across) % threads == 0 && (width == 1 || stride == 1));
    const int first = static_cast<int>(threadIdx.x) / across,
              at = static_cast<int>(threadIdx.x) % across * width;
    const auto lines_inside = static_cast<int>(min(std::int64_t{lines}, lines_left)) - first;
    const auto inside = static_cast<int>(min(std::int64_t{length}, length_left)) - at;
    const float* source = from.data + first * from.next + at;
    float* target = to + first * line_stride + at * stride;
#pragma unroll
    for (int line = 0; line < lines; line += at_once) {
#pragma unroll
        for (int part = 0; part < parts; ++part) {
            constexpr int step = threads * width;
            const int count = line < lines_inside ? max(0, min(width, inside - part * step)) : 0;
            ptx::cp_async<width* static_cast<int>(sizeof(float))>(
                target + line * line_stride + part * step * stride, source + part * step,
                count * static_cast<int>(sizeof(float)));
        }
        source += at_once * from.next;
    }
}

/// C, of one of the batch, and the lines that it is stored in.
struct output {
    matrix_view<float> c;
    bool along_n;
    bool in_packets;  ///< lines begin at multiples of 16 bytes
};

/// alpha times the sums, plus beta times C, become what the epilogue makes of them: four elements, so many rows and columns apart.
/// It is a call, as it is long.
__device__ __noinline__ packet finished(const epilogue<float>& e, packet values, std::int64_t row,
                                        std::int64_t col, int down, int across, int count) {
    float x[4] = {values[0], values[1], values[2], values[3]};
    apply_to_elements(e, x, [&](int i) {
        return element_place{row + i * down, col + i * across, i < count};
    });
    return {x[0], x[1], x[2], x[3]};
}

/// Stores C's tile, whose sums lie in shared memory. A thread stores four neighbours of a line at once, or, where addresses do
/// not allow that, one element of each of four lines, as all lanes of a warp store neighbours.
template <class Tile, bool along_n, bool in_packets>
__device__ void store_tile(const arguments& p, const matrix_view<float>& c, std::int64_t row,
                           std::int64_t col, const float* sums) {
    using tile = c_tile<Tile, along_n>;
    constexpr int across = in_packets ? tile::length / 4 : tile::length;
    constexpr int quarter = tile::lines / 4;
    constexpr int groups = Tile::m * Tile::n / 4 / Tile::threads, together = 4;  // these wait for C together
    static_assert(groups % together == 0);
    constexpr int line_step = in_packets ? 0 : quarter, step = in_packets ? 1 : 0;  // between a thread's four
    constexpr int down = along_n ? line_step : step, right = along_n ? step : line_step;
    const std::int64_t lines_left = along_n ? c.rows - row : c.cols - col;
    const std::int64_t length_left = along_n ? c.cols - col : c.rows - row;
    const std::int64_t next = down * c.row_stride + right * c.col_stride;
#pragma unroll 1
    for (int first = 0; first < groups; first += together) {
        packet old[together] = {};
        const auto each = [&](auto function) {
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const int index = static_cast<int>(threadIdx.x) + (first + i) * Tile::threads;
                const int line = index / across, at = index % across * (in_packets ? 4 : 1);
                const std::int64_t left =
                    in_packets ? (line < lines_left ? length_left - at : 0)
                               : (at < length_left ? (lines_left - line + quarter - 1) / quarter : 0);
                if (left <= 0) continue;
                const int below = along_n ? line : at, beside = along_n ? at : line;
                float* const to = c.data + (row + below) * c.row_stride + (col + beside) * c.col_stride;
                function(i, line, at, row + below, col + beside, to,
                         static_cast<int>(min(std::int64_t{4}, left)));
            }
        };
        if (p.beta != 0)
            each([&](int i, int, int, std::int64_t, std::int64_t, const float* from, int count) {
                if (in_packets && count == 4) {
                    old[i] = *reinterpret_cast<const packet*>(from);
                } else {
#pragma unroll
                    for (int e = 0; e < 4; ++e)
                        if (e < count) old[i][e] = from[e * next];
                }
            });
        each([&](int i, int line, int at, std::int64_t of_row, std::int64_t of_col, float* to, int count) {
            packet x;
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const float sum = sums[tile::place(line + e * line_step, at + e * step)];
                x[e] = p.beta == 0 ? p.alpha * sum : p.alpha * sum + p.beta * old[i][e];
            }
            if (!p.epilogue.is_identity) x = finished(p.epilogue, x, of_row, of_col, down, right, count);
            if (in_packets && count == 4) {
                *reinterpret_cast<packet*>(to) = x;
            } else {
#pragma unroll
                for (int e = 0; e < 4; ++e)
                    if (e < count) to[e * next] = x[e];
            }
        });
    }
}

/// Fetches C's tile into L2.
template <class Tile, bool along_n>
__device__ void prefetch_tile(const matrix_view<float>& c, std::int64_t row, std::int64_t col) {
    using tile = c_tile<Tile, along_n>;
    constexpr int sector = 8, across = tile::length / sector;
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < tile::lines * across; i += Tile::threads) {
        const std::int64_t line = i / across, at = i % across * sector;
        const std::int64_t r = row + (along_n ? line : at), s = col + (along_n ? at : line);
        if (r < c.rows && s < c.cols) ptx::prefetch_to_l2(&element(c, r, s));
    }
}

/// Adds `depth` products, a multiple of four, to a thread's sums.
template <class Tile, bool a_k_major>
__device__ void multiply_stage(float (&sums)[Tile::thread_m][Tile::thread_n], const float* a, const float* b,
                               int depth) {
    using of_a = a_tile<Tile, a_k_major>;
#pragma unroll 1
    for (int k = 0; k < depth; k += 4) {
        packet along_k[Tile::thread_m] = {};
        if constexpr (a_k_major)
#pragma unroll
            for (int i = 0; i < Tile::thread_m; ++i)
                along_k[i] = *reinterpret_cast<const packet*>(a + i * 32 * of_a::stride + k);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            float as[Tile::thread_m], bs[Tile::thread_n];
#pragma unroll
            for (int i = 0; i < Tile::thread_m; ++i)
                as[i] = a_k_major ? along_k[i][e] : a[(k + e) * of_a::stride + i * 32];
            load_fragment<1>(bs, b + (k + e) * Tile::b_stride, 0);
            multiply(sums, as, bs);
        }
    }
}

/// A is m x k, B is n x k.
template <class Tile, bool a_k_major, int width>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_sm)
    thin(const __grid_constant__ arguments p, bool b_k_major, bool along_n, bool in_packets) {
    using of_a = a_tile<Tile, a_k_major>;
    constexpr int stage_size = of_a::size + Tile::b_size;
    extern __shared__ float4 storage[];
    float* const shared = reinterpret_cast<float*>(storage);

    // locate
    const tile_position position = grouped<Tile>(p);
    const std::int64_t row = position.row * Tile::m, col = position.col * Tile::n, depth = p.a.cols;
    const float* const a = p.a.data + blockIdx.z * p.batch.a + row * p.a.row_stride;
    const float* const b = p.b.data + blockIdx.z * p.batch.b + col * p.b.col_stride;
    matrix_view<float> c = p.c;
    c.data += blockIdx.z * p.batch.c;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int warp_row = warp / Tile::warps_across * Tile::warp_m;
    const int warp_col = warp % Tile::warps_across * Tile::thread_n;
    if (p.beta != 0)
        along_n ? prefetch_tile<Tile, true>(c, row, col) : prefetch_tile<Tile, false>(c, row, col);

    // load
    const auto load = [&](std::int64_t first, int stage) {
        if (first < depth) {
            float* const to_a = shared + stage * stage_size;
            float* const to_b = to_a + of_a::size;
            const std::int64_t k_left = depth - first, m_left = c.rows - row, n_left = c.cols - col;
            copy_async<of_a::lines, of_a::length, width, of_a::stride, 1, Tile::threads>(
                to_a, {a + first * p.a.col_stride, a_k_major ? p.a.row_stride : p.a.col_stride},
                a_k_major ? m_left : k_left, a_k_major ? k_left : m_left);
            const float* const from_b = b + first * p.b.row_stride;
            if (b_k_major)
                copy_async<Tile::n, Tile::k, 1, 1, Tile::b_stride, Tile::threads>(
                    to_b, {from_b, p.b.col_stride}, n_left, k_left);
            else
                copy_async<Tile::k, Tile::n, 1, Tile::b_stride, 1, Tile::threads>(
                    to_b, {from_b, p.b.row_stride}, k_left, n_left);
        }
        ptx::cp_async_commit_group();
    };
#pragma unroll 1
    for (int stage = 0; stage < Tile::stages - 1; ++stage) load(stage * Tile::k, stage);

    // compute
    float sums[Tile::thread_m][Tile::thread_n] = {};
    const float* const from_a = shared + (warp_row + lane) * (a_k_major ? of_a::stride : 1);
    const float* const from_b = shared + of_a::size + warp_col;
    const bool has_columns = col + warp_col < c.cols;
    int stage = 0;
#pragma unroll 1
    for (std::int64_t first = 0; first < depth; first += Tile::k) {
        ptx::cp_async_wait_group<Tile::stages - 2>();
        __syncthreads();  // this stage has arrived for all, and all have read the one before
        load(first + (Tile::stages - 1) * Tile::k, stage == 0 ? Tile::stages - 1 : stage - 1);
        const auto left = static_cast<int>(min(std::int64_t{Tile::k}, depth - first));
        if (has_columns)
            multiply_stage<Tile, a_k_major>(sums, from_a + stage * stage_size, from_b + stage * stage_size,
                                            left);
        stage = stage + 1 == Tile::stages ? 0 : stage + 1;
    }

    // store
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Tile::thread_m; ++i)
#pragma unroll
        for (int j = 0; j < Tile::thread_n; j += 4) {
            const int down = warp_row + lane + 32 * i, across = warp_col + j;
            const packet four = {sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]};
            if (along_n)
                *reinterpret_cast<packet*>(shared + down * c_tile<Tile, true>::stride + across) =
                    swapped(four);
            else
#pragma unroll
                for (int e = 0; e < 4; ++e) shared[c_tile<Tile, false>::place(across + e, down)] = four[e];
        }
    __syncthreads();
    if (along_n)
        in_packets ? store_tile<Tile, true, true>(p, c, row, col, shared)
                   : store_tile<Tile, true, false>(p, c, row, col, shared);
    else
        in_packets ? store_tile<Tile, false, true>(p, c, row, col, shared)
                   : store_tile<Tile, false, false>(p, c, row, col, shared);
}

template <class Tile, bool a_k_major, int width>
void launch(const arguments& all, cudaStream_t stream) {
    constexpr int stage = a_tile<Tile, a_k_major>::size + Tile::b_size;
    constexpr auto bytes = [](std::int64_t stages) {
        return static_cast<std::size_t>(std::max(stages * stage, std::int64_t{Tile::c_size})) * sizeof(float);
    };
    const bool b_k_major = all.b.cols > 1 && all.b.col_stride != 1;
    const bool along_n = all.c.col_stride <= all.c.row_stride;
    const matrix_view<float> c = along_n ? all.c : transposed(all.c);
    const bool in_packets = c.col_stride == 1 && is_vector_aligned(c.data, c.rows, c.row_stride, all.batch.c);
    for_each_grid(
        all, {tile_count(all, Tile::m, Tile::n)}, [&](const launch_extents& grid, const arguments& p) {
            kernels::launch(
                {.blocks = grid,
                 .threads = {Tile::threads},
                 .shared_bytes = bytes(std::min<std::int64_t>(Tile::stages, divide_up(p.a.cols, Tile::k))),
                 .shared_limit = bytes(Tile::stages),
                 .stream = stream},
                thin<Tile, a_k_major, width>, p, b_k_major, along_n, in_packets);
        });
}

template <class Tile>
void launch_tile(const arguments& p, cudaStream_t stream) {
    const bool k_major = p.a.cols <= 1 || p.a.col_stride == 1;
    const matrix_view<const float> lines = k_major ? p.a : transposed(p.a);
    const bool is_aligned = is_vector_aligned(lines.data, lines.rows, lines.row_stride, p.batch.a);
    if (k_major)
        is_aligned ? launch<Tile, true, 4>(p, stream) : launch<Tile, true, 1>(p, stream);
    else
        is_aligned ? launch<Tile, false, 4>(p, stream) : launch<Tile, false, 1>(p, stream);
}

}  // namespace

void launch_thin(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    std::size_t index = 0;
    const auto launch_if_chosen = [&]<class Tile>() {
        const block_tile& shape = thin_tiles[index];
        if (index++ != plan.tile) return;
        if (shape.m != Tile::m || shape.n != Tile::n || shape.blocks_per_sm != Tile::blocks_per_sm)
            throw std::logic_error("matmul: a kernel is not of its plan's tile");
        launch_tile<Tile>(arguments, stream);
    };
    launch_if_chosen.template operator()<tile_of_64>();
    launch_if_chosen.template operator()<tile_of_32>();
    launch_if_chosen.template operator()<tile_of_16>();
    launch_if_chosen.template operator()<tile_of_8>();
}

}  // namespace heddle::kernels::matmul
