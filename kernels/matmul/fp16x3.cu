// fp16x3: a float32 product as three products of half on the tensor cores, accurate to the sizes of rows and columns.
//
//   64 along k of a row of A or a column of B, times a power of two, so that the largest is in [2^14, 2^15)
//   x = x0 + x1, each what is left rounded to eleven bits; 2^-23 |x| at most is left out, or 2^-39 of the largest
//   a b = a0 b0 + (a0 b1 + a1 b0), and 2^-21 |a b| that is left out
//
//   split     | A: read once, pieces and powers written | B |
//   product                                                 | 64 along k: tensor cores | times the powers, to the total | ...
//
// half has three bits more than bfloat16, so two pieces do for three, and three products for six. What it lacks is range: an
// element is measured against the largest beside it. As that is of 64 along k and not of a whole row, a kernel before the
// product splits in one read and one write. The tensor cores cut sums off rather than round them, so the small products come
// first, while there is little to cut, and sums of 64 terms go to a total, by FMA, with both powers. The consumers take turns
// at the tensor cores, so that what one adds runs under the products of the other. Needs a workspace and compute capability
// 9.0. What limits it: power, and the 8 bytes an element that splitting moves.

#include "kernels/device/launch.hpp"
#include "kernels/device/pipeline.cuh"
#include "kernels/device/ptx/tensor_copy.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/tile_scheduler.hpp"
#include "kernels/device/turns.cuh"
#include "kernels/device/warpgroup_tile.cuh"
#include "kernels/matmul/launch.hpp"
#include "kernels/matmul/schedule.hpp"
#include "kernels/matmul/shared_sums.cuh"
#include "kernels/matmul/tensor_map.hpp"
#include "kernels/matmul/warpgroup_sums.cuh"
#include <heddle/types.hpp>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

constexpr int warp = 32;
constexpr int pieces = split_layout::pieces;

struct tile {
    static constexpr int m = fp16x3_tile.m;
    static constexpr int n = fp16x3_tile.n;
    static constexpr int k = step_k;
    static constexpr int consumer_m = 64;
    static constexpr int consumers = m / consumer_m;
    static constexpr int threads = (1 + consumers) * warpgroup_threads;
    static constexpr int stages = 5;  ///< of one piece of A and of B
    static constexpr int producer_registers = 40;
    static constexpr int consumer_registers = 232;
    static constexpr int sums = n / 2;  ///< of a thread
};

/// A or B with its rows as they are stored, along k or across it.
struct split_operand {
    matrix_view<const float> from;
    half* to;       ///< first pieces, then second ones
    float* powers;  ///< by which products are multiplied in the end
    split_layout layout;
    /// A's powers take 2^-14, B's the reverse: then none of them leaves float's range, nor a sum times A's, but where elements
    /// of A are beyond 2^118.
    float balance;
    unsigned blocks_across;
};

constexpr int run = 4;  ///< neighbours that a thread reads

/// Elements of row `row` from `col` on; zero where there is none.
__device__ float4 read_run(const matrix_view<const float>& m, std::int64_t row, std::int64_t col,
                           bool is_aligned) {
    const float* const at = m.data + row * m.row_stride + col * m.col_stride;
    if (row < m.rows && col + run <= m.cols && is_aligned) return __ldg(reinterpret_cast<const float4*>(at));
    const auto element = [&](int i) {
        return row < m.rows && col + i < m.cols ? __ldg(at + i * m.col_stride) : 0;
    };
    return {element(0), element(1), element(2), element(3)};
}

/// The larger of the magnitudes, of numbers.
__device__ float larger(float largest, float x) {
    return isfinite(x) ? fmaxf(largest, fabsf(x)) : largest;
}

/// Powers of two as floats have them: brings what is at most `largest` below 2^15, and the reverse.
struct power {
    float to_pieces;
    float back;

