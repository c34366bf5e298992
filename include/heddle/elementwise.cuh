#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/store.cuh"
#include "kernels/device/ptx/sync.cuh"
#include <heddle/elementwise.hpp>
#include <heddle/error.hpp>
#include <heddle/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

/// For .cu files: the caller's own functor in the kernels of heddle's elementwise operations, at their speed.
namespace heddle {
namespace detail {

struct elementwise_tile {
    static constexpr int threads = 256;
    /// Calls with several large inputs take these blocks where two of them fill an SM. Each input is then read in
    /// longer runs.
    static constexpr int wide_threads = 1024;
    static constexpr int wide_registers = 32;
    static constexpr std::int64_t wide_packets = std::int64_t{1} << 22;
    static constexpr int packet_bytes = 16;
    static constexpr int warp = 32;
    /// The least rows and columns for which tiles are worth their barriers: whole sectors of most types.
    static constexpr std::int64_t least_crossed = 16;
    /// The side of the tiles that transpose inputs: whole cache lines, and enough bytes in flight for small types.
    __host__ __device__ static constexpr int side(std::size_t element_bytes) {
        return element_bytes <= 4 ? 64 : 32;
    }
    static constexpr std::int64_t max_grid_y = 65535;
    /// Functions of doubles fit 64 registers. Without the bound, ptxas spills some of them to fit one more block.
    template <class T>
    static constexpr int min_blocks_per_sm(int block_threads) {
        return sizeof(T) == 8 ? 1024 / block_threads : 0;
    }
};

template <class T, int inputs>
struct elementwise_operands {
    matrix_view<const T> in[inputs];
    matrix_view<T> out;

    explicit elementwise_operands(std::span<const operand> operands) {
        const auto typed = [](const operand& o) {
            const auto& [data, rows, cols, row_stride, col_stride] = o.view;
            return matrix_view<T>{static_cast<T*>(data), rows, cols, row_stride, col_stride};
        };
        for (std::size_t i = 0; i < inputs; ++i) in[i] = typed(operands[i]);
        out = typed(operands[inputs]);
    }
};

template <class T, int inputs, class Function>
__device__ T apply(const Function& function, const T (&x)[inputs]) {
    if constexpr (inputs == 1)
        return function(x[0]);
    else if constexpr (inputs == 2)
        return function(x[0], x[1]);
    else
        return function(x[0], x[1], x[2]);
}

/// Calls compute(function). Functions that share a kernel have an overload, which finds the called function.
template <class Function, class Compute>
__device__ void with_function(const Function& function, Compute compute) {
    compute(function);
}

template <class T>
struct alignas(elementwise_tile::packet_bytes) elementwise_packet {
    static constexpr int size = elementwise_tile::packet_bytes / sizeof(T);
    T elements[size];
};

/// Loads an unaligned packet: it begins in one packet of memory and ends in the next. Both are read whole.
template <class T>
__device__ elementwise_packet<T> shifted_packet(const T* from) {
    constexpr int words = elementwise_tile::packet_bytes / sizeof(unsigned);
    struct shifted {
        unsigned word[words];
    };
    const auto bytes =
        static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) % elementwise_tile::packet_bytes);
    const auto* packets = reinterpret_cast<const uint4*>(reinterpret_cast<const char*>(from) - bytes);
    const uint4 first = packets[0], second = packets[1];
    unsigned w[2 * words] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
#pragma unroll
    for (int i = 0; i + 2 < 2 * words; ++i) w[i] = bytes & 8 ? w[i + 2] : w[i];
#pragma unroll
    for (int i = 0; i <= words; ++i) w[i] = bytes & 4 ? w[i + 1] : w[i];
    shifted result;
#pragma unroll
    for (int i = 0; i < words; ++i) result.word[i] = __funnelshift_r(w[i], w[i + 1], 8 * (bytes & 3));
    return __builtin_bit_cast(elementwise_packet<T>, result);
}

