#pragma once

#include "kernels/device/cut_line.cuh"
#include "kernels/device/ptx/prefetch.cuh"
#include "kernels/device/quick_division.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/matmul/element.cuh"

#include <cstdint>

/// Reads tiles of C, and stores them from shared memory, even if their lines begin at any address.
namespace heddle::kernels::matmul {

/// Applies the epilogue to the elements of a piece; `inside` has a bit for each. Line `line` of the tile at (row, col) runs
/// along C's columns, or its rows. The next line begins after `length` elements. Not inlined, because it is long.
template <class Out, int width>
__device__ __noinline__ vector<float, width> finished_piece(const epilogue<Out>& e,
                                                            vector<float, width> values, std::int64_t row,
                                                            std::int64_t col, int line, int at, int length,
                                                            bool along_n, unsigned inside) {
    element_place places[width];
#pragma unroll
    for (int i = 0; i < width; ++i, ++at) {
        if (at == length) ++line, at = 0;
        places[i] = {row + (along_n ? line : at), col + (along_n ? at : line), (inside >> i & 1) != 0};
    }
    apply_to_elements(e, values.elements, [&](int i) { return places[i]; });
    return values;
}

/// The tile at (row, col) of C, with at most max_lines lines of max_length elements. A line is a row of C, or a column if
/// not along_n. With is_one_line, all lines lie back to back and are cut as one.
template <class Out, int width, int max_lines, int max_length, bool along_n>
class tile_lines {
  public:
    __device__ tile_lines(const matrix_view<Out>& c, std::int64_t row, std::int64_t col, bool is_one_line)
        : row_(row),
          col_(col),
          first_(&element(c, row, col)),
          next_(along_n ? c.row_stride : c.col_stride),
          span_(static_cast<int>(min(std::int64_t{max_length}, along_n ? c.cols - col : c.rows - row))),
          lines_(static_cast<int>(min(std::int64_t{max_lines}, along_n ? c.rows - row : c.cols - col))),
          length_(is_one_line ? lines_ * span_ : span_),
          wrap_(static_cast<unsigned>(span_)),
          per_line_(static_cast<unsigned>(length_ + 2 * (width - 1)) / width) {
        if (is_one_line) lines_ = 1;
    }

    /// Stores C = alpha * sum(line, at) + beta * C, and then the epilogue. A thread has up to `together` pieces of C in flight.
    /// All `threads` threads of a block call it.
    template <int threads, int together, class In, class Sum>
    __device__ void store(const product<In, Out>& p, Sum sum) const {
        using packet = vector<Out, width>;
        const int pieces = lines_ * static_cast<int>(per_line_.divisor);
#pragma unroll 1
        for (int first = static_cast<int>(threadIdx.x); first < pieces; first += together * threads) {
            packet old[together];
            const auto each = [&](auto function) {
#pragma unroll
                for (int i = 0; i < together; ++i) {
                    const auto index = static_cast<unsigned>(first + i * threads);
                    if (static_cast<int>(index) >= pieces) continue;
                    const unsigned line = per_line_.quotient(index);
                    const cut_line<Out, width> cut{first_ + line * next_, length_};
                    function(i, static_cast<int>(line), cut,
                             cut.begin_of(static_cast<int>(index - line * per_line_.divisor)));
                }
            };
            if (p.beta != 0) each([&](int i, int, const auto& cut, int at) { old[i] = cut.load(at); });
            each([&](int i, int line, const auto& cut, int at) {
                const auto before = static_cast<int>(wrap_.quotient(static_cast<unsigned>(max(at, 0))));
                const int first_line = line + before, first_at = at - before * span_;
                vector<float, width> x;
                unsigned inside = 0;
#pragma unroll
                for (int e = 0, l = first_line, a = first_at; e < width; ++e, ++a) {
                    if (a == span_) ++l, a = 0;
                    const bool has = cut.has(at, e);
                    inside |= static_cast<unsigned>(has) << e;
                    x[e] = has ? p.alpha * sum(l, a) : 0.0f;
                    if (p.beta != 0) x[e] += p.beta * static_cast<float>(old[i][e]);
                }
                if (!p.epilogue.is_identity)
                    x = finished_piece(p.epilogue, x, row_, col_, first_line, first_at, span_, along_n,
                                       inside);
                packet stored;
#pragma unroll
                for (int e = 0; e < width; ++e) stored[e] = static_cast<Out>(x[e]);
                cut.store(at, stored);
            });
        }
    }

