// thin: for a C with a short side, or a short k: reads A once and writes C once, at the memory's rate.
//
//   a block:    256 rows of 8, 16 or 32 columns of C;  16 of k at a time, three stages
//   a thread:   2 rows of 8 or 16 columns, or 4 rows of half of the 32 columns; its rows are 32 apart
//   A's tile    lies like A: along k, where four are read at once, or along m;  B's: all lanes read the same
//   C's tile    passes through shared memory and is stored in packets, wherever C's lines begin
//
// The tiles of pipelined are at least 64 wide, and skinny is made for few rows that all blocks share. Here a block has a
// short beginning and end. Several blocks on a multiprocessor hide one another's loads and stores. If C is needed, its
// tile is prefetched into L2 before the products. Needs a unit stride along one dimension of A and of B. What limits it:
// memory; from 32 columns on, FFMA comes close.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/fragment.cuh"
#include "kernels/matmul/tile_lines.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

template <std::size_t row>
struct thin_tile {
    static constexpr thin_kernel config = thin_kernels[row];
    static constexpr int thread_m = config.thread_m;
    static constexpr int thread_n = config.thread_n;
    static constexpr int warps_across = config.warps_n;
    static constexpr int warp_m = 32 * thread_m;
    static constexpr int threads = config.warps_m * config.warps_n * 32;
    static constexpr int m = config.m();
    static constexpr int n = config.n();
    static constexpr int k = 16;
    static constexpr int stages = 3;
    static constexpr int blocks_per_sm = config.block().blocks_per_sm;
    static constexpr int gap = 4;  ///< puts packets of neighbouring lines into different banks
    static constexpr int b_stride = n + gap;
    static constexpr int b_size = k * b_stride;
    static constexpr int c_size = std::max(m * (n + gap), n* m);
};

/// A's tile in shared memory, in lines along k or along m.
template <class Tile, bool k_major>
struct a_tile {
    static constexpr int lines = k_major ? Tile::m : Tile::k;
    static constexpr int length = k_major ? Tile::k : Tile::m;
    static constexpr int stride = k_major ? Tile::k + Tile::gap : Tile::m;
    static constexpr int size = lines * stride;
};

/// C's tile in shared memory, in lines like those of C in memory, along n or along m.
template <class Tile, bool along_n>
struct c_tile {
    static constexpr int stride = along_n ? Tile::n + Tile::gap : Tile::m;
    /// Neighbours along n have swapped places; `swapped` (kernels/device/fragment.cuh) says why.
    static __device__ int place(int line, int at) { return line * stride + (along_n ? at ^ 1 : at); }
};

/// Copies of tiles of `lines` lines with `length` neighbours, `width` elements at once. In memory lines begin `next` apart.
template <int lines, int length, int width, int line_stride, int stride, int threads>
struct tile_copies {
    static constexpr int across = length / width;  ///< copies of a line
    static constexpr int at_once = threads > across ? threads / across : 1;
    static constexpr int parts = across > threads ? across / threads : 1;
    static_assert(lines % at_once == 0 && (at_once * across) % threads == 0 && (width == 1 || stride == 1));

    static __device__ int line() { return static_cast<int>(threadIdx.x) / across; }
    static __device__ int at() { return static_cast<int>(threadIdx.x) % across * width; }
    /// The offset in a tile of this thread's first copy.
    static __device__ std::int64_t first(std::int64_t next) { return line() * next + at(); }

    /// Starts the copies. Elements beyond `lines_left` or `length_left` become zero, unread; with is_full there are none.
    template <bool is_full>
    static __device__ void start(float* to, const float* from, std::int64_t next, std::int64_t lines_left,
                                 std::int64_t length_left) {
        const auto lines_inside = static_cast<int>(min(std::int64_t{lines}, lines_left)) - line();
        const auto inside = static_cast<int>(min(std::int64_t{length}, length_left)) - at();
        to += line() * line_stride + at() * stride;
#pragma unroll
        for (int down = 0; down < lines; down += at_once, from += at_once * next)
#pragma unroll
            for (int part = 0; part < parts; ++part) {
                constexpr int step = threads * width, bytes = static_cast<int>(sizeof(float));
                const int count = down < lines_inside ? max(0, min(width, inside - part * step)) : 0;
                ptx::cp_async<width * bytes>(to + down * line_stride + part * step * stride,
                                             from + part * step, (is_full ? width : count) * bytes);
            }
    }
};

