#pragma once

#include <heddle/device.hpp>
#include <heddle/rungs.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {

/// The rungs of transpose; kernels/transpose/README.md is their ladder. For each rung, the list has its name, when
/// `automatic` may take it, and what it needs of a problem, if anything.
#define HEDDLE_TRANSPOSE_RUNGS(RUNG) \
    RUNG(naive, is_narrow)           \
    RUNG(shared_memory, fills_tiles) \
    RUNG(vectorized, always, unit_stride)

/// The rung that a call asks for; `automatic` leaves the choice to heddle.
enum class transpose_algorithm { automatic, HEDDLE_TRANSPOSE_RUNGS(HEDDLE_ENUMERATOR) };

/// All rungs except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const transpose_algorithm> transpose_algorithms();
std::string_view to_string(transpose_algorithm algorithm);

struct transpose_options {
    transpose_algorithm algorithm = transpose_algorithm::automatic;
};

/// The facts by which a transposition is planned. transpose_problem_of() makes it.
struct transpose_problem {
    matrix_layout source{}, destination{};

    bool operator==(const transpose_problem&) const = default;
};

/// The rung that `automatic` chooses. Pure.
/// @throws invalid_argument  shapes that disagree, a negative extent, more than 2^58 elements, an element size that
///                           is not 1 to 8 bytes, device.sm_count below 1
transpose_algorithm select(const transpose_problem& problem, const device_traits& device);

/// The reason, as in `unsupported`, why a rung cannot run a problem; empty if it can, and for `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(transpose_algorithm algorithm, const transpose_problem& problem,
                    const device_traits& device);

namespace detail {

/// An unsigned integer of as many bytes as T. Elements are only moved, so any type of this size will do.
template <class T>
using word_of =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
concept transposable = std::is_trivially_copyable_v<T> && !std::is_const_v<T> &&
                       (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

template <class T>
matrix_view<word_of<T>> as_words(const matrix_view<T>& m) {
    return {reinterpret_cast<word_of<T>*>(m.data), m.rows, m.cols, m.row_stride, m.col_stride};
}
template <class T>
matrix_view<const word_of<T>> as_words(const matrix_view<const T>& m) {
    return {reinterpret_cast<const word_of<T>*>(m.data), m.rows, m.cols, m.row_stride, m.col_stride};
}

template <class Word>
void transpose(matrix_view<const Word> source, matrix_view<Word> destination, cuda::stream_ref stream,
               const transpose_options& options);

/// The same on the CPU; see heddle::host::transpose.
template <class Word>
void transpose(matrix_view<const Word> source, matrix_view<Word> destination);

template <class Word>
transpose_problem transpose_problem_of(matrix_view<const Word> source, matrix_view<Word> destination);

}  // namespace detail

/// The problem of a call of transpose() with these arguments. Elements are not read; pointers may be null.
/// @throws invalid_argument  as transpose(), but for pointers and overlaps
template <detail::transposable T>
transpose_problem transpose_problem_of(matrix_view<const std::type_identity_t<T>> source,
                                       matrix_view<T> destination) {
    using word = detail::word_of<T>;
    return detail::transpose_problem_of<word>(detail::as_words(source), detail::as_words(destination));
}

/// destination(j, i) = source(i, j): a copy into the transpose, bit for bit.
///
/// `source` is m x n and `destination` n x m, both in device memory with any row and column strides, including
/// transposed views. Addresses are multiples of an element's size. The two may not overlap. T is any trivially copyable
/// type of 1, 2, 4 or 8 bytes. The call is enqueued on `stream` and its device. It never synchronises or allocates, and
/// is safe under stream capture. Empty views do nothing. transposed() reads a matrix as its transpose without a copy.
///
/// @throws invalid_argument  shapes disagree or are negative, a null or misaligned pointer, a stride smaller than a
///                           row, an overlap, an unknown algorithm (nothing is enqueued)
/// @throws unsupported       `vectorized` was requested and a view's elements are not contiguous along either dimension
/// @throws cuda_error        the launch failed
template <detail::transposable T>
void transpose(matrix_view<const std::type_identity_t<T>> source, matrix_view<T> destination,
               cuda::stream_ref stream, const transpose_options& options = {}) {
    using word = detail::word_of<T>;
    detail::transpose<word>(detail::as_words(source), detail::as_words(destination), stream, options);
}

}  // namespace heddle

#pragma GCC visibility pop
