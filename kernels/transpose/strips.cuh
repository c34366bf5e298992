#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/quick_division.cuh"
#include "kernels/transpose/launch.hpp"
#include "kernels/transpose/tuning/tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// The strips in which `vectorized` takes a matrix of few columns or few rows.
///
///   tall source, 3 wide       shared: a line a column             destination
///   a b c                     a a a a ..  | pad
///   a b c          ->         b b b b ..  | pad         ->        a a a a ..
///   a b c ..                  c c c c ..  | pad                   b b b b ..
///
/// A block takes whole short lines, a run of some thousand elements. Neighbouring threads take neighbouring elements and
/// go on in the next line, so all of a sector is used at once. A flat source goes the other way round.
namespace heddle::kernels::transpose {

struct strip_tile {
    static constexpr int threads = 256;
    static constexpr int batch = 8;  ///< loads that a thread issues at once
    static constexpr int size = threads * 2 * batch;
};

/// `by_short` counts a block's elements along short lines, `by_long` along long ones.
template <class Word, bool is_tall>
__device__ void move_strip(const Word* source, std::int64_t source_stride, Word* destination,
                           std::int64_t destination_stride, std::int64_t length,
                           const quick_division& by_short, const quick_division& by_long, unsigned pitch,
                           Word* tile) {
    const std::int64_t first = std::int64_t{blockIdx.x} * by_long.divisor;
    const auto here = static_cast<unsigned>(min(length - first, std::int64_t{by_long.divisor}));
    const unsigned width = by_short.divisor;
    source += is_tall ? first * source_stride : first;
    destination += is_tall ? first : first * destination_stride;

    struct position {
        unsigned along;   ///< place in a long line
        unsigned across;  ///< number of the long line
        bool is_there;
    };
    // The order along short lines ends with the last one. The order along long lines skips places that these lack.
    const auto at = [&](unsigned i, bool is_short) {
        const quick_division& division = is_short ? by_short : by_long;
        const unsigned line = division.quotient(i), place = division.remainder(i);
        return is_short ? position{line, place, line < here}
                        : position{place, line, line < width && place < here};
    };
    const unsigned count = width * by_long.divisor;
    for (unsigned base = threadIdx.x; base < count; base += strip_tile::threads * strip_tile::batch) {
        Word elements[strip_tile::batch];
#pragma unroll
        for (unsigned i = 0; i < strip_tile::batch; ++i) {
            const position p = at(base + i * strip_tile::threads, is_tall);
            const unsigned along = min(p.along, here - 1), across = min(p.across, width - 1);
            elements[i] =
                is_tall ? source[along * source_stride + across] : source[across * source_stride + along];
        }
#pragma unroll
        for (unsigned i = 0; i < strip_tile::batch; ++i) {
            const position p = at(base + i * strip_tile::threads, is_tall);
            if (p.is_there) tile[p.across * pitch + p.along] = elements[i];
        }
    }
    ptx::sync_threads();

#pragma unroll 4
    for (unsigned i = threadIdx.x; i < count; i += strip_tile::threads) {
        const position p = at(i, !is_tall);
        if (!p.is_there) continue;
        Word& to = is_tall ? destination[p.across * destination_stride + p.along]
                           : destination[p.along * destination_stride + p.across];
        to = tile[p.across * pitch + p.along];
    }
}

template <class Word, bool is_tall>
__global__ void __launch_bounds__(strip_tile::threads)
    strips(const Word* source, std::int64_t source_stride, Word* destination, std::int64_t destination_stride,
           std::int64_t length, quick_division by_short, quick_division by_long, unsigned pitch) {
    extern __shared__ std::uint64_t shared[];
    move_strip<Word, is_tall>(source, source_stride, destination, destination_stride, length, by_short,
                              by_long, pitch, reinterpret_cast<Word*>(shared));
}

inline bool is_strip(const transpose_facts& problem) {
    return std::min(problem.rows, problem.cols) <= widest_strip(problem.element_bytes);
}

/// Lines in shared memory begin about 32 / width banks apart, an odd number. So the elements that a warp takes along
/// short lines seldom meet in a bank.
inline plan plan_strips(const transpose_facts& problem) {
    constexpr std::int64_t banks = 32, bank_bytes = 4;
    const std::int64_t width = std::max<std::int64_t>(1, std::min(problem.rows, problem.cols));
    const std::int64_t length = std::max(problem.rows, problem.cols);
    const std::int64_t unit = std::max(bank_bytes, problem.element_bytes);
    const std::int64_t run = std::max(banks, strip_tile::size / width / banks * banks);
    const std::int64_t units = divide_up(run * problem.element_bytes, unit);
    const std::int64_t pitch = round_up(units, banks) + (banks / width | 1);
    return {.blocks = {divide_up(length, run)},
            .threads = {strip_tile::threads},
            .shape = problem.cols <= problem.rows ? aspect::tall : aspect::flat,
            .run = run,
            .pitch = pitch * unit / problem.element_bytes};
}

template <class Word>
void launch_strips(const plan& plan, const arguments<Word>& a, cudaStream_t stream) {
    const bool is_tall = plan.shape == aspect::tall;
    const std::int64_t width = is_tall ? a.source.cols : a.source.rows;
    launch({.blocks = plan.blocks,
            .threads = plan.threads,
            .shared_bytes = static_cast<std::size_t>(width * plan.pitch) * sizeof(Word),
            .stream = stream},
           is_tall ? strips<Word, true> : strips<Word, false>, a.source.data, a.source.row_stride,
           a.destination.data, a.destination.row_stride, is_tall ? a.source.rows : a.source.cols,
           quick_division(static_cast<unsigned>(width)), quick_division(static_cast<unsigned>(plan.run)),
           static_cast<unsigned>(plan.pitch));
}

}  // namespace heddle::kernels::transpose
