#pragma once

#include "kernels/device/launch.hpp"
#include <heddle/elementwise.hpp>
#include <heddle/error.hpp>
#include <heddle/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

/// For .cu files: a functor of one's own through the frame of heddle's elementwise operations, at their speed.
namespace heddle {
namespace detail {

/// Checks the operands of a call, and puts them in the order of their addresses: row-major, and as one row
/// where no row has a gap. Describes the call that they then make.
elementwise_problem prepare_elementwise(const char* operation, std::span<operand> operands,
                                        std::size_t element_bytes);

struct elementwise_tile {
    static constexpr int threads = 256;
    /// Several large inputs take these blocks where the function lets two of them fill an SM: each input is then read
    /// in longer runs.
    static constexpr int wide_threads = 1024;
    static constexpr int wide_registers = 32;
    static constexpr std::int64_t wide_packets = std::int64_t{1} << 22;
    static constexpr int packet_bytes = 16;
    static constexpr std::int64_t max_grid_y = 65535;
    /// The functions of doubles fit 64 registers. Left to itself, ptxas spills some of them for one block more.
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

template <class T>
struct alignas(elementwise_tile::packet_bytes) elementwise_packet {
    static constexpr int size = elementwise_tile::packet_bytes / sizeof(T);
    T elements[size];
};

/// The row of this thread: rows are along y, and on along z.
__device__ inline std::int64_t elementwise_row() {
    return (std::int64_t{blockIdx.z} * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y;
}

/// A thread takes a packet, of rows that begin at 16-byte boundaries. The grid is rows by packets: finding a
/// place costs no division. All loads come before the first store, so the output may be an input.
template <int threads, class T, int inputs, class Function>
__global__ void __launch_bounds__(threads, elementwise_tile::min_blocks_per_sm<T>(threads))
    transform_packets(Function function, elementwise_operands<T, inputs> a) {
    using packet = elementwise_packet<T>;
    const std::int64_t row = elementwise_row();
    const std::int64_t col = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * packet::size;
    if (row >= a.out.rows || col >= a.out.cols) return;
    T* to = a.out.data + row * a.out.row_stride + col;
    const T* from[inputs];
#pragma unroll
    for (int i = 0; i < inputs; ++i) from[i] = a.in[i].data + row * a.in[i].row_stride + col;

    T elements[inputs];
    if (col + packet::size <= a.out.cols) {
        packet x[inputs];
#pragma unroll
        for (int i = 0; i < inputs; ++i) x[i] = *reinterpret_cast<const packet*>(from[i]);
        packet result;
#pragma unroll
        for (int e = 0; e < packet::size; ++e) {
#pragma unroll
            for (int i = 0; i < inputs; ++i) elements[i] = x[i].elements[e];
            result.elements[e] = apply(function, elements);
        }
        *reinterpret_cast<packet*>(to) = result;
    } else {  // the packet that the end of the row cuts
#pragma unroll 1
        for (int e = 0; e < a.out.cols - col; ++e) {
#pragma unroll
            for (int i = 0; i < inputs; ++i) elements[i] = from[i][e];
            to[e] = apply(function, elements);
        }
    }
}

/// For rows at any address, of elements any distance apart: a thread takes as many elements as a packet has,
/// blockDim.x apart, so that a warp's are neighbours.
template <class T, int inputs, class Function>
__global__ void __launch_bounds__(elementwise_tile::threads,
                                  elementwise_tile::min_blocks_per_sm<T>(elementwise_tile::threads))
    transform_elements(Function function, elementwise_operands<T, inputs> a) {
    constexpr int size = elementwise_packet<T>::size;
    const int step = static_cast<int>(blockDim.x);
    const std::int64_t row = elementwise_row();
    const std::int64_t first = std::int64_t{blockIdx.x} * (step * size) + threadIdx.x;
    if (row >= a.out.rows) return;
    const auto at = [row, first, step](const auto& m, int e) {
        return m.data + row * m.row_stride + (first + e * step) * m.col_stride;
    };
    T x[size][inputs];
#pragma unroll
    for (int e = 0; e < size; ++e)
#pragma unroll
        for (int i = 0; i < inputs; ++i)
            if (first + e * step < a.out.cols) x[e][i] = *at(a.in[i], e);
#pragma unroll
    for (int e = 0; e < size; ++e)
        if (first + e * step < a.out.cols) *at(a.out, e) = apply(function, x[e]);
}

/// How a call is shared out: by packets, or by elements of rows at any address.
struct elementwise_plan {
    kernels::launch_extents blocks;
    kernels::launch_extents threads;
    bool in_packets;
};

inline std::int64_t packets_of_a_row(const elementwise_problem& problem) {
    const std::int64_t size =
        elementwise_tile::packet_bytes / static_cast<std::int64_t>(problem.element_bytes);
    return (problem.cols + size - 1) / size;
}

/// Whether blocks of wide_threads are the faster ones, of a function that they fit.
inline bool gains_by_wide_blocks(const elementwise_problem& problem) {
    return problem.inputs > 1 && problem.in_packets &&
           problem.rows * packets_of_a_row(problem) >= elementwise_tile::wide_packets;
}

/// In blocks of so many threads: elementwise_tile::threads, or ::wide_threads of packets. Pure.
inline elementwise_plan plan_transform(const elementwise_problem& problem, std::int64_t threads) {
    const std::int64_t packets = packets_of_a_row(problem);
    const std::int64_t wanted =
        problem.in_packets ? packets : std::max(packets, std::min<std::int64_t>(problem.cols, 32));
    // Narrow matrices give their spare threads to further rows.
    std::int64_t across = 1;
    while (across < threads && across < wanted) across *= 2;
    const std::int64_t height = threads / across;
    const std::int64_t down = (problem.rows - 1) / height + 1;
    const std::int64_t deep = (down - 1) / elementwise_tile::max_grid_y + 1;
    return {{(packets + across - 1) / across, (down + deep - 1) / deep, deep},
            {across, height},
            problem.in_packets};
}

/// Operands as prepare_elementwise() leaves them, none of them empty, and a plan of them.
template <class T, int inputs, class Function>
void launch_transform(const elementwise_plan& plan, Function function, std::span<const operand> operands,
                      cudaStream_t stream) {
    using tile = elementwise_tile;
    auto* kernel = plan.in_packets ? transform_packets<tile::threads, T, inputs, Function>
                                   : transform_elements<T, inputs, Function>;
    if constexpr (inputs > 1)
        if (plan.threads.x * plan.threads.y == tile::wide_threads)
            kernel = transform_packets<tile::wide_threads, T, inputs, Function>;
    kernels::launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream}, kernel, function,
                    elementwise_operands<T, inputs>(operands));
}

/// Whether two wide blocks of the function fill an SM.
template <class T, int inputs, class Function>
bool fits_wide_blocks() {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes,
                                transform_packets<elementwise_tile::wide_threads, T, inputs, Function>));
    return attributes.numRegs <= elementwise_tile::wide_registers;
}

template <class T, class Function, class... Operands>
void transform(Function function, cuda::stream_ref stream, Operands... given) {
    static_assert(alignof(T) == sizeof(T), "elements are aligned to their size");
    constexpr int inputs = sizeof...(given) - 1;
    operand operands[] = {given...};
    const elementwise_problem problem = prepare_elementwise("transform", operands, sizeof(T));
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
/// `function` is copied to the device; its operator() is a const __device__ member that takes one to three T
/// and returns one, or an extended __device__ lambda. T is any trivially copyable and default-constructible type
/// of 1, 2, 4, 8 or 16 bytes that is aligned to its size. Shapes, aliasing, stream behaviour and errors are those of heddle::add.
template <class T>
inline constexpr detail::overloaded<detail::transformed<T, vector_view>, detail::transformed<T, matrix_view>>
    transform{};

}  // namespace heddle
