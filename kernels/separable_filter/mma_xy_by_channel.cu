// wgmma_xy, variant warps, for radii up to 8, whose 16 results need 32 pixels: the same products and sums, by mma,
// within a warp.
//
//   along x   h (16 pixels x 8 rows)   = W_x (16 x 32 pixels) * (32 pixels x 8 rows of the image)
//   along y   out (16 rows x 8 pixels) = W_y (16 x 32 rows) * h (32 rows x 8 pixels)
//
// A window of wgmma is 64 values at least, in both directions; radii up to 8 fill half of it. Here 16 results take 32.
// - A product takes pixels of one channel. A lane reads eight neighbours of a row, whole pixels, and permutes their bytes to a
//   register pair for each channel, so windows are as deep for four channels as for one, and all have the same weights: 16
//   registers for both axes, which come ready from the host.
// - A thread's sums along x are what the products along y want of it, as k may come in any order if the weights come in
//   the same: nothing moves between threads. A step has 16 new rows, whose bytes become the pair's second register; then they
//   move to the first, and are the next step's upper half of the window. That costs 6 moves for 16 x 16 values; to exchange the halves of
//   the weights instead, in a loop of two steps, cost more, as the compiler did not keep the pairs in place.
// - Results go by way of shared memory, so that rows are stored whole: of three channels, whose lanes have 12 bytes of a row
//   each, L2 would write several times as many sectors else.
//
// 16 x 16 values of one channel take 105 instructions of a warp, of which 14 are mma and 32 multiply and add what they leave; the
// time does not depend on the radius. No pipe is busy for even half of it. But an mma keeps a scheduler, for all of its warps, for
// nearly all of the clocks that it takes: loads begin meanwhile, FMAs do not. So the time is that of the 14 and of the 91 one after
// the other, and only fewer of either would be faster; README.md has the measurement, and what was tried since.

#include "kernels/device/border.cuh"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/separable_filter/launch.hpp"
#include "kernels/separable_filter/mma_operand.cuh"
#include "kernels/separable_filter/plan/compiled.hpp"
#include "kernels/separable_filter/plan/extents.hpp"
#include "kernels/separable_filter/plan/taps.hpp"
#include "kernels/separable_filter/plan/mma_xy_by_channel.hpp"
#include "kernels/separable_filter/plan/warp_strips.hpp"
#include "kernels/separable_filter/source_rows.cuh"
#include "kernels/separable_filter/sum_bytes.cuh"
#include "kernels/separable_filter/whole_weights.hpp"

#include <cstdint>

namespace heddle::kernels::separable_filter {
namespace {

constexpr int warp_threads = 32;

using tile = pixel_tile;

struct parameters {
    image_batch_view<const std::uint8_t> source;
    image_batch_view<std::uint8_t> destination;
    int x;
    int y;
    heddle::border border;
    int stored_at_once;  ///< bytes, as destinations are aligned
    int radius_x;
    int radius_y;
    int lead;  ///< bytes from the first packet to a warp's first column
    int skip;  ///< of them those before its windows
    int strip_rows;
    unsigned high_scale_x;  ///< 256 times the weights' multiplier, for sums of their high bytes
    unsigned low_scale_x;
    unsigned high_scale_y;
    unsigned low_scale_y;
    unsigned rounding_y;
    mma_operand along_x;
    mma_operand along_y;
};

/// Four pixels, a register for each channel.
template <int channels>
__device__ void separate(const unsigned* pixels, unsigned (&separated)[channels]) {
    if constexpr (channels == 1) {
        separated[0] = pixels[0];
    } else if constexpr (channels == 2) {
        separated[0] = __byte_perm(pixels[0], pixels[1], 0x6420);
        separated[1] = __byte_perm(pixels[0], pixels[1], 0x7531);
    } else if constexpr (channels == 3) {
        separated[0] = __byte_perm(__byte_perm(pixels[0], pixels[1], 0x0630), pixels[2], 0x5210);
        separated[1] = __byte_perm(__byte_perm(pixels[0], pixels[1], 0x0741), pixels[2], 0x6210);
        separated[2] = __byte_perm(__byte_perm(pixels[0], pixels[1], 0x0052), pixels[2], 0x7410);
    } else {
        const unsigned a = __byte_perm(pixels[0], pixels[1], 0x5140);
        const unsigned b = __byte_perm(pixels[2], pixels[3], 0x5140);
        const unsigned c = __byte_perm(pixels[0], pixels[1], 0x7362);
        const unsigned d = __byte_perm(pixels[2], pixels[3], 0x7362);
        separated[0] = __byte_perm(a, b, 0x5410);
        separated[1] = __byte_perm(a, b, 0x7632);
        separated[2] = __byte_perm(c, d, 0x5410);
        separated[3] = __byte_perm(c, d, 0x7632);
    }
}

/// Eight neighbours of a row.
template <int channels>
struct octet {
    unsigned pairs[channels][2];

