// vector: C is one column, or transposed one row, and the product is a read of the matrix.
//
//   rows lie along k:     | 0 .. 7 | 8 .. 15 | ...  a row has a warp, a block or several; a thread has 16-byte packets
//   columns along m:      a thread has a packet of rows; the warps of a block, and several blocks, divide the columns
//   rows of few elements: a row has a few lanes, one for each element
//
// Each element of A is multiplied once, so only the bytes matter. All packets begin at multiples of 16 bytes, wherever a
// row begins; its first and last elements are read singly. The vector x is in shared memory, where a shift by elements
// costs nothing. There the elements of a packet lie apart, so that lanes read neighbours. Each thread has four packets in
// flight. Sums are combined in a warp and in a block. If rows are few, several blocks combine sums in the workspace or,
// without one, in a cluster. Takes any strides; A may be read by elements. What limits it: memory.

#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/vector.cuh"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

constexpr int warp = 32;
constexpr int threads = vector_threads;
constexpr int ahead = vector_packets;  ///< packets that a thread reads before it needs them

/// Elements of x as floats, for the packets of a row and one more, as rows may begin between multiples of 16 bytes. The
/// elements of a packet lie apart, so that lanes with neighbouring packets read neighbours, wherever these begin.
template <class In>
struct staged_x {
    static constexpr int width = packet_width<In>;
    static constexpr int packets = vector_staged / width;
    static constexpr int pitch = packets + 1;
    float elements[width][pitch];

    /// Calls function(i, place) for the elements from q * width + head on, where head is less than the width.
    template <class Function>
    __device__ void for_each(int q, int head, Function function) {
        float* const here = &elements[0][0] + head * pitch + q;
        float* const next = here - (width * pitch - 1);
#pragma unroll
        for (int i = 0; i < width; ++i) function(i, (head + i < width ? here : next)[i * pitch]);
    }

    /// All threads load the `count` packets from packet `begin` on.
    __device__ void load(const line<In>& x, std::int64_t begin, int count) {
        const int thread = static_cast<int>(threadIdx.x), size = count * width;
        const std::int64_t first = begin * width;
        const auto load_element = [&](std::int64_t at) {
            const std::int64_t place = at - first;
            if (0 <= place && place < size && at < x.size) elements[place % width][place / width] = x[at];
        };
        if (x.step != 1) {
#pragma unroll 1
            for (int i = thread; i < size; i += threads) load_element(first + i);
            return;
        }
        const In* const packets_of_x = x.from_packet(begin);
        const int before = x.head > 0 && begin > 0 ? 1 : 0;  // packets that begin before those
        const auto end = static_cast<int>(::min(std::int64_t{count}, x.packets - begin));
        for (int from = thread - before; from < end; from += ahead * threads) {
            packet<In> read[ahead];
#pragma unroll
            for (int u = 0; u < ahead; ++u)
                if (const int q = from + u * threads; q < end)
                    read[u] = packet<In>::read(packets_of_x + q * width);
#pragma unroll
            for (int u = 0; u < ahead; ++u)
                if (const int q = from + u * threads; q < end)
                    for_each(q, x.head, [&](int i, float& place) {
                        const int at = q * width + x.head + i;
                        if (0 <= at && at < size) place = read[u][i];
                    });
        }
        if (thread < x.others()) load_element(x.other(thread));
    }
};

/// The sum over `lanes` lanes that are `apart` apart.
__device__ float add_up_lanes(float sum, int lanes, int apart = 1) {
    for (int offset = lanes / 2 * apart; offset >= apart; offset /= 2)
        sum += __shfl_xor_sync(~0u, sum, offset);
    return sum;
}