/// Adds `depth` products, a multiple of four, to a thread's sums.
template <class Tile, bool a_k_major>
__device__ void multiply_stage(float (&sums)[Tile::thread_m][Tile::thread_n], const float* a, const float* b,
                               int depth) {
    using a_layout = a_tile<Tile, a_k_major>;
#pragma unroll 1
    for (int k = 0; k < depth; k += 4) {
        packet along_k[Tile::thread_m] = {};
        if constexpr (a_k_major)
#pragma unroll
            for (int i = 0; i < Tile::thread_m; ++i)
                along_k[i] = *reinterpret_cast<const packet*>(a + i * 32 * a_layout::stride + k);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            float as[Tile::thread_m], bs[Tile::thread_n];
#pragma unroll
            for (int i = 0; i < Tile::thread_m; ++i)
                as[i] = a_k_major ? along_k[i][e] : a[(k + e) * a_layout::stride + i * 32];
            load_fragment<1>(bs, b + (k + e) * Tile::b_stride, 0);
            multiply(sums, as, bs);
        }
    }
}

/// A is m x k, and B is n x k.
template <class Tile, bool a_k_major, int width>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_sm)
    thin(const __grid_constant__ arguments p, bool b_k_major, bool along_n, c_access of_c) {
    using a_layout = a_tile<Tile, a_k_major>;
    constexpr int stage_size = a_layout::size + Tile::b_size;
    extern __shared__ float4 storage[];
    float* const shared = reinterpret_cast<float*>(storage);

    // locate
    const tile_position position = grouped<Tile>(p);
    const std::int64_t row = position.row * Tile::m, col = position.col * Tile::n, depth = p.a.cols;
    const float* a = p.a.data + blockIdx.z * p.batch.a + row * p.a.row_stride;
    const float* b = p.b.data + blockIdx.z * p.batch.b + col * p.b.col_stride;
    matrix_view<float> c = p.c;
    c.data += blockIdx.z * p.batch.c;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int warp_row = warp / Tile::warps_across * Tile::warp_m;
    const int warp_col = warp % Tile::warps_across * Tile::thread_n;
    if (p.beta != 0)
        along_n ? prefetch_tile<Tile::threads, Tile::m, Tile::n, true>(c, row, col)
                : prefetch_tile<Tile::threads, Tile::n, Tile::m, false>(c, row, col);

    // load
    using a_copies =
        tile_copies<a_layout::lines, a_layout::length, width, a_layout::stride, 1, Tile::threads>;
    using b_rows = tile_copies<Tile::k, Tile::n, 1, Tile::b_stride, 1, Tile::threads>;
    using b_columns = tile_copies<Tile::n, Tile::k, 1, 1, Tile::b_stride, Tile::threads>;
    // A single line may have any stride, but even a copy of nothing must start at a multiple of its size.
    const bool has_lines = (a_k_major ? c.rows : depth) > 1;
    const std::int64_t next_a = has_lines ? (a_k_major ? p.a.row_stride : p.a.col_stride) : 0;
    const std::int64_t next_b = b_k_major ? p.b.col_stride : p.b.row_stride;
    const std::int64_t m_left = c.rows - row, n_left = c.cols - col;
    const bool is_inside = m_left >= Tile::m && n_left >= Tile::n;
    a += a_copies::first(next_a);
    b += b_k_major ? b_columns::first(next_b) : b_rows::first(next_b);
    const auto load = [&](std::int64_t first, int stage) {
        float* const to_a = shared + stage * stage_size;
        float* const to_b = to_a + a_layout::size;
        const std::int64_t k_left = depth - first;
        const auto start = [&]<bool is_full>() {
            a_copies::template start<is_full>(to_a, a, next_a, a_k_major ? m_left : k_left,
                                              a_k_major ? k_left : m_left);
            if (b_k_major)
                b_columns::template start<is_full>(to_b, b, next_b, n_left, k_left);
            else
                b_rows::template start<is_full>(to_b, b, next_b, k_left, n_left);
        };
        if (is_inside && k_left >= Tile::k)
            start.template operator()<true>();
        else if (k_left > 0)
            start.template operator()<false>();
        a += Tile::k * p.a.col_stride;
        b += Tile::k * p.b.row_stride;
        ptx::cp_async_commit_group();
    };
#pragma unroll 1
    for (int stage = 0; stage < Tile::stages - 1; ++stage) load(stage * Tile::k, stage);

    // compute
    float sums[Tile::thread_m][Tile::thread_n] = {};
    const float* const from_a = shared + (warp_row + lane) * (a_k_major ? a_layout::stride : 1);
    const float* const from_b = shared + a_layout::size + warp_col;
    const bool has_columns = col + warp_col < c.cols;
    int stage = 0;
#pragma unroll 1
    for (std::int64_t first = 0; first < depth; first += Tile::k) {
        ptx::cp_async_wait_group<Tile::stages - 2>();
        ptx::sync_threads();  // this stage has arrived for all, and all have read the previous one
        load(first + (Tile::stages - 1) * Tile::k, stage == 0 ? Tile::stages - 1 : stage - 1);
        const auto left = static_cast<int>(min(std::int64_t{Tile::k}, depth - first));
        if (has_columns)
            multiply_stage<Tile, a_k_major>(sums, from_a + stage * stage_size, from_b + stage * stage_size,
                                            left);
        stage = stage + 1 == Tile::stages ? 0 : stage + 1;
    }

    // store
    ptx::sync_threads();
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
    ptx::sync_threads();
    if (along_n)
        store_tile<Tile::threads, Tile::m, Tile::n, true>(p, c, row, col, of_c, [&](int line, int at) {
            return shared[c_tile<Tile, true>::place(line, at)];
        });
    else
        store_tile<Tile::threads, Tile::n, Tile::m, false>(p, c, row, col, of_c, [&](int line, int at) {
            return shared[c_tile<Tile, false>::place(line, at)];
        });
}