    __device__ void read(const std::uint8_t* from) {
        alignas(max_vector_bytes) unsigned words[2 * channels];
        if constexpr (channels % 2 == 0) {
#pragma unroll
            for (int i = 0; i < channels / 2; ++i)
                reinterpret_cast<uint4*>(words)[i] = reinterpret_cast<const uint4*>(from)[i];
        } else {
#pragma unroll
            for (int i = 0; i < channels; ++i)
                reinterpret_cast<uint2*>(words)[i] = reinterpret_cast<const uint2*>(from)[i];
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            unsigned separated[channels];
            separate<channels>(words + half * channels, separated);
#pragma unroll
            for (int c = 0; c < channels; ++c) pairs[c][half] = separated[c];
        }
    }
};

/// A thread's part of h, of eight pixels by two steps' rows.
struct bytes_of_h {
    unsigned a[2];
    unsigned b[2];
    unsigned c[2];

    __device__ void set_new(const upper_bytes& bytes) {
        a[1] = bytes.a;
        b[1] = bytes.b;
        c[1] = bytes.c;
    }
    __device__ void age() {
        a[0] = a[1];
        b[0] = b[1];
        c[0] = c[1];
    }
};

template <int channels>
__global__ void __launch_bounds__(warp_strips::max_warps* warp_threads, pixel_shape<channels>::blocks_per_sm)
    mma_xy_by_channel(const __grid_constant__ parameters p) {
    using layout = pixel_layout<channels>;
    constexpr int squares = pixel_shape<channels>::squares;
    constexpr int columns = pixel_shape<channels>::columns;
    extern __shared__ uint4 storage[];
    ptx::let_next_grid_begin();
    const int lane = static_cast<int>(threadIdx.x) % warp_threads;
    const int warp = static_cast<int>(threadIdx.x) / warp_threads;
    const int warps = static_cast<int>(blockDim.x) / warp_threads;
    auto* const shared = reinterpret_cast<std::uint8_t*>(storage);

    // Rows beyond those that results need have no weight: the nearest of those stands for them.
    const int top = static_cast<int>(blockIdx.y) * p.strip_rows;
    const int rows = ::min(static_cast<int>(p.destination.first.height) - top, p.strip_rows);
    auto** const lines = reinterpret_cast<const std::uint8_t**>(shared + warps * layout::bytes);
    const std::uint8_t* const image = p.source.first.data + blockIdx.z * p.source.stride;
    for (int i = static_cast<int>(threadIdx.x); i < lines_of_pixels(rows);
         i += static_cast<int>(blockDim.x)) {
        const int line = ::min(::max(i - tile::max_radius, -p.radius_y), rows + p.radius_y - 1);
        lines[i] = start_of_line(p.source.first, image, p.y + top + line, p.border);
    }
    __syncthreads();

    const int begin = (static_cast<int>(blockIdx.x) * warps + warp) * columns;
    const int width = ::min(static_cast<int>(p.destination.first.width) - begin, columns);
    if (width <= 0) return;

    // A lane copies the same packets of eight rows, and of the eight below.
    const int source_width = static_cast<int>(p.source.first.width);
    const int first_at = (p.x + begin) * channels - p.lead;
    const int own_row = lane / layout::lanes_of_row, own_packet = lane % layout::lanes_of_row;
    int own_at[layout::copies], own_bytes[layout::copies];
#pragma unroll
    for (int i = 0; i < layout::copies; ++i) {
        const int at = first_at + (own_packet + i * layout::lanes_of_row) * layout::packet;
        own_bytes[i] = bytes_inside(at, source_width * channels, layout::packet);
        own_at[i] = own_bytes[i] > 0 ? at : 0;
    }
    std::uint8_t* const stages = shared + warp * layout::bytes;
    std::uint8_t* const own_place = stages + own_row * layout::pitch + own_packet * layout::packet;
    const std::uint8_t* const* next_line = lines + own_row;
    const auto load = [&](int to) {
#pragma unroll
        for (int row = 0; row < tile::side; row += layout::rows_at_once) {
            const std::uint8_t* const line = next_line[row];
#pragma unroll
            for (int i = 0; i < layout::copies; ++i) {
                constexpr int step = layout::lanes_of_row * layout::packet;
                if (own_packet + i * layout::lanes_of_row < layout::packets)
                    ptx::cp_async<layout::packet, ptx::cache::all_levels>(
                        own_place + to + row * layout::pitch + i * step, line + own_at[i], own_bytes[i]);
            }
        }
        next_line += tile::side;
        ptx::cp_async_commit_group();
    };
    // The weights are asked for first: behind the rows that all warps ask for they would come last.
    const auto weights_of_lane = [lane](const auto& bytes) { return mma_operand::of_lane(bytes, lane); };
    const uint4 high_x = weights_of_lane(p.along_x.high), low_x = weights_of_lane(p.along_x.low);
    const uint4 high_y = weights_of_lane(p.along_y.high), low_y = weights_of_lane(p.along_y.low);
    ptx::wait_for_grids_before();
    load(0);

    // What the image shows beyond its sides are pixels of the window. A lane fills in one of every second row, or none.
    constexpr int slots = 2 * tile::max_radius;
    constexpr int rows_filled = warp_threads / slots;
    const int left = ::max(0, p.radius_x - p.x - begin);
    const int right = ::max(0, p.x + begin + width + p.radius_x - source_width);
    const bool fills = lane % slots < left + right;
    int fill_to = 0, fill_from = 0;
    if (fills) {
        const int pixel = lane % slots < left ? lane % slots - left : source_width + lane % slots - left;
        const int seen = nearby_source_index(pixel, source_width, p.border);
        fill_to = lane / slots * layout::pitch + pixel * channels - first_at;
        fill_from = lane / slots * layout::pitch + seen * channels - first_at;
    }
    const auto fill_in = [&](std::uint8_t* rows_of_step) {
        if (!fills) return;
        using unit = typename layout::unit_of_pixel;
        constexpr int rows = tile::side / rows_filled, units = channels / static_cast<int>(sizeof(unit));
        unit found[rows][units];
#pragma unroll
        for (int i = 0; i < rows; ++i)
#pragma unroll
            for (int c = 0; c < units; ++c)
                found[i][c] = reinterpret_cast<const unit*>(rows_of_step + fill_from +
                                                            i * rows_filled * layout::pitch)[c];
#pragma unroll
        for (int i = 0; i < rows; ++i)
#pragma unroll
            for (int c = 0; c < units; ++c)
                reinterpret_cast<unit*>(rows_of_step + fill_to + i * rows_filled * layout::pitch)[c] =
                    found[i][c];
    };

    for (int i = 1; i < tile::stages; ++i)
        load(i * layout::stage);  // late, as the rows of the first step are wanted first

    const int group = lane / 4, quad = lane % 4;
    const std::uint8_t* const own_octet =
        stages + group * layout::pitch + p.skip + quad * layout::octet_bytes;
    std::uint8_t* const results = stages + layout::results;
    std::uint8_t* const own_result = results + group * layout::result_pitch + quad * 4 * channels;
    const int stored_row = lane / layout::result_packets;
    const int stored_at = lane % layout::result_packets * layout::packet;
    const bool stores_packets = stored_row < layout::rows_stored && stored_at < width * channels;
    const int aligned = width * channels | p.stored_at_once;  // the last strip need not end with a packet
    const int stored_at_once = aligned & -aligned;
    std::int64_t stride = p.destination.first.row_stride;
    std::uint8_t* out = p.destination.first.data + blockIdx.z * p.destination.stride +
                        (top + stored_row) * stride + begin * channels + stored_at;
    unsigned rounding_x = half_of_lowest_byte, rounding_y = p.rounding_y;
    asm("" : "+l"(stride), "+r"(rounding_x), "+r"(rounding_y));  // to registers, as they are wanted often

    // Of a step's rows the first `count`.
    const auto store_by = [&]<class Unit>(int count) {
        constexpr int bytes = static_cast<int>(sizeof(Unit));
        std::uint8_t* const first = out - stored_row * stride - stored_at;
#pragma unroll 1
        for (int row = 0; row < tile::side && row < count; ++row)
#pragma unroll 1
            for (int at = lane * bytes; at < width * channels; at += warp_threads * bytes)
                *reinterpret_cast<Unit*>(first + row * stride + at) =
                    *reinterpret_cast<const Unit*>(results + row * layout::result_pitch + at);
    };
    const auto store = [&](int count) {
        if (stored_at_once == layout::packet) {
            const std::uint8_t* const from = results + stored_row * layout::result_pitch + stored_at;
#pragma unroll
            for (int row = 0; row < tile::side; row += layout::rows_stored)
                if (stores_packets && row + stored_row < count)
                    *reinterpret_cast<uint4*>(out + row * stride) =
                        *reinterpret_cast<const uint4*>(from + row * layout::result_pitch);
        } else if (stored_at_once >= static_cast<int>(sizeof(unsigned))) {
            store_by.template operator()<unsigned>(count);
        } else {
            store_by.template operator()<std::uint8_t>(count);
        }
        out += tile::side * stride;
    };

    bytes_of_h h[squares][channels][2];  // eight pixels of a square each
    int now = 0;
    const auto march = [&]<bool completes>(int row) {
        ptx::cp_async_wait_group<tile::stages - 1>();
        __syncwarp();
        if (left + right > 0) {
            fill_in(stages + now);
            __syncwarp();
        }
        // A square ahead of the stores of results: the compiler cannot tell that those go elsewhere, and would keep loads
        // behind them.
        octet<channels> next[2];
        const auto read = [&](int square) {
#pragma unroll
            for (int half = 0; half < 2; ++half)
                next[half].read(own_octet + now + half * tile::side / 2 * layout::pitch +
                                square * tile::side * channels);
        };
        read(0);
#pragma unroll
        for (int square = 0; square < squares; ++square) {
            const octet<channels> window[2] = {next[0], next[1]};
            if (square + 1 < squares) read(square + 1);
            unsigned values[2][4 * channels];  // of rows `group` and eight below, four neighbours each
#pragma unroll
            for (int c = 0; c < channels; ++c) {
                unsigned high[2][4] = {}, low[2][4] = {};
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    add_product(high[half], high_x, window[half].pairs[c][0], window[half].pairs[c][1]);
                    add_product(low[half], low_x, window[half].pairs[c][0], window[half].pairs[c][1]);
                }
#pragma unroll
                for (int n = 0; n < 2; ++n) {
                    bytes_of_h& bytes = h[square][c][n];
                    unsigned sums[4];
#pragma unroll
                    for (int i = 0; i < 4; ++i)
                        sums[i] = high[i / 2][2 * n + i % 2] * p.high_scale_x +
                                  (low[i / 2][2 * n + i % 2] * p.low_scale_x + rounding_x);
                    bytes.set_new(upper_bytes_of(sums[0], sums[1], sums[2], sums[3]));
                    if constexpr (completes) {
                        unsigned upper[4] = {}, lower[4] = {};
                        add_product(lower, low_y, bytes.b[0], bytes.b[1]);
                        add_product(lower, high_y, bytes.c[0], bytes.c[1]);
                        add_product(upper, high_y, bytes.a[0], bytes.a[1]);
#pragma unroll
                        for (unsigned& sum : lower) sum >>= 8;
                        add_product(lower, high_y, bytes.b[0], bytes.b[1]);
                        add_product(lower, low_y, bytes.a[0], bytes.a[1]);
#pragma unroll
                        for (int i = 0; i < 4; ++i)
                            values[i / 2][(2 * n + i % 2) * channels + c] =
                                upper[i] * p.high_scale_y + (lower[i] * p.low_scale_y + rounding_y);
                    }
                    bytes.age();
                }
            }
            if constexpr (completes) {
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    auto* const to = reinterpret_cast<unsigned*>(
                        own_result + half * tile::side / 2 * layout::result_pitch +
                        square * tile::side * channels);
                    unsigned words[channels];
#pragma unroll
                    for (int i = 0; i < channels; ++i) {
                        const unsigned* const of = values[half] + 4 * i;
                        words[i] = uppermost_bytes(of[0], of[1], of[2], of[3]);
                    }
                    if constexpr (channels == 2)
                        *reinterpret_cast<uint2*>(to) = make_uint2(words[0], words[1]);
                    else if constexpr (channels == 4)
                        *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
                    else {
#pragma unroll
                        for (int i = 0; i < channels; ++i) to[i] = words[i];
                    }
                }
            }
        }
        __syncwarp();
        load(now);
        now = now + layout::stage < layout::results ? now + layout::stage : 0;
        if constexpr (completes) store(rows - row);
    };
    march.template operator()<false>(0);
#pragma unroll 1
    for (int row = 0; row < rows; row += tile::side) march.template operator()<true>(row);
    ptx::cp_async_wait_group<0>();
}

