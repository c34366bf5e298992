// packed: for batches of small products, and for single products that are over as soon as they have begun.
//
//   a block:   4 warps;  a warp has a tile of 16 x 16 or 32 x 32
//   many tiles: each warp has a tile of its own, in the order of the batch
//   few tiles:  2 or 4 warps share a tile along k, and the first one adds up
//   a thread:  4 x 2 or 8 x 4 elements; its columns lie 8 apart
//   operands   come by cp.async, one element a copy, into rows along m and n;  k in one step if it fits, else in several
//
// The tile of another rung is mostly empty in a small product, and its pipeline is filled for few steps. Here a warp waits
// once for all of its operands, and the other blocks of a multiprocessor hide that. Lanes copy neighbours in memory, so
// operands may lie in any order, at any address and stride. The kernel has little code and needs no scratch memory. Needs
// at most 2^30 tiles. What limits it: memory, and the start of a kernel for single products.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/in_register.cuh"
#include "kernels/device/ptx/predicated.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/quick_division.cuh"
#include "kernels/matmul/fragment.cuh"

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

template <std::size_t row>
struct packed_tile {
    static constexpr packed_kernel config = packed_kernels[row];
    static constexpr int threads = packed_kernel::warps * 32;
    static constexpr int thread_m = config.thread_m, thread_n = config.thread_n;
    static constexpr int lanes_m = 4, lanes_n = 8;
    static constexpr int m = config.m(), n = config.n();
    static constexpr int a_stride = config.a_stride(), b_stride = config.b_stride();
    static constexpr int width = thread_n < 4 ? thread_n : 4;  ///< columns that a thread reads at once

    /// The place of a column of B's tile in a row of k: the columns that a thread reads at once lie side by side.
    static __device__ int place_of_column(int x) {
        constexpr int all = lanes_n * width;
        return x / all * all + x % lanes_n * width + x % all / lanes_n;
    }
};

/// How the warps take the tiles.
struct tile_packing {
    unsigned tiles;          ///< of the whole batch
    wide_division products;  ///< by the tiles of a product
    wide_division rows;      ///< by the tiles across C
    int slices;              ///< warps that share a tile along k: 1, 2 or 4
    int depth;               ///< along k of a step
    bool a_by_k, b_by_k;     ///< whether neighbours along k lie closest in memory
};

/// Where a tile lies. It is computed again where it is needed, so that it takes no registers during the products.
template <class Tile>
struct tile_place {
    std::int64_t batch, row, col;

    __device__ tile_place(const tile_packing& packing, unsigned index) {
        const unsigned product = packing.products.quotient(index);
        const unsigned tile = index - product * packing.products.divisor;
        const unsigned down = packing.rows.quotient(tile);
        batch = product;
        row = std::int64_t{down} * Tile::m;
        col = std::int64_t{tile - down * packing.rows.divisor} * Tile::n;
    }
};

/// Starts the copies of `lines` lines of `length` elements, which lie `step` apart; lines lie `next` apart. Up to 32 lanes,
/// a power of two, copy neighbours of a line. place(i, line) is where element i goes in shared memory.
template <class Place>
__device__ void start_copies(int thread, int threads, float* to, const float* from, int length, int lines,
                             std::int64_t step, std::int64_t next, Place place) {
    const int bits = min(5, 32 - __clz(length - 1)), lanes = 1 << bits;
    const int first = thread >> bits, more = threads >> bits;
#pragma unroll 1
    for (int i = thread & (lanes - 1); i < length; i += lanes) {
        const float* one = from + i * step + first * next;
#pragma unroll 4
        for (int line = first; line < lines; line += more, one += more * next)
            ptx::cp_async<4>(to + place(i, line), one, 4);
    }
}

/// Starts the copies of A and B for the step that begins at `first` along k, in the order in which each lies in memory.
template <class Tile>
__device__ void load_step(const arguments& p, const tile_packing& packing, const tile_place<Tile>& at,
                          std::int64_t first, int thread, int threads, float* shared) {
    const auto steps = static_cast<int>(min(std::int64_t{packing.depth}, p.a.cols - first));
    const auto start = [&](float* to, const float* from, bool by_k, std::int64_t left, std::int64_t step,
                           std::int64_t step_k, auto most, auto place) {
        const auto extent = static_cast<int>(min(std::int64_t{most}, left));
        by_k ? start_copies(thread, threads, to, from, steps, extent, step_k, step,
                            [&](int k, int x) { return place(x, k); })
             : start_copies(thread, threads, to, from, extent, steps, step, step_k, place);
    };
    const float* const a = p.a.data + at.batch * p.batch.a + at.row * p.a.row_stride + first * p.a.col_stride;
    const float* const b = p.b.data + at.batch * p.batch.b + at.col * p.b.col_stride + first * p.b.row_stride;
    start(shared, a, packing.a_by_k, p.c.rows - at.row, p.a.row_stride, p.a.col_stride, Tile::m,
          [](int x, int k) { return k * Tile::a_stride + x; });
    start(shared + packing.depth * Tile::a_stride, b, packing.b_by_k, p.c.cols - at.col, p.b.col_stride,
          p.b.row_stride, Tile::n,
          [](int x, int k) { return k * Tile::b_stride + Tile::place_of_column(x); });
    ptx::cp_async_commit_group();
}