    __device__ explicit power(float largest) {
        constexpr int bias = 127, mantissa_bits = 23, wanted = 14,
                      most = 253;  // else `back` would be denormal
        const int exponent = __float_as_int(largest) >> mantissa_bits;
        const int biased = ::min(2 * bias + wanted - exponent, most);
        to_pieces = __int_as_float(biased << mantissa_bits);
        back = __int_as_float((2 * bias - biased) << mantissa_bits);
    }
};

__device__ void store_pieces(const split_operand& p, std::int64_t row, std::int64_t col, const float4& x,
                             const float (&scale)[run]) {
    if (row >= p.from.rows || col >= p.from.cols) return;
    const float scaled[run] = {x.x * scale[0], x.y * scale[1], x.z * scale[2], x.w * scale[3]};
    half2 to[pieces][run / 2];
#pragma unroll
    for (int i = 0; i < run; i += 2) {
        to[0][i / 2] = __floats2half2_rn(scaled[i], scaled[i + 1]);
        const float2 rounded = __half22float2(to[0][i / 2]);
        to[1][i / 2] = __floats2half2_rn(scaled[i] - rounded.x, scaled[i + 1] - rounded.y);
    }
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece)
        *reinterpret_cast<uint2*>(p.to + piece * p.layout.piece_stride + row * p.layout.stride + col) =
            *reinterpret_cast<const uint2*>(to[piece]);
}

constexpr int split_threads = 256;
constexpr int runs_along_k = step_k / run;

/// Rows run along k: sixteen threads have 64 of one. A block has 64 rows.
constexpr int rows_of_block = 64;
__global__ void __launch_bounds__(split_threads)
    split_along_k(const __grid_constant__ split_operand p, bool is_aligned) {
    constexpr int down = split_threads / runs_along_k, passes = rows_of_block / down;
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t k_block = blockIdx.x % p.blocks_across;
    const std::int64_t first =
        std::int64_t{blockIdx.x / p.blocks_across} * rows_of_block + thread / runs_along_k;
    const std::int64_t col = k_block * step_k + thread % runs_along_k * run;
    float4 x[passes];
#pragma unroll
    for (int i = 0; i < passes; ++i) x[i] = read_run(p.from, first + i * down, col, is_aligned);
#pragma unroll
    for (int i = 0; i < passes; ++i) {
        float largest = larger(larger(larger(larger(0, x[i].x), x[i].y), x[i].z), x[i].w);
#pragma unroll
        for (int offset = runs_along_k / 2; offset > 0; offset /= 2)
            largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, offset));
        const power scale(largest);
        const std::int64_t row = first + i * down;
        store_pieces(p, row, col, x[i], {scale.to_pieces, scale.to_pieces, scale.to_pieces, scale.to_pieces});
        if (thread % runs_along_k == 0 && row < p.layout.power_stride)
            p.powers[k_block * p.layout.power_stride + row] = scale.back * p.balance;
    }
}

/// Rows run across k. A block has 64 along k of 64 columns.
constexpr int cols_of_block = 64;
__global__ void __launch_bounds__(split_threads)
    split_across_k(const __grid_constant__ split_operand p, bool is_aligned) {
    constexpr int across = cols_of_block / run, down = split_threads / across, passes = step_k / down;
    constexpr int warps = split_threads / warp;
    __shared__ float4 of_warps[warps][across];
    const int thread = static_cast<int>(threadIdx.x), place = thread % across;
    const std::int64_t k_block = blockIdx.x / p.blocks_across;
    const std::int64_t first = k_block * step_k + thread / across;
    const std::int64_t col = std::int64_t{blockIdx.x % p.blocks_across} * cols_of_block + place * run;
    float4 x[passes];
#pragma unroll
    for (int i = 0; i < passes; ++i) x[i] = read_run(p.from, first + i * down, col, is_aligned);
    float4 largest{};
    const auto gather = [&](const float4& other) {
        largest = {larger(largest.x, other.x), larger(largest.y, other.y), larger(largest.z, other.z),
                   larger(largest.w, other.w)};
    };
#pragma unroll
    for (int i = 0; i < passes; ++i) gather(x[i]);
    static_assert(2 * across == warp);
    gather({__shfl_xor_sync(~0u, largest.x, across), __shfl_xor_sync(~0u, largest.y, across),
            __shfl_xor_sync(~0u, largest.z, across), __shfl_xor_sync(~0u, largest.w, across)});
    if (thread % warp < across) of_warps[thread / warp][place] = largest;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < warps; ++i) gather(of_warps[i][place]);
    const power scales[run] = {power(largest.x), power(largest.y), power(largest.z), power(largest.w)};
