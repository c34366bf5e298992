// vectorized, for columns: 16 bytes a load, across columns; a block takes a strip of them and a range of rows.
//
//              strip 0                        strip 1
//              lane 0 .. lane 31
//   range 0    p p p p ... p p p   warp 0     p p p p ...      p: a packet of 16 bytes, of 4 or 8 columns
//              p p p p ... p p p   warp 1                      (a warp takes several rows of few columns)
//   range 1    p p p p ... p p p   warp 0
//
// Here "row" is a row in memory: what launch.hpp calls a row of x is a column here. A thread keeps one state for each
// column of its packet. It walks down the rows with eight loads in flight: four of packets of 16-bit types, whose eight columns
// need the registers, and sixteen of single elements of these. Shuffles combine the lanes of one column, and shared memory the
// warps. Ranges leave one partial per column. The last block that draws a ticket combines them in the order of the ranges, in
// the same launch. Packets need columns at 16-byte boundaries in every row; else a thread takes one column. A last packet that
// is not full is read element by element, so nothing outside the matrix is read. It takes any strides. Where neither is 1
// but neighbours lie in a column, a block takes few columns, or one that is long, and its threads lie along them. The limit is
// DRAM.

#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/matrix_reduce/instantiate.hpp"
#include "kernels/matrix_reduce/last_block.cuh"
#include "kernels/matrix_reduce/operations.cuh"

#include <algorithm>
#include <bit>

namespace heddle::kernels::matrix_reduce {
namespace {

struct tile {
    static constexpr int min_threads = 64;
    static constexpr int blocks_per_sm = 2;  ///< 64 registers per thread, 128 for large states
    /// Loads in flight per thread, of packets of `width` elements.
    __host__ __device__ static constexpr int unroll(int width, std::int64_t element_bytes) {
        return width > 4 ? 4 : width * element_bytes > 2 ? 8 : 16;
    }
};

int power_of_two(std::int64_t at_least, int low, int high) {
    const auto clamped = static_cast<unsigned>(std::clamp<std::int64_t>(at_least, low, high));
    return static_cast<int>(std::bit_ceil(clamped));
}

/// Cuts columns into strips and ranges of rows. A block takes one range of a strip.
plan cut(const matrix_facts& of, int width, int max_threads, const device_traits& device) {
    const int unroll = tile::unroll(width, of.element_bytes);
    const std::int64_t rows = of.cols, across = divide_up(of.rows, width);
    const std::int64_t high = std::min<std::int64_t>(divide_up(rows, unroll), max_threads);
    // Where neighbours lie in a column, a block has as few columns as fill it.
    const bool lies_along = of.row_stride != 1 && of.col_stride <= of.row_stride;
    const std::int64_t most = lies_along ? few_threads / power_of_two(high, 1, few_threads) : warp_size;
    const int lanes = power_of_two(std::min(across, most), 1, warp_size);
    const std::int64_t strips = divide_up(across, lanes);
    const int threads = power_of_two(high * lanes, tile::min_threads, max_threads);

    const std::int64_t rows_at_once = threads / lanes;
    const std::int64_t tiles = divide_up(rows, rows_at_once * unroll);
    const std::int64_t places = of.has_scratch ? std::int64_t{device.sm_count} * tile::blocks_per_sm : 0;
    const std::int64_t wanted = std::clamp<std::int64_t>(places / std::max<std::int64_t>(strips, 1), 1,
                                                         std::max<std::int64_t>(tiles, 1));
    const std::int64_t range =
        std::max<std::int64_t>(1, divide_up(divide_up(rows, wanted), rows_at_once)) * rows_at_once;
    const std::int64_t ranges = std::max<std::int64_t>(1, divide_up(rows, range));
    return {.blocks = strips,
            .sharers = ranges,
            .threads = threads,
            .lanes = lanes,
            .width = width,
            .range = range,
            .partials = ranges == 1 ? 0 : ranges * strips * lanes * width};
}

/// The number of combinations from one of `rows` elements to the result.
std::int64_t depth_of(const plan& cut, std::int64_t rows, std::int64_t element_bytes) {
    const auto log2 = [](std::int64_t power) {
        return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(power))) - 1;
    };
    const int unroll = tile::unroll(cut.width, element_bytes);
    const std::int64_t rows_of_thread = divide_up(std::min(cut.range, rows), cut.threads / cut.lanes);
    const std::int64_t parts = std::max<std::int64_t>(1, cut.threads / (cut.lanes * cut.width));
    const std::int64_t warps = cut.threads / warp_size;
    std::int64_t depth = log2(unroll) + rows_of_thread / unroll + unroll - 1 + log2(warp_size / cut.lanes);
    depth += divide_up(warps, parts) + log2(parts);
    if (cut.sharers > 1) depth += divide_up(cut.sharers, parts) + log2(parts);
    return depth;
}

