#include "kernels/device/math.hpp"
#include "src/transpose/validate.hpp"
#include <heddle/host.hpp>
#include <heddle/transpose.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#pragma GCC visibility push(default)

namespace heddle::detail {
namespace {

/// Elements along a tile's side. The rows and columns of a tile fit the first-level cache.
constexpr std::int64_t tile = 32;

}  // namespace

/// The caller's elements have another type than Word, so they are copied as bytes. The compiler makes one load and one
/// store of each copy.
template <class Word>
void transpose(matrix_view<const Word> source, matrix_view<Word> destination) {
    validate_transpose("host::transpose", source, destination);
    const auto* from = reinterpret_cast<const std::byte*>(source.data);
    auto* to = reinterpret_cast<std::byte*>(destination.data);
    const auto offset = [](const auto& m, std::int64_t row, std::int64_t col) {
        return (row * m.row_stride + col * m.col_stride) * std::int64_t{sizeof(Word)};
    };

    const std::int64_t tiles_across = kernels::divide_up(source.cols, tile);
    const std::int64_t tiles = tiles_across * kernels::divide_up(source.rows, tile);
#pragma omp parallel for schedule(static) if (tiles > 1)
    for (std::int64_t t = 0; t < tiles; ++t) {
        const std::int64_t first_row = t / tiles_across * tile, first_col = t % tiles_across * tile;
        const std::int64_t last_row = std::min(first_row + tile, source.rows);
        const std::int64_t last_col = std::min(first_col + tile, source.cols);
        for (std::int64_t col = first_col; col < last_col; ++col)
            for (std::int64_t row = first_row; row < last_row; ++row)
                std::memcpy(to + offset(destination, col, row), from + offset(source, row, col),
                            sizeof(Word));
    }
}

#define INSTANTIATE(T) template void transpose(matrix_view<const T>, matrix_view<T>);
HEDDLE_WORD_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle::detail

#pragma GCC visibility pop