#pragma unroll
    for (int i = 0; i < passes; ++i)
        store_pieces(p, first + i * down, col, x[i],
                     {scales[0].to_pieces, scales[1].to_pieces, scales[2].to_pieces, scales[3].to_pieces});
    if (thread < across && col < p.layout.power_stride)
        *reinterpret_cast<float4*>(p.powers + k_block * p.layout.power_stride + col) = {
            scales[0].back * p.balance, scales[1].back * p.balance, scales[2].back * p.balance,
            scales[3].back * p.balance};
}

struct half_product {
    CUtensorMap a{};
    CUtensorMap b{};
    CUtensorMap a_powers{};
    CUtensorMap b_powers{};
    result<float> c;
};

template <bool a_k_major, bool b_k_major>
struct fp16x3_kernel {
    using a_tile = warpgroup_tile<half, tile::m, a_k_major>;
    using b_tile = warpgroup_tile<half, tile::n, b_k_major>;
    static_assert(a_tile::depth == tile::k);

    struct shared_storage {
        unsigned char a[tile::stages][a_tile::bytes];
        unsigned char b[tile::stages][b_tile::bytes];
        float a_powers[tile::stages][tile::m];  ///< beside the first pieces
        float b_powers[tile::stages][tile::n];
        stage_barriers<tile::stages> barriers;
        bool flags[tile::consumers];
    };

    const half_product& p;
    const tile_schedule& schedule;
    const shared_sums& partial;
    shared_storage& shared;
    int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
    int consumer = static_cast<int>(threadIdx.x) / warpgroup_threads - 1;
    stage_position<tile::stages> at{};

    /// By one thread.
    __device__ void produce() {
        tile_worker tiles(schedule, static_cast<int>(blockIdx.x));
        for (tile_work work{}; tiles.next(work);)
#pragma unroll 1
            for (int step = work.first; step < work.last; ++step)
#pragma unroll 1
                for (int piece = 0; piece < pieces; ++piece, at.advance())
                    load(work.row * tile::m, work.col * tile::n, step, piece);
    }

    __device__ void load(int row, int col, int step, int piece) {
        const int stage = at.stage;
        ptx::mbarrier* const full = &shared.barriers.full[stage];
        ptx::wait(&shared.barriers.empty[stage], at.parity ^ 1);
        constexpr int a_power_bytes = sizeof(shared.a_powers[0]), b_power_bytes = sizeof(shared.b_powers[0]);
        const bool has_powers = piece == 0;
        ptx::arrive_and_expect(
            full, a_tile::bytes + b_tile::bytes + (has_powers ? a_power_bytes + b_power_bytes : 0));
        a_tile::template load<1>(shared.a[stage], p.a, row, step * tile::k, piece, 0, full);
        b_tile::template load<1>(shared.b[stage], p.b, col, step * tile::k, piece, 0, full);
        if (!has_powers) return;
        ptx::load_box(shared.a_powers[stage], p.a_powers, row, step, 0, full);
        ptx::load_box(shared.b_powers[stage], p.b_powers, col, step, 0, full);
    }

    __device__ void release(int stage) {
        __syncwarp();
        if (thread % warp == 0) ptx::arrive(&shared.barriers.empty[stage]);
    }

