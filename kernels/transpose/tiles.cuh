#pragma once

#include "kernels/device/grid.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/quick_division.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/transpose/launch.hpp"
#include "kernels/transpose/patch.cuh"
#include "kernels/transpose/tuning/tuning.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

/// The tiles of `vectorized`, of one matrix and of many.
namespace heddle::kernels::transpose {

/// The part of the source that a block transposes. Its rows and its columns are 128 to 512 bytes long. With small packets
/// columns are longer than rows: a line that is written in parts costs more than one that is read in parts.
struct tile_extents {
    int rows;
    int cols;
    int threads;  ///< one for each patch, but 256 at most
};

constexpr tile_extents tile_of(int element_bytes, int packet_bytes, aspect shape) {
    const bool is_wide = packet_bytes == max_vector_bytes;
    const int long_side = is_wide && element_bytes >= 4 ? 64 : 128;
    const int rows = shape == aspect::small ? small_side : long_side;
    const int cols = shape == aspect::small ? small_side : (is_wide ? 256 : 128) / element_bytes;
    const int patches = rows * cols * element_bytes * element_bytes / (packet_bytes * packet_bytes);
    return {rows, cols, std::min(256, patches)};
}

template <class Word, int packet_bytes, aspect shape>
struct tile {
    using word = Word;
    static constexpr int bytes = sizeof(Word);
    static constexpr int rows = tile_of(bytes, packet_bytes, shape).rows;
    static constexpr int cols = tile_of(bytes, packet_bytes, shape).cols;
    static constexpr unsigned threads = tile_of(bytes, packet_bytes, shape).threads;
};

/// How a tile's threads share its patches. A patch has `width` packets of `packet_bytes`.
template <class Tile, int packet_bytes>
struct split {
    static constexpr unsigned width = packet_bytes / Tile::bytes;
    static constexpr unsigned patches_down = Tile::rows / width;
    static constexpr unsigned patches_across = Tile::cols / width;
    static constexpr unsigned patches = patches_down * patches_across;
    static constexpr unsigned steps = patches / Tile::threads;
    static_assert(patches % Tile::threads == 0);

    /// Patches that a thread loads before it uses the first. Bytes need more loads in flight to keep memory busy.
    static constexpr unsigned packets_in_flight = packet_bytes == 1 ? 32 : 16;
    static constexpr unsigned batch = std::min(steps, packets_in_flight / width);
    static_assert(steps % batch == 0);
    static constexpr unsigned edge_batch =
        std::min(batch, std::max(1U, 8 / width));  ///< the same in tiles at an edge

    static constexpr unsigned packets_a_thread = steps * width;
    static constexpr int stores_unrolled = std::min(packets_a_thread, 8U);

    /// A packet moves as words of 32 bits, or as a single element.
    using unit = std::conditional_t<width == 1, typename Tile::word, std::uint32_t>;
    using packet = vector<unit, packet_bytes / static_cast<int>(sizeof(unit))>;

    /// The place of a packet of patch (down, across) in its row of shared memory. Packets smaller than a bank
    /// are moved by whole banks.
    __device__ static unsigned place(unsigned down, unsigned across) {
        return down ^ ((across & bank_mask) * bank_step);
    }

