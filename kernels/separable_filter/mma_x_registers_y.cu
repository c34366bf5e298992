// mma_x_registers_y: the blur of bytes by small windows, along x as products on the tensor cores, along y by sums in registers.
//
//   a product   h (16 columns x 8) = W_x (16 x 32 values) * (32 values x 8: two rows, of four spans of 16 columns side by side)
//
// Weights along x are whole numbers of two bytes, so a product is taken with their high and with their low bytes, whatever the
// radius. h is exact, a whole number below 2^24: its bits are those of a float that counts in units of 2^-149, and the pass
// along y is that of `fused`. A warp marches down a strip of 256 columns, two rows a step, and copies rows whole. All of its
// products have the same weights, 8 registers of a thread. Such weights cannot know the image's sides, so lanes write into the
// rows what is shown beyond them, a step ahead.
//
// Rows that lie at any address are copied by words, and shifted as they are read.
//
// It needs a radius up to 8 along y, windows of 16 columns within 32 values, and borders that neither wrap nor are a constant.
// Errors: docs/accuracy.md. What limits it: issue slots, mostly FMAs along y, and the time until a warp's first product.

#include "kernels/device/border.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/frame/marching_warp.cuh"
#include "kernels/separable_filter/bytes.cuh"
#include "kernels/separable_filter/launch.hpp"
#include "kernels/separable_filter/pixel.cuh"
#include "kernels/separable_filter/plan/grids.hpp"
#include "kernels/separable_filter/plan/problem.hpp"
#include "kernels/separable_filter/plan/small_windows.hpp"
#include "kernels/separable_filter/whole_weights.hpp"

#include <cstdint>

namespace heddle::kernels::separable_filter {
namespace {

constexpr int warp_threads = 32;

using tile = span_tile;
using stage = span_stage;

template <int radius>
struct parameters {
    image_batch_view<const std::uint8_t> source;
    image_batch_view<std::uint8_t> destination;
    int x;  ///< in values
    int y;
    heddle::border border;
    int reach;
    int lead;  ///< of these values `skip` are before the windows
    int skip;
    int strip_rows;
    float scale;  ///< of the sums along y
    float taps_y[2 * radius + 1];
    mma_operand along_x;
};

__device__ void set_product(unsigned (&sums)[4], const uint4& weights, unsigned first, unsigned second) {
#pragma unroll
    for (unsigned& sum : sums) sum = 0;
    add_product(sums, weights, first, second);
}

/// What the image shows beyond its sides are values of the window. A lane fills in one of a row, or none.
struct sides {
    static_assert(tile::rows * (tile::depth - tile::product_columns) <= warp_threads);
    bool are_any;
    bool fills;
    int to = 0;
    int from = 0;

