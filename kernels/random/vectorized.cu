// vectorized: a thread makes several packets of 16 bytes, each from as many blocks of Philox as it needs.
//
//   places:    | 0 1 2 3 | 4 5 6 7 | 8 ...     a packet of 4 floats at place 2 takes
//   packet:        | 2 3   4 5 |               the last two of a block and the first two of the next
//
// One store writes 2 to 16 elements. Packets are aligned in memory. Where they do not begin with a block of Philox, a
// packet takes one more block and shifts its numbers by 1 to 3. Where they do, a thread draws its blocks together. A
// thread's packets lie one thread block's packets apart. It issues all loads before the first store, so the output may be
// the input. The elements of a row must lie side by side, at any address. The limit is DRAM; for small types and normal
// numbers it is arithmetic.

#include "kernels/device/grid.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/store.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/random/draws.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::random {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int blocks_per_sm = 4;  // so that enough loads are under way
};

/// Packets per thread, by the bytes of an element, where there are enough for all multiprocessors. For most types they take
/// four blocks of Philox, whose rounds overlap.
constexpr int packets_of(std::size_t element_bytes) {
    return element_bytes >= 4 ? 4 : 2;
}

template <class T>
constexpr int packet_size = max_vector_bytes / static_cast<int>(sizeof(T));

/// Draws the numbers of `count` places from `place` on.
template <class Draw, int count>
__device__ void draw_run(const Draw& draw, const sequence<Draw>& from, std::uint64_t place,
                         typename Draw::drawn (&numbers)[count]) {
    constexpr int size = Draw::size, blocks = divide_up(count, size);
    typename Draw::drawn all[(blocks + 1) * size];
    const auto draw_block = [&](int b) {
        typename Draw::drawn some[size];
        from.draw(draw, place + static_cast<std::uint64_t>(b * size), some);
#pragma unroll
        for (int k = 0; k < size; ++k) all[b * size + k] = some[k];
    };
#pragma unroll
    for (int b = 0; b < blocks; ++b) draw_block(b);
    if (const auto shift = static_cast<int>(place % size); shift != 0) {
        if (shift + count > blocks * size) draw_block(blocks);
            // Shifts by 1, then by 2: constant indices keep the numbers in registers.
#pragma unroll
        for (int by = 1; by < size; by *= 2)
#pragma unroll
            for (int i = 0; i + by < (blocks + 1) * size; ++i)
                if ((shift & by) != 0) all[i] = all[i + by];
    }
#pragma unroll
    for (int i = 0; i < count; ++i) numbers[i] = all[i];
}

/// Draws a thread's packets, `step` elements apart. All are whole, and so are their blocks of Philox. The blocks do not
/// depend on each other, so their rounds overlap.
template <class Draw, int packets, class T>
__device__ void draw_whole(const Draw& draw, const sequence<Draw>& from, std::uint64_t place, const T* x,
                           T* y, std::int64_t step) {
    constexpr int size = packet_size<T>;
    using packet = vector<T, size>;
    packet in[packets], out[packets];
    if constexpr (Draw::inputs > 0) {
#pragma unroll
        for (int p = 0; p < packets; ++p) in[p] = *reinterpret_cast<const packet*>(x + p * step);
    }
#pragma unroll
    for (int p = 0; p < packets; ++p)
#pragma unroll
        for (int e = 0; e < size; e += Draw::size) {
            typename Draw::drawn numbers[Draw::size];
            from.draw(draw, place + static_cast<std::uint64_t>(p * step + e), numbers);
#pragma unroll
            for (int k = 0; k < Draw::size; ++k)
                out[p][e + k] = draw.finish(numbers[k], Draw::inputs > 0 ? in[p][e + k] : T{});
        }
#pragma unroll
    for (int p = 0; p < packets; ++p) ptx::store(reinterpret_cast<packet*>(y + p * step), out[p]);
}

