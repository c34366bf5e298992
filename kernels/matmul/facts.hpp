#pragma once

#include "kernels/matmul/kernels.hpp"
#include "kernels/matmul/layout.hpp"
#include <heddle/matmul.hpp>

#include <array>
#include <cstdint>

/// All that rows, plans and messages read of a product. Pure.
namespace heddle::kernels::matmul {

/// The cache lines in which the 128 bytes of a box's row lie, on average: one where all rows begin at lines, else up to two,
/// each of which L2 sends for itself.
double lines_of_box_row(const matrix_layout& m);

struct product_facts : matmul_problem {
    explicit product_facts(const matmul_problem& problem);

    bool is_empty;
    bool is_vector;  ///< C is one row or one column
    bool is_skinny;  ///< its shorter side is at most 64
    bool has_unit_strides;
    bool is_countable;         ///< an int counts the extents,
    bool has_countable_tiles;  ///< and the tiles of C, of all the batch, also of the smallest

    // What the tensor memory accelerator can read: A and B as they lie, all of a batch, and one of them along k; or copies, which
    // have no more elements than there are: matrices of a batch that overlap are not copied.
    bool lies_in_boxes;
    bool lies_along_k;
    bool can_be_copied;
    bool can_be_copied_along_k;
    operand_copies copies;          ///< that it needs,
    operand_copies copies_along_k;  ///< one of them along k
    /// Choices of operands to copy: those first, and beside them those whose rows lie across cache lines.
    std::array<operand_copies, 4> choices;
    int choice_count;
    bool short_side_lies_along_k;  ///< the operand of C's shorter side, or its copy, is read along k
    bool stores_boxes;             ///< C can be stored by boxes

    double operand_bytes;  ///< A and B of all the batch, once
    double c_bytes;        ///< the same of C
    /// lines_of_box_row() of the operands as they were given, and of each copy_kind.
    std::array<double, 3> a_lines, b_lines;
};

}  // namespace heddle::kernels::matmul