/// Fetches a tile of C into L2. The eight lanes of a row each take thread_n neighbours, at most a sector.
template <class Tile>
__device__ void prefetch_sums(const arguments& p, const tile_place<Tile>& at, int lane_row, int lane_col) {
    const std::int64_t col = at.col + lane_col * Tile::thread_n;
#pragma unroll 1
    for (int i = 0; i < Tile::thread_m; ++i) {
        const std::int64_t row = at.row + lane_row + position<Tile::lanes_m>(0, i);
        if (row < p.c.rows && col < p.c.cols)
            ptx::prefetch_to_l2(&element(p.c, row, col) + at.batch * p.batch.c);
    }
}

/// Adds `depth` products to a thread's sums, one after another.
template <class Tile>
__device__ void multiply_step(float (&sums)[Tile::thread_m][Tile::thread_n], const float* a, const float* b,
                              int depth) {
    constexpr int unrolled = Tile::thread_m * Tile::thread_n > 16 ? 2 : 4;
#pragma unroll unrolled
    for (int k = 0; k < depth; ++k, a += Tile::a_stride, b += Tile::b_stride) {
        float as[Tile::thread_m], bs[Tile::thread_n];
        load_fragment<Tile::lanes_m>(as, a, 0);
#pragma unroll
        for (int j = 0; j < Tile::thread_n; j += Tile::width) {
            const auto read = *reinterpret_cast<const vector<float, Tile::width>*>(b + j * Tile::lanes_n);
#pragma unroll
            for (int e = 0; e < Tile::width; ++e) bs[j + e] = read[e];
        }
        multiply(sums, as, bs);
    }
}

/// Adds the sums of a tile's other slices, which pass through shared memory. Only slice 0 has the result. All threads of a
/// block call it, with their place among the threads of one slice.
template <class Tile>
__device__ void add_slices(float (&sums)[Tile::thread_m][Tile::thread_n], float* shared, int slice,
                           int slices, int thread) {
    constexpr int threads = 32, size = Tile::m * Tile::n;
    const auto each = [&](int part, auto function) {
#pragma unroll
        for (int i = 0; i < Tile::thread_m * Tile::thread_n; ++i)
            function(sums[i / Tile::thread_n][i % Tile::thread_n],
                     shared[part * size + i * threads + thread]);
    };
    ptx::sync_threads();  // all have read the last step's operands
    if (slice > 0) each(slice - 1, [](float sum, float& stored) { stored = sum; });
    ptx::sync_threads();
#pragma unroll 1
    for (int other = 1; slice == 0 && other < slices; ++other)
        each(other - 1, [](float& sum, float stored) { sum += stored; });
}

/// Stores a thread's sums where nothing is added to them and the rows of C are contiguous. The thread's first element is
/// the one at (row, col).
template <class Tile>
__device__ void store_sums(const arguments& p, const float (&sums)[Tile::thread_m][Tile::thread_n], float* c,
                           std::int64_t row, std::int64_t col) {
    const auto rows = static_cast<int>(min(std::int64_t{Tile::m}, p.c.rows - row));
    const auto cols = static_cast<int>(min(std::int64_t{Tile::n}, p.c.cols - col));
#pragma unroll
    for (int i = 0; i < Tile::thread_m; ++i) {
        const int down = position<Tile::lanes_m>(0, i);
        float* const to = c + down * p.c.row_stride;
#pragma unroll
        for (int j = 0; j < Tile::thread_n; ++j)
            ptx::store_if(down < rows && Tile::lanes_n * j < cols, to + Tile::lanes_n * j,
                          p.alpha * sums[i][j]);
    }
}

/// The same for any epilogue and any C, with one copy of the epilogue's code, for a few columns. The sums of the next
/// columns, and then of the next row, move to the front each time.
template <class Tile>
__device__ void finish_sums(const arguments& p, float (&sums)[Tile::thread_m][Tile::thread_n], float* c,
                            std::int64_t row, std::int64_t col) {
    constexpr int width = Tile::width, beside = Tile::lanes_n;
#pragma unroll 1
    for (int i = 0; i < Tile::thread_m; ++i) {
        const int down = position<Tile::lanes_m>(0, i);
        if (row + down >= p.c.rows) return;
#pragma unroll 1
        for (int first = 0; first < Tile::thread_n; first += width) {
            const auto place = [&](int j) {
                const std::int64_t at = col + beside * (first + j);
                return element_place{row + down, at, at < p.c.cols};
            };
            float* const to = c + down * p.c.row_stride + beside * first * p.c.col_stride;
            float x[width];
#pragma unroll
            for (int j = 0; j < width; ++j) {
                x[j] = p.alpha * sums[0][j];
                if (p.beta != 0 && place(j).is_inside) x[j] += p.beta * to[beside * j * p.c.col_stride];
            }
#pragma unroll
            for (int j = width; j < Tile::thread_n; ++j) sums[0][j - width] = sums[0][j];
            if (!p.epilogue.is_identity) apply_to_elements(p.epilogue, x, place);
#pragma unroll
            for (int j = 0; j < width; ++j)
                if (place(j).is_inside) to[beside * j * p.c.col_stride] = x[j];
        }
#pragma unroll
        for (int at = Tile::thread_n; at < Tile::thread_m * Tile::thread_n; ++at)
            sums[at / Tile::thread_n - 1][at % Tile::thread_n] =
                sums[at / Tile::thread_n][at % Tile::thread_n];
    }
}

