// vectorized, for rows: 16 bytes a load, four loads in flight a thread, and as many threads per row as pay.
//
//   row:  | e e e | p p p p | p p p p | ... | p p p p | e e |      p: packets of 16 aligned bytes
//
//   packets in a row         who reduces it
//   up to 32                 1 to 32 lanes, a packet each: 32 to 1 rows a warp                 (short_rows)
//   up to 64; of many 256    a warp, 2 to 8 packets a lane                                     (short_rows)
//   more                     a block of 64 to 512 threads, at least four packets a thread      (long_rows)
//   over 4096 of few rows    several blocks, which leave partials; the last combines them      (long_rows)
//
// Blocks share rows only where there are fewer rows than places on the device. The last block that draws a ticket
// combines the partials in the order of the blocks. So the same call gives the same bits, and there is one launch.
// A row's first packet begins at its first 16-byte boundary, and the first threads take the few elements outside the
// packets. So misaligned rows and any row stride run at full speed. It needs col_stride 1. The limit is DRAM, and
// the launch where x is small.

#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matrix_reduce/instantiate.hpp"
#include "kernels/matrix_reduce/last_block.cuh"
#include "kernels/matrix_reduce/row.cuh"
#include "kernels/matrix_reduce/tuning/generic.hpp"

#include <algorithm>
#include <bit>

