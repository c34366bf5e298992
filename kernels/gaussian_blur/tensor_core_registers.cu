// tensor_core_registers, for small windows: along x a product with a banded matrix in whole numbers on the tensor cores,
// along y the sums of `fused` in registers. One launch, one read, one write, and nothing between the warps.
//
//   along x   h (16 columns x 8 rows) = W_x (16 x window) * rows of the image, as they lie in memory
//   along y   out[y - r] = sums[0] + w[n - 1] * h, and sums[i] = sums[i + 1] + w[n - 2 - i] * h
//
// The products cost a thread 8 or 12 mma for 8 values, where fused_strips.cuh takes 8 (2 r + 1) FMAs; along y FMAs
// are as many, where tensor_core.cu takes ten mma and cuts sums into bytes. What makes the two meet:
// - The 8 rows of a product are two rows of four strips, one below the other. A thread gets the two rows of
//   its own strip, so it marches down that one, and its sums never leave it.
// - A thread's part of the rows is bytes as they lie in memory: it copies them to a place of its own in
//   shared memory some steps ahead, by cp.async, and no other thread reads it. Loads into registers wait for
//   each other: two that are under way share a scoreboard.
// - h, exact, is a whole number below 2^24. Its bits are those of a float that counts in units of 2^-149.
// - What replicate and both kinds of reflect show beyond a row's ends are values of its window. Their weights
//   are added up in the band of the warps there, which do then what all others do.
//
// Any shape and region of a source whose rows start at multiples of 16 bytes, borders that neither wrap nor
// are a constant, and radii up to 8 pixels along y and 24 values along x. Built for compute capability 9.0,
// with tensor_core.cu; nothing in it is of Hopper alone.
//
// The error before rounding, in values of 0..255; n taps along x, W their whole numbers, S their sum, 2^15 to
// 2^16:
//   weights   <= 127.5 * sum of |W / S - w| <= 127.5 n / (S - n)
//   floats    what `fused` errs by along y
//
// This is the variant `strips`. `spans`, in tensor_core_spans.cu, has the same pixels sooner, of windows of up to 32 values and
// strips that are not short.
//
// What limits it: at radius 5 issue slots, as 96 of 142 instructions for 8 values are FMAs along y, and a ninth of the rows
// only start a strip; at radius 2 L1.

#include "kernels/device/border.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/gaussian_blur/column_sums.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/mma_operand.cuh"
#include "kernels/gaussian_blur/pixel.cuh"
#include "kernels/gaussian_blur/plan/compiled.hpp"
#include "kernels/gaussian_blur/plan/extents.hpp"
#include "kernels/gaussian_blur/plan/tensor_core_registers.hpp"
#include "kernels/gaussian_blur/source_rows.cuh"
#include "kernels/gaussian_blur/tensor_core_registers.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::gaussian_blur {
namespace {

using tile = stack_tile;

template <int radius>
struct parameters {
    image_batch_view<const std::uint8_t> source;
    image_batch_view<std::uint8_t> destination;
    int x;  ///< in values
    int y;
    heddle::border border;
    bool stores_words;
    int lead;  ///< values of a window before a warp's own columns
    int strip_rows;
    int radius_x;
    float scale;  ///< of the sums along y
    float taps_y[2 * radius + 1];
    std::uint16_t weights_x[2 * max_registers_reach + 1];
};

/// A thread's part of two rows of a window: of each depth 8 values, of the first two together 16 neighbours.
template <int depths>
struct fragment {
    static_assert(depths == 2 || depths == tile::max_depths);
    uint4 first;
    uint2 last;

    __device__ uint2 operator[](int i) const {
        return i == 0 ? make_uint2(first.x, first.y) : i == 1 ? make_uint2(first.z, first.w) : last;
    }
    /// Where in the window the values of depth i start.
    __device__ static int place(int lane, int i) {
        return i < 2 ? lane % 4 * 16 + i * 8 : 2 * tile::depth + lane % 4 * 8;
    }
};

/// For each of a warp's columns, one a lane, the weights of its window, which starts `lead` values before
/// value `begin` of a row. What the image shows beyond its ends are values of the window, whose weights are
/// added up.
template <int radius>
__device__ void make_band(std::uint16_t* band, int pitch, const parameters<radius>& p, int begin,
                          bool has_column) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    for (int i = lane; i < tile::warp_columns * pitch / 4; i += 32)
        reinterpret_cast<uint2*>(band)[i] = uint2{};
    __syncwarp();
    if (has_column) {
        const int channels = static_cast<int>(p.source.first.channels);
        const int width = static_cast<int>(p.source.first.width);
        const int pixel = (begin + lane) / channels;
        const auto is_inside = [=](int at) { return at >= 0 && at < width; };
        std::uint16_t* const own = band + lane * pitch + p.lead + lane;
        for (int i = -p.radius_x; i <= p.radius_x; ++i)
            if (is_inside(pixel + i)) own[i * channels] = p.weights_x[p.radius_x + i];
        if (!is_inside(pixel - p.radius_x) || !is_inside(pixel + p.radius_x))
            for (int i = -p.radius_x; i <= p.radius_x; ++i)
                if (!is_inside(pixel + i))
                    own[(nearby_source_index(pixel + i, width, p.border) - pixel) * channels] +=
                        p.weights_x[p.radius_x + i];
    }
    __syncwarp();
}

