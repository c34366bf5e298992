#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/transpose/facts.hpp"
#include <heddle/device.hpp>
#include <heddle/transpose.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace heddle::kernels::transpose {

/// destination(j, i) = source(i, j), shapes in agreement, not empty; Word is an unsigned integer. The source's
/// rows are the more contiguous.
///
/// A copy has source.col_stride and destination.row_stride 1 (or a single column of the source), and is one
/// row of the source where there are no gaps.
template <class Word>
struct arguments {
    matrix_view<const Word> source;
    matrix_view<Word> destination;
};

/// So many matrices of one shape, each so many elements after the one before. `arguments` has the first.
struct batch {
    std::int64_t count = 1;
    std::int64_t source_stride = 0;
    std::int64_t destination_stride = 0;
};

/// A tile is square, or small and square; a matrix of few rows or few columns is taken in strips, flat or tall.
enum class aspect { square, small, flat, tall };

/// Rows of tiles come in bands: a band's tiles are numbered down its columns, one column after the other.
/// Blocks (x, y, z) take the tile row x + z * tiles_down_a_z and the tile column y + z * tiles_across_a_z, of
/// which one is 0.
struct block_order {
    std::int64_t tiles_down_a_z = 0;
    std::int64_t tiles_across_a_z = 0;
};

/// How a rung does a problem.
struct plan {
    launch_extents blocks{1};
    launch_extents threads{1};
    // For vectorized alone.
    int packet_bytes = 0;  ///< that are moved at once
    bool is_copy = false;  ///< of rows; else of tiles or strips
    aspect shape = aspect::square;
    block_order order = {};
    std::int64_t layers = 1;  ///< of blocks along z that a matrix of a batch has
    std::int64_t run = 0;     ///< of a strip: elements of each long line that a block takes
    std::int64_t pitch = 0;   ///< and from one to the next in shared memory
};

/// Each rung has a plan and a launch. The plan is pure. It takes the problems that meet the needs in the rung's row.
/// The launch transposes by the plan for these arguments.
#define DECLARE(rung, ...)                                                         \
    plan plan_##rung(const transpose_facts& problem, const device_traits& device); \
    template <class Word>                                                          \
    void launch_##rung(const plan& plan, const arguments<Word>& arguments, cudaStream_t stream);
HEDDLE_TRANSPOSE_RUNGS(DECLARE)
#undef DECLARE

/// Plans `count` matrices that lie alike. Pure. Needs unit_stride, and no copy.
plan plan_batch(const transpose_facts& problem, std::int64_t count, const device_traits& device);
/// Words of 2 and 4 bytes.
template <class Word>
void launch_batch(const plan& plan, const arguments<Word>& arguments, const batch& batch,
                  cudaStream_t stream);

}  // namespace heddle::kernels::transpose
