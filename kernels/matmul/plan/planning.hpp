#pragma once

#include "kernels/device/cost_place.hpp"
#include "kernels/matmul/cost/h200.hpp"
#include "kernels/matmul/plan/plan.hpp"

#include <cstddef>
#include <cstdint>

/// What the plans are made of.
namespace heddle::kernels::matmul {

/// A row's cost on a card, by its name or by its place in a table of kernels.
inline const row_cost& cost_of(const costs& card, cost_place<h200> row) {
    return card.rows[row.at];
}
template <const auto& rows>
const row_cost& cost_of(const costs& card, std::size_t row) {
    return cost_of(card, cost_places<h200, rows>[row]);
}

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

/// What a plan has a multiprocessor do.
struct work {
    double rounds = 0;      ///< of tiles, with all its places taken
    double steps = 0;       ///< along k, of each
    double last_steps = 0;  ///< of a round after these, 0 where there is none
    double last = 1;        ///< the share of the places that this one takes
    double bytes = 0;       ///< that all of them move
    double slower = 1;      ///< a round's factor
    double around_us = 0;   ///< more around a round
};

/// A problem on a device, and how its kinds of layout come out there.
struct planning {
    const product_facts& problem;
    const device_traits& device;
    const matmul::costs& costs;
    std::int64_t m, n, k;
    double a_lines;      ///< cache lines in which a row of a box lies, of A as it was given or copied,
    double b_lines;      ///< and of B
    double moved_bytes;  ///< A and B once, C where it is added to, and what L2 does not hold of C

    /// Or of the product turned, C^T = B^T A^T.
    planning(const product_facts& problem, const device_traits& device, bool is_turned = false);
    /// With operands that are copied first.
    planning(const product_facts& problem, const device_traits& device, const operand_copies& copies,
             bool is_turned = false);

    /// The model: how long a row takes for that.
    double us(const row_cost& row, const work& w) const;

    /// What tiles ask of L2 beyond A and B once, as bytes that take as long to come from memory.
    double asked_again(const tile_shape& tile, std::int64_t tiles) const;
    /// What a multiprocessor takes to store tiles of C one by one, where it cannot in packets; and to read them.
    double stores_us(const tile_shape& tile, int tiles = 1) const;
    /// Whole tiles, in rounds.
    plan whole(const tile_shape& tile, const row_cost& row) const;
    /// Whole rounds of tiles and, where that is faster and there is a workspace, the rest streamed (stream-K).
    plan streamed(const tile_shape& tile, const row_cost& row) const;
    /// Tiles of blocks; with `may_share` and where that is faster, whole rounds of these and the rest in as many parts as fill a
    /// round.
    plan blocks(const block_kernel& tile, const row_cost& row, work each, bool may_share) const;
    /// Tiles that are shared out along k among clusters of blocks.
    plan skinny(const skinny_kernel& tile, const row_cost& row) const;
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