  private:
    static constexpr unsigned bank_bytes = 4;
    static constexpr unsigned banks = 32;
    static constexpr unsigned bank_step = std::max(1U, bank_bytes / packet_bytes);
    static constexpr unsigned bank_mask =
        std::min(banks * bank_bytes / std::max<unsigned>(bank_bytes, packet_bytes),
                 patches_down / bank_step) -
        1;
    static_assert(patches_down >= (bank_mask + 1) * bank_step);
};

template <class Tile>
struct alignas(max_vector_bytes) shared_storage {
    typename Tile::word elements[Tile::cols][Tile::rows];
};

/// destination(col, row) = source(row, col) for `count` elements. place(i) is the (row, col) of element i.
template <unsigned threads, class Word, class Place>
__device__ void move_each(const Word* source, std::int64_t source_stride, Word* destination,
                          std::int64_t destination_stride, unsigned count, const Place& place) {
    constexpr unsigned batch = 8;
#pragma unroll 1
    for (unsigned first = threadIdx.x; first < count; first += batch * threads) {
        Word elements[batch];
#pragma unroll
        for (unsigned i = 0; i < batch; ++i) {
            const uint2 at = place(min(first + i * threads, count - 1));
            elements[i] = source[at.x * source_stride + at.y];
        }
#pragma unroll
        for (unsigned i = 0; i < batch; ++i) {
            if (first + i * threads >= count) break;
            const uint2 at = place(first + i * threads);
            destination[at.y * destination_stride + at.x] = elements[i];
        }
    }
}

/// Transposes one tile. `rows` and `cols` are the extents of the source from the tile's first element on; a whole
/// tile does not use them. A tile at an edge has fewer patches, and single elements beside them. A thread without
/// a patch reads the last one again: with a condition on each, loads would wait for one another.
template <class Tile, int packet_bytes, bool is_whole, class Word>
__device__ void move(const Word* source, std::int64_t source_stride, Word* destination,
                     std::int64_t destination_stride, std::int64_t rows, std::int64_t cols,
                     shared_storage<Tile>& shared) {
    using parts = split<Tile, packet_bytes>;
    using packet = parts::packet;
    constexpr unsigned threads = Tile::threads;
    constexpr unsigned width = parts::width;
    const unsigned thread = threadIdx.x;
    const auto rows_here = is_whole ? Tile::rows : static_cast<unsigned>(min(rows, std::int64_t{Tile::rows}));
    const auto cols_here = is_whole ? Tile::cols : static_cast<unsigned>(min(cols, std::int64_t{Tile::cols}));
    using by_down = std::conditional_t<is_whole, known_division<parts::patches_down>, quick_division>;
    using by_across = std::conditional_t<is_whole, known_division<parts::patches_across>, quick_division>;
    const by_down down_here(rows_here / width);
    const by_across across_here(cols_here / width);
    const unsigned patches = down_here.divisor * across_here.divisor;
    packet* packets = reinterpret_cast<packet*>(&shared);

    constexpr unsigned batch = is_whole ? parts::batch : parts::edge_batch;
#pragma unroll 1
    for (unsigned step = 0; step < parts::steps; step += batch) {
        if (!is_whole && step * threads >= patches) break;
        packet loaded[batch][width];
#pragma unroll
        for (unsigned i = 0; i < batch; ++i) {
            unsigned patch = thread + (step + i) * threads;
            if (!is_whole) patch = min(patch, patches - 1);
            const unsigned down = across_here.quotient(patch), across = across_here.remainder(patch);
            const Word* from = source + down * width * source_stride + across * width;
#pragma unroll
            for (unsigned k = 0; k < width; ++k)
                loaded[i][k] = *reinterpret_cast<const packet*>(from + k * source_stride);
        }
#pragma unroll
        for (unsigned i = 0; i < batch; ++i) {
            const unsigned patch = thread + (step + i) * threads;
            if (!is_whole && patch >= patches) break;
            const unsigned down = across_here.quotient(patch), across = across_here.remainder(patch);
            turn_over<static_cast<int>(sizeof(Word))>(loaded[i]);
#pragma unroll
            for (unsigned k = 0; k < width; ++k)
                packets[(across * width + k) * parts::patches_down + parts::place(down, across)] =
                    loaded[i][k];
        }
    }
    if constexpr (!is_whole && width > 1) {
        const unsigned rows_in_patches = down_here.divisor * width,
                       cols_in_patches = across_here.divisor * width;
        const auto beside = [&](unsigned i) { return uint2{i % rows_here, cols_in_patches + i / rows_here}; };
        const auto below = [&](unsigned i) {
            return uint2{rows_in_patches + i / cols_in_patches, i % cols_in_patches};
        };
        move_each<threads>(source, source_stride, destination, destination_stride,
                           (cols_here - cols_in_patches) * rows_here, beside);
        move_each<threads>(source, source_stride, destination, destination_stride,
                           (rows_here - rows_in_patches) * cols_in_patches, below);
    }
    ptx::sync_threads();

    const unsigned packets_here = patches * width;
    const unsigned turns = is_whole ? parts::packets_a_thread : divide_up(packets_here, threads);
    constexpr int unrolled = parts::stores_unrolled;
#pragma unroll unrolled
    for (unsigned i = 0; i < turns; ++i) {
        const unsigned at = thread + i * threads;
        if (!is_whole && at >= packets_here) break;
        const unsigned col = down_here.quotient(at), down = down_here.remainder(at);
        *reinterpret_cast<packet*>(destination + col * destination_stride + down * width) =
            packets[col * parts::patches_down + parts::place(down, col / width)];
    }
}

/// Transposes the tile whose first element is (row, col), which may lie beyond the source.
template <class Tile, int packet_bytes, class Word>
__device__ void move_tile(const matrix_view<const Word>& source, const matrix_view<Word>& destination,
                          std::int64_t row, std::int64_t col, shared_storage<Tile>& shared) {
    const std::int64_t rows = source.rows - row, cols = source.cols - col;
    if (rows <= 0 || cols <= 0) return;

    const Word* from = source.data + row * source.row_stride + col;
    Word* to = destination.data + col * destination.row_stride + row;
    if (rows >= Tile::rows && cols >= Tile::cols)
        move<Tile, packet_bytes, true>(from, source.row_stride, to, destination.row_stride, rows, cols,
                                       shared);
    else
        move<Tile, packet_bytes, false>(from, source.row_stride, to, destination.row_stride, rows, cols,
                                        shared);
}

/// Returns kernels.operator()<packet_bytes, shape>() for a plan.
template <class Word, class Kernels>
auto kernel_of(const plan& plan, Kernels kernels) {
    constexpr int element = sizeof(Word);
    if constexpr (element < 4) {
        if (plan.shape == aspect::small)
            return plan.packet_bytes == 4 ? kernels.template operator()<4, aspect::small>()
                                          : kernels.template operator()<element, aspect::small>();
        if (plan.packet_bytes == 4) return kernels.template operator()<4, aspect::square>();
    }
    if (plan.packet_bytes == 16) return kernels.template operator()<16, aspect::square>();
    return kernels.template operator()<element, aspect::square>();
}

inline plan plan_tiles(const transpose_facts& problem, int packet_bytes, aspect shape) {
    const tile_extents tile = tile_of(static_cast<int>(problem.element_bytes), packet_bytes, shape);
    // An empty problem has a plan too.
    const auto tiles = [](std::int64_t extent, int side) {
        return divide_up(std::max<std::int64_t>(extent, 1), side);
    };
    const std::int64_t down = tiles(problem.rows, tile.rows);
    const std::int64_t across = tiles(problem.cols, tile.cols);
    // Bands are equal, and as many as a grid has room for. Columns beyond a grid's y go to z, and all rows then go to x.
    std::int64_t bands = std::min(divide_up(down, tile_rows_of_band), max_grid_y);
    const std::int64_t band = across > max_grid_y ? down : divide_up(down, bands);
    bands = divide_up(down, band);
    const std::int64_t column_groups = divide_up(across, max_grid_y);
    const block_order order = across > max_grid_y ? block_order{0, max_grid_y} : block_order{band, 0};
    return {.blocks = {band, std::min(across, max_grid_y), std::max(bands, column_groups)},
            .threads = {tile.threads},
            .packet_bytes = packet_bytes,
            .shape = shape,
            .order = order};
}

/// Chooses packets and tiles for `count` such matrices.
inline plan plan_tiles(const transpose_facts& problem, const device_traits& device, std::int64_t count = 1) {
    const int element_bytes = static_cast<int>(problem.element_bytes);
    const int narrow = problem.alignment >= 4 ? std::max(element_bytes, 4) : element_bytes;
    const plan square = plan_tiles(problem, problem.alignment >= 16 ? 16 : narrow, aspect::square);
    const bool has_few = square.blocks.x * square.blocks.y * square.blocks.z * count < device.sm_count;
    const bool is_narrow = std::min(problem.rows, problem.cols) <= small_side;
    return element_bytes < 4 && (has_few || is_narrow) ? plan_tiles(problem, narrow, aspect::small) : square;
}

}  // namespace heddle::kernels::transpose
