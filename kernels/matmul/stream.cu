// stream: for a short k: all of k lies in shared memory, and the stores of C never wait for loads.
//
//   a block:    tiles of 128 x 32 to 128, or 32 x 128, from tile to tile down C, or across it; the other operand stays
//   a warp:     16 rows of 32 to 128 columns; a thread has 16 rows of 1 to 4 columns, 32 apart
//   A's tile    k rows of m, read by all lanes at once;  B's: k rows of n, by 16 bytes, the columns of a thread
//   C           goes from registers to memory: a warp stores 32 neighbours of a row at once, wherever the row begins
//
// With a short k, C has most of the bytes, and the time is that of its stores. thin and pipelined wait for k in steps and
// pass through barriers for each tile. Here a tile has one barrier, and the next tile is copied by cp.async while this one
// is computed and stored. Copies are of single elements, so that operands may lie in any order, at any address and stride.
// Products are added along k one after another. Needs a k of at most 64, for which two blocks fit a multiprocessor. What
// limits it: the stores of C, and from a k of about 32 on FFMA.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/in_register.cuh"
#include "kernels/device/ptx/predicated.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/fragment.cuh"
#include "kernels/matmul/tile_lines.cuh"

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

template <std::size_t row>
struct stream_tile {
    static constexpr stream_kernel config = stream_kernels[row];
    static constexpr int threads = config.warps_m * config.warps_n * 32;
    static constexpr int thread_m = stream_kernel::thread_m;
    static constexpr int thread_n = config.thread_n;
    static constexpr int m = config.m();
    static constexpr int n = config.n();
    static constexpr int warp_n = 32 * thread_n;
    static constexpr int a_stride = config.a_stride();
    static constexpr int b_stride = config.b_stride();

    /// The place of a column of B's tile in a row of k: the columns of a thread lie side by side.
    static __device__ int place_of_column(int x) {
        const int warp = x / warp_n, within = x % warp_n;
        return (warp * 32 + within % 32) * thread_n + within / 32;
    }
};

/// The tiles that blocks go through. Down C, B's tile stays, and A's moves; across C, it is the other way.
struct tile_march {
    bool goes_across;
    bool a_by_k, b_by_k;   ///< whether neighbours along k lie closest in memory
    int buffers;           ///< tiles of the moving operand in shared memory
    int staying;           ///< tiles of the operand that stays
    int moving;            ///< tiles of the other one, in each product
    std::int64_t batches;  ///< products that a block goes through
};

/// Starts the copies of a tile of `extent` along m or n and `depth` along k, from `from`. Elements along m or n lie
/// `step` apart, and along k `step_k`; those beyond `left` are not read. In shared memory, rows of k lie `stride` apart, and
/// place(i) is that of element i of a row.
template <int extent, int stride, int threads, class Place>
__device__ void start_copies(float* to, const float* from, std::int64_t step, std::int64_t step_k,
                             std::int64_t left, int depth, bool by_k, Place place) {
    const int thread = static_cast<int>(threadIdx.x);
    const auto inside = static_cast<int>(min(std::int64_t{extent}, left));
    if (by_k) {  // lanes along k, and then at the next of m or n
        int x = thread / depth, k = thread - x * depth;
        const int more = threads / depth, more_k = threads - more * depth;
        from += x * step + k * step_k;
        const std::int64_t jump = more * step + more_k * step_k, wrap = step - depth * step_k;
#pragma unroll 1
        while (x < inside) {
            ptx::cp_async<4>(to + k * stride + place(x), from, 4);
            x += more, k += more_k, from += jump;
            if (k >= depth) ++x, k -= depth, from += wrap;
        }
    } else {  // a warp copies a row of k, 32 neighbours at once
        const int x = thread % 32;
        int k = thread / 32;
        from += x * step + k * step_k;
        to += k * stride;
#pragma unroll 1
        for (; k < depth; k += threads / 32, from += threads / 32 * step_k, to += threads / 32 * stride) {
            const float* next = from;
#pragma unroll
            for (int i = 0; i < extent; i += 32, next += 32 * step)
                ptx::cp_async_if<4>(x + i < inside, to + place(x + i), next);
        }
    }
}

/// Adds the products along k to a thread's sums, one after another. Products go along one row and back along the next, as
/// in multiply() (kernels/device/fragment.cuh). The first begins at the last column: so few banks of registers conflict.
template <class Tile>
__device__ void multiply_tile(float (&sums)[Tile::thread_m][Tile::thread_n], const float* a, const float* b,
                              int depth) {
#pragma unroll 1
    for (int k = 0; k < depth; ++k, a += Tile::a_stride, b += Tile::b_stride) {
        float as[Tile::thread_m];
        load_fragment<1>(as, a, 0);
        const auto bs = *reinterpret_cast<const vector<float, Tile::thread_n>*>(b);
#pragma unroll
        for (int i = 0; i < Tile::thread_m; ++i)
#pragma unroll
            for (int step = 0; step < Tile::thread_n; ++step) {
                const int j = i % 2 == 0 ? Tile::thread_n - 1 - step : step;
                sums[i][j] += as[i] * bs[j];
            }
    }
}

