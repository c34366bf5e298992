#pragma once

#include "kernels/device/border.cuh"
#include "kernels/device/ptx/cp_async.cuh"

#include <cstdint>

/// A warp that marches down a strip of an image of bytes, some rows a step. It copies the rows itself, packet by packet, into a
/// ring of steps in shared memory. What a border shows above and below the image is found once, as the lines of a strip.
namespace heddle::kernels::frame {

/// The start of what the border shows as row `line` of an image.
__device__ inline const std::uint8_t* start_of_line(const std::uint8_t* image, std::int64_t height,
                                                    std::int64_t row_stride, int line, border border) {
    return image + nearby_source_index(line, static_cast<int>(height), border) * row_stride;
}

/// The rows of a step as a lane copies them: some packets of one row, and the same packets of every `rows_at_once`-th row.
///
/// Shape says of a step how many `rows` it has, and of a row how many bytes a `packet` has, how many `packets` are copied, and
/// how many bytes, the `pitch`, lie from row to row of the ring. A warp takes rows_at_once x packets_at_once packets at once.
template <class Shape>
struct row_copies {
    static constexpr int copies = (Shape::packets + Shape::packets_at_once - 1) / Shape::packets_at_once;

    int own_packet;
    int own_at[copies];
    int own_bytes[copies];
    std::uint8_t* own_place;
    const std::uint8_t* const* next_line;

    /// Copies begin at byte `first_at` of lines that have `row_bytes`. What lies outside of a line becomes zeros; no packet
    /// lies across its start. The lane has this row and this packet of those that are taken at once.
    __device__ row_copies(std::uint8_t* ring, const std::uint8_t* const* lines, int first_at, int row_bytes,
                          int own_row, int packet)
        : own_packet(packet) {
#pragma unroll
        for (int i = 0; i < copies; ++i) {
            const int at = first_at + (packet + i * Shape::packets_at_once) * Shape::packet;
            own_bytes[i] = at < 0 ? 0 : ::min(::max(row_bytes - at, 0), Shape::packet);
            own_at[i] = own_bytes[i] > 0 ? at : 0;
        }
        own_place = ring + own_row * Shape::pitch + packet * Shape::packet;
        next_line = lines + own_row;
    }

    /// The next step's rows, to the ring's place `to`.
    __device__ void load(int to) {
#pragma unroll
        for (int row = 0; row < Shape::rows; row += Shape::rows_at_once) {
            const std::uint8_t* const line = next_line[row];
#pragma unroll
            for (int i = 0; i < copies; ++i) {
                constexpr int step = Shape::packets_at_once * Shape::packet;
                if (own_packet + i * Shape::packets_at_once < Shape::packets)
                    ptx::cp_async<Shape::packet, ptx::cache::all_levels>(
                        own_place + to + row * Shape::pitch + i * step, line + own_at[i], own_bytes[i]);
            }
        }
        next_line += Shape::rows;
        ptx::cp_async_commit_group();
    }
};

}  // namespace heddle::kernels::frame