    /// Of the tile (wgmma.cuh).
    __device__ int row_of_thread() const {
        return consumer * tile::consumer_m + thread / warp * 16 + thread % warp / 4;
    }
    __device__ int col_of_thread() const {
        return thread % 4 * 2;
    }

    /// Adds 64 along k to the total of this thread's rows and columns.
    __device__ void add_step(const turns& turn, float (&total)[tile::sums]) {
        float sums[tile::sums];
        const int first = at.stage;
        ptx::wait(&shared.barriers.full[first], at.parity);
        at.advance();
        const int second = at.stage;
        ptx::wait(&shared.barriers.full[second], at.parity);
        const auto multiply = [&](int a_stage, int b_stage, bool accumulate) {
            const std::uint64_t a = a_tile::descriptor(shared.a[a_stage], consumer * tile::consumer_m);
            const std::uint64_t b = b_tile::descriptor(shared.b[b_stage], 0);
#pragma unroll
            for (int i = 0; i < tile::k / a_tile::step; ++i)
                ptx::wgmma<half, tile::n, a_k_major, b_k_major>(sums, a + i * a_tile::advance,
                                                                b + i * b_tile::advance, accumulate || i > 0);
        };
        turn.wait();
        ptx::wgmma_fence();
        multiply(first, second, false);
        multiply(second, first, true);
        multiply(first, first, true);
        ptx::wgmma_commit();
        turn.pass();
        ptx::wgmma_wait<0>();
        ptx::wgmma_results(sums);
        release(second);
        const float* const of_a = shared.a_powers[first] + row_of_thread();
        const float* const of_b = shared.b_powers[first] + col_of_thread();
        const float a_powers[2] = {of_a[0], of_a[8]};
#pragma unroll
        for (int j = 0; j < tile::n / 8; ++j) {
            const float2 b_powers = *reinterpret_cast<const float2*>(of_b + 8 * j);
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int i = 4 * j + 2 * half;
                total[i] = fmaf(sums[i] * a_powers[half], b_powers.x, total[i]);
                total[i + 1] = fmaf(sums[i + 1] * a_powers[half], b_powers.y, total[i + 1]);
            }
        }
        release(first);
        at.advance();
    }

    __device__ bool combine(int shared_tile, float (&total)[tile::sums]) const {
        const sum_exchange<tile::n> exchange(schedule, partial, static_cast<int>(blockIdx.x), tile::consumers,
                                             consumer, 1 + consumer, shared.flags[consumer]);
        return exchange.combine(shared_tile, total);
    }

    __device__ void consume() {
        tile_worker tiles(schedule, static_cast<int>(blockIdx.x));
        const turns turn(1 + tile::consumers, consumer);
        for (tile_work work{}; tiles.next(work);) {
            float total[tile::sums] = {};
            for (int step = work.first; step < work.last; ++step) add_step(turn, total);
            if (work.tile < 0 || combine(work.tile, total))
                store<tile::n>(p.c, work.row * tile::m + row_of_thread(),
                               work.col * tile::n + col_of_thread(), total);
        }
        turn.end();
    }
};

template <bool a_k_major, bool b_k_major>
__global__ void __launch_bounds__(tile::threads, 1)
    fp16x3(const __grid_constant__ half_product p, const __grid_constant__ tile_schedule schedule,
           const __grid_constant__ shared_sums partial) {
    using kernel = fp16x3_kernel<a_k_major, b_k_major>;
    extern __shared__ __align__(1024) unsigned char bytes[];
    auto& shared = *reinterpret_cast<typename kernel::shared_storage*>(bytes);
    if (threadIdx.x == 0) shared.barriers.init(1, tile::consumers * warpgroup_threads / warp);
    __syncthreads();
    kernel self{p, schedule, partial, shared};
    if (threadIdx.x < warpgroup_threads) {
        ptx::release_registers<tile::producer_registers>();
        if (threadIdx.x == 0) self.produce();
    } else {
        ptx::claim_registers<tile::consumer_registers>();
        self.consume();
    }
}