/// Stores a thread's sums at (row, col) of C and in the columns 32, 64 and 96 after it, which lie side by side in memory.
template <class Tile>
__device__ void store_sums(const arguments& p, const float (&sums)[Tile::thread_m][Tile::thread_n], float* c,
                           std::int64_t row, std::int64_t col) {
    const auto rows = static_cast<int>(min(std::int64_t{Tile::thread_m}, p.c.rows - row));
    const auto cols = static_cast<int>(min(std::int64_t{Tile::warp_n}, p.c.cols - col));
#pragma unroll
    for (int i = 0; i < Tile::thread_m; ++i) {
        c = ptx::in_register(c);  // else each row's address is computed from the start
        if (i >= rows) return;
#pragma unroll
        for (int j = 0; j < Tile::thread_n; ++j)
            ptx::store_if(32 * j < cols, c + 32 * j, p.alpha * sums[i][j]);
        c += p.c.row_stride;
    }
}

/// The same where C is read, or the epilogue is short. Four rows of C are read before any of them is stored. Then the
/// sums of the next four move up.
template <class Tile>
__device__ void add_sums(const arguments& p, float (&sums)[Tile::thread_m][Tile::thread_n], float* c,
                         std::int64_t row, std::int64_t col) {
    constexpr int together = 4;
    const auto& e = p.epilogue;
    const auto cols = static_cast<int>(min(std::int64_t{Tile::warp_n}, p.c.cols - col));
    const std::int64_t end = min(row + Tile::thread_m, p.c.rows);
    float biases[Tile::thread_n]{};
    if (e.row_bias != nullptr)
#pragma unroll
        for (int j = 0; j < Tile::thread_n; ++j)
            if (32 * j < cols) biases[j] = e.row_bias[(col + 32 * j) * e.row_bias_stride];
#pragma unroll 1
    for (; row < end; row += together, c += together * p.c.row_stride) {
        float old[together][Tile::thread_n]{}, bias[together]{};
#pragma unroll
        for (int i = 0; i < together; ++i) {
            if (row + i >= end) continue;
            if (e.column_bias != nullptr) bias[i] = e.column_bias[(row + i) * e.column_bias_stride];
            if (p.beta != 0)
#pragma unroll
                for (int j = 0; j < Tile::thread_n; ++j)
                    if (32 * j < cols) old[i][j] = c[i * p.c.row_stride + 32 * j];
        }
#pragma unroll
        for (int i = 0; i < together; ++i)
#pragma unroll
            for (int j = 0; j < Tile::thread_n; ++j) {
                float x = p.alpha * sums[i][j];
                if (p.beta != 0) x += p.beta * old[i][j];
                if (!e.is_identity) {
                    if (e.row_bias != nullptr) x += biases[j];
                    if (e.column_bias != nullptr) x += bias[i];
                    x = frame::short_activation(e, x) * e.scale;
                }
                if (row + i < end && 32 * j < cols) c[i * p.c.row_stride + 32 * j] = x;
#pragma unroll
                for (int down = i + together; down < Tile::thread_m; down += together)
                    sums[down - together][j] = sums[down][j];
            }
    }
}

/// The same for any epilogue and any C, with one copy of the epilogue's code: the sums of the next row move up each time.
template <class Tile>
__device__ void finish_sums(const arguments& p, float (&sums)[Tile::thread_m][Tile::thread_n], float* c,
                            std::int64_t row, std::int64_t col) {
    const std::int64_t end = min(row + Tile::thread_m, p.c.rows);
#pragma unroll 1
    for (; row < end; ++row, c += p.c.row_stride) {
        const auto place = [&](int j) { return element_place{row, col + 32 * j, col + 32 * j < p.c.cols}; };
        float x[Tile::thread_n];
#pragma unroll
        for (int j = 0; j < Tile::thread_n; ++j) {
            x[j] = p.alpha * sums[0][j];
            if (p.beta != 0 && place(j).is_inside) x[j] += p.beta * c[32 * j * p.c.col_stride];
#pragma unroll
            for (int i = 1; i < Tile::thread_m; ++i) sums[i - 1][j] = sums[i][j];
        }
        if (!p.epilogue.is_identity) apply_to_elements(p.epilogue, x, place);
#pragma unroll
        for (int j = 0; j < Tile::thread_n; ++j)
            if (place(j).is_inside) c[32 * j * p.c.col_stride] = x[j];
    }
}

