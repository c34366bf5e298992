#pragma once

#include "kernels/device/math.hpp"
#include <heddle/view.hpp>

#include <cstdint>
#include <initializer_list>

/// Properties of how operands lie in memory, by which rungs are chosen. Pure.
namespace heddle::kernels {

/// The bytes of the widest load or store.
inline constexpr std::int64_t packet_bytes = 16;

/// Whether this many elements make up whole packets.
constexpr bool are_packets(std::int64_t elements, std::int64_t element_bytes) {
    return elements % packet_bytes * element_bytes % packet_bytes == 0;
}

/// The number of elements between the start of a packet and the first element.
constexpr int elements_after_packet(const auto& layout) {
    return static_cast<int>(layout.offset % packet_bytes / layout.element_bytes);
}

/// Whether each row begins at a multiple of 16 bytes and consists of whole packets. A single row has no stride.
constexpr bool has_rows_of_packets(const matrix_layout& m) {
    return m.offset % packet_bytes == 0 && are_packets(m.cols, m.element_bytes) &&
           (m.rows <= 1 || are_packets(m.row_stride, m.element_bytes));
}

/// The common_alignment(), in bytes, of the steps between rows and between images of a batch.
constexpr int alignment_of_steps(const auto& images) {
    return common_alignment(images.height > 1 ? images.row_stride * images.element_bytes : 0,
                            images.count > 1 ? images.image_stride * images.element_bytes : 0);
}

/// The common_alignment(), in bytes, of the addresses of this element of each row.
constexpr int alignment_of_rows(const auto& images, std::int64_t element = 0) {
    return common_alignment(images.offset + element * images.element_bytes, alignment_of_steps(images));
}

/// Whether a view or a layout is row-major. The stride of a dimension of one element does not matter.
constexpr bool is_row_major(const auto& m) {
    return m.rows <= 1 || m.cols <= 1 || m.col_stride <= m.row_stride;
}

/// Whether neighbours in memory lie in one column, as in a column-major matrix.
constexpr bool is_in_columns(const matrix_layout& m) {
    return m.rows > 1 && m.row_stride < m.col_stride;
}

/// The facts that decide how an operation on each row runs. Its matrices all have one shape.
struct row_facts {
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    bool unit_stride = true;  ///< the elements of each row lie side by side, in all operands
    std::int64_t element_bytes = 4;
    bool in_packets = true;  ///< has_rows_of_packets(), in all matrices; vectors begin at a packet
};

/// The facts of matrices, the first of which gives the shape, and of vectors with one element per column. Empty ones do not
/// count.
constexpr row_facts facts_of_rows(std::initializer_list<matrix_layout> matrices,
                                  std::initializer_list<vector_layout> vectors = {}) {
    const matrix_layout& first = *matrices.begin();
    row_facts result{.rows = first.rows, .cols = first.cols, .element_bytes = first.element_bytes};
    for (const matrix_layout& m : matrices)
        if (m.rows > 0 && m.cols > 0) {
            result.unit_stride = result.unit_stride && m.col_stride == 1;
            result.in_packets = result.in_packets && has_rows_of_packets(m);
        }
    for (const vector_layout& v : vectors) {
        result.unit_stride = result.unit_stride && (v.size == 0 || v.stride == 1);
        result.in_packets = result.in_packets && v.offset % packet_bytes == 0;
    }
    if (first.cols == 1) result.unit_stride = true;
    return result;
}

}  // namespace heddle::kernels