/// The row of this thread. Rows are along y, and continue along z.
__device__ inline std::int64_t elementwise_row() {
    return (std::int64_t{blockIdx.z} * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y;
}

/// A thread takes a packet; a row's first packet lacks `lead` elements. The grid is rows by packets, so that no place
/// needs a division. All loads come before the first store, so the output may be an input. With `is_mixed`, an input
/// of col_stride 0 gives one element for a whole packet. One of small elements may then have another alignment than
/// the output.
template <int threads, bool is_mixed, class T, int inputs, class Function>
__global__ void __launch_bounds__(threads, elementwise_tile::min_blocks_per_sm<T>(threads))
    transform_packets(Function function, elementwise_operands<T, inputs> a, int lead) {
    using packet = elementwise_packet<T>;
    const std::int64_t row = elementwise_row();
    const std::int64_t col = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * packet::size - lead;
    if (row >= a.out.rows || col >= a.out.cols) return;
    T* to = a.out.data + row * a.out.row_stride + col;
    const auto fills = [&](int i) { return is_mixed && inputs > 1 && a.in[i].col_stride == 0; };
    const T* from[inputs];
#pragma unroll
    for (int i = 0; i < inputs; ++i) from[i] = a.in[i].data + row * a.in[i].row_stride + (fills(i) ? 0 : col);

    // Elements beyond the ends of a row are not read.
    const auto packet_at = [&](const T* at) {
        if constexpr (is_mixed && sizeof(T) <= 2) {
            const auto behind =
                static_cast<int>(reinterpret_cast<std::uintptr_t>(at) % sizeof(packet) / sizeof(T));
            if (behind != 0) {
                if (behind <= col && col - behind + 2 * packet::size <= a.out.cols) return shifted_packet(at);
                packet result;
#pragma unroll
                for (int e = 0; e < packet::size; ++e) result.elements[e] = at[e];
                return result;
            }
        }
        return *reinterpret_cast<const packet*>(at);
    };

    T elements[inputs];
    if (col >= 0 && col + packet::size <= a.out.cols) {
        packet x[inputs];
        T filling[inputs];
#pragma unroll
        for (int i = 0; i < inputs; ++i)
            if (fills(i))
                filling[i] = *from[i];
            else
                x[i] = packet_at(from[i]);
        packet result;
        with_function(function, [&](const auto& f) {
#pragma unroll
            for (int e = 0; e < packet::size; ++e) {
#pragma unroll
                for (int i = 0; i < inputs; ++i) elements[i] = fills(i) ? filling[i] : x[i].elements[e];
                result.elements[e] = apply(f, elements);
            }
        });
        kernels::ptx::store(reinterpret_cast<packet*>(to), result);
    } else {  // a packet that crosses an end of the row
        const int end = static_cast<int>(::min(std::int64_t{packet::size}, a.out.cols - col));
#pragma unroll 1
        for (int e = col < 0 ? lead : 0; e < end; ++e) {
#pragma unroll
            for (int i = 0; i < inputs; ++i) elements[i] = from[i][fills(i) ? 0 : e];
            with_function(function, [&](const auto& f) { to[e] = apply(f, elements); });
        }
    }
}

/// For rows at any address and with any column stride. A thread takes as many elements as a packet has. They are
/// blockDim.x apart along a row, or, for short rows, blockDim.y apart down the columns. The threads of a warp take
/// neighbours.
template <class T, int inputs, class Function>
__global__ void __launch_bounds__(elementwise_tile::threads,
                                  elementwise_tile::min_blocks_per_sm<T>(elementwise_tile::threads))
    transform_elements(Function function, elementwise_operands<T, inputs> a, bool is_down) {
    constexpr int size = elementwise_packet<T>::size;
    const int step = static_cast<int>(is_down ? blockDim.y : blockDim.x);
    const std::int64_t rows = (std::int64_t{blockIdx.z} * gridDim.y + blockIdx.y) * blockDim.y;
    const std::int64_t cols = std::int64_t{blockIdx.x} * blockDim.x;
    const std::int64_t row = (is_down ? rows * size : rows) + threadIdx.y;
    const std::int64_t col = (is_down ? cols : cols * size) + threadIdx.x;
    if (row >= a.out.rows || col >= a.out.cols) return;
    const auto left =
        static_cast<int>(::min(is_down ? a.out.rows - row : a.out.cols - col, std::int64_t{size} * step));
    // Element 0 stands in for those beyond the end: loads behind conditions would wait for one another.
    const auto at = [=](const auto& m, int e) {
        return m.data + row * m.row_stride + col * m.col_stride +
               (e * step < left ? e * step : 0) * (is_down ? m.row_stride : m.col_stride);
    };
    T x[size][inputs];
#pragma unroll
    for (int e = 0; e < size; ++e)
#pragma unroll
        for (int i = 0; i < inputs; ++i) x[e][i] = *at(a.in[i], e);
    with_function(function, [&](const auto& f) {
#pragma unroll
        for (int e = 0; e < size; ++e) x[e][0] = apply(f, x[e]);
    });
#pragma unroll
    for (int e = 0; e < size; ++e)
        if (e * step < left) *at(a.out, e) = x[e][0];
}

/// Whether an input's contiguous elements are those of a column. A broadcast row is contiguous along the output's rows.
template <class T>
__device__ bool lies_across(const matrix_view<T>& m) {
    return m.row_stride > 0 && m.row_stride < m.col_stride;
}

/// For inputs that are transposed against the output. A block takes a square. Each warp reads and writes contiguous
/// memory, of a row or a column. Values read down a column are exchanged between warps through shared memory. Beyond
/// the matrix, the last element is read again, as loads behind conditions would wait for one another.
template <class T, int inputs, class Function>
__global__ void __launch_bounds__(elementwise_tile::threads,
                                  elementwise_tile::min_blocks_per_sm<T>(elementwise_tile::threads))
    transform_tiles(Function function, elementwise_operands<T, inputs> a) {
    constexpr int side = elementwise_tile::side(sizeof(T)), warp = elementwise_tile::warp;
    constexpr int warps = elementwise_tile::threads / warp, lines = side / warps, size = lines * side / warp;
    constexpr int pitch = side + (sizeof(T) < 4 ? 4 / static_cast<int>(sizeof(T)) : 1);  // one more bank
    __shared__ alignas(elementwise_tile::packet_bytes) std::byte storage[side * pitch * sizeof(T)];
    T* const tile = reinterpret_cast<T*>(storage);
    const std::int64_t row = (std::int64_t{blockIdx.z} * gridDim.y + blockIdx.y) * side;
    const std::int64_t col = std::int64_t{blockIdx.x} * side;
    if (row >= a.out.rows) return;
    const auto rows = static_cast<int>(::min(a.out.rows - row, std::int64_t{side}));
    const auto cols = static_cast<int>(::min(a.out.cols - col, std::int64_t{side}));
    // Element e of a thread in the tile: its line, and its place along the line.
    const auto line = [](int e) { return static_cast<int>(threadIdx.y) + e % lines * warps; };
    const auto along = [](int e) { return static_cast<int>(threadIdx.x) + e / lines * warp; };

    T x[size][inputs];
#pragma unroll
    for (int i = 0; i < inputs; ++i) {
        const auto& m = a.in[i];
        const bool is_crossed = lies_across(m);
        const std::int64_t line_stride = is_crossed ? m.col_stride : m.row_stride;
        const std::int64_t stride = is_crossed ? m.row_stride : m.col_stride;
        const int last_line = (is_crossed ? cols : rows) - 1, last = (is_crossed ? rows : cols) - 1;
        const T* const from = m.data + row * m.row_stride + col * m.col_stride;
#pragma unroll
        for (int e = 0; e < size; ++e)
            x[e][i] = from[::min(line(e), last_line) * line_stride + ::min(along(e), last) * stride];
    }
    // A function of one input need not wait for the exchange, after which the addresses take registers.
    const auto compute = [&] {
        with_function(function, [&](const auto& f) {
#pragma unroll
            for (int e = 0; e < size; ++e) x[e][0] = apply(f, x[e]);
        });
    };
    if constexpr (inputs == 1) compute();
#pragma unroll
    for (int i = 0; i < inputs; ++i) {
        if (!lies_across(a.in[i])) continue;
#pragma unroll
        for (int e = 0; e < size; ++e) tile[along(e) * pitch + line(e)] = x[e][i];
        kernels::ptx::sync_threads();
#pragma unroll
        for (int e = 0; e < size; ++e) x[e][i] = tile[line(e) * pitch + along(e)];
        kernels::ptx::sync_threads();
    }
    if constexpr (inputs > 1) compute();
    T* const to = a.out.data + row * a.out.row_stride + col * a.out.col_stride;
#pragma unroll
    for (int e = 0; e < size; ++e)
        if (line(e) < rows && along(e) < cols)
            to[line(e) * a.out.row_stride + along(e) * a.out.col_stride] = x[e][0];
}

/// How a call is distributed over blocks and threads.
struct elementwise_plan {
    kernels::launch_extents blocks;
    kernels::launch_extents threads;
    elementwise_way way;
    int lead;  ///< elementwise_facts::lead
};

inline std::int64_t packets_of_a_row(const elementwise_facts& problem) {
    const std::int64_t size =
        elementwise_tile::packet_bytes / static_cast<std::int64_t>(problem.element_bytes);
    return (problem.cols + problem.lead - 1) / size + 1;
}

/// Whether wide blocks are faster, for a function that they fit. Broadcasts do not count, as DRAM is not read for them.
inline bool gains_by_wide_blocks(const elementwise_facts& problem) {
    return problem.inputs - problem.broadcasts > 1 && problem.in_packets && !problem.fills_packets &&
           !problem.shifts_packets &&
           problem.rows * packets_of_a_row(problem) >= elementwise_tile::wide_packets;
}

/// The plan with blocks of `threads` threads: elementwise_tile::threads, or ::wide_threads for packets. Pure.
inline elementwise_plan plan_transform(const elementwise_facts& problem, std::int64_t threads) {
    using tile = elementwise_tile;
    const auto divide_up = [](std::int64_t n, std::int64_t d) { return (n - 1) / d + 1; };
    const auto planned = [&](std::int64_t across, std::int64_t down, kernels::launch_extents block,
                             elementwise_way way) {
        const std::int64_t deep = divide_up(down, tile::max_grid_y);
        return elementwise_plan{{across, divide_up(down, deep), deep}, block, way, problem.lead};
    };
    if (problem.is_crossed && std::min(problem.rows, problem.cols) >= tile::least_crossed) {
        const int side = tile::side(problem.element_bytes);
        return planned(divide_up(problem.cols, side), divide_up(problem.rows, side),
                       {tile::warp, tile::threads / tile::warp}, elementwise_way::tiles);
    }
    const std::int64_t size = tile::packet_bytes / static_cast<std::int64_t>(problem.element_bytes);
    const std::int64_t packets = packets_of_a_row(problem);
    const std::int64_t wanted =
        problem.in_packets ? packets : std::max(packets, std::min<std::int64_t>(problem.cols, tile::warp));
    // In narrow matrices, spare threads take further rows. Few rows that are read across go to one block.
    std::int64_t across = 1;
    while (across < threads && across < wanted) across *= 2;
    while (problem.is_crossed && threads / across < problem.rows && across > tile::least_crossed) across /= 2;
    const std::int64_t height = threads / across;
    if (!problem.in_packets && problem.cols <= across)
        return planned(1, divide_up(problem.rows, height * size), {across, height},
                       elementwise_way::down_columns);
    return planned(divide_up(packets, across), divide_up(problem.rows, height), {across, height},
                   !problem.in_packets                               ? elementwise_way::along_rows
                   : problem.fills_packets || problem.shifts_packets ? elementwise_way::mixed_packets
                                                                     : elementwise_way::packets);
}

/// Launches a plan for packets. Functions that share kernels may have an overload.
template <bool is_mixed, class T, int inputs, class Function>
void launch_packets(const kernels::launch_config& config, const Function& function,
                    const elementwise_operands<T, inputs>& a, int lead) {
    using tile = elementwise_tile;
    auto* kernel = transform_packets<tile::threads, is_mixed, T, inputs, Function>;
    if constexpr (inputs > 1 && !is_mixed)
        if (config.threads.x * config.threads.y == tile::wide_threads)
            kernel = transform_packets<tile::wide_threads, false, T, inputs, Function>;
    kernels::launch(config, kernel, function, a, lead);
}

/// Launches a plan. The operands are as prepare_elementwise() leaves them, and none is empty.
template <class T, int inputs, class Function>
void launch_transform(const elementwise_plan& plan, Function function, std::span<const operand> operands,
                      cudaStream_t stream) {
    const elementwise_operands<T, inputs> a(operands);
    const kernels::launch_config config{.blocks = plan.blocks, .threads = plan.threads, .stream = stream};
    switch (plan.way) {
        case elementwise_way::packets:
            return launch_packets<false>(config, function, a, plan.lead);
        case elementwise_way::mixed_packets:
            if constexpr (inputs > 1 || sizeof(T) <= 2) launch_packets<true>(config, function, a, plan.lead);
            return;
        case elementwise_way::along_rows:
        case elementwise_way::down_columns:
            return kernels::launch(config, transform_elements<T, inputs, Function>, function, a,
                                   plan.way == elementwise_way::down_columns);
        case elementwise_way::tiles:
            return kernels::launch(config, transform_tiles<T, inputs, Function>, function, a);
    }
}

/// Whether two wide blocks of the function fill an SM.
template <class T, int inputs, class Function>
bool fits_wide_blocks() {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(
        &attributes, transform_packets<elementwise_tile::wide_threads, false, T, inputs, Function>));
    return attributes.numRegs <= elementwise_tile::wide_registers;
}