namespace heddle::kernels::matrix_reduce {
namespace {

struct tile {
    static constexpr int unroll = 4;
    static constexpr int max_threads = many_threads;  ///< per block that takes a row
    static constexpr int min_threads = 64;
    static constexpr int short_threads = 128;
    static constexpr int blocks_per_sm = 4;
    static constexpr int packets = max_threads * unroll;
};

int power_of_two(std::int64_t at_least, int low, int high) {
    const auto clamped = static_cast<unsigned>(std::clamp<std::int64_t>(at_least, low, high));
    return static_cast<int>(std::bit_ceil(clamped));
}

bool are_short(std::int64_t rows, std::int64_t packets, const device_traits& device) {
    if (packets <= row_sharing::short_packets) return true;
    return packets <= row_sharing::middle_packets &&
           rows >= std::int64_t{device.sm_count} * row_sharing::many_rows_per_sm;
}

/// Lanes per row, so that each has a packet at most. Misaligned rows may have more edges than packets.
int lanes_of(std::int64_t size, std::int64_t packets, bool has_edges) {
    const std::int64_t edges = has_edges ? std::min<std::int64_t>(size, 8) : 0;
    return power_of_two(std::max(packets, edges), 1, warp_size);
}

struct grid {
    int threads;  ///< per block
    int sharers;  ///< blocks per row
};

grid grid_of(std::int64_t rows, std::int64_t packets, int max_threads, const device_traits& device,
             bool may_share) {
    const int threads = power_of_two(divide_up(packets, tile::unroll), tile::min_threads, max_threads);
    const std::int64_t places = std::int64_t{device.sm_count} * tile::blocks_per_sm;
    if (!may_share || packets <= row_sharing::lone_packets || rows >= places || rows == 0)
        return {threads, 1};
    const std::int64_t tiles = rows * divide_up(packets, tile::packets);
    const std::int64_t blocks = tiles <= places ? std::max<std::int64_t>(tiles, device.sm_count)
                                                : std::clamp(tiles / row_sharing::tiles_to_share, places,
                                                             places * row_sharing::waves);
    return {threads,
            static_cast<int>(std::min(divide_up(blocks, rows), divide_up(packets, tile::max_threads)))};
}

/// 2^shift lanes share a row. An SM has as many blocks as registers allow: 40 registers per thread for 16-bit types, 32
/// for float, 64 for large states. Blocks are small, so that the next ones take their places sooner.
template <class Operation, class T, class Result>
__global__ void __launch_bounds__(tile::short_threads, (Operation::threads < tile::max_threads ? 8
                                                        : sizeof(T) == 2                       ? 12
                                                                                               : 16))
    short_rows(matrix_view<const T> x, vector_view<Result> y, float divisor, int shift) {
    const int lanes = 1 << shift;
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const std::int64_t number =
        std::int64_t{blockIdx.x} * (tile::short_threads >> shift) + (threadIdx.x >> shift);
    const bool exists = number < x.rows;
    const packed_row<T, int> row(x.data + (exists ? number * x.row_stride : 0),
                                 exists ? static_cast<int>(x.cols) : 0);

    auto total = accumulate<Operation, tile::unroll>(row, lane, lanes);
    accumulate_edges<Operation>(total, row, lane, lanes);
    total = combine_lanes<Operation>(total, lanes);

    if (exists && lane == 0) y.data[number * y.stride] = Operation::template finish<Result>(total, divisor);
}

/// Thread 0 gets the combination of the states of all threads.
template <class Operation>
__device__ typename Operation::state combine_block(typename Operation::state value) {
    __shared__ typename Operation::state of_warp[tile::max_threads / warp_size];
    const int lane = static_cast<int>(threadIdx.x % warp_size);
    const int warps = static_cast<int>(blockDim.x / warp_size);

    value = combine_lanes<Operation>(value, warp_size);
    if (lane == 0) of_warp[threadIdx.x / warp_size] = value;
    ptx::sync_threads();
    if (threadIdx.x < warp_size) {
        value = lane < warps ? of_warp[lane] : Operation::identity();
        value = combine_lanes<Operation>(value, tile::max_threads / warp_size);
    }
    return value;
}

/// Block (i, s) takes share s of row i.
template <class Operation, class T, class Result>
__global__ void __launch_bounds__(Operation::threads, Operation::blocks_per_sm)
    long_rows(matrix_view<const T> x, vector_view<Result> y, float divisor,
              typename Operation::state* partials, unsigned* tickets) {
    const packed_row<T, std::int64_t> row(x.data + blockIdx.x * x.row_stride, x.cols);
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t first = blockIdx.y * blockDim.x + threadIdx.x;
    const int step = static_cast<int>(gridDim.y * blockDim.x);

    auto total = accumulate<Operation, tile::unroll>(row, first, step);
    if (blockIdx.y == 0) accumulate_edges<Operation>(total, row, thread, static_cast<int>(blockDim.x));
    total = combine_block<Operation>(total);

    if (gridDim.y == 1) {
        if (thread == 0) y.data[blockIdx.x * y.stride] = Operation::template finish<Result>(total, divisor);
        return;
    }

    const auto sharers = gridDim.y;
    const partials_left left = leave([&] {
        if (thread == 0) partials[blockIdx.x * sharers + blockIdx.y] = total;
    });
    if (!is_last_block(tickets, blockIdx.x, gridDim.x, sharers, left)) return;

    // A warp takes each of the rows of this ticket.
    const unsigned lane = threadIdx.x % warp_size;
    for (unsigned number = blockIdx.x % max_tickets + threadIdx.x / warp_size * max_tickets;
         number < gridDim.x; number += blockDim.x / warp_size * max_tickets) {
        auto value = Operation::identity();
#pragma unroll 4
        for (unsigned share = lane; share < sharers; share += warp_size)
            value = Operation{}(value, load_partial(&partials[number * sharers + share]));
        value = combine_lanes<Operation>(value, warp_size);
        if (lane == 0) y.data[number * y.stride] = Operation::template finish<Result>(value, divisor);
    }
}

}  // namespace

template <class Operation>
plan plan_vectorized_rows(const matrix_facts& problem, const device_traits& device) {
    const auto width = static_cast<std::int64_t>(max_vector_bytes / problem.element_bytes);
    const auto log2 = [](std::int64_t power) {
        return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(power))) - 1;
    };
    const std::int64_t packets = problem.cols / width;
    const auto accumulate_depth = [&](std::int64_t threads) {
        const std::int64_t edges = divide_up(std::min(problem.cols, 2 * (width - 1)), threads);
        return log2(width) + log2(tile::unroll) + packets / (threads * tile::unroll) + tile::unroll - 1 +
               edges;
    };
    if (are_short(problem.rows, packets, device)) {
        const bool has_edges = !problem.is_aligned || problem.cols % width != 0;
        const int lanes = lanes_of(problem.cols, packets, has_edges);
        const int fewest_lanes = lanes_of(problem.cols, packets, false);
        return {.blocks = divide_up(problem.rows, tile::short_threads / lanes),
                .threads = tile::short_threads,
                .lanes = lanes,
                .depth = accumulate_depth(fewest_lanes) + warp_reduce_depth};
    }

    const auto [threads, sharers] =
        grid_of(problem.rows, packets, Operation::threads, device, problem.has_scratch);
    const std::int64_t fewest_threads =
        grid_of(problem.rows, packets, few_threads, device, problem.has_scratch).threads;
    plan result{.blocks = problem.rows,
                .sharers = sharers,
                .threads = threads,
                .depth = accumulate_depth(fewest_threads * sharers) + 2 * warp_reduce_depth};
    if (sharers > 1) {
        result.partials = problem.rows * sharers;
        result.depth += divide_up(sharers, warp_size) + warp_reduce_depth;
    }
    return result;
}

template <class Operation, class T>
void launch_vectorized_rows(const plan& plan, const arguments<Operation, T>& arguments, cudaStream_t stream) {
    const auto& [x, y, divisor, tickets, partials] = arguments;
    const launch_config config{
        .blocks = {plan.blocks, plan.sharers}, .threads = {plan.threads}, .stream = stream};
    if (plan.lanes > 0)
        launch(config, short_rows<Operation, T, result_type<Operation, T>>, x, y, divisor,
               std::countr_zero(static_cast<unsigned>(plan.lanes)));
    else
        launch(config, long_rows<Operation, T, result_type<Operation, T>>, x, y, divisor,
               reinterpret_cast<typename Operation::state*>(partials), tickets);
}

HEDDLE_MATRIX_REDUCE_PLANS(plan_vectorized_rows)
HEDDLE_MATRIX_REDUCE_LAUNCHES(launch_vectorized_rows)

}  // namespace heddle::kernels::matrix_reduce
