#include "kernels/matmul/facts.hpp"

#include <heddle/types.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

namespace heddle::kernels::matmul {
namespace {

/// A limit by which the bytes of copies fit 64 bits: copied rows may be 16 times as long.
constexpr double max_copied_elements = 0x1p56;

bool has_countable_tiles(const matmul_problem& p) {
    constexpr std::int64_t side = 64,
                           most = std::numeric_limits<int>::max() / 2;  // a worker counts past the last tile
    const auto tiles =
        static_cast<double>(divide_up(p.c.rows, side)) * static_cast<double>(divide_up(p.c.cols, side));
    return tiles * static_cast<double>(p.batches) <= static_cast<double>(most);
}

bool can_be_copied(const product_facts& p, const operand_copies& copies) {
    if (!p.has_scratch || !p.has_unit_strides || !p.is_countable || p.batches > max_tensor_extent)
        return false;
    const auto fits = [&](const matrix_layout& m, copy_kind copy, std::int64_t batch_stride) {
        if (copy == copy_kind::none || batch_stride == 0) return true;
        const auto last = static_cast<double>(p.batches - 1) * static_cast<double>(batch_stride) +
                          static_cast<double>(m.rows - 1) * static_cast<double>(m.row_stride) +
                          static_cast<double>(m.cols - 1) * static_cast<double>(m.col_stride);
        return static_cast<double>(p.batches) * static_cast<double>(m.rows) * static_cast<double>(m.cols) <=
               std::min(last + 1, max_copied_elements);
    };
    return fits(p.a, copies.a, p.a_stride) && fits(p.b, copies.b, p.b_stride);
}

/// The copy that is contiguous along the same dimension as the matrix. A vector is contiguous along both, so its smaller
/// copy is taken, of one line.
copy_kind straight_copy(const matrix_layout& m) {
    const bool by_rows = has_contiguous_rows(m), by_columns = has_contiguous_rows(transposed(m));
    return by_rows && (!by_columns || m.rows <= m.cols) ? copy_kind::rows : copy_kind::columns;
}

/// These copies, and those of all other operands that need one.
operand_copies with_aligned(const matmul_problem& p, operand_copies copies) {
    const auto align = [](const matrix_layout& m, std::int64_t batch_stride, copy_kind& copy) {
        if (copy != copy_kind::none || lies_in_boxes(m, batch_stride)) return;
        copy = straight_copy(m);
    };
    align(p.a, p.a_stride, copies.a);
    align(p.b, p.b_stride, copies.b);
    return copies;
}

operand_copies copy_along_k(const matmul_problem& p) {
    const bool a_is_turned = !has_contiguous_rows(p.a), b_is_turned = !has_contiguous_rows(transposed(p.b));
    if (!a_is_turned || (b_is_turned && p.a.rows <= p.b.cols)) return {.a = copy_kind::rows};
    return {.b = copy_kind::columns};
}

}  // namespace

double lines_of_box_row(const matrix_layout& m) {
    constexpr std::int64_t line = 128;
    const matrix_layout lines = has_contiguous_rows(m) ? m : transposed(m);
    const std::int64_t stride = lines.rows > 1 ? lines.row_stride * m.element_bytes : 0;
    const std::int64_t alignment = std::gcd(std::gcd(stride, m.alignment()), line);
    return 2 - static_cast<double>(alignment) / static_cast<double>(line);
}

product_facts::product_facts(const matmul_problem& problem) : matmul_problem(problem) {
    const std::int64_t m = c.rows, n = c.cols, k = a.cols;
    is_empty = m == 0 || n == 0 || k == 0 || batches == 0;
    is_vector = m == 1 || n == 1;
    is_skinny = std::min(m, n) <= (operands == element_type::f32 ? max_skinny_float_side : max_skinny_side);
    has_unit_strides = has_unit_stride(a) && has_unit_stride(b);
    is_countable = has_tensor_extents(a) && has_tensor_extents(b) && has_tensor_extents(c);
    has_countable_tiles = matmul::has_countable_tiles(*this);

    lies_in_boxes = matmul::lies_in_boxes(a, a_stride) && matmul::lies_in_boxes(b, b_stride) &&
                    has_tensor_extents(c) && batches <= max_tensor_extent;
    lies_along_k = has_tensor_rows(a) || has_tensor_rows(transposed(b));
    copies = with_aligned(*this, {});
    copies_along_k = lies_along_k ? copies : with_aligned(*this, copy_along_k(*this));
    can_be_copied = matmul::can_be_copied(*this, copies);
    can_be_copied_along_k = matmul::can_be_copied(*this, copies_along_k);
    short_side_lies_along_k =
        m < n ? !has_tensor_rows(transposed(copied(a, copies.a))) : !has_tensor_rows(copied(b, copies.b));
    stores_boxes = has_tensor_rows(c) && begins_at_boxes(c_stride, c.element_bytes);

    const auto count = static_cast<double>(batches);
    operand_bytes = count * static_cast<double>(k) * static_cast<double>((m + n) * a.element_bytes);
    c_bytes = count * static_cast<double>(m) * static_cast<double>(n * c.element_bytes);
    for (const copy_kind copy : {copy_kind::none, copy_kind::rows, copy_kind::columns}) {
        a_lines[static_cast<std::size_t>(copy)] = lines_of_box_row(copied(a, copy));
        b_lines[static_cast<std::size_t>(copy)] = lines_of_box_row(copied(b, copy));
    }

    choices[0] = copies;
    choice_count = 1;
    const bool a_pays = copies.a == copy_kind::none && a_lines[0] > 1,
               b_pays = copies.b == copy_kind::none && b_lines[0] > 1;
    for (const operand_copies& more : {operand_copies{.b = straight_copy(b)},
                                       {.a = straight_copy(a)},
                                       {straight_copy(a), straight_copy(b)}}) {
        if ((more.a != copy_kind::none && !a_pays) || (more.b != copy_kind::none && !b_pays)) continue;
        const operand_copies both{more.a == copy_kind::none ? copies.a : more.a,
                                  more.b == copy_kind::none ? copies.b : more.b};
        if (matmul::can_be_copied(*this, both)) choices[static_cast<std::size_t>(choice_count++)] = both;
    }
}

}  // namespace heddle::kernels::matmul