template <class T, class Function, class... Operands>
void transform(Function function, cuda::stream_ref stream, Operands... given) {
    static_assert(alignof(T) == sizeof(T), "elements are aligned to their size");
    static_assert(std::is_trivially_copyable_v<T>, "elements are copied byte by byte");
    constexpr int inputs = sizeof...(given) - 1;
    operand operands[] = {given...};
    const elementwise_facts problem = prepare_elementwise("transform", operands, sizeof(T));
    if (problem.rows == 0 || problem.cols == 0) return;
    const stream_device call_device(stream);
    std::int64_t threads = elementwise_tile::threads;
    if constexpr (inputs > 1)
        if (gains_by_wide_blocks(problem) && fits_wide_blocks<T, inputs, Function>())
            threads = elementwise_tile::wide_threads;
    launch_transform<T, inputs>(plan_transform(problem, threads), function, operands, stream.get());
}

template <class T, template <class> class View>
struct transformed {
    template <class Function>
    void operator()(Function function, View<const T> x, View<T> y, cuda::stream_ref stream) const {
        transform<T>(function, stream, operand_of("x", x), operand_of("y", y));
    }
    template <class Function>
    void operator()(Function function, View<const T> x, View<const T> y, View<T> z,
                    cuda::stream_ref stream) const {
        transform<T>(function, stream, operand_of("x", x), operand_of("y", y), operand_of("z", z));
    }
    template <class Function>
    void operator()(Function function, View<const T> x, View<const T> y, View<const T> z, View<T> w,
                    cuda::stream_ref stream) const {
        transform<T>(function, stream, operand_of("x", x), operand_of("y", y), operand_of("z", z),
                     operand_of("w", w));
    }
};

}  // namespace detail

/// transform<T>(function, x[, y[, z]], output, stream): output = function(x[, y[, z]]), element by element.
///
/// `function` is copied to the device. It is an extended __device__ lambda, or an object with a const __device__
/// operator(). It takes one to three T and returns one. It has no effects: near the ends of rows it may be called more than
/// once for an element. T is any trivially copyable and default-constructible type of 1, 2, 4, 8 or 16 bytes that is
/// aligned to its size. Shapes, aliasing, stream behaviour and errors are those of heddle::add.
template <class T>
inline constexpr detail::overloaded<detail::transformed<T, vector_view>, detail::transformed<T, matrix_view>>
    transform{};

}  // namespace heddle