template <bool a_k_major, bool b_k_major>
void launch(half_product p, const split_operand& a, const split_operand& b, const tile_schedule& schedule,
            const shared_sums& partial, cudaStream_t stream) {
    using kernel = fp16x3_kernel<a_k_major, b_k_major>;
    const auto map_of = [](const split_operand& operand, int box_rows) {
        const matrix_view<const half> first{operand.to, operand.from.rows, operand.from.cols,
                                            operand.layout.stride};
        return make_tensor_map(first, box_rows, kernel::a_tile::row, pieces, operand.layout.piece_stride);
    };
    p.a = map_of(a, kernel::a_tile::box_rows);
    p.b = map_of(b, kernel::b_tile::box_rows);
    kernels::launch({.blocks = {schedule.workers},
                     .threads = {tile::threads},
                     .shared_bytes = sizeof(typename kernel::shared_storage),
                     .shared_limit = sizeof(typename kernel::shared_storage),
                     .stream = stream},
                    fp16x3<a_k_major, b_k_major>, p, schedule, partial);
}

/// What it takes of the workspace is behind `free` then.
split_operand split(const matrix_view<const float>& from, bool along_k, int tile_extent, float balance,
                    std::byte*& free, cudaStream_t stream) {
    const std::int64_t extent = along_k ? from.rows : from.cols, k = along_k ? from.cols : from.rows;
    const split_layout layout = lay_out_split(extent, tile_extent, k, along_k);
    half* const to = reinterpret_cast<half*>(free);
    free += layout.bytes;
    const std::int64_t k_blocks = divide_up(k, step_k);
    const std::int64_t blocks = divide_up(layout.power_stride, along_k ? rows_of_block : cols_of_block);
    const split_operand p{from,   to,      reinterpret_cast<float*>(to + pieces * layout.piece_stride),
                          layout, balance, static_cast<unsigned>(along_k ? k_blocks : blocks)};
    const auto kernel = along_k ? split_along_k : split_across_k;
    kernels::launch({.blocks = {k_blocks * blocks}, .threads = {split_threads}, .stream = stream}, kernel, p,
                    has_tensor_rows(from));
    return p;
}

}  // namespace

void launch_fp16x3(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    const matrix_view<const float>&a = arguments.a, &b = arguments.b;
    const std::int64_t k = a.cols;
    const tile_schedule schedule = schedule_of(plan);
    const bool a_k_major = is_split_by_rows(a), b_k_major = !is_split_by_rows(b);
    std::byte* free = arguments.workspace + workspace_ticket_bytes + plan.sums_bytes;
    constexpr float balance = 0x1p-14F;
    const split_operand of_a =
        split(a_k_major ? a : transposed(a), a_k_major, tile::m, balance, free, stream);
    const split_operand of_b =
        split(b_k_major ? transposed(b) : b, b_k_major, tile::n, 1 / balance, free, stream);
    const auto map_of_powers = [k](const split_operand& operand, int tile_extent) {
        const matrix_view<const float> powers{operand.powers, divide_up(k, step_k),
                                              operand.layout.power_stride};
        return make_tensor_map(powers, 1, tile_extent);
    };
    const half_product p{.a_powers = map_of_powers(of_a, tile::m),
                         .b_powers = map_of_powers(of_b, tile::n),
                         .c = make_result(arguments)};
    const shared_sums partial = shared_sums_in(arguments.workspace);
    if (a_k_major)
        b_k_major ? launch<true, true>(p, of_a, of_b, schedule, partial, stream)
                  : launch<true, false>(p, of_a, of_b, schedule, partial, stream);
    else
        b_k_major ? launch<false, true>(p, of_a, of_b, schedule, partial, stream)
                  : launch<false, false>(p, of_a, of_b, schedule, partial, stream);
}

}  // namespace heddle::kernels::matmul