  private:
    std::int64_t row_, col_;
    Out* first_;
    std::int64_t next_;
    int span_;  ///< of a line
    int lines_;
    int length_;  ///< of what is cut
    quick_division wrap_, per_line_;
};

/// Applies the epilogue to four elements, `down` rows and `across` columns apart. Not inlined, because it is long.
template <class Out>
__device__ __noinline__ vector<float, 4> finished_four(const epilogue<Out>& e, vector<float, 4> values,
                                                       std::int64_t row, std::int64_t col, int down,
                                                       int across, int count) {
    apply_to_elements(e, values.elements, [&](int i) {
        return element_place{row + i * down, col + i * across, i < count};
    });
    return values;
}

/// Stores the tile at (row, col) of C from sums in shared memory, given by sum(line, at). A thread stores packets, of which
/// lines have whole numbers. Or it stores one element of each of four lines, so that all lanes of a warp store neighbours.
template <int threads, int lines, int length, bool along_n, bool in_packets, class In, class Out, class Sum>
__device__ void store_by_packets_or_elements(const product<In, Out>& p, const matrix_view<Out>& c,
                                             std::int64_t row, std::int64_t col, Sum sum) {
    using packet = vector<Out, 4>;
    constexpr int across = in_packets ? length / 4 : length, quarter = lines / 4;
    constexpr int groups = lines * length / 4 / threads;
    constexpr int together = in_packets ? 4 : 2;  // packets or fours that wait for C together
    static_assert(groups % together == 0);
    constexpr int line_step = in_packets ? 0 : quarter, step = in_packets ? 1 : 0;  // between a thread's four
    constexpr int down = along_n ? line_step : step, right = along_n ? step : line_step;
    const std::int64_t lines_left = along_n ? c.rows - row : c.cols - col;
    const std::int64_t length_left = along_n ? c.cols - col : c.rows - row;
    const std::int64_t next = down * c.row_stride + right * c.col_stride;
#pragma unroll 1
    for (int first = 0; first < groups; first += together) {
        packet old[together] = {};
        const auto each = [&](auto function) {
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const int index = static_cast<int>(threadIdx.x) + (first + i) * threads;
                const int line = index / across, at = index % across * (in_packets ? 4 : 1);
                if (line >= lines_left || at >= length_left) continue;
                const std::int64_t left = in_packets ? 4 : (lines_left - line + quarter - 1) / quarter;
                const int below = along_n ? line : at, beside = along_n ? at : line;
                Out* const to = c.data + (row + below) * c.row_stride + (col + beside) * c.col_stride;
                function(i, line, at, row + below, col + beside, to,
                         static_cast<int>(min(std::int64_t{4}, left)));
            }
        };
        if (p.beta != 0)
            each([&](int i, int, int, std::int64_t, std::int64_t, const Out* from, int count) {
                if (in_packets) {
                    old[i] = *reinterpret_cast<const packet*>(from);
                } else {
#pragma unroll
                    for (int e = 0; e < 4; ++e)
                        if (e < count) old[i][e] = from[e * next];
                }
            });
        each([&](int i, int line, int at, std::int64_t c_row, std::int64_t c_col, Out* to, int count) {
            vector<float, 4> x;
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                x[e] = p.alpha * sum(line + e * line_step, at + e * step);
                if (p.beta != 0) x[e] += p.beta * static_cast<float>(old[i][e]);
            }
            if (!p.epilogue.is_identity) x = finished_four(p.epilogue, x, c_row, c_col, down, right, count);
            packet stored;
#pragma unroll
            for (int e = 0; e < 4; ++e) stored[e] = static_cast<Out>(x[e]);
            if (in_packets) {
                *reinterpret_cast<packet*>(to) = stored;
            } else {
#pragma unroll
                for (int e = 0; e < 4; ++e)
                    if (e < count) to[e * next] = stored[e];
            }
        });
    }
}

/// Stores the tile as the plan says, also by packets and elements of lines that begin anywhere.
template <int threads, int lines, int length, bool along_n, class In, class Out, class Sum>
__device__ void store_tile(const product<In, Out>& p, const matrix_view<Out>& c, std::int64_t row,
                           std::int64_t col, c_access of_c, Sum sum) {
    if (of_c == c_access::packets)
        store_by_packets_or_elements<threads, lines, length, along_n, true>(p, c, row, col, sum);
    else if (of_c == c_access::elements)
        store_by_packets_or_elements<threads, lines, length, along_n, false>(p, c, row, col, sum);
    else
        tile_lines<Out, 4, lines, length, along_n>(c, row, col, of_c == c_access::line)
            .template store<threads, 4>(p, sum);
}

/// Prefetches the tile at (row, col) of C into L2, but nothing outside of C.
template <int threads, int lines, int length, bool along_n, class Out>
__device__ void prefetch_tile(const matrix_view<Out>& c, std::int64_t row, std::int64_t col) {
    constexpr int sector = 32 / static_cast<int>(sizeof(Out)), across = length / sector;
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < lines * across; i += threads) {
        const std::int64_t line = i / across, at = i % across * sector;
        const std::int64_t r = row + (along_n ? line : at), s = col + (along_n ? at : line);
        if (r < c.rows && s < c.cols) ptx::prefetch_to_l2(&element(c, r, s));
    }
}

}  // namespace heddle::kernels::matmul