/// The high and the low bytes of a thread's part of two of the band's columns.
struct weight_bytes {
    uint4 high;
    uint4 low;

    __device__ void load(const std::uint16_t* column, const std::uint16_t* next) {
        split(column, high.x, low.x);
        split(next, high.y, low.y);
        split(column + 4, high.z, low.z);
        split(next + 4, high.w, low.w);
    }

    __device__ static void split(const std::uint16_t* from, unsigned& high, unsigned& low) {
        const uint2 four = *reinterpret_cast<const uint2*>(from);
        high = __byte_perm(four.x, four.y, 0x7531);
        low = __byte_perm(four.x, four.y, 0x6420);
    }
};

template <int radius, int depths>
__global__ void __launch_bounds__(tile::threads, tile::blocks_per_sm)
    tensor_core_registers(const __grid_constant__ parameters<radius> p) {
    using layout = stack_layout<depths>;
    using fragment = gaussian_blur::fragment<depths>;
    extern __shared__ uint4 storage[];
    ptx::let_next_grid_begin();
    auto* const bytes = reinterpret_cast<std::uint8_t*>(storage);
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32;
    const int warp = thread / 32;
    const int row_values = static_cast<int>(p.source.first.width * p.source.first.channels);
    const int begin = static_cast<int>(blockIdx.x) * tile::columns + warp * tile::warp_columns;
    const int values = static_cast<int>(p.destination.first.width * p.destination.first.channels) - begin;
    const int top = static_cast<int>(blockIdx.y) * tile::strips * p.strip_rows;
    const int rows_below = static_cast<int>(p.destination.first.height) - top;

    // A warp finds the lines of one strip. Below the last that a result needs there is only that one.
    auto** const line_starts =
        reinterpret_cast<const std::uint8_t**>(bytes + layout::firsts + layout::lasts + layout::band);
    const int lines = layout::lines(p.strip_rows, radius);
    const int last_line = ::min(rows_below, tile::strips * p.strip_rows) + radius - 1;
    const std::uint8_t* const image = p.source.first.data + blockIdx.z * p.source.stride;
    for (int i = lane; i < lines; i += 32) {
        const int line = p.y + top + ::min(warp * p.strip_rows + i - radius, last_line);
        line_starts[warp * lines + i] = start_of_line(p.source.first, image, line, p.border);
    }
    __syncthreads();

    // Column n of a product is row n % 2 of strip n / 2; a thread loads part of column lane / 4. What lies
    // outside of the image has no weights.
    const std::uint8_t* const* next_line = line_starts + lane / 8 * lines + lane / 4 % 2;
    const int first_at = p.x + begin - p.lead + fragment::place(lane, 0);
    const int last_at = p.x + begin - p.lead + fragment::place(lane, 2);
    const int first_bytes = bytes_inside(first_at, row_values, 16);
    const int last_bytes = bytes_inside(last_at, row_values, 8);
    uint4* const firsts = storage + thread;
    uint2* const lasts = reinterpret_cast<uint2*>(bytes + layout::firsts) + thread;
    const auto load = [&](int stage) {
        const std::uint8_t* const line = *next_line;
        next_line += tile::rows;
        ptx::cp_async<16, ptx::cache::all_levels>(firsts + stage * tile::threads,
                                                  line + (first_bytes > 0 ? first_at : 0), first_bytes);
        if constexpr (depths > 2)
            ptx::cp_async<8>(lasts + stage * tile::threads, line + (last_bytes > 0 ? last_at : 0),
                             last_bytes);
        ptx::cp_async_commit_group();
    };
    ptx::wait_for_grids_before();
    for (int stage = 0; stage < tile::stages; ++stage) load(stage);

    // Of two products of 16 columns a thread has two of four neighbouring columns each, so that it gets the
    // results of all four.
    auto* const band = reinterpret_cast<std::uint16_t*>(bytes + layout::firsts + layout::lasts) +
                       warp * tile::warp_columns * layout::band_pitch;
    make_band(band, layout::band_pitch, p, p.x + begin, lane < values);
    const int column = lane / 4 * 4;
    weight_bytes weights[depths][2];
#pragma unroll
    for (int i = 0; i < depths; ++i)
#pragma unroll
        for (int product = 0; product < 2; ++product) {
            const std::uint16_t* const from =
                band + (column + 2 * product) * layout::band_pitch + fragment::place(lane, i);
            weights[i][product].load(from, from + layout::band_pitch);
        }

    const int own_top = lane % 4 * p.strip_rows;
    const int valid = values - column;  // values from this thread's first one on
    const int own_rows = valid > 0 ? ::max(0, ::min(rows_below - own_top, p.strip_rows)) : 0;
    const bool stores_word = valid >= 4 && p.stores_words;
    const bool any_bytes = __any_sync(~0u, own_rows > 0 && !stores_word);
    const std::int64_t destination_stride = p.destination.first.row_stride;
    std::uint8_t* out = p.destination.first.data + blockIdx.z * p.destination.stride +
                        (top + own_top - 2 * radius) * destination_stride + begin + column;

    // The products of a step are under way while the sums of the one before are added up.
    float h[tile::rows][4];
    unsigned high[2][4], low[2][4];
    int stage = 0;
    const auto multiply = [&] {
        ptx::cp_async_wait_group<tile::stages - 1>();
        fragment window;
        window.first = firsts[stage * tile::threads];
        if constexpr (depths > 2) window.last = lasts[stage * tile::threads];
#pragma unroll
        for (int product = 0; product < 2; ++product)
#pragma unroll
            for (int i = 0; i < 4; ++i) high[product][i] = low[product][i] = 0;
#pragma unroll
        for (int i = 0; i < depths; ++i)
#pragma unroll
            for (int product = 0; product < 2; ++product) {
                add_product(high[product], weights[i][product].high, window[i].x, window[i].y);
                add_product(low[product], weights[i][product].low, window[i].x, window[i].y);
            }
        load(stage);
        stage = stage + 1 < tile::stages ? stage + 1 : 0;
    };
    const auto take_products = [&] {
#pragma unroll
        for (int n = 0; n < tile::rows; ++n)
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const int i = c % 2 * 2 + n;
                h[n][c] = __uint_as_float(high[c / 2][i] * 256 + low[c / 2][i]);
            }
    };
    multiply();
    take_products();
    float sums[4][2 * radius + 1] = {};
    for (int row = -2 * radius; row < p.strip_rows; row += tile::rows) {
        multiply();

        unsigned words[tile::rows];
        const auto is_result = [&](int n) { return row + n >= 0 && row + n < own_rows; };
#pragma unroll
        for (int n = 0; n < tile::rows; ++n) {
            unsigned bits[4];
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const float complete = filter_column<radius>(h[n][c], p.taps_y, sums[c]);
                bits[c] = __float_as_uint(fmaf(complete, p.scale, rounding_offset));
            }
            words[n] = __byte_perm(__byte_perm(bits[0], bits[1], 0x0040),
                                   __byte_perm(bits[2], bits[3], 0x0040), 0x5410);
            if (is_result(n) && stores_word)
                *reinterpret_cast<unsigned*>(out + n * destination_stride) = words[n];
        }
        if (any_bytes) {
#pragma unroll
            for (int n = 0; n < tile::rows; ++n)
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    if (is_result(n) && !stores_word && i < valid)
                        out[n * destination_stride + i] = static_cast<std::uint8_t>(words[n] >> (8 * i));
        }
        out += tile::rows * destination_stride;
        take_products();
    }
    ptx::cp_async_wait_group<0>();
}

