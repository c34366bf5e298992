#include "src/transpose.hpp"

#include "kernels/transpose/launch.hpp"
#include <heddle/error.hpp>
#include <heddle/stream.hpp>
#include <heddle/transpose.hpp>

#include <algorithm>
#include <array>

namespace heddle {
namespace {

namespace rungs = kernels::transpose;

constexpr std::array algorithms = {transpose_algorithm::naive, transpose_algorithm::shared_memory,
                                   transpose_algorithm::vectorized};

/// A dimension of one element has a stride that nothing uses.
template <class T>
bool has_unit_rows(const matrix_view<T>& m) {
    return m.cols == 1 || m.col_stride == 1;
}

/// The same call with both views turned over.
template <class Word>
rungs::arguments<Word> turned(const rungs::arguments<Word>& a) {
    return {transposed(a.source), transposed(a.destination), a.is_copy};
}

template <class Word>
bool is_copy_of_rows(const rungs::arguments<Word>& a) {
    return has_unit_rows(a.source) && has_unit_rows(transposed(a.destination));
}

/// Rows without gaps between them are one row.
template <class Word>
void flatten(rungs::arguments<Word>& a) {
    const std::int64_t rows = a.source.rows, cols = a.source.cols;
    if (rows > 1 && (a.source.row_stride != cols || a.destination.col_stride != cols)) return;
    a.source = {a.source.data, 1, rows * cols};
    a.destination = {a.destination.data, rows * cols, 1};
}

/// As launch.hpp describes it: a copy's rows, and otherwise a source's rows, have unit stride where that is
/// possible.
template <class Word>
rungs::arguments<Word> canonical(matrix_view<const Word> source, matrix_view<Word> destination) {
    rungs::arguments<Word> a{source, destination};
    a.is_copy = is_copy_of_rows(a) || is_copy_of_rows(turned(a));
    if (a.is_copy) {
        if (!is_copy_of_rows(a)) a = turned(a);
        flatten(a);
    } else if (!detail::is_row_major(a.source)) {
        a = turned(a);
    }
    return a;
}

}  // namespace

std::span<const transpose_algorithm> transpose_algorithms() {
    return algorithms;
}

std::string_view to_string(transpose_algorithm algorithm) {
    switch (algorithm) {
        case transpose_algorithm::automatic:
            return "automatic";
        case transpose_algorithm::naive:
            return "naive";
        case transpose_algorithm::shared_memory:
            return "shared_memory";
        case transpose_algorithm::vectorized:
            return "vectorized";
    }
    return "unknown";
}

/// Views with gaps that have few rows or columns go without a tile: it would be mostly empty.
transpose_algorithm select(const transpose_problem& problem, const device_traits& device) {
    constexpr std::int64_t narrow_bytes = 64;
    detail::validate_device("select", device);
    detail::validate_extents("select", {{"rows", problem.rows}, {"cols", problem.cols}});
    detail::require(problem.element_bytes >= 1 && problem.element_bytes <= 8, "select",
                    {"problem", "element_bytes"}, problem.element_bytes, "1 to 8");
    if (problem.is_copy || problem.unit_stride) return transpose_algorithm::vectorized;
    const bool is_narrow = std::min(problem.rows, problem.cols) * problem.element_bytes < narrow_bytes;
    return is_narrow ? transpose_algorithm::naive : transpose_algorithm::shared_memory;
}

template <class Word>
void detail::transpose(matrix_view<const Word> source, matrix_view<Word> destination, cuda::stream_ref stream,
                       const transpose_options& options) {
    validate_transpose("transpose", source, destination);
    const bool is_known = options.algorithm == transpose_algorithm::automatic ||
                          std::ranges::find(algorithms, options.algorithm) != algorithms.end();
    require(is_known, "transpose", {"options", "algorithm"}, static_cast<int>(options.algorithm),
            "an enumerator of transpose_algorithm");
    if (source.rows == 0 || source.cols == 0) return;

    const rungs::arguments<Word> arguments = canonical(source, destination);
    const transpose_problem problem{
        .rows = arguments.source.rows,
        .cols = arguments.source.cols,
        .element_bytes = sizeof(Word),
        .unit_stride =
            arguments.is_copy || (has_unit_rows(arguments.source) && has_unit_rows(arguments.destination)),
        .is_copy = arguments.is_copy};
    const detail::stream_device call_device(stream);
    const device_traits& device = call_device.traits();
    const transpose_algorithm algorithm =
        options.algorithm == transpose_algorithm::automatic ? select(problem, device) : options.algorithm;
    switch (algorithm) {
        case transpose_algorithm::automatic:
            break;  // select() never answers it
        case transpose_algorithm::naive:
            return rungs::launch_naive(arguments, device, stream.get());
        case transpose_algorithm::shared_memory:
            return rungs::launch_shared_memory(arguments, device, stream.get());
        case transpose_algorithm::vectorized:
            if (!problem.unit_stride)
                throw unsupported(
                    "transpose: vectorized needs the elements of source and of destination side by side "
                    "along one dimension");
            return rungs::launch_vectorized(arguments, device, stream.get());
    }
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