    template <int radius>
    __device__ sides(const parameters<radius>& p, int begin, int values, int row_values, int lane) {
        const int first_at = p.x + begin - p.lead;
        const int own_row = lane % tile::rows, own = lane / tile::rows;
        const int left = ::max(0, p.reach - p.x - begin);
        const int right = ::max(0, p.x + begin + ::min(values, tile::columns) + p.reach - row_values);
        are_any = left + right > 0;
        fills = own < left + right;
        if (!fills) return;
        const int channels = static_cast<int>(p.source.first.channels);
        const int value = own < left ? own - left : row_values + own - left;
        const int pixel = (value + p.reach) / channels - p.reach / channels;
        const int width = static_cast<int>(p.source.first.width);
        const int seen =
            nearby_source_index(pixel, width, p.border) * channels + (value + p.reach) % channels;
        to = own_row * stage::pitch + value - first_at;
        // Where a warp begins inside of a pixel, its other channels have mirrors before the window, and no weight.
        from = own_row * stage::pitch + ::max(seen - first_at, 0);
    }
    /// The lane's row lies `behind` bytes behind its place.
    __device__ void fill_in(std::uint8_t* rows, int behind) const {
        if (fills) rows[to + behind] = rows[from + behind];
    }
};

/// How a lane copies the rows of a step, from value `first_at` on.
template <bool aligned>
__device__ auto copies_of(std::uint8_t* stages, const std::uint8_t* const* lines, const unsigned* heads,
                          int first_at, int row_values, int lane) {
    if constexpr (aligned)
        return frame::row_copies<stage>(stages, lines, first_at, row_values, lane % tile::rows,
                                        lane / tile::rows);
    else
        return frame::word_copies<stage>(stages, lines, heads, first_at, row_values, lane);
}

template <bool aligned>
__device__ unsigned read_word(const std::uint8_t* from, int behind) {
    const auto* const words = reinterpret_cast<const unsigned*>(from);
    return aligned ? words[0] : frame::word_behind(words[0], words[1], behind);
}

/// Two neighbours of each product to a whole strip's row that begins at an odd address: a lane's second values leave with the
/// first ones of the lane that has the next.
__device__ inline void store_odd_pairs(std::uint8_t* out, const std::uint16_t (&pairs)[tile::products],
                                       int lane) {
    const int next = lane + tile::spans < warp_threads ? lane + tile::spans : (lane + 1) % tile::spans;
    const bool is_last = lane == warp_threads - 1;  // then the next values are those of another product
    unsigned others[tile::products];
#pragma unroll
    for (int i = 0; i < tile::products; ++i) others[i] = __shfl_sync(~0u, pairs[i], next);
    if (lane == 0) out[0] = static_cast<std::uint8_t>(pairs[0]);
#pragma unroll
    for (int i = 0; i < tile::products; ++i) {
        std::uint8_t* const to = out + i * tile::product + 1;
        const bool ends_strip = is_last && i + 1 == tile::products;
        const unsigned other = is_last && i + 1 < tile::products ? others[i + 1] : others[i];
        if (ends_strip)
            *to = static_cast<std::uint8_t>(pairs[i] >> 8);
        else
            *reinterpret_cast<std::uint16_t*>(to) =
                static_cast<std::uint16_t>(__byte_perm(pairs[i], other, 0x0041));
    }
}

/// Two neighbours of each product, of which `valid` values and more are in the row.
template <bool aligned>
__device__ void store_pairs(std::uint8_t* out, const std::uint16_t (&pairs)[tile::products], bool is_whole,
                            int valid, int lane) {
    if (!aligned && is_whole && reinterpret_cast<std::uintptr_t>(out) % 2 != 0) {
        store_odd_pairs(out, pairs, lane);
    } else if (is_whole) {
#pragma unroll
        for (int i = 0; i < tile::products; ++i)
            *reinterpret_cast<std::uint16_t*>(out + i * tile::product) = pairs[i];
    } else {
#pragma unroll
        for (int i = 0; i < tile::products; ++i) {
            const int left = valid - i * tile::product;
            std::uint8_t* const to = out + i * tile::product;
            if (left > 0) to[0] = static_cast<std::uint8_t>(pairs[i]);
            if (left > 1) to[1] = static_cast<std::uint8_t>(pairs[i] >> 8);
        }
    }
}

/// `aligned`: rows of the source begin at multiples of packets, and those of the destination at multiples of pairs.
template <int radius, bool aligned>
__global__ void __launch_bounds__(warp_strips::max_warps* warp_threads, tile::blocks_per_sm(radius))
    mma_x_registers_y(const __grid_constant__ parameters<radius> p) {
    constexpr int stages = tile::stages(radius), bytes_of_warp = stage::bytes_of_warp(radius);
    extern __shared__ uint4 storage[];
    ptx::let_next_grid_begin();
    const int lane = static_cast<int>(threadIdx.x) % warp_threads;
    const int warp = static_cast<int>(threadIdx.x) / warp_threads;
    const int warps = static_cast<int>(blockDim.x) / warp_threads;
    auto* const shared = reinterpret_cast<std::uint8_t*>(storage);

    // Below the last row that a result needs there is only that one.
    const int top = static_cast<int>(blockIdx.y) * p.strip_rows;
    const int rows = ::min(static_cast<int>(p.destination.first.height) - top, p.strip_rows);
    auto** const lines = reinterpret_cast<const std::uint8_t**>(shared + warps * bytes_of_warp);
    const std::uint8_t* const image = p.source.first.data + blockIdx.z * p.source.stride;
    const int line_count = stage::lines(rows, radius);
    for (int i = static_cast<int>(threadIdx.x); i < line_count; i += static_cast<int>(blockDim.x)) {
        const int line = p.y + top + ::min(i, rows + 2 * radius - 1) - radius;
        lines[i] =
            frame::start_of_line(image, p.source.first.height, p.source.first.row_stride, line, p.border);
    }
    const int row_values = static_cast<int>(p.source.first.width * p.source.first.channels);
    auto* const heads = reinterpret_cast<unsigned*>(lines + line_count);
    if constexpr (!aligned) {
        ptx::wait_for_grids_before();
        if (blockIdx.x == 0) frame::read_heads(heads, lines, line_count, row_values);
    }
    __syncthreads();

    const int begin = (static_cast<int>(blockIdx.x) * warps + warp) * tile::columns;
    const int values = static_cast<int>(p.destination.first.width * p.destination.first.channels) - begin;
    if (values <= 0) return;

    std::uint8_t* const own_stages = shared + warp * bytes_of_warp;
    auto copies = copies_of<aligned>(own_stages, lines, heads, p.x + begin - p.lead, row_values, lane);
    // The weights are asked for first: behind the rows that all warps ask for they would come last.
    const uint4 high_weights = mma_operand::of_lane(p.along_x.high, lane);
    const uint4 low_weights = mma_operand::of_lane(p.along_x.low, lane);
    ptx::wait_for_grids_before();
    for (int i = 0; i < stages; ++i) {
        if (copies.has_ends) copies.load_ends(i * stage::bytes, lane);
        copies.load(i * stage::bytes);
    }
    const sides beyond(p, begin, values, row_values, lane);

    // Column n of a product is row n % 2 of span n / 2. A thread gets both rows of two neighbours.
    const int group = lane / 4;
    const std::uint8_t* const own_words = own_stages + group % 2 * stage::pitch +
                                          group / 2 * tile::product_columns + p.skip + lane % 4 * stage::word;
    const int column = lane % 4 * tile::product_columns + group * 2;
    const bool is_whole = values >= tile::columns;
    std::int64_t destination_stride = p.destination.first.row_stride;
    std::uint8_t* out = p.destination.first.data + blockIdx.z * p.destination.stride +
                        top * destination_stride + begin + column;
    float scale = p.scale;
    asm("" : "+l"(destination_stride), "+f"(scale));  // to registers, as they are wanted at each step

    // The products of a step are under way while the sums of the one before are added up.
    constexpr int own_columns = 2 * tile::products;
    float h[tile::rows][own_columns];
    unsigned high[tile::products][4], low[tile::products][4];
    int now = 0, line = 0;
    const auto behind = [&](int row) { return aligned ? 0 : frame::bytes_behind_word(lines[line + row]); };
    ptx::cp_async_wait_group<stages - 1>();
    __syncwarp();
    beyond.fill_in(own_stages + now, behind(lane % tile::rows));
    const auto multiply = [&] {
        ptx::cp_async_wait_group<stages - 2>();  // and of the next step
        __syncwarp();
        const int own_behind = behind(group % tile::rows);
#pragma unroll
        for (int product = 0; product < tile::products; ++product) {
            const std::uint8_t* const words = own_words + now + product * tile::product;
            const unsigned first = read_word<aligned>(words, own_behind);
            const unsigned second = read_word<aligned>(words + tile::product_columns, own_behind);
            set_product(high[product], high_weights, first, second);
            set_product(low[product], low_weights, first, second);
        }
        const int multiplied = now;
        now = now + stage::bytes < bytes_of_warp ? now + stage::bytes : 0;
        line += tile::rows;
        __syncwarp();
        if (aligned || beyond.are_any || copies.has_ends) {
            beyond.fill_in(own_stages + now, behind(lane % tile::rows));
            if (copies.has_ends) copies.load_ends(multiplied, lane);
        }
        copies.load(multiplied);
    };
    const auto take_products = [&] {
#pragma unroll
        for (int n = 0; n < tile::rows; ++n)
#pragma unroll
            for (int c = 0; c < own_columns; ++c) {
                const int i = c % 2 * 2 + n;
                h[n][c] = __uint_as_float(high[c / 2][i] * 256 + low[c / 2][i]);
            }
    };
    float sums[own_columns][2 * radius + 1] = {};
    const auto march = [&]<bool completes>(int row) {
        multiply();
        std::uint16_t pairs[tile::rows][tile::products];
#pragma unroll
        for (int n = 0; n < tile::rows; ++n) {
            unsigned bits[own_columns];
#pragma unroll
            for (int c = 0; c < own_columns; ++c) {
                const float complete = filter_column<radius>(h[n][c], p.taps_y, sums[c]);
                bits[c] = __float_as_uint(fmaf(complete, scale, rounding_offset));
            }
#pragma unroll
            for (int i = 0; i < tile::products; ++i)
                pairs[n][i] = static_cast<std::uint16_t>(__byte_perm(bits[2 * i], bits[2 * i + 1], 0x0040));
        }
        take_products();
        if constexpr (completes) {
#pragma unroll
            for (int n = 0; n < tile::rows; ++n, out += destination_stride)
                if (n == 0 || row + n < rows)
                    store_pairs<aligned>(out, pairs[n], is_whole, values - column, lane);
        }
    };
    multiply();
    take_products();
#pragma unroll 1
    for (int row = -2 * radius; row < 0; row += tile::rows) march.template operator()<false>(row);
#pragma unroll 1
    for (int row = 0; row < rows; row += tile::rows) march.template operator()<true>(row);
    ptx::cp_async_wait_group<0>();
}

template <int radius>
void launch(const mma_x_registers_y_plan& plan, const arguments<std::uint8_t>& a, cudaStream_t stream) {
    const auto channels = static_cast<int>(a.source.first.channels);
    parameters<radius> p{};
    p.source = a.source;
    p.destination = a.destination;
    p.x = static_cast<int>(a.x) * channels;
    p.y = static_cast<int>(a.y);
    p.border = a.border;
    p.reach = a.taps_x.radius * channels;
    p.lead = plan.lead;
    p.skip = plan.skip;
    p.strip_rows = plan.strip_rows;

    const whole_taps along_x(a.taps_x);
    p.scale = static_cast<float>(sums_unit / along_x.sum);
    for (int i = 0; i <= 2 * radius; ++i) p.taps_y[i] = a.taps_y.table[i] * scale_y;
    const int before = plan.lead - plan.skip;
    p.along_x.set([&](int m, int place) -> unsigned {
        const int column = m % 8 * 2 + m / 8;  // a lane has the sums of two neighbours
        const int i = place - before - column + p.reach;
        return i < 0 || i > 2 * p.reach || i % channels != 0 ? 0 : along_x.weights[i / channels];
    });
    kernels::launch(config_of(plan.grid, stream),
                    plan.aligned ? mma_x_registers_y<radius, true> : mma_x_registers_y<radius, false>, p);
}

}  // namespace

void launch_mma_x_registers_y(const mma_x_registers_y_plan& plan, const arguments<std::uint8_t>& a,
                              cudaStream_t stream) {
    with_radius<max_registers_radius>(a.taps_y.radius,
                                      [&]<int radius>() { launch<radius>(plan, a, stream); });
}

}  // namespace heddle::kernels::separable_filter