template <int radius>
void launch(const tensor_core_registers_plan& plan, const arguments<std::uint8_t>& a, cudaStream_t stream) {
    const image_view<const std::uint8_t>& from = a.source.first;
    parameters<radius> p{};
    p.source = a.source;
    p.destination = a.destination;
    p.x = static_cast<int>(a.x * from.channels);
    p.y = static_cast<int>(a.y);
    p.border = a.border;
    p.stores_words = plan.stores_words;
    p.lead = plan.lead;
    p.strip_rows = plan.strip_rows;
    p.radius_x = a.taps_x.radius;
    const whole_taps along_x(a.taps_x);
    std::ranges::copy(along_x.weights, p.weights_x);
    for (int i = 0; i <= 2 * radius; ++i) p.taps_y[i] = a.taps_y.table[i] * scale_y;
    p.scale = static_cast<float>(sums_unit / along_x.sum);
    kernels::launch(
        config_of(plan.grid, stream),
        plan.depths == 2 ? tensor_core_registers<radius, 2> : tensor_core_registers<radius, tile::max_depths>,
        p);
}

}  // namespace

void launch_tensor_core_registers(const tensor_core_registers_plan& plan, const arguments<std::uint8_t>& a,
                                  cudaStream_t stream) {
    with_radius<max_registers_radius>(a.taps_y.radius,
                                      [&]<int radius>() { launch<radius>(plan, a, stream); });
}

}  // namespace heddle::kernels::gaussian_blur
