// mma_x_registers_y: the blur of bytes by small windows: products on the tensor cores along x, sums in registers along y.
//
//   a product   h (16 columns x 8) = W_x (16 x 32 values) * (32 values x 8: two rows, of four spans of 16 columns side by side)
//
// Weights along x are whole numbers of two bytes. So there are two products, with their high and with their low bytes,
// whatever the radius. h is exact, a whole number below 2^24. Its bits are those of a float that counts in units of
// 2^-149, so the pass along y is that of `fused`. A warp marches down a strip of 256 columns, two rows a step, and copies
// whole rows (spans.cuh). All of its products have the same weights, in 8 registers of a thread. As these do not depend on
// the image's sides, lanes write what the image shows beyond its sides into the rows, a step ahead.
//
// Rows that lie at any address are copied by words, and shifted as they are read.
//
// It needs a radius up to 8 along y, windows of 16 columns within 32 values, and borders that neither wrap nor are a
// constant. Errors: docs/accuracy.md. What limits it: issue slots, mostly FMAs along y, and the time until a warp's first
// product.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/words.cuh"
#include "kernels/frame/marching_warp.cuh"
#include "kernels/gaussian_blur/bytes.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"
#include "kernels/gaussian_blur/plan/grids.hpp"
#include "kernels/gaussian_blur/plan/small_windows.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"
#include "kernels/gaussian_blur/spans.cuh"
#include "kernels/gaussian_blur/whole_weights.hpp"

#include <cstdint>

namespace heddle::kernels::gaussian_blur {
namespace {

using namespace spans;

__device__ void set_product(unsigned (&sums)[4], const uint4& weights, unsigned first, unsigned second) {
#pragma unroll
    for (unsigned& sum : sums) sum = 0;
    add_product(sums, weights, first, second);
}

/// A lane has two neighbouring columns of each product, in each of two rows.
constexpr int own_columns = 2 * tile::products;

__device__ void take_products(float (&h)[tile::rows][own_columns], const unsigned (&high)[tile::products][4],
                              const unsigned (&low)[tile::products][4]) {
#pragma unroll
    for (int n = 0; n < tile::rows; ++n)
#pragma unroll
        for (int c = 0; c < own_columns; ++c) {
            const int i = c % 2 * 2 + n;
            h[n][c] = __uint_as_float(high[c / 2][i] * 256 + low[c / 2][i]);
        }
}

/// `aligned`: rows of the source begin at multiples of packets, and those of the destination at multiples of pairs.
/// For a smaller radius along y, weights of 0 stand before its own.
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

    // Lines below the last row that a result needs repeat that row.
    const int top = static_cast<int>(blockIdx.y) * p.strip_rows;
    const int rows = ::min(static_cast<int>(p.destination.first.height) - top, p.strip_rows);
    auto** const lines = reinterpret_cast<const std::uint8_t**>(shared + warps * bytes_of_warp);
    const std::uint8_t* const image = p.source.first.data + blockIdx.z * p.source.stride;
    const int line_count = stage::lines(rows, radius);
    for (int i = static_cast<int>(threadIdx.x); i < line_count; i += static_cast<int>(blockDim.x)) {
        const int line = p.y + top + ::min(i, rows + 2 * p.radius_y - 1) - p.radius_y;
        lines[i] =
            frame::start_of_line(image, p.source.first.height, p.source.first.row_stride, line, p.border);
    }
    const int row_values = static_cast<int>(p.source.first.width * p.source.first.channels);
    auto* const heads = reinterpret_cast<unsigned*>(lines + line_count);
    if constexpr (!aligned) {
        ptx::wait_for_grids_before();
        if (blockIdx.x == 0) frame::read_heads(heads, lines, line_count, row_values);
    }
    ptx::sync_threads();

    const int begin = (static_cast<int>(blockIdx.x) * warps + warp) * tile::columns;
    const int values = static_cast<int>(p.destination.first.width * p.destination.first.channels) - begin;
    if (values <= 0) return;

    std::uint8_t* const own_stages = shared + warp * bytes_of_warp;
    auto copies = copies_of<aligned>(own_stages, lines, heads, p.x + begin - p.lead, row_values, lane);
    // The weights are loaded first: behind the rows that all warps load they would come last.
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
    asm("" : "+l"(destination_stride), "+f"(scale));  // kept in registers, as each step reads them

    // The products of a step are under way while the sums of the one before are added up.
    float h[tile::rows][own_columns];
    unsigned high[tile::products][4], low[tile::products][4];
    int now = 0, line = 0;
    const auto behind = [&](int row) { return aligned ? 0 : bytes_behind_word(lines[line + row]); };
    ptx::cp_async_wait_group<stages - 1>();
    ptx::sync_warp();
    beyond.fill_in(own_stages + now, behind(lane % tile::rows));
    const auto multiply = [&] {
        ptx::cp_async_wait_group<stages - 2>();  // for the next step's rows, too
        ptx::sync_warp();
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
        ptx::sync_warp();
        if (aligned || beyond.are_any || copies.has_ends) {
            beyond.fill_in(own_stages + now, behind(lane % tile::rows));
            if (copies.has_ends) copies.load_ends(multiplied, lane);
        }
        copies.load(multiplied);
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
        take_products(h, high, low);
        if constexpr (completes) {
#pragma unroll
            for (int n = 0; n < tile::rows; ++n, out += destination_stride)
                if (n == 0 || row + n < rows)
                    store_pairs<aligned>(out, pairs[n], is_whole, values - column, lane);
        }
    };
    multiply();
    take_products(h, high, low);
#pragma unroll 1
    for (int row = -2 * p.radius_y; row < 0; row += tile::rows) march.template operator()<false>(row);
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
    p.radius_y = a.taps_y.radius;
    for (int i = 0; i <= 2 * p.radius_y; ++i)
        p.taps_y[2 * (radius - p.radius_y) + i] = a.taps_y.table[i] * scale_y;
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
    const auto launch_compiled = [&]<int radius>() { launch<radius>(plan, a, stream); };
    const int radius = compiled_registers_radius(a.taps_y.radius);
    with_radius<1, 2>(radius, launch_compiled);
    with_radius<4, max_registers_radius, 2>(radius, launch_compiled);
}

}  // namespace heddle::kernels::gaussian_blur