template <class Tile>
__global__ void __launch_bounds__(Tile::threads, Tile::config.blocks_per_sm)
    stream_tiles(const __grid_constant__ arguments p, const __grid_constant__ tile_march march) {
    constexpr int a_stride = Tile::a_stride, b_stride = Tile::b_stride;
    extern __shared__ float4 storage[];
    const auto depth = static_cast<int>(p.a.cols);
    float* const a_tiles = reinterpret_cast<float*>(storage);
    float* const b_tiles = a_tiles + (march.goes_across ? 1 : march.buffers) * depth * a_stride;
    const auto load_a = [&](std::int64_t batch, std::int64_t tile, int buffer) {
        const float* const from = p.a.data + batch * p.batch.a + tile * Tile::m * p.a.row_stride;
        start_copies<Tile::m, a_stride, Tile::threads>(
            a_tiles + buffer * depth * a_stride, from, p.a.row_stride, p.a.col_stride,
            p.a.rows - tile * Tile::m, depth, march.a_by_k, [](int x) { return x; });
    };
    const auto load_b = [&](std::int64_t batch, std::int64_t tile, int buffer) {
        const float* const from = p.b.data + batch * p.batch.b + tile * Tile::n * p.b.col_stride;
        start_copies<Tile::n, b_stride, Tile::threads>(
            b_tiles + buffer * depth * b_stride, from, p.b.col_stride, p.b.row_stride,
            p.b.cols - tile * Tile::n, depth, march.b_by_k, [](int x) { return Tile::place_of_column(x); });
    };

    // locate
    const int staying = static_cast<int>(blockIdx.x) % march.staying;
    const int first = static_cast<int>(blockIdx.x) / march.staying,
              workers = static_cast<int>(gridDim.x) / march.staying;
    const int more = workers % march.moving, more_batches = workers / march.moving;
    const std::int64_t end = blockIdx.z + march.batches;
    std::int64_t batch = blockIdx.z + first / march.moving;
    int tile = first % march.moving;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int warp_row = warp / Tile::config.warps_n * Tile::thread_m,
              warp_col = warp % Tile::config.warps_n * Tile::warp_n;
    const bool is_short = p.c.col_stride == 1 && frame::is_short(p.epilogue);
    const bool is_plain = p.c.col_stride == 1 && p.epilogue.is_identity && p.beta == 0;

    march.goes_across ? load_a(blockIdx.z, staying, 0) : load_b(blockIdx.z, staying, 0);
    march.goes_across ? load_b(batch, tile, 0) : load_a(batch, tile, 0);
    ptx::cp_async_commit_group();
#pragma unroll 1
    for (int buffer = 0; batch < end; buffer ^= 1) {
        const std::int64_t row = std::int64_t{march.goes_across ? staying : tile} * Tile::m;
        const std::int64_t col = std::int64_t{march.goes_across ? tile : staying} * Tile::n;
        matrix_view<float> c = p.c;
        c.data += batch * p.batch.c;

        // load the next tile, where all have read the one before this
        ptx::cp_async_wait_group<0>();
        ptx::sync_threads();
        batch += more_batches, tile += more;
        if (tile >= march.moving) ++batch, tile -= march.moving;
        if (batch < end) {
            march.goes_across ? load_b(batch, tile, buffer ^ 1) : load_a(batch, tile, buffer ^ 1);
            ptx::cp_async_commit_group();
        }
        if (p.beta != 0) prefetch_tile<Tile::threads, Tile::m, Tile::n, true>(c, row, col);

        // compute and store
        const float* const a = a_tiles + (march.goes_across ? 0 : buffer) * depth * a_stride + warp_row;
        const float* const b = b_tiles + (march.goes_across ? buffer : 0) * depth * b_stride +
                               Tile::place_of_column(warp_col + lane);
        const std::int64_t c_row = row + warp_row, c_col = col + warp_col + lane;
        if (c_row >= c.rows || col + warp_col >= c.cols) continue;
        float sums[Tile::thread_m][Tile::thread_n] = {};
        multiply_tile<Tile>(sums, a, b, depth);
        float* const to = c.data + c_row * c.row_stride + c_col * c.col_stride;
        if (is_plain)
            store_sums<Tile>(p, sums, to, c_row, c_col);
        else if (is_short)
            add_sums<Tile>(p, sums, to, c_row, c_col);
        else
            finish_sums<Tile>(p, sums, to, c_row, c_col);
    }
}

template <class Tile>
void launch_tile(const plan& plan, const arguments& all, cudaStream_t stream) {
    static_cast<void>(tile_count(all, Tile::m, Tile::n));  // throws if they are too many for an int
    const bool goes_across = plan.goes_across;
    const auto down = static_cast<int>(plan.down), across = static_cast<int>(plan.across);
    const tile_march march{goes_across,  lies_by_rows(all.a),         !lies_by_rows(all.b),
                           plan.buffers, goes_across ? down : across, goes_across ? across : down,
                           plan.batches};
    const int bytes = Tile::config.shared_bytes(static_cast<int>(all.a.cols), plan.buffers, goes_across);
    constexpr auto limit = static_cast<std::size_t>(Tile::config.most_shared_bytes());
    arguments together = all;
    if (plan.batches > 1) together.batch.count = 1;
    for_each_grid(together, {plan.workers}, [&](const launch_extents& grid, const arguments& p) {
        kernels::launch({.blocks = grid,
                         .threads = {Tile::threads},
                         .shared_bytes = static_cast<std::size_t>(bytes),
                         .shared_limit = limit,
                         .stream = stream},
                        stream_tiles<Tile>, p, march);
    });
}

}  // namespace

void launch_stream(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    frame::with_row<stream_kernels>(
        plan.kernel, [&]<std::size_t row>() { launch_tile<stream_tile<row>>(plan, arguments, stream); });
}

}  // namespace heddle::kernels::matmul
