// mma_xy_by_channel: the blur of bytes by radii up to 8, as two products with banded matrices, within a warp.
//
//   along x   h (16 pixels x 8 rows)   = W_x (16 x 32 pixels) * (32 pixels x 8 rows of the image)
//   along y   out (16 rows x 8 pixels) = W_y (16 x 32 rows) * h (32 rows x 8 pixels)
//
// Products, sums and pixels are those of wgmma_xy. But wgmma needs windows of at least 64 values in both directions; here
// 32 inputs give 16 results. A lane reads eight whole pixels of a row and permutes their bytes, into two registers for
// each channel. So windows are as deep for four channels as for one. All have the same weights, in 16 registers for both
// axes. A thread's sums along x are its operand along y: k may have any order, if the weights have it too.
//
// Rows that lie at any address are copied by words, and shifted as they are read.
//
// It needs windows of 16 pixels within 32 that begin at a multiple of 8, and borders that neither wrap nor are a constant.
// What limits it: an mma keeps a scheduler busy for nearly all of its clocks. So 16 x 16 values take the time of 14 mma
// and of 91 other instructions, one after the other. The time does not depend on the radius.

#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/words.cuh"
#include "kernels/frame/marching_warp.cuh"
#include "kernels/gaussian_blur/bytes.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixels.cuh"
#include "kernels/gaussian_blur/plan/grids.hpp"
#include "kernels/gaussian_blur/plan/mma_xy_by_channel.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"
#include "kernels/gaussian_blur/whole_weights.hpp"

#include <cstdint>