/// Adds `count` rows to the totals of one packet's columns. The first row has number `row` and lies at `data`. The others
/// follow `step` rows apart, which is `stride` elements.
template <class Operation, int unroll, class T, int width, class Load>
__device__ void accumulate(typename Operation::state (&totals)[width], const T* data, std::int64_t stride,
                           int count, std::int64_t row, int step, Load load) {
    using packet = vector<T, width>;
    for (; count >= unroll; count -= unroll) {
        packet loaded[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u) loaded[u] = load(data + u * stride);
#pragma unroll
        for (int e = 0; e < width; ++e) {
            float values[unroll];
#pragma unroll
            for (int u = 0; u < unroll; ++u) values[u] = static_cast<float>(loaded[u][e]);
            totals[e] = Operation{}(totals[e], Operation::of(values, row, step));
        }
        data += unroll * stride;
        row += unroll * step;
    }

    packet loaded[unroll - 1];
#pragma unroll
    for (int u = 0; u < unroll - 1; ++u)
        if (u < count) loaded[u] = load(data + u * stride);
#pragma unroll
    for (int u = 0; u < unroll - 1; ++u)
        if (u < count)
#pragma unroll
            for (int e = 0; e < width; ++e) {
                const float value[1] = {static_cast<float>(loaded[u][e])};
                totals[e] = Operation{}(totals[e], Operation::of(value, row + u * step, 1));
            }
}

/// For each column c of a strip, combines the states read(0, c), ..., read(count - 1, c), and write(c, state) stores the
/// result. The order depends on the numbers alone. All threads of the block call this. `slots` has room for a state per
/// thread, and read() may read from it. `batch` reads are under way at a time.
template <class Operation, int batch, class Read, class Write>
__device__ void combine_columns(typename Operation::state* slots, int columns, int count, Read read,
                                Write write) {
    const int threads = static_cast<int>(blockDim.x);
    const int thread = static_cast<int>(threadIdx.x);
    const auto combine = [&](int column, int first, int step) {
        auto value = Operation::identity();
        for (int k = first; k < count; k += batch * step) {
            typename Operation::state loaded[batch];
#pragma unroll
            for (int u = 0; u < batch; ++u)
                if (k + u * step < count) loaded[u] = read(k + u * step, column);
#pragma unroll
            for (int u = 0; u < batch; ++u)
                if (k + u * step < count) value = Operation{}(value, loaded[u]);
        }
        return value;
    };
    if (columns >= threads) {
        for (int column = thread; column < columns; column += threads) write(column, combine(column, 0, 1));
        return;
    }

    // Several threads take a column, then a tree combines them.
    const int column = thread & (columns - 1);
    auto value = combine(column, static_cast<int>(threadIdx.x / columns), threads / columns);
    ptx::sync_threads();
    slots[thread] = value;
    for (int half = threads / 2; half >= columns; half /= 2) {
        ptx::sync_threads();
        if (thread < half) {
            value = Operation{}(value, slots[thread + half]);
            slots[thread] = value;
        }
    }
    if (thread < columns) write(column, value);
}

