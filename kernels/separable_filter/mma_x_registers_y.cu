// mma_x_registers_y, variant spans, for windows of up to 32 values, and best for long strips: the same products and sums,
// with less to load, to store and to multiply. What it teaches: there, at radius 2, it is L1 that is busy,
// as lanes copy 16 bytes each of eight rows of four strips, and store 4. Nothing in the arithmetic asks for that.
//
//   a product   h (16 columns x 8) = W_x (16 x 32 values) * (32 values x 8: two rows, of four times 16 columns)
//
// - The 8 are four spans side by side of the same two rows. So a warp marches down one strip, of 256 columns, copies rows
//   whole, and its stores fill sectors side by side.
// - 16 columns need 32 values of the row at most: one product. All of a warp have the same weights, 8 registers of a thread in
//   place of 32 or 48, which come ready from the host.
// - Weights that all columns share cannot know the image's sides. What is shown beyond them is written into the rows, a step
//   ahead, by lanes of the warp that reads them, behind a __syncwarp.
// - A lane has 8 columns, so what it does for a step, and not for a column, costs half: 100 instructions for 8 values, at
//   radius 2, where the other variant takes 120.
// - All warps ask for their first rows at once, so what is asked for behind those comes late: weights are asked for before. And
//   where tall windows leave room for few blocks, these load as many rows ahead as more blocks would.
//
// What limits it: issue slots, and the time until a warp's first product.

#include "kernels/device/border.cuh"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/separable_filter/column_sums.cuh"
#include "kernels/separable_filter/launch.hpp"
#include "kernels/separable_filter/mma_operand.cuh"
#include "kernels/separable_filter/pixel.cuh"
#include "kernels/separable_filter/plan/compiled.hpp"
#include "kernels/separable_filter/plan/extents.hpp"
#include "kernels/separable_filter/plan/mma_x_registers_y.hpp"
#include "kernels/separable_filter/plan/warp_strips.hpp"
#include "kernels/separable_filter/source_rows.cuh"
#include "kernels/separable_filter/whole_weights.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::kernels::separable_filter {
namespace {

constexpr int warp_threads = 32;

/// The weights along x as whole numbers. Sums of a row stay below 2^24, as those of weights are below 2^16.
struct whole_taps {
    double sum = 0;
    std::uint16_t weights[2 * max_registers_radius + 1] = {};

    explicit whole_taps(const taps& taps) {
        constexpr double max_sum = 0xffff;
        const std::span<const float> of = taps.weights();
        const double scale = best_scale(of, max_sum);
        for (std::size_t i = 0; i < of.size(); ++i) {
            weights[i] = static_cast<std::uint16_t>(whole(scale * of[i]));
            sum += weights[i];
        }
    }
};

/// Those sums are the bits of subnormal floats, which count in units of 2^-149. The taps along y make normal numbers of their
/// sums, and these, over the sum of the weights along x, times this are the image's.
inline constexpr float scale_y = 0x1p120f;
inline constexpr double sums_unit = 0x1p29;

using tile = span_tile;
using stage = span_stage;

template <int radius>
struct parameters {
    image_batch_view<const std::uint8_t> source;
    image_batch_view<std::uint8_t> destination;
    int x;  ///< in values
    int y;
    heddle::border border;
    bool stores_pairs;
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

template <int radius>
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
    for (int i = static_cast<int>(threadIdx.x); i < stage::lines(rows, radius);
         i += static_cast<int>(blockDim.x)) {
        const int line = p.y + top + ::min(i, rows + 2 * radius - 1) - radius;
        lines[i] = start_of_line(p.source.first, image, line, p.border);
    }
    __syncthreads();

    const int begin = (static_cast<int>(blockIdx.x) * warps + warp) * tile::columns;
    const int values = static_cast<int>(p.destination.first.width * p.destination.first.channels) - begin;
    if (values <= 0) return;

    // A lane copies one packet or two of a row.
    const int row_values = static_cast<int>(p.source.first.width * p.source.first.channels);
    const int first_at = p.x + begin - p.lead;
    const int own_row = lane % tile::rows, own_packet = lane / tile::rows;
    int own_at[stage::copies], own_bytes[stage::copies];
#pragma unroll
    for (int i = 0; i < stage::copies; ++i) {
        const int at = first_at + (own_packet + i * stage::packets_at_once) * stage::packet;
        own_bytes[i] = bytes_inside(at, row_values, stage::packet);
        own_at[i] = own_bytes[i] > 0 ? at : 0;
    }
    std::uint8_t* const own_stages = shared + warp * bytes_of_warp;
    std::uint8_t* const own_place = own_stages + own_row * stage::pitch + own_packet * stage::packet;
    const std::uint8_t* const* next_line = lines + own_row;
    const auto load = [&](int to) {
        const std::uint8_t* const line = *next_line;
        next_line += tile::rows;
#pragma unroll
        for (int i = 0; i < stage::copies; ++i)
            if (own_packet + i * stage::packets_at_once < stage::packets)
                ptx::cp_async<stage::packet, ptx::cache::all_levels>(
                    own_place + to + i * stage::packets_at_once * stage::packet, line + own_at[i],
                    own_bytes[i]);
        ptx::cp_async_commit_group();
    };
    // The weights are asked for first: behind the rows that all warps ask for they would come last.
    const uint4 high_weights = mma_operand::of_lane(p.along_x.high, lane);
    const uint4 low_weights = mma_operand::of_lane(p.along_x.low, lane);
    ptx::wait_for_grids_before();
    for (int i = 0; i < stages; ++i) load(i * stage::bytes);