namespace heddle::kernels::gaussian_blur {
namespace {

using namespace pixels;

/// A thread's part of h: eight pixels in the rows of two steps.
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

/// A lane's weights, and what rounds sums before their bytes are cut.
struct lane_weights {
    uint4 high_x;
    uint4 low_x;
    uint4 high_y;
    uint4 low_y;
    unsigned rounding_x;
    unsigned rounding_y;
};

/// A step of a square: filters its new rows along x and, if `completes`, along y. `values` are four neighbours of a lane's
/// row and of the row eight below. Each value is in the uppermost byte of its word.
template <bool completes, int channels>
__device__ __forceinline__ void filter_square(const parameters& p, const lane_weights& w,
                                              const octet<channels> (&window)[2],
                                              bytes_of_h (&h)[channels][2],
                                              unsigned (&values)[2][4 * channels]) {
#pragma unroll
    for (int c = 0; c < channels; ++c) {
        unsigned high[2][4] = {}, low[2][4] = {};
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            add_product(high[half], w.high_x, window[half].pairs[c][0], window[half].pairs[c][1]);
            add_product(low[half], w.low_x, window[half].pairs[c][0], window[half].pairs[c][1]);
        }
#pragma unroll
        for (int n = 0; n < 2; ++n) {
            bytes_of_h& bytes = h[c][n];
            unsigned sums[4];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                sums[i] = high[i / 2][2 * n + i % 2] * p.high_scale_x +
                          (low[i / 2][2 * n + i % 2] * p.low_scale_x + w.rounding_x);
            bytes.set_new(upper_bytes_of(sums[0], sums[1], sums[2], sums[3]));
            if constexpr (completes) {
                unsigned upper[4] = {}, lower[4] = {};
                add_product(lower, w.low_y, bytes.b[0], bytes.b[1]);
                add_product(lower, w.high_y, bytes.c[0], bytes.c[1]);
                add_product(upper, w.high_y, bytes.a[0], bytes.a[1]);
#pragma unroll
                for (unsigned& sum : lower) sum >>= 8;
                add_product(lower, w.high_y, bytes.b[0], bytes.b[1]);
                add_product(lower, w.low_y, bytes.a[0], bytes.a[1]);
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    values[i / 2][(2 * n + i % 2) * channels + c] =
                        upper[i] * p.high_scale_y + (lower[i] * p.low_scale_y + w.rounding_y);
            }
            bytes.age();
        }
    }
}

/// The uppermost bytes of four neighbours' values.
template <int channels>
__device__ __forceinline__ void pack_pixels(unsigned* to, const unsigned (&values)[4 * channels]) {
    unsigned words[channels];
#pragma unroll
    for (int i = 0; i < channels; ++i) {
        const unsigned* const of = values + 4 * i;
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

/// `aligned`: rows of the source and of the destination begin at multiples of packets.
template <int channels, bool aligned>
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

    // Rows that no result needs have no weight. The nearest row that is needed stands for them.
    const int top = static_cast<int>(blockIdx.y) * p.strip_rows;
    const int rows = ::min(static_cast<int>(p.destination.first.height) - top, p.strip_rows);
    auto** const lines = reinterpret_cast<const std::uint8_t**>(shared + warps * layout::bytes);
    const std::uint8_t* const image = p.source.first.data + blockIdx.z * p.source.stride;
    const int line_count = lines_of_pixels(rows);
    for (int i = static_cast<int>(threadIdx.x); i < line_count; i += static_cast<int>(blockDim.x)) {
        const int line = ::min(::max(i - tile::max_radius, -p.radius_y), rows + p.radius_y - 1);
        lines[i] = frame::start_of_line(image, p.source.first.height, p.source.first.row_stride,
                                        p.y + top + line, p.border);
    }
    const int row_bytes = static_cast<int>(p.source.first.width) * channels;
    auto* const heads = reinterpret_cast<unsigned*>(lines + line_count);
    if constexpr (!aligned) {
        ptx::wait_for_grids_before();
        if (blockIdx.x == 0) frame::read_heads(heads, lines, line_count, row_bytes);
    }
    ptx::sync_threads();

    const int begin = (static_cast<int>(blockIdx.x) * warps + warp) * columns;
    const int width = ::min(static_cast<int>(p.destination.first.width) - begin, columns);
    if (width <= 0) return;

    std::uint8_t* const stages = shared + warp * layout::bytes;
    auto copies =
        copies_of<layout, aligned>(stages, lines, heads, (p.x + begin) * channels - p.lead, row_bytes, lane);
    // The weights are loaded first: behind the rows that all warps load they would come last.
    lane_weights weights{mma_operand::of_lane(p.along_x.high, lane),
                         mma_operand::of_lane(p.along_x.low, lane),
                         mma_operand::of_lane(p.along_y.high, lane),
                         mma_operand::of_lane(p.along_y.low, lane),
                         half_of_lowest_byte,
                         p.rounding_y};
    ptx::wait_for_grids_before();
    const auto load = [&](int to) {
        if (copies.has_ends) copies.load_ends(to, lane);
        copies.load(to);
    };
    load(0);
    const sides<channels> beyond(p, begin, width, lane);
    for (int i = 1; i < tile::stages; ++i)
        load(i * layout::stage);  // late, as the rows of the first step are wanted first

    const int group = lane / 4, quad = lane % 4;
    const std::uint8_t* const own_octet =
        stages + group * layout::pitch + p.skip + quad * layout::octet_bytes;
    std::uint8_t* const results = stages + layout::results;
    std::uint8_t* const own_result = results + group * layout::result_pitch + quad * 4 * channels;
    stores_of<channels, aligned> stores(p, results, top, begin, width, lane);
    asm("" : "+r"(weights.rounding_x), "+r"(weights.rounding_y));  // kept in registers: they are read often

    bytes_of_h h[squares][channels][2];  // eight pixels of a square each
    int now = 0, line = 0;
    const auto march = [&]<bool completes>(int row) {
        ptx::cp_async_wait_group<tile::stages - 1>();
        ptx::sync_warp();
        if (beyond.are_any) {
            beyond.template fill_in<aligned>(stages + now, lines + line);
            ptx::sync_warp();
        }
        // Loads run a square ahead of the stores of results. The compiler cannot tell that those go elsewhere, and would keep
        // loads behind them.
        octet<channels> next[2];
        int behind[2] = {};
        if constexpr (!aligned) {
#pragma unroll
            for (int half = 0; half < 2; ++half)
                behind[half] = bytes_behind_word(lines[line + half * tile::side / 2 + group]);
        }
        const auto read = [&](int square) {
#pragma unroll
            for (int half = 0; half < 2; ++half)
                next[half].template read<aligned>(
                    own_octet + now + half * tile::side / 2 * layout::pitch + square * tile::side * channels,
                    behind[half]);
        };
        read(0);
#pragma unroll
        for (int square = 0; square < squares; ++square) {
            const octet<channels> window[2] = {next[0], next[1]};
            if (square + 1 < squares) read(square + 1);
            unsigned values[2][4 * channels];
            filter_square<completes, channels>(p, weights, window, h[square], values);
            if constexpr (completes) {
#pragma unroll
                for (int half = 0; half < 2; ++half)
                    pack_pixels<channels>(reinterpret_cast<unsigned*>(
                                              own_result + half * tile::side / 2 * layout::result_pitch +
                                              square * tile::side * channels),
                                          values[half]);
            }
        }
        ptx::sync_warp();
        load(now);
        now = now + layout::stage < layout::results ? now + layout::stage : 0;
        line += tile::side;
        if constexpr (completes) stores.store(rows - row, lane);
    };
    march.template operator()<false>(0);
#pragma unroll 1
    for (int row = 0; row < rows; row += tile::side) march.template operator()<true>(row);
    ptx::cp_async_wait_group<0>();
}

/// Row m of a product along x is this pixel of a square. A thread then gets four neighbours of a row.
constexpr int column_of(int m) {
    return m % 8 / 2 * 4 + m / 8 * 2 + m % 2;
}
/// Index k of a window is this pixel. A lane's eight are then neighbours.
constexpr int pixel_of(int k) {
    return k % 16 / 4 * tile::octet + k / 16 * 4 + k % 4;
}
/// Index k of a product along y is this row of a window: the products along x leave the rows in this order.
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
    // The weight of the tap at this distance from the middle one.
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
        launch(config_of(plan.grid, stream),
               plan.aligned ? mma_xy_by_channel<channels, true> : mma_xy_by_channel<channels, false>, p);
    });
}

}  // namespace heddle::kernels::gaussian_blur