/// Block (i, r) takes strip i of the rows of range r, with 2^shift lanes side by side. Columns are x's rows.
template <class Operation, int width, class T, class Result>
__global__ void __launch_bounds__(Operation::threads, tile::blocks_per_sm)
    columns(matrix_view<const T> x, vector_view<Result> y, float divisor, int shift, std::int64_t range,
            typename Operation::state* partials, unsigned* tickets) {
    using state = typename Operation::state;
    constexpr int unroll = tile::unroll(width, sizeof(T));
    __shared__ state slots[Operation::threads * width];

    const int lanes = 1 << shift;
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const int strip_columns = lanes * width;
    const std::int64_t first = (std::int64_t{blockIdx.x} * lanes + lane) * width;
    const int valid = static_cast<int>(::min(std::int64_t{width}, x.rows - first));
    const int step = static_cast<int>(blockDim.x >> shift);  // a power of two, as threads and lanes are
    const std::int64_t row = std::int64_t{blockIdx.y} * range + (threadIdx.x >> shift);
    const std::int64_t end = ::min((std::int64_t{blockIdx.y} + 1) * range, x.cols);
    const int count = row < end ? static_cast<int>((end - row + step - 1) >> (__ffs(step) - 1)) : 0;
    const T* data = x.data + first * x.row_stride + row * x.col_stride;
    const std::int64_t stride = step * x.col_stride;

    state totals[width];
#pragma unroll
    for (int e = 0; e < width; ++e) totals[e] = Operation::identity();
    if (valid == width) {
        accumulate<Operation, unroll>(totals, data, stride, count, row, step, [](const T* at) {
            return *reinterpret_cast<const vector<T, width>*>(at);
        });
    } else if (width > 1 && valid > 0) {
        accumulate<Operation, unroll>(totals, data, stride, count, row, step, [valid](const T* at) {
            vector<T, width> packet;
#pragma unroll
            for (int e = 0; e < width; ++e) packet[e] = e < valid ? at[e] : T{};
            return packet;
        });
    }

    // Combine the lanes of one column, then the warps.
    for (int distance = warp_size / 2; distance >= lanes; distance /= 2)
#pragma unroll
        for (int e = 0; e < width; ++e) totals[e] = Operation{}(totals[e], shuffle_down(totals[e], distance));
    const int warp_lane = static_cast<int>(threadIdx.x % warp_size);
    const int warp = static_cast<int>(threadIdx.x / warp_size);
    if (warp_lane < lanes)
#pragma unroll
        for (int e = 0; e < width; ++e) slots[warp * strip_columns + lane * width + e] = totals[e];
    ptx::sync_threads();

    const auto store_result = [&](std::int64_t strip, int column, const state& total) {
        const std::int64_t number = strip * strip_columns + column;
        if (number < x.rows) y.data[number * y.stride] = Operation::template finish<Result>(total, divisor);
    };
    // 32 bits suffice for the index: there are few more partials than the device has threads.
    const auto partial = [&](unsigned r, unsigned strip, int column) {
        return partials + ((r * gridDim.x + strip) * strip_columns + column);
    };
    const partials_left left = leave([&] {
        combine_columns<Operation, 2>(
            slots, strip_columns, static_cast<int>(blockDim.x / warp_size),
            [&](int w, int column) { return slots[w * strip_columns + column]; },
            [&](int column, const state& total) {
                if (gridDim.y == 1)
                    store_result(blockIdx.x, column, total);
                else
                    *partial(blockIdx.y, blockIdx.x, column) = total;
            });
    });
    if (gridDim.y == 1 || !is_last_block(tickets, blockIdx.x, gridDim.x, gridDim.y, left)) return;

    for (unsigned strip = blockIdx.x % max_tickets; strip < gridDim.x; strip += max_tickets)
        combine_columns<Operation, 4>(
            slots, strip_columns, static_cast<int>(gridDim.y),
            [&](int r, int column) { return load_partial(partial(static_cast<unsigned>(r), strip, column)); },
            [&](int column, const state& total) { store_result(strip, column, total); });
}

}  // namespace

template <class Operation>
plan plan_vectorized_columns(const matrix_facts& problem, const device_traits& device) {
    const int packet = max_vector_bytes / static_cast<int>(problem.element_bytes);
    const int widest = problem.row_stride == 1 ? packet : 1;
    plan result = cut(problem, problem.is_aligned ? widest : 1, Operation::threads, device);
    for (const int max_threads : {few_threads, many_threads})
        for (const int width : {1, widest}) {
            const plan other = cut(problem, width, max_threads, device);
            result.partials = std::max(result.partials, other.partials);
            result.depth = std::max(result.depth, depth_of(other, problem.cols, problem.element_bytes));
        }
    return result;
}

template <class Operation, class T>
void launch_vectorized_columns(const plan& plan, const arguments<Operation, T>& arguments,
                               cudaStream_t stream) {
    using result = result_type<Operation, T>;
    constexpr int packet = max_vector_bytes / sizeof(T);
    const auto& [x, y, divisor, tickets, partials] = arguments;
    const auto kernel =
        plan.width == 1 ? columns<Operation, 1, T, result> : columns<Operation, packet, T, result>;
    launch({.blocks = {plan.blocks, plan.sharers}, .threads = {plan.threads}, .stream = stream}, kernel, x, y,
           divisor, std::countr_zero(static_cast<unsigned>(plan.lanes)), plan.range,
           reinterpret_cast<typename Operation::state*>(partials), tickets);
}

HEDDLE_MATRIX_REDUCE_PLANS(plan_vectorized_columns)
HEDDLE_MATRIX_REDUCE_LAUNCHES(launch_vectorized_columns)

}  // namespace heddle::kernels::matrix_reduce
