#pragma once

#include "kernels/device/cost_place.hpp"
#include "kernels/matmul/cost/h200.hpp"
#include "kernels/matmul/plan/plan.hpp"

#include <cstddef>
#include <cstdint>

/// The parts that plans consist of.
namespace heddle::kernels::matmul {

/// The cost of a row on a card, by its name or by its place in a table of kernels.
inline const row_cost& cost_of(const costs& card, cost_place<h200> row) {
    return card.rows[row.at];
}
template <const auto& rows>
const row_cost& cost_of(const costs& card, std::size_t row) {
    return cost_of(card, cost_places<h200, rows>[row]);
}

/// How matrices that lie like C, `batch_stride` apart, are stored in packets of `packet` elements. The rows of tiles have
/// at most `longest_row` elements.
c_access access_of(const matrix_layout& c, std::int64_t batch_stride, std::int64_t packet,
                   std::int64_t longest_row);

/// Whether the tensor memory accelerator can read rows, or columns, of a matrix or its copy; a vector may have both.
constexpr bool has_tensor_rows(const matrix_layout& m, copy_kind copy) {
    return has_tensor_rows(copied(m, copy));
}
constexpr bool has_tensor_columns(const matrix_layout& m, copy_kind copy) {
    return has_tensor_rows(transposed(copied(m, copy)));
}

/// The work of a multiprocessor in a plan.
struct work {
    double rounds = 0;      ///< of tiles, with all its places taken
    double steps = 0;       ///< along k, of each tile
    double last_steps = 0;  ///< of a partial round after these; 0 if there is none
    double last = 1;        ///< share of the places that this round takes
    bool reads_together =
        false;             ///< its blocks read the same A and B at the same time, as those of a full round do
    double bytes = 0;      ///< that all multiprocessors move
    double slower = 1;     ///< factor of a round
    double around_us = 0;  ///< more time around a round
};

/// How the sums of workers that share a tile can be added up.
struct ways_to_add {
    bool inside = false;  ///< the last worker does it
    bool apart = false;   ///< workers leave parts, which a further kernel adds up
};

/// A problem on a device, and the parts of plans for it.
struct planning {
    const product_facts& problem;
    const device_traits& device;
    const matmul::costs& costs;
    std::int64_t m, n, k;
    double a_lines;      ///< cache lines of a box's row of A, as given or copied
    double b_lines;      ///< the same for B
    double moved_bytes;  ///< of A and B once, of C if it is read, and of stores to C that L2 does not hold

    /// For the product, or for the turned product, C^T = B^T A^T.
    planning(const product_facts& problem, const device_traits& device, bool is_turned = false);
    /// The same with operands that are copied first.
    planning(const product_facts& problem, const device_traits& device, const operand_copies& copies,
             bool is_turned = false);

    /// The model: the time that a row takes for this work.
    double us(const row_cost& row, const work& w) const;

    /// The bytes that tiles read from L2 beyond A and B once, as bytes that take as long to read from memory.
    double asked_again(const tile_shape& tile, std::int64_t tiles) const;
    /// The time in which a multiprocessor stores tiles of C one by one, if it cannot use boxes, and reads them.
    double stores_us(const tile_shape& tile, int tiles = 1) const;
    /// Whole tiles, in rounds.
    plan whole(const tile_shape& tile, const row_cost& row) const;
    /// Full rounds of whole tiles. If there is a workspace and that is faster, workers share the rest along k. They have equal
    /// parts of one tile each (split-K), or equal lengths of the sequence of all steps (stream-K).
    plan streamed(const tile_shape& tile, const row_cost& row, ways_to_add ways) const;
    /// One tile for each block. With `may_share`, and if that is faster, the tiles of the partial round are cut into as many
    /// parts as fill a round.
    plan blocks(const block_kernel& tile, const row_cost& row, work each, bool may_share) const;
    /// The threads that add up each place of a kernel's parts: as many as the device can run at once.
    int adders(std::int64_t sums, std::int64_t parts) const;
    /// Tiles that clusters of blocks divide along k.
    plan skinny(const skinny_kernel& tile, const row_cost& row) const;
    /// Adds the copies, which are made before the rest of a plan.
    void add_copies(const operand_copies& copies, plan& to) const;
};

/// The cheapest plan of make(planning) among all choices of operands to copy first.
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
