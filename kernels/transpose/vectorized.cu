// vectorized: 16-byte packets on both sides, square patches turned over in registers.
//
//   source, W = 4                 registers            shared: a row for each row of the destination
//   | p p p p | p p p p | ...     row r  ->  col r     col 0:  | patch 0 | patch 1 | ...  xor 0
//   | p p p p | p p p p | ...                          col 4:  | patch 0 | patch 1 | ...  xor 1
//
// A thread takes a patch of W x W elements, W = 16 / element size: W packets from W rows, all in flight together. It
// turns the patch over in registers (elements of 4 and 8 bytes only change names, smaller ones take half a byte
// permutation each), so what goes through shared memory is packets too. The place of a packet in its row is xored
// with the number of the column's patch: the packets that a warp stores, down a column of the tile, and those that it
// loads, along a row, lie in all 32 banks. Blocks are numbered in bands, so that the lines that two blocks share are
// still in L2. Where pointers or row strides are not multiples of 16 bytes, packets are narrower. Tiles at the edge of
// the matrix go element by element, as do matrices of up to 16 rows or columns. A pair of views that makes the call a
// copy of rows is copied without shared memory. Needs unit stride on both sides. What limits it: DRAM.

#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/vector.cuh"
#include "kernels/transpose/launch.hpp"
#include "kernels/transpose/patch.cuh"

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace heddle::kernels::transpose {
namespace {

/// A tile is square, or as flat or as tall as a matrix of few rows or few columns.
enum class aspect { square, flat, tall };

/// The part of the source that a block turns over. Where it is square its rows, and its columns, are 128 to 512
/// bytes long. Of small packets columns are the longer ones: lines written by parts cost more than lines read by
/// parts.
template <class Word, int packet_bytes, aspect shape>
struct tile {
    using word = Word;
    static constexpr int bytes = sizeof(Word);
    static constexpr bool is_wide = packet_bytes == max_vector_bytes;
    static constexpr int long_side = is_wide && bytes >= 4 ? 64 : 128;
    static constexpr int area = long_side * (is_wide ? 256 : 128) / bytes;
    static constexpr int short_side = 16;  ///< of one that is flat or tall
    static constexpr int rows = shape == aspect::square ? long_side
                                : shape == aspect::flat ? short_side
                                                        : area / short_side;
    static constexpr int cols = area / rows;
    /// One for each patch, where they are that few.
    static constexpr unsigned threads = std::min(256, area* bytes* bytes / (packet_bytes * packet_bytes));
};

/// A tile in patches of `width` packets of `packet_bytes` each, shared out to its threads.
template <class Tile, int packet_bytes>
struct split {
    static constexpr unsigned width = packet_bytes / Tile::bytes;
    static constexpr unsigned patches_down = Tile::rows / width;
    static constexpr unsigned patches_across = Tile::cols / width;
    static constexpr unsigned patches = patches_down * patches_across;
    static constexpr unsigned steps = patches / Tile::threads;
    static_assert(patches % Tile::threads == 0);

    /// Patches that a thread loads before it looks at the first. Bytes need more to fill the memory's pipe.
    static constexpr unsigned packets_in_flight = packet_bytes == 1 ? 32 : 16;
    static constexpr unsigned batch = std::min(steps, packets_in_flight / width);
    static_assert(steps % batch == 0);

    static constexpr unsigned packets_a_thread = steps * width;
    static constexpr int stores_unrolled = std::min(packets_a_thread, 8U);

    /// A packet moves as words of 32 bits, or as the one element that it is.
    using unit = std::conditional_t<width == 1, typename Tile::word, std::uint32_t>;
    using packet = vector<unit, packet_bytes / static_cast<int>(sizeof(unit))>;

    /// Where in its row of shared memory the packet of patch (down, across) lies. Packets smaller than a bank
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

/// Turns one tile over. `rows` and `cols` are what is left of the source from the tile's first element on; a
/// whole tile does not look at them. Outside them the last element is read once more: with a condition on each,
/// loads would wait for one another.
template <class Tile, int packet_bytes, bool is_whole, class Word>
__device__ void move(const Word* source, std::int64_t source_stride, Word* destination,
                     std::int64_t destination_stride, std::int64_t rows, std::int64_t cols,
                     shared_storage<Tile>& shared) {
    using parts = split<Tile, packet_bytes>;
    using packet = parts::packet;
    constexpr unsigned threads = Tile::threads;
    constexpr unsigned width = parts::width;
    static_assert(is_whole || width == 1);
    const unsigned thread = threadIdx.x;
    const auto rows_here = static_cast<unsigned>(min(rows, std::int64_t{Tile::rows}));
    const auto cols_here = static_cast<unsigned>(min(cols, std::int64_t{Tile::cols}));
    packet* packets = reinterpret_cast<packet*>(&shared);

    constexpr unsigned batch = parts::batch;
#pragma unroll 1
    for (unsigned step = 0; step < parts::steps; step += batch) {
        packet patches[batch][width];
#pragma unroll
        for (unsigned i = 0; i < batch; ++i) {
            const unsigned patch = thread + (step + i) * threads;
            const unsigned down = patch / parts::patches_across, across = patch % parts::patches_across;
            const unsigned row = is_whole ? down * width : min(down, rows_here - 1);
            const unsigned col = is_whole ? across * width : min(across, cols_here - 1);
            const Word* from = source + row * source_stride + col;
#pragma unroll
            for (unsigned k = 0; k < width; ++k)
                patches[i][k] = *reinterpret_cast<const packet*>(from + k * source_stride);
        }
#pragma unroll
        for (unsigned i = 0; i < batch; ++i) {
            const unsigned patch = thread + (step + i) * threads;
            const unsigned down = patch / parts::patches_across, across = patch % parts::patches_across;
            turn_over<static_cast<int>(sizeof(Word))>(patches[i]);
#pragma unroll
            for (unsigned k = 0; k < width; ++k)
                packets[(across * width + k) * parts::patches_down + parts::place(down, across)] =
                    patches[i][k];
        }
    }
    __syncthreads();

    constexpr int unrolled = parts::stores_unrolled;
#pragma unroll unrolled
    for (unsigned i = 0; i < parts::packets_a_thread; ++i) {
        const unsigned at = thread + i * threads;
        const unsigned col = at / parts::patches_down, down = at % parts::patches_down;
        if (is_whole || (down < rows_here && col < cols_here))
            *reinterpret_cast<packet*>(destination + col * destination_stride + down * width) =
                packets[col * parts::patches_down + parts::place(down, col / width)];
    }
}

/// Rows of tiles come in bands: a band's tiles are numbered down its columns, one column after the other.
/// Blocks (x, y, z) take the tile row x + z * tiles_down_a_z and the tile column y + z * tiles_across_a_z, of
/// which one is 0.
struct block_order {
    std::int64_t tiles_down_a_z = 0;
    std::int64_t tiles_across_a_z = 0;
};

template <class Word, int packet_bytes, aspect shape>
__global__ void __launch_bounds__(tile<Word, packet_bytes, shape>::threads)
    vectorized(matrix_view<const Word> source, matrix_view<Word> destination, block_order order) {
    using tile = transpose::tile<Word, packet_bytes, shape>;
    __shared__ shared_storage<tile> shared;
    const std::int64_t row = (blockIdx.x + blockIdx.z * order.tiles_down_a_z) * tile::rows;
    const std::int64_t col = (blockIdx.y + blockIdx.z * order.tiles_across_a_z) * tile::cols;
    const std::int64_t rows = source.rows - row, cols = source.cols - col;
    if (rows <= 0 || cols <= 0) return;

    const Word* from = source.data + row * source.row_stride + col;
    Word* to = destination.data + col * destination.row_stride + row;
    if (rows >= tile::rows && cols >= tile::cols)
        move<tile, packet_bytes, true>(from, source.row_stride, to, destination.row_stride, rows, cols,
                                       shared);
    else
        move<tile, tile::bytes, false>(from, source.row_stride, to, destination.row_stride, rows, cols,
                                       shared);
}

template <class Word, int packet_bytes, aspect shape = aspect::square>
void launch_tiles(const arguments<Word>& arguments, cudaStream_t stream) {
    using tile = transpose::tile<Word, packet_bytes, shape>;
    constexpr std::int64_t max_band = 128;
    const auto ceil_div = [](std::int64_t n, std::int64_t d) { return (n + d - 1) / d; };
    const std::int64_t down = ceil_div(arguments.source.rows, tile::rows);
    const std::int64_t across = ceil_div(arguments.source.cols, tile::cols);
    // Equal bands; as many as a grid has room for. More columns than that go to z, and all rows to x.
    std::int64_t bands = std::min(ceil_div(down, max_band), max_grid_y);
    const std::int64_t band = across > max_grid_y ? down : ceil_div(down, bands);
    bands = ceil_div(down, band);
    const std::int64_t column_groups = ceil_div(across, max_grid_y);
    const block_order order = across > max_grid_y ? block_order{0, max_grid_y} : block_order{band, 0};
    launch({.blocks = {band, std::min(across, max_grid_y), std::max(bands, column_groups)},
            .threads = {tile::threads},
            .stream = stream},
           vectorized<Word, packet_bytes, shape>, arguments.source, arguments.destination, order);
}

struct copy_tile {
    static constexpr int threads = 256;
};

/// Copies `row_bytes` of each row, 16 bytes a thread. The bytes after the last whole packet go one by one.
template <int packet_bytes>
__global__ void __launch_bounds__(copy_tile::threads)
    copy_rows(const std::byte* source, std::int64_t source_pitch, std::byte* destination,
              std::int64_t destination_pitch, std::int64_t rows, std::int64_t row_bytes) {
    using unit = std::conditional_t<packet_bytes == 1, std::uint8_t,
                                    std::conditional_t<packet_bytes == 2, std::uint16_t, std::uint32_t>>;
    using packet = vector<unit, packet_bytes / static_cast<int>(sizeof(unit))>;
    constexpr int packets = max_vector_bytes / packet_bytes;
    const std::int64_t first = (std::int64_t{blockIdx.x} * blockDim.x * packets + threadIdx.x) * packet_bytes;
    const int step = static_cast<int>(blockDim.x) * packet_bytes;
    // No thread reaches further than a block's bytes.
    const int left = static_cast<int>(
        min(max(row_bytes - first, std::int64_t{0}), std::int64_t{copy_tile::threads * max_vector_bytes}));
    const std::int64_t whole_bytes = row_bytes - row_bytes % packet_bytes;
    const bool takes_rest = blockIdx.x == gridDim.x - 1 && threadIdx.x == 0;
    for (std::int64_t row = blockIdx.y * blockDim.y + threadIdx.y; row < rows;
         row += gridDim.y * blockDim.y) {
        const std::byte* from = source + row * source_pitch;
        std::byte* to = destination + row * destination_pitch;
        packet copied[packets];
#pragma unroll
        for (int i = 0; i < packets; ++i)
            if (i * step + packet_bytes <= left)
                copied[i] = *reinterpret_cast<const packet*>(from + first + i * step);
#pragma unroll
        for (int i = 0; i < packets; ++i)
            if (i * step + packet_bytes <= left)
                *reinterpret_cast<packet*>(to + first + i * step) = copied[i];
        if (takes_rest) {
#pragma unroll 1
            for (std::int64_t byte = whole_bytes; byte < row_bytes; ++byte) to[byte] = from[byte];
        }
    }
}

template <int packet_bytes>
void launch_copy(const std::byte* source, std::int64_t source_pitch, std::byte* destination,
                 std::int64_t destination_pitch, std::int64_t rows, std::int64_t row_bytes,
                 cudaStream_t stream) {
    const std::int64_t pieces = (row_bytes + max_vector_bytes - 1) / max_vector_bytes;
    // Narrow matrices give their spare threads to further rows.
    std::int64_t across = 1;
    while (across < copy_tile::threads && across < pieces) across *= 2;
    const std::int64_t down = copy_tile::threads / across;
    launch({.blocks = {(pieces + across - 1) / across, std::min((rows + down - 1) / down, max_grid_y)},
            .threads = {across, down},
            .stream = stream},
           copy_rows<packet_bytes>, source, source_pitch, destination, destination_pitch, rows, row_bytes);
}

/// The common alignment of both views' lines, in bytes; a single line has no stride.
template <class Word>
int line_alignment(const arguments<Word>& a, std::int64_t source_lines, std::int64_t source_stride,
                   std::int64_t destination_lines, std::int64_t destination_stride) {
    const auto step = [](std::int64_t lines, std::int64_t stride) {
        return lines > 1 ? stride * std::int64_t{sizeof(Word)} : 0;
    };
    return common_alignment(reinterpret_cast<std::uintptr_t>(a.source.data),
                            reinterpret_cast<std::uintptr_t>(a.destination.data),
                            step(source_lines, source_stride), step(destination_lines, destination_stride));
}

template <class Word>
void copy(const arguments<Word>& a, cudaStream_t stream) {
    constexpr std::int64_t bytes = sizeof(Word);
    constexpr std::int64_t short_row_bytes = 64;  // too few packets to leave a rest
    const std::int64_t rows = a.source.rows, row_bytes = a.source.cols * bytes;
    const int alignment =
        common_alignment(line_alignment(a, rows, a.source.row_stride, rows, a.destination.col_stride),
                         row_bytes < short_row_bytes ? row_bytes : 0);
    const auto launch = alignment >= 16  ? launch_copy<16>
                        : alignment >= 8 ? launch_copy<8>
                        : alignment >= 4 ? launch_copy<4>
                        : alignment >= 2 ? launch_copy<2>
                                         : launch_copy<1>;
    launch(reinterpret_cast<const std::byte*>(a.source.data), a.source.row_stride * bytes,
           reinterpret_cast<std::byte*>(a.destination.data), a.destination.col_stride * bytes, rows,
           row_bytes, stream);
}

}  // namespace

template <class Word>
void launch_vectorized(const arguments<Word>& arguments, const device_traits&, cudaStream_t stream) {
    if (arguments.is_copy) return copy(arguments, stream);
    constexpr int few = tile<Word, sizeof(Word), aspect::flat>::short_side;
    if (arguments.source.rows <= few)
        return launch_tiles<Word, sizeof(Word), aspect::flat>(arguments, stream);
    if (arguments.source.cols <= few)
        return launch_tiles<Word, sizeof(Word), aspect::tall>(arguments, stream);
    const int alignment = line_alignment(arguments, arguments.source.rows, arguments.source.row_stride,
                                         arguments.destination.rows, arguments.destination.row_stride);
    if (alignment >= 16) return launch_tiles<Word, 16>(arguments, stream);
    if constexpr (sizeof(Word) < 4)
        if (alignment >= 4) return launch_tiles<Word, 4>(arguments, stream);
    launch_tiles<Word, sizeof(Word)>(arguments, stream);
}

template void launch_vectorized(const arguments<std::uint8_t>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<std::uint16_t>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<std::uint32_t>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<std::uint64_t>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::transpose