template <class Tile, bool a_k_major, int width>
void launch(const plan& plan, const arguments& all, cudaStream_t stream) {
    constexpr int stage = a_tile<Tile, a_k_major>::size + Tile::b_size;
    constexpr auto bytes = [](std::int64_t stages) {
        return static_cast<std::size_t>(std::max(stages * stage, std::int64_t{Tile::c_size})) * sizeof(float);
    };
    const bool b_k_major = all.b.cols > 1 && all.b.col_stride != 1;
    for_each_grid(
        all, {tile_count(all, Tile::m, Tile::n)}, [&](const launch_extents& grid, const arguments& p) {
            kernels::launch(
                {.blocks = grid,
                 .threads = {Tile::threads},
                 .shared_bytes = bytes(std::min<std::int64_t>(Tile::stages, divide_up(p.a.cols, Tile::k))),
                 .shared_limit = bytes(Tile::stages),
                 .stream = stream},
                thin<Tile, a_k_major, width>, p, b_k_major, lies_by_rows(all.c), plan.of_c);
        });
}

template <class Tile>
void launch_tile(const plan& plan, const arguments& p, cudaStream_t stream) {
    if (has_contiguous_rows(p.a))
        plan.in_packets ? launch<Tile, true, 4>(plan, p, stream) : launch<Tile, true, 1>(plan, p, stream);
    else
        plan.in_packets ? launch<Tile, false, 4>(plan, p, stream) : launch<Tile, false, 1>(plan, p, stream);
}

}  // namespace

void launch_thin(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    frame::with_row<thin_kernels>(
        plan.kernel, [&]<std::size_t row>() { launch_tile<thin_tile<row>>(plan, arguments, stream); });
}

}  // namespace heddle::kernels::matmul
