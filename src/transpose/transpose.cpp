#include "src/packets.hpp"
#include "src/transpose/rungs.hpp"
#include "src/transpose/validate.hpp"
#include <heddle/stream.hpp>
#include <heddle/transpose.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle {
namespace {

using kernels::transpose::arguments;

/// A dimension of one element has a stride that nothing uses.
template <class T>
bool has_unit_rows(const matrix_view<T>& m) {
    return m.cols == 1 || m.col_stride == 1;
}

/// The same call with both views turned over.
template <class Word>
arguments<Word> turned(const arguments<Word>& a) {
    return {transposed(a.source), transposed(a.destination)};
}

template <class Word>
bool is_copy_of_rows(const arguments<Word>& a) {
    return has_unit_rows(a.source) && has_unit_rows(transposed(a.destination));
}

/// Rows without gaps between them are one row.
template <class Word>
arguments<Word> flattened(const arguments<Word>& a) {
    const std::int64_t rows = a.source.rows, cols = a.source.cols;
    if (rows > 1 && (a.source.row_stride != cols || a.destination.col_stride != cols)) return a;
    return {{a.source.data, 1, rows * cols}, {a.destination.data, rows * cols, 1}};
}

/// As launch.hpp describes it: a copy's rows, and otherwise a source's rows, have unit stride where that is
/// possible.
template <class Word>
arguments<Word> canonical(const arguments<Word>& a) {
    if (is_copy_of_rows(a)) return flattened(a);
    if (is_copy_of_rows(turned(a))) return flattened(turned(a));
    return detail::is_row_major(a.source) ? a : turned(a);
}

/// The largest power of two, up to a packet, that divides the address of every row.
template <class Word>
int row_alignment(const matrix_view<Word>& m) {
    const std::int64_t step = m.rows > 1 ? m.row_stride * std::int64_t{sizeof(Word)} : 0;
    const auto bits = detail::packet_bytes | reinterpret_cast<std::intptr_t>(m.data) | step;
    return static_cast<int>(bits & -bits);
}

/// For a canonical call.
template <class Word>
transpose_problem describe(const arguments<Word>& a) {
    const bool is_copy = is_copy_of_rows(a);
    return {.rows = a.source.rows,
            .cols = a.source.cols,
            .element_bytes = sizeof(Word),
            .unit_stride = is_copy || (has_unit_rows(a.source) && has_unit_rows(a.destination)),
            .is_copy = is_copy,
            .alignment = std::min(row_alignment(a.source),
                                  row_alignment(is_copy ? transposed(a.destination) : a.destination))};
}

}  // namespace

template <class Word>
void detail::transpose(matrix_view<const Word> source, matrix_view<Word> destination, cuda::stream_ref stream,
                       const transpose_options& options) {
    const auto rungs = transpose_rungs<Word>();
    validate_transpose("transpose", source, destination);
    rungs.require_known("transpose", {"options", "algorithm"}, options.algorithm);
    if (source.rows == 0 || source.cols == 0) return;
    const arguments<Word> a = canonical<Word>({source, destination});
    const stream_device device(stream);
    const auto [rung, plan] = rungs.choose("transpose", options.algorithm, describe(a), device.traits());
    rung->launch(plan, a, stream.get());
}

template void detail::transpose(matrix_view<const std::uint8_t>, matrix_view<std::uint8_t>, cuda::stream_ref,
                                const transpose_options&);
template void detail::transpose(matrix_view<const std::uint16_t>, matrix_view<std::uint16_t>,
                                cuda::stream_ref, const transpose_options&);
template void detail::transpose(matrix_view<const std::uint32_t>, matrix_view<std::uint32_t>,
                                cuda::stream_ref, const transpose_options&);
template void detail::transpose(matrix_view<const std::uint64_t>, matrix_view<std::uint64_t>,
                                cuda::stream_ref, const transpose_options&);

}  // namespace heddle
