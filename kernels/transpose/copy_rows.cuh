#pragma once

#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/vector.cuh"
#include "kernels/transpose/launch.hpp"
#include "kernels/transpose/tuning/tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// The copy of rows that `vectorized` makes where nothing is transposed in memory.
namespace heddle::kernels::transpose {

struct copy_tile {
    static constexpr int threads = 256;
};

/// Copies `row_bytes` of each row, 16 bytes per thread. The bytes after the last whole packet go one by one.
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
    // A thread copies nothing beyond its block's bytes, so an int suffices.
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

inline plan plan_copy(const transpose_facts& problem) {
    const std::int64_t row_bytes = problem.cols * problem.element_bytes;
    const std::int64_t pieces = divide_up(row_bytes, max_vector_bytes);
    // A block takes several rows of a narrow matrix.
    const std::int64_t across = power_at_least(pieces, copy_tile::threads);
    const std::int64_t down = copy_tile::threads / across;
    return {.blocks = {divide_up(pieces, across), std::min(divide_up(problem.rows, down), max_grid_y)},
            .threads = {across, down},
            .packet_bytes = common_alignment(problem.alignment, row_bytes < short_row_bytes ? row_bytes : 0),
            .is_copy = true};
}

inline auto copy_kernel_of(int packet_bytes) {
    switch (packet_bytes) {
        case 16:
            return copy_rows<16>;
        case 8:
            return copy_rows<8>;
        case 4:
            return copy_rows<4>;
        case 2:
            return copy_rows<2>;
        default:
            return copy_rows<1>;
    }
}

}  // namespace heddle::kernels::transpose