/// The pixel of a square that row m of a product along x is: a thread then gets four neighbours of a row.
constexpr int column_of(int m) {
    return m % 8 / 2 * 4 + m / 8 * 2 + m % 2;
}
/// The pixel of a window that index k of it is: a lane's eight are neighbours.
constexpr int pixel_of(int k) {
    return k % 16 / 4 * tile::octet + k / 16 * 4 + k % 4;
}
/// The row of a window that index k of a product along y is: the order in which the products along x leave them.
constexpr int row_of(int k) {
    return k / 16 * 16 + k % 4 / 2 * 8 + k % 16 / 4 * 2 + k % 2;
}

}  // namespace

void launch_mma_xy_by_channel(const mma_xy_by_channel_plan& plan, const arguments<std::uint8_t>& a,
                              cudaStream_t stream) {
    const whole_weights weights_x(a.taps_x.weights()), weights_y(a.taps_y.weights());
    parameters p{};
    p.source = a.source;
    p.destination = a.destination;
    p.x = static_cast<int>(a.x);
    p.y = static_cast<int>(a.y);
    p.border = a.border;
    p.stored_at_once = plan.stored_at_once;
    p.radius_x = a.taps_x.radius;
    p.radius_y = a.taps_y.radius;
    p.lead = plan.lead;
    p.skip = plan.skip;
    p.strip_rows = plan.strip_rows;

    p.low_scale_x = weights_x.multiplier();
    p.high_scale_x = 256 * p.low_scale_x;
    p.low_scale_y = weights_y.multiplier();
    p.high_scale_y = 256 * p.low_scale_y;
    p.rounding_y = (1u << 23) + p.low_scale_y / 2;
    // Of the tap that lies so far from the middle one.
    const auto number = [](const whole_weights& weights, int radius, int distance) -> unsigned {
        const int tap = distance + radius;
        return tap < 0 || tap > 2 * radius ? 0 : 256u * weights.high(tap) + weights.low(tap);
    };
    p.along_x.set([&](int m, int k) {
        return number(weights_x, p.radius_x, pixel_of(k) - plan.before - column_of(m));
    });
    p.along_y.set(
        [&](int m, int k) { return number(weights_y, p.radius_y, row_of(k) - tile::max_radius - m); });
    with_channels(a.source.first.channels, [&]<int channels>() {
        launch(config_of(plan.grid, stream), mma_xy_by_channel<channels>, p);
    });
}

}  // namespace heddle::kernels::separable_filter
