#pragma once

#include "kernels/matmul/kernels.hpp"
#include "kernels/matmul/layout.hpp"
#include <heddle/matmul.hpp>

#include <array>
#include <cstdint>

/// Everything that rows, plans and messages need to know about a product. Pure.
namespace heddle::kernels::matmul {

/// The average number of cache lines that the 128 bytes of a box's row touch. It is one if all rows begin at lines, else up
/// to two. L2 sends each line separately.
double lines_of_box_row(const matrix_layout& m);

struct product_facts : matmul_problem {
    explicit product_facts(const matmul_problem& problem);

    bool is_empty;
    bool is_vector;  ///< C is a single row or column
    bool is_skinny;  ///< C's shorter side is at most 64
    bool has_unit_strides;
    bool is_countable;         ///< the extents fit an int
    bool has_countable_tiles;  ///< so do the tiles of C in the whole batch, even the smallest tiles

    // Whether the tensor memory accelerator can read A and B of the whole batch in place, or one of them along k, or copies.
    // Copies must not have more elements than the originals, so matrices of a batch that overlap are not copied.
    bool lies_in_boxes;
    bool lies_along_k;
    bool can_be_copied;
    bool can_be_copied_along_k;
    operand_copies copies;          ///< the copies that it needs
    operand_copies copies_along_k;  ///< the same, with one operand along k
    /// Choices of operands to copy: the needed copies first, then also those of operands whose rows lie across cache lines.
    std::array<operand_copies, 4> choices;
    int choice_count;
    bool short_side_lies_along_k;  ///< the operand of C's shorter side, or its copy, is read along k
    bool stores_boxes;             ///< C can be stored by boxes

    double operand_bytes;  ///< A and B of the whole batch, counted once
    double c_bytes;        ///< C of the whole batch
    /// lines_of_box_row() of the operands for each copy_kind, where `none` is the operand as given.
    std::array<double, 3> a_lines, b_lines;
};

}  // namespace heddle::kernels::matmul
