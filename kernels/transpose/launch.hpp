#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/transpose/facts.hpp"
#include <heddle/device.hpp>
#include <heddle/transpose.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace heddle::kernels::transpose {

/// destination(j, i) = source(i, j). The shapes agree and are not empty; Word is an unsigned integer. The source's
/// rows are more contiguous than its columns.
///
/// A copy has source.col_stride and destination.row_stride 1, or its source has a single column. Without gaps it is
/// one row of the source.
template <class Word>
struct arguments {
    matrix_view<const Word> source;
    matrix_view<Word> destination;
};

/// `count` matrices of one shape, each a stride of elements after the one before. `arguments` has the first.
struct batch {
    std::int64_t count = 1;
    std::int64_t source_stride = 0;
    std::int64_t destination_stride = 0;
};

/// Tiles are square, or small and square. A matrix of few rows is taken in flat strips, one of few columns in tall strips.
enum class aspect { square, small, flat, tall };

/// Rows of tiles come in bands: a band's tiles are numbered down its columns, one column after the other.
/// Block (x, y, z) takes tile row x + z * tiles_down_a_z and tile column y + z * tiles_across_a_z. One of these two
/// steps is 0.
struct block_order {
    std::int64_t tiles_down_a_z = 0;
    std::int64_t tiles_across_a_z = 0;
};

using facts_type = transpose_facts;

/// How a rung computes a problem.
struct plan {
    launch_extents blocks{1};
    launch_extents threads{1};
    // Only vectorized uses these.
    int packet_bytes = 0;  ///< bytes that are moved at once
    bool is_copy = false;  ///< a copy of rows; else tiles or strips
    aspect shape = aspect::square;
    block_order order = {};
    std::int64_t layers = 1;  ///< blocks along z per matrix of a batch
    std::int64_t run = 0;     ///< strips: elements of each long line that a block takes
    std::int64_t pitch = 0;   ///< strips: elements from one such line to the next in shared memory
};

/// Each rung has a plan and a launch. The plan is pure. It takes the problems that meet the needs in the rung's row.
/// The launch transposes by the plan for these arguments.
HEDDLE_TRANSPOSE_RUNGS(HEDDLE_PLAN_AND_LAUNCH)

/// Plans `count` matrices that lie alike. Pure. Needs unit_stride, and no copy.
plan plan_batch(const transpose_facts& problem, std::int64_t count, const device_traits& device);
/// Words of 2 and 4 bytes.
template <class Word>
void launch_batch(const plan& plan, const arguments<Word>& arguments, const batch& batch,
                  cudaStream_t stream);

}  // namespace heddle::kernels::transpose
