#pragma once

#include "kernels/matmul/cost/h100.hpp"
#include "kernels/matmul/plan/plan.hpp"

#include <cstddef>
#include <cstdint>

/// What the plans are made of.
namespace heddle::kernels::matmul {

/// Tiles that are done one after another by `places` blocks, or clusters of them, side by side.
plan lay_out_tiles(const tile_shape& tile, const kernel_cost& cost, std::int64_t m, std::int64_t n,
                   std::int64_t k, std::int64_t batches, int places);

/// How matrices that lie like C, `batch_stride` apart, are stored in packets of so many elements, by tiles whose rows are
/// at most `longest_row`.
c_access access_of(const matrix_layout& c, std::int64_t batch_stride, std::int64_t packet,
                   std::int64_t longest_row);

/// Whether a matrix, or its copy, has rows, or columns, that the tensor memory accelerator can read; a vector may have both.
constexpr bool has_tensor_rows(const matrix_layout& m, copy_kind copy) {
    return has_tensor_rows(copied(m, copy));
}
constexpr bool has_tensor_columns(const matrix_layout& m, copy_kind copy) {
    return has_tensor_rows(transposed(copied(m, copy)));
}

/// A problem on a device, and how its kinds of layout come out there.
struct planning {
    const product_facts& problem;
    const device_traits& device;
    const matmul::costs& costs;
    std::int64_t m, n, k;
    double operand_bytes;  ///< A and B of all the batch, once
    double added_us;       ///< to read C, where it is added to, at the rate of the memory
    double read_us;        ///< that, and A and B once
    double a_lines;        ///< cache lines in which a row of a box lies, of A as it was given or copied,
    double b_lines;        ///< and of B
    double store_us;       ///< and what L2 does not hold of C

    /// Or of the product turned, C^T = B^T A^T.
    planning(const product_facts& problem, const device_traits& device, bool is_turned = false);
    /// With operands that are copied first.
    planning(const product_facts& problem, const device_traits& device, const operand_copies& copies,
             bool is_turned = false);

    double moved_us(const tile_shape& tile, std::int64_t tiles, double slower) const;
    /// What a multiprocessor takes to store a tile's part of C one by one, where it cannot in packets; and to read it.
    double stores_us(const tile_shape& tile) const;
    /// Whole tiles, in rounds.
    plan whole(const tile_shape& tile, const kernel_cost& cost) const;
    /// Whole rounds of tiles and, where that is faster and there is a workspace, the rest streamed (stream-K).
    plan streamed(const tile_shape& tile, const kernel_cost& cost) const;
    /// Tiles of blocks of FFMAs; with `may_share` and where that is faster, whole rounds of these and the rest in as many
    /// parts as fill a round.
    plan blocks(const block_kernel& tile, const kernel_cost& cost, bool may_share) const;
    /// Tiles that are shared out along k among clusters of blocks.
    plan skinny(const skinny_kernel& tile, double step_us) const;
    /// The copies, before the rest of a plan.
    void add_copies(const operand_copies& copies, plan& to) const;
};

/// The cheapest plan of make(planning), of all choices of operands to copy before.
plan cheapest_copies(const product_facts& problem, const device_traits& device, std::size_t kernel,
                     auto make) {
    plan best;
    for (int i = 0; i < problem.choice_count; ++i) {
        const operand_copies& copies = problem.choices[static_cast<std::size_t>(i)];
        const planning x(problem, device, copies);
        plan candidate = make(x);
        x.add_copies(copies, candidate);
        if (candidate.us < best.us) best = candidate;
    }
    best.kernel = kernel;
    return best;
}

}  // namespace heddle::kernels::matmul