template <class Draw, int packets>
__global__ void __launch_bounds__(tile::threads, tile::blocks_per_sm)
    vectorized(Draw draw, sequence<Draw> from, operands<Draw> a) {
    using T = typename Draw::element;
    constexpr int size = packet_size<T>;
    using packet = vector<T, size>;
    const std::int64_t cols = a.y.cols;
    const std::int64_t row_step = std::int64_t{gridDim.y} * blockDim.y;
    const std::int64_t first = (std::int64_t{blockIdx.x} * blockDim.x * packets + threadIdx.x) * size;
    const std::int64_t step = std::int64_t{blockDim.x} * size;
    const std::uint64_t start = from.start();

    for (std::int64_t row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < a.y.rows;
         row += row_step) {
        T* const y = a.y.data + row * a.y.row_stride;
        const T* const x = a.x.data + row * a.x.row_stride;
        const auto beyond = [](const T* p) {
            return static_cast<int>(reinterpret_cast<std::uintptr_t>(p) % max_vector_bytes);
        };
        // Elements that the row's first packet lacks.
        const std::int64_t lead = beyond(y) / static_cast<int>(sizeof(T));
        const bool is_x_aligned = beyond(x) == beyond(y);
        const std::uint64_t row_place = start + static_cast<std::uint64_t>(row * cols);
        const auto is_whole = [=](std::int64_t col) { return col >= 0 && col + size <= cols; };

        if constexpr (size % Draw::size == 0) {
            const std::int64_t col = first - lead;
            const std::uint64_t place = row_place + static_cast<std::uint64_t>(col);
            if (place % Draw::size == 0 && is_whole(col) && is_whole(col + (packets - 1) * step) &&
                (Draw::inputs == 0 || is_x_aligned)) {
                draw_whole<Draw, packets>(draw, from, place, x + col, y + col, step);
                continue;
            }
        }
        packet in[packets];
        if constexpr (Draw::inputs > 0) {
#pragma unroll
            for (int p = 0; p < packets; ++p) {
                const std::int64_t col = first - lead + p * step;
                if (is_x_aligned && is_whole(col)) {
                    in[p] = *reinterpret_cast<const packet*>(x + col);
                } else {
#pragma unroll
                    for (int e = 0; e < size; ++e)
                        if (col + e >= 0 && col + e < cols) in[p][e] = x[col + e];
                }
            }
        }
        // Loaded packets are in registers, which need constant indices. Without input, shorter code is as fast.
#pragma unroll(Draw::inputs > 0 ? packets : 1)
        for (int p = 0; p < packets; ++p) {
            const std::int64_t col = first - lead + p * step;
            if (col >= cols) break;
            typename Draw::drawn numbers[size];
            draw_run(draw, from, row_place + static_cast<std::uint64_t>(col), numbers);
            packet out;
#pragma unroll
            for (int e = 0; e < size; ++e)
                out[e] = draw.finish(numbers[e], Draw::inputs > 0 ? in[p][e] : T{});
            if (is_whole(col)) {
                ptx::store(reinterpret_cast<packet*>(y + col), out);
                continue;
            }
            T* const to = y + col;
            const int begin = col < 0 ? static_cast<int>(-col) : 0;
            const int end = static_cast<int>(::min(std::int64_t{size}, cols - col));
#pragma unroll
            for (int e = 0; e < size; ++e)
                if (e >= begin && e < end) to[e] = out[e];
        }
    }
}

}  // namespace

plan plan_vectorized(const random_facts& problem, const device_traits& device) {
    const std::int64_t size = max_vector_bytes / static_cast<std::int64_t>(problem.element_bytes);
    // A row may begin with the last element of a packet.
    const std::int64_t packets_of_a_row = divide_up(problem.cols + size - 1, size);
    const std::int64_t width = power_at_least(packets_of_a_row, tile::threads);
    const std::int64_t height = tile::threads / width;
    const std::int64_t down = divide_up(problem.rows, height);
    const int most = packets_of(problem.element_bytes);
    const bool is_large = divide_up(packets_of_a_row, width * most) * down >= device.sm_count;
    const int packets = is_large && packets_of_a_row >= width * most ? most : 1;
    return {.blocks = {divide_up(packets_of_a_row, width * packets), std::min(down, max_grid_y)},
            .threads = {width, height},
            .packets = packets};
}

void launch_vectorized(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    visit(arguments, [&]<class Draw>(const Draw& draw) {
        launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream},
               plan.packets == 1 ? vectorized<Draw, 1>
                                 : vectorized<Draw, packets_of(sizeof(typename Draw::element))>,
               draw, sequence<Draw>(arguments.generator), operands<Draw>(arguments));
    });
}

}  // namespace heddle::kernels::random