template <class Tile>
__global__ void __launch_bounds__(Tile::threads, Tile::config.blocks_per_sm)
    packed_tiles(const __grid_constant__ arguments p, const __grid_constant__ tile_packing packing) {
    extern __shared__ float4 storage[];

    // locate
    const int slices = packing.slices, threads = slices * 32;  // threads of a tile
    const int thread = static_cast<int>(threadIdx.x) & (threads - 1),
              number = static_cast<int>(threadIdx.x) / threads;
    const auto of_block = static_cast<unsigned>(Tile::threads / threads);
    const unsigned index = blockIdx.x * of_block + static_cast<unsigned>(number);
    const bool has_tile = index < packing.tiles;
    const int lane = thread % 32, slice = thread / 32;
    const int lane_row = 4 * lane_of_four(lane), lane_col = lane_of_eight(lane);
    const int stages = p.a.cols > packing.depth ? 2 : 1,
              stage_size = packing.depth * (Tile::a_stride + Tile::b_stride);
    float* const shared = reinterpret_cast<float*>(storage) + number * stages * stage_size;
    if (has_tile && p.beta != 0) prefetch_sums<Tile>(p, tile_place<Tile>(packing, index), lane_row, lane_col);

    // compute, while the next step is loaded
    float sums[Tile::thread_m][Tile::thread_n] = {};
    int stage = 1;  // of the step before the first one, which loads it
#pragma unroll 1
    for (std::int64_t first = -packing.depth; first < p.a.cols; first += packing.depth, stage ^= 1) {
        if (first >= 0) {
            ptx::cp_async_wait_group<0>();
            ptx::sync_threads();  // this step has arrived for all, and all have read the one before
        }
        if (!has_tile) continue;
        if (const std::int64_t next = first + packing.depth; next < p.a.cols)
            load_step<Tile>(p, packing, tile_place<Tile>(packing, ptx::in_register(index)), next, thread,
                            threads, shared + (stage ^ 1) * stage_size);
        if (first < 0) continue;
        const auto steps = static_cast<int>(min(std::int64_t{packing.depth}, p.a.cols - first));
        const int share = (steps + slices - 1) / slices, begin = slice * share;
        const float* const from = shared + stage * stage_size;
        multiply_step<Tile>(
            sums, from + begin * Tile::a_stride + lane_row,
            from + packing.depth * Tile::a_stride + begin * Tile::b_stride + lane_col * Tile::width,
            min(share, steps - begin));
    }
    if (slices > 1)
        add_slices<Tile>(sums, reinterpret_cast<float*>(storage) + number * (slices - 1) * Tile::m * Tile::n,
                         slice, slices, lane);

    // store
    if (!has_tile || slice > 0) return;
    const tile_place<Tile> at(packing, ptx::in_register(index));
    const std::int64_t row = at.row + lane_row, col = at.col + lane_col;
    float* const c = p.c.data + at.batch * p.batch.c + row * p.c.row_stride + col * p.c.col_stride;
    if (p.c.col_stride == 1 && p.epilogue.is_identity && p.beta == 0)
        store_sums<Tile>(p, sums, c, row, col);
    else
        finish_sums<Tile>(p, sums, c, row, col);
}

template <class Tile>
void launch_tile(const plan& plan, const arguments& p, cudaStream_t stream) {
    const auto tiles = static_cast<std::uint32_t>(plan.down * plan.across);
    const auto across = static_cast<std::uint32_t>(plan.across),
               batches = static_cast<std::uint32_t>(plan.batches);
    const tile_packing packing{batches * tiles,
                               wide_division(tiles),
                               wide_division(across),
                               plan.slices,
                               Tile::config.depth(p.a.cols, plan.slices),
                               lies_by_rows(p.a),
                               !lies_by_rows(p.b)};
    kernels::launch(
        {.blocks = {plan.workers},
         .threads = {Tile::threads},
         .shared_bytes = static_cast<std::size_t>(Tile::config.shared_bytes(p.a.cols, plan.slices)),
         .stream = stream},
        packed_tiles<Tile>, p, packing);
}

}  // namespace

void launch_packed(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    frame::with_row<packed_kernels>(
        plan.kernel, [&]<std::size_t row>() { launch_tile<packed_tile<row>>(plan, arguments, stream); });
}

}  // namespace heddle::kernels::matmul