    // What the image shows beyond its sides are values of the window. A lane fills in one of a row, or none.
    static_assert(tile::rows * (tile::depth - tile::product_columns) <= warp_threads);
    const int left = ::max(0, p.reach - p.x - begin);
    const int right = ::max(0, p.x + begin + ::min(values, tile::columns) + p.reach - row_values);
    const bool fills = own_packet < left + right;
    int fill_to = 0, fill_from = 0;
    if (fills) {
        const int channels = static_cast<int>(p.source.first.channels);
        const int value = own_packet < left ? own_packet - left : row_values + own_packet - left;
        const int pixel = (value + p.reach) / channels - p.reach / channels;
        const int width = static_cast<int>(p.source.first.width);
        const int seen =
            nearby_source_index(pixel, width, p.border) * channels + (value + p.reach) % channels;
        fill_to = own_row * stage::pitch + value - first_at;
        // Where a warp begins inside of a pixel, its other channels have mirrors before the window, and no weight.
        fill_from = own_row * stage::pitch + ::max(seen - first_at, 0);
    }
    const auto fill_in = [&](int of) {
        if (fills) own_stages[of + fill_to] = own_stages[of + fill_from];
    };

    // Column n of a product is row n % 2 of span n / 2. A thread gets both rows of two neighbours.
    const int group = lane / 4;
    const std::uint8_t* const own_words = own_stages + group % 2 * stage::pitch +
                                          group / 2 * tile::product_columns + p.skip + lane % 4 * stage::word;
    const int column = lane % 4 * tile::product_columns + group * 2;
    const bool is_whole = values >= tile::columns && p.stores_pairs;
    std::int64_t destination_stride = p.destination.first.row_stride;
    std::uint8_t* out = p.destination.first.data + blockIdx.z * p.destination.stride +
                        top * destination_stride + begin + column;
    float scale = p.scale;
    asm("" : "+l"(destination_stride), "+f"(scale));  // to registers, as they are wanted at each step

    // The products of a step are under way while the sums of the one before are added up.
    constexpr int own_columns = 2 * tile::products;
    float h[tile::rows][own_columns];
    unsigned high[tile::products][4], low[tile::products][4];
    int now = 0;
    ptx::cp_async_wait_group<stages - 1>();
    __syncwarp();
    fill_in(now);
    const auto multiply = [&] {
        ptx::cp_async_wait_group<stages - 2>();  // and of the next step
        __syncwarp();
#pragma unroll
        for (int product = 0; product < tile::products; ++product) {
            const auto* const words =
                reinterpret_cast<const unsigned*>(own_words + now + product * tile::product);
            const unsigned first = words[0], second = words[tile::product_columns / stage::word];
            set_product(high[product], high_weights, first, second);
            set_product(low[product], low_weights, first, second);
        }
        const int multiplied = now;
        now = now + stage::bytes < bytes_of_warp ? now + stage::bytes : 0;
        fill_in(now);
        __syncwarp();
        load(multiplied);
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
    const auto store = [&](const std::uint16_t(&pairs)[tile::products]) {
        if (is_whole) {
#pragma unroll
            for (int i = 0; i < tile::products; ++i)
                *reinterpret_cast<std::uint16_t*>(out + i * tile::product) = pairs[i];
        } else {
#pragma unroll
            for (int i = 0; i < tile::products; ++i) {
                const int valid = values - column - i * tile::product;
                std::uint8_t* const to = out + i * tile::product;
                if (valid > 0) to[0] = static_cast<std::uint8_t>(pairs[i]);
                if (valid > 1) to[1] = static_cast<std::uint8_t>(pairs[i] >> 8);
            }
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
                if (n == 0 || row + n < rows) store(pairs[n]);
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
    p.stores_pairs = plan.stores_pairs;
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
    kernels::launch(config_of(plan.grid, stream), mma_x_registers_y<radius>, p);
}

}  // namespace

void launch_mma_x_registers_y(const mma_x_registers_y_plan& plan, const arguments<std::uint8_t>& a,
                              cudaStream_t stream) {
    with_radius<max_registers_radius>(a.taps_y.radius,
                                      [&]<int radius>() { launch<radius>(plan, a, stream); });
}

}  // namespace heddle::kernels::separable_filter