/// A thread has `rows` rows; the fewer rows, the more packets of each.
template <int rows, class In, class Out>
__global__ void __launch_bounds__(threads, vector_blocks_per_sm)
    vector_by_rows(const __grid_constant__ product<In, Out> p, const __grid_constant__ vector_split s) {
    constexpr int width = packet_width<In>, packets = ahead / rows;
    __shared__ staged_x<In> staged;
    __shared__ float totals[threads];
    const int thread = static_cast<int>(threadIdx.x), lane = thread & (s.lanes - 1),
              at_once = threads / s.lanes;
    const std::int64_t k = p.a.cols, first = s.part() * s.share;
    const std::int64_t last = ::min(p.a.col_stride == 1 ? k / width : 0, first + s.share);
    const bool has_heads = phase_of(matrix_of(p)) != 0 || (p.c.rows > 1 && p.a.row_stride % width != 0);
    const line<In> x(vector_of(p), k, p.b.row_stride);
    bool is_staged = false;  // all that the block needs
    const auto stage = [&](std::int64_t begin, int count) {
        if (is_staged) return;
        ptx::sync_threads();
        staged.load(x, begin, count + has_heads);
        ptx::sync_threads();
        is_staged = last - first <= staged.packets;
    };
    if (rows > 1 && first < last) stage(first, static_cast<int>(last - first));

    for (std::int64_t tile = s.tile() * at_once * rows; tile < p.c.rows; tile += s.tiles() * at_once * rows) {
        const auto row_of = [&](int r) { return tile + r * at_once + thread / s.lanes; };
        const auto line_of = [&](int r) {
            return line<In>(matrix_of(p) + row_of(r) * p.a.row_stride, row_of(r) < p.c.rows ? k : 0,
                            p.a.col_stride);
        };
        // The first elements outside of packets are loaded together with the packets.
        float sums[rows] = {}, a_at[rows] = {}, x_at[rows] = {};
        const int first_other = s.part() * s.lanes + lane;
#pragma unroll
        for (int r = 0; r < rows; ++r)
            if (const line<In> a = line_of(r); first_other < a.others()) {
                a_at[r] = a[a.other(first_other)];
                x_at[r] = x[a.other(first_other)];
            }
        for (std::int64_t begin = first; begin < last; begin += staged.packets) {
            const auto count = static_cast<int>(::min(std::int64_t{staged.packets}, last - begin));
            for (int batch = 0; batch < count; batch += packets * s.lanes) {
                packet<In> now[rows][packets];
                const auto for_each_packet = [&](auto function) {
#pragma unroll
                    for (int r = 0; r < rows; ++r) {
                        const line<In> a = line_of(r);
                        const auto end = static_cast<int>(
                            ::max(std::int64_t{0}, ::min(std::int64_t{count}, a.packets - begin)));
#pragma unroll
                        for (int u = 0; u < packets; ++u)
                            if (const int q = batch + lane + u * s.lanes; q < end) function(a, r, u, q);
                    }
                };
                for_each_packet([&](const line<In>& a, int r, int u, int q) {
                    now[r][u] = packet<In>::read(a.from_packet(begin) + q * width);
                });
                if (rows == 1 && batch == 0) stage(begin, count);  // A is in flight meanwhile
                for_each_packet([&](const line<In>& a, int r, int u, int q) {
                    staged.for_each(q, a.head,
                                    [&](int i, float x_at) { sums[r] = fmaf(now[r][u][i], x_at, sums[r]); });
                });
            }
        }
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            const line<In> a = line_of(r);
            const std::int64_t others = a.others();
            const int step = s.parts * s.lanes;
            sums[r] = fmaf(a_at[r], x_at[r], sums[r]);
#pragma unroll 1
            for (std::int64_t i = std::int64_t{first_other} + step; i < others; i += step)
                sums[r] = fmaf(a[a.other(i)], x[a.other(i)], sums[r]);
            sums[r] = add_up_lanes(sums[r], ::min(s.lanes, warp));
        }
        if (s.lanes > warp) {  // several warps have one row
            const int warps_of_row = s.lanes / warp;
            totals[thread / warp] = sums[0];
            ptx::sync_threads();
            float sum = 0;
            for (int i = 0; i < warps_of_row; ++i) sum += totals[thread / s.lanes * warps_of_row + i];
            ptx::sync_threads();
            sums[0] = sum;
        }
        if (s.parts > 1) {
            totals[0] = sums[0];  // the same in all threads
            if (!add_up_parts<threads>(s, totals, 1)) return;
            sums[0] = totals[0];
        }
        if (lane == 0)
#pragma unroll
            for (int r = 0; r < rows; ++r) store_sum(p, row_of(r), sums[r]);
    }
}

