#pragma once

#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/vector.cuh"

#include <cuda_runtime.h>

#include <cstdint>

/// Copies of stream_mma's operands to shared memory.
namespace heddle::kernels::matmul {

/// How an operand is copied to shared memory, and how it lies there.
struct streamed_operand {
    bool by_k;   ///< whether its lines run along k
    int width;   ///< bytes that are copied at once
    int stride;  ///< from line to line in shared memory, in elements
};

/// A thread's pieces of lines of `length` elements, `width` elements each. Lines begin `next` apart, and elements `step`.
template <int threads, int width, class In>
struct line_pieces {
    const In* from;
    int line, at;  ///< at: pieces of a line before it
    int per_line, more, more_at;
    std::int64_t jump, wrap;

    __device__ line_pieces(const In* from, std::int64_t next, std::int64_t step, int per_line)
        : per_line(per_line) {
        const auto thread = static_cast<int>(threadIdx.x);
        line = thread / per_line, at = thread - line * per_line;
        more = threads / per_line, more_at = threads - more * per_line;
        this->from = from + line * next + at * width * step;
        jump = more * next + more_at * width * step, wrap = next - per_line * width * step;
    }
    __device__ void advance() {
        line += more, at += more_at, from += jump;
        if (at >= per_line) ++line, at -= per_line, from += wrap;
    }
};

/// Starts copies of `bytes` bytes, at least 4, to lines `to_stride` apart. Elements lie side by side, unless each is copied
/// alone.
template <int threads, int bytes, class In>
__device__ void start_copies(In* to, int to_stride, const In* from, std::int64_t next, std::int64_t step,
                             int lines, int length) {
    constexpr int size = sizeof(In), width = bytes / size;
    line_pieces<threads, width, In> piece(from, next, step, (length + width - 1) / width);
#pragma unroll 1
    for (; piece.line < lines; piece.advance())
        ptx::cp_async<bytes>(to + piece.line * to_stride + piece.at * width, piece.from,
                             min(width, length - piece.at * width) * size);
}

/// Copies lines of 16-bit elements at any address and step. Neighbours in a word of memory are read at once, and as many
/// words as registers have room for are in flight.
template <int threads, class In>
__device__ void copy_elements(In* to, int to_stride, const In* from, std::int64_t next, std::int64_t step,
                              int lines, int length) {
    constexpr int together = 12;
    line_pieces<threads, 2, In> piece(from, next, step, length / 2 + 1);
    const auto each = [&](line_pieces<threads, 2, In>& here, auto function) {
#pragma unroll
        for (int i = 0; i < together; ++i, here.advance()) {
            const int before = step == 1 ? reinterpret_cast<std::uintptr_t>(here.from) / 2 % 2 : 0;
            const int first = 2 * here.at - before;
            const bool is_inside = here.line < lines;
            function(i, here.from - before, here.line * to_stride + first,
                     is_inside && first >= 0 && first < length, is_inside && first + 1 < length);
        }
    };
#pragma unroll 1
    while (piece.line < lines) {
        vector<In, 2> moved[together];
        line_pieces<threads, 2, In> again = piece;
        each(piece, [&](int i, const In* pair, int, bool has_first, bool has_second) {
            if (has_first && has_second && step == 1) {
                moved[i] = *reinterpret_cast<const vector<In, 2>*>(pair);
            } else {
                if (has_first) moved[i][0] = pair[0];
                if (has_second) moved[i][1] = pair[step];
            }
        });
        each(again, [&](int i, const In*, int at, bool has_first, bool has_second) {
            if (has_first) to[at] = moved[i][0];
            if (has_second) to[at + 1] = moved[i][1];
        });
    }
}

/// Copies the part of a tile inside the matrix: `inside` along m or n, where elements lie `step` apart, by `depth` along k.
/// Not inlined, because it is long.
template <int threads, class In>
__device__ __noinline__ void copy_operand(const streamed_operand& how, In* to, const In* from,
                                          std::int64_t step, std::int64_t step_k, int inside, int depth) {
    const std::int64_t next = how.by_k ? step : step_k, within = how.by_k ? step_k : step;
    const int lines = how.by_k ? inside : depth, length = how.by_k ? depth : inside;
    if (how.width == 16)
        start_copies<threads, 16>(to, how.stride, from, next, 1, lines, length);
    else if (how.width == 4)
        start_copies<threads, 4>(to, how.stride, from, next, sizeof(In) == 4 ? within : 1, lines, length);
    else if constexpr (sizeof(In) == 2)
        copy_elements<threads>(to, how.stride, from, next, within, lines, length);
}

}  // namespace heddle::kernels::matmul