/// `has_packets`: all columns begin at the same distance from multiples of 16 bytes. Otherwise a thread's rows lie apart.
template <bool has_packets, class In, class Out>
__global__ void __launch_bounds__(threads, vector_blocks_per_sm)
    vector_by_columns(const __grid_constant__ product<In, Out> p, const __grid_constant__ vector_split s) {
    constexpr int width = packet_width<In>;
    __shared__ float totals[threads * width];
    const int thread = static_cast<int>(threadIdx.x), lane = thread & (s.lanes - 1), rows = s.lanes * width;
    const int columns_at_once = threads / s.lanes, apart = has_packets ? 1 : s.lanes;
    const In *const a = matrix_of(p), *const x = vector_of(p);
    const std::int64_t first_row = s.tile() * rows - (has_packets ? phase_of(a) : 0);
    const std::int64_t row = first_row + (has_packets ? lane * width : lane);
    const bool is_whole = row >= 0 && row + (width - 1) * apart < p.c.rows;
    const std::int64_t last = ::min(p.a.cols, (s.part() + 1) * s.share);
    float sums[width] = {};
    for (std::int64_t k = s.part() * s.share + thread / s.lanes; k < last; k += ahead * columns_at_once) {
        packet<In> now[ahead];
        float x_at[ahead];
#pragma unroll
        for (int u = 0; u < ahead; ++u) {
            const std::int64_t at = k + u * columns_at_once;
            if (at >= last) break;
            const In* const from = a + at * p.a.col_stride + row;
            x_at[u] = static_cast<float>(x[at * p.b.row_stride]);
            if (has_packets && is_whole) {
                now[u] = packet<In>::read(from);
            } else {
                now[u] = {};
#pragma unroll
                for (int i = 0; i < width; ++i)
                    if (is_whole || (row + i * apart >= 0 && row + i * apart < p.c.rows))
                        now[u].set(i, from[i * apart]);
            }
        }
#pragma unroll
        for (int u = 0; u < ahead; ++u) {
            if (k + u * columns_at_once >= last) break;
#pragma unroll
            for (int i = 0; i < width; ++i) sums[i] = fmaf(now[u][i], x_at[u], sums[i]);
        }
    }

    // add up; first lanes of a warp with the same rows, then warps
    const int lanes_of_warp = ::min(s.lanes, warp), lanes_of_group = ::max(s.lanes, warp);
#pragma unroll
    for (int i = 0; i < width; ++i) {
        const float sum = add_up_lanes(sums[i], warp / lanes_of_warp, lanes_of_warp);
        const int place = has_packets ? lane * width + i : lane + i * apart;
        if (thread % warp < lanes_of_warp) totals[thread / lanes_of_group * rows + place] = sum;
    }
    ptx::sync_threads();
    for (int i = thread; i < rows; i += threads) {
        float sum = 0;
        for (int group = 0; group < threads / lanes_of_group; ++group) sum += totals[group * rows + i];
        totals[i] = sum;  // where nobody else reads
    }
    if (s.parts > 1 && !add_up_parts<threads>(s, totals, rows)) return;
    for (int i = thread; i < rows; i += threads)
        if (first_row + i >= 0) store_sum(p, first_row + i, totals[i]);
}

/// For rows with at most as many elements as a warp has lanes.
template <class In, class Out>
__global__ void __launch_bounds__(threads)
    vector_by_elements(const __grid_constant__ product<In, Out> p, int lanes) {
    const int thread = static_cast<int>(threadIdx.x), k = thread & (lanes - 1), at_once = threads / lanes;
    const std::int64_t first = std::int64_t{blockIdx.x} * at_once * vector_element_rows + thread / lanes;
    const bool is_inside = k < p.a.cols;
    const float x = is_inside ? static_cast<float>(vector_of(p)[k * p.b.row_stride]) : 0;
    const In* const a = matrix_of(p) + k * p.a.col_stride;
    float elements[vector_element_rows];
#pragma unroll
    for (int r = 0; r < vector_element_rows; ++r) {
        const std::int64_t row = first + r * at_once;
        elements[r] = is_inside && row < p.c.rows ? static_cast<float>(a[row * p.a.row_stride]) : 0;
    }
#pragma unroll
    for (int r = 0; r < vector_element_rows; ++r) {
        const float sum = add_up_lanes(is_inside ? elements[r] * x : 0, lanes);
        if (k == 0) store_sum(p, first + r * at_once, sum);
    }
}

}  // namespace

template <class In, class Out>
void launch_vector(const plan& plan, const product<In, Out>& arguments, cudaStream_t stream) {
    const bool in_memory = plan.sums_bytes > 0;
    const vector_split split{plan.lanes, plan.parts, plan.steps,
                             in_memory ? reinterpret_cast<float*>(arguments.workspace.scratch) : nullptr,
                             in_memory ? arguments.workspace.tickets : nullptr};
    for_each_grid(arguments, {plan.down * plan.parts}, [&](const launch_extents& grid, const auto& p) {
        launch_config config{.blocks = grid, .threads = {threads}, .stream = stream};
        if (!in_memory) config.cluster = plan.parts;
        switch (static_cast<vector_kind>(plan.kernel)) {
            case vector_kind::rows:
                return launch(config, vector_by_rows<1, In, Out>, p, split);
            case vector_kind::short_rows:
                return launch(config, vector_by_rows<vector_short_rows, In, Out>, p, split);
            case vector_kind::columns:
                return launch(config, vector_by_columns<true, In, Out>, p, split);
            case vector_kind::odd_columns:
                return launch(config, vector_by_columns<false, In, Out>, p, split);
            case vector_kind::elements:
                return launch(config, vector_by_elements<In, Out>, p, plan.lanes);
        }
    });
}

HEDDLE_LAUNCHES_OF_PAIRS(launch_vector, plan, product)

}  // namespace heddle::kernels::matmul
