// fused ring: for windows whose sums do not fit the registers, and for two different radii. Rows that are filtered along x
// wait in a ring in shared memory.
//
//   source --bulk copies--> 32 rows as they are --along x, 8 pixels a thread--> ring of 2r + 32 rows of float
//                                               --along y, 8 rows a thread----> destination
//
// A block marches down a strip. A round filters 32 rows along x into the ring, in place of the 32 oldest. It starts the
// copies of the next 32 rows, and meanwhile filters along y the rows that are now complete. In both passes a thread holds
// the sums of 8 outputs of several columns or channels. Each input that it loads feeds several of them. Radii from 9 to 16
// are compiled in for one channel of 16 bits; their taps come from the constant bank. Such a kernel takes two radii, and
// leaves the outer taps out for the smaller one. Other windows loop over groups of 8 inputs.
//
// It needs a radius up to 255, and shared memory for the ring and the rows. What limits it: the instructions beside the
// FMAs, barriers, and the last blocks, which leave other multiprocessors idle.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/mbarrier.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/gaussian_blur/cost/cost.hpp"
#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/fused_ring.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"
#include "kernels/gaussian_blur/plan/grids.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"

#include <algorithm>
#include <numeric>

namespace heddle::kernels::gaussian_blur {
namespace {

using namespace ring;

template <class T, int channels, int radius>
__global__ void __launch_bounds__(tile<radius>::max_threads, 2)
    fused_ring(const __grid_constant__ parameters<T, tile<radius>::taps> p) {
    extern __shared__ float4 storage[];
    constexpr int columns_per_thread = tile<radius>::columns;
    const ring_layout& l = p.layout;
    const int radius_y = radius == any_radius ? p.radius_y : radius;

    auto* arrived = reinterpret_cast<std::uint64_t*>(storage);
    float* ring = reinterpret_cast<float*>(storage + 1);
    T* staged = reinterpret_cast<T*>(ring + l.ring_rows * l.ring_pitch);
    float* taps_x = reinterpret_cast<float*>(staged + rows * l.stage_pitch) + own_zero();
    float* taps_y = taps_x + l.taps_x;
    int* columns = reinterpret_cast<int*>(taps_y + l.taps_y);

    const int thread = static_cast<int>(threadIdx.x);
    const int threads = static_cast<int>(blockDim.x);
    const unsigned segment = blockIdx.x / p.strips % p.segments;
    const std::int64_t image = blockIdx.x / p.strips / p.segments;
    const int begin = static_cast<int>(blockIdx.x % p.strips) * l.strip;
    const std::int64_t top = std::int64_t{segment} * p.rows_per_block;
    const int output_rows = static_cast<int>(::min(std::int64_t{p.rows_per_block}, p.height - top));
    const int strip = ::min(l.strip, p.row_values - begin);
    const row_copies<T, channels, tile<radius>::taps> copies(
        p, p.source + image * p.source_image, staged, columns, arrived, begin, strip, p.y + top - radius_y,
        output_rows + 2 * radius_y);
    if (radius == any_radius) {
        constexpr int limit = vector_pixels<T, channels>;
        const int shift = round_up(p.radius_x, limit) - p.radius_x;
        for (int i = thread; i <= 2 * p.radius_x; i += threads) taps_x[outputs + shift + i] = p.taps_x[i];
        for (int i = thread; i <= 2 * radius_y; i += threads) taps_y[outputs + i] = p.taps_y[i];
    }
    if (thread == 0) {
        ptx::init(arrived, 1);
        ptx::fence_mbarrier_init();
    }
    ptx::sync_threads();

    // Along y, a thread filters 8 rows of each round in its own columns of the strip.
    const int threads_per_row = l.strip / columns_per_thread;
    const int x = thread % threads_per_row * columns_per_thread;
    const int row_in_round = thread / threads_per_row * outputs;
    const bool is_whole = begin + x + columns_per_thread <= p.row_values && p.aligned_stores;
    T* destination = p.destination + image * p.destination_image + begin + x;

    copies.stage(0);
    unsigned parity = 0;
    int ring_row = 0;
    for (int first = 0; first < l.lead + output_rows; first += rows) {
        ptx::cp_async_commit_group();
        ptx::cp_async_wait_group<0>();
        if (has_bulk_copies) ptx::wait(arrived, parity);
        ptx::sync_threads();
        filter_along_x<T, channels, radius>(p, staged, taps_x, ring, ring_row, strip);
        ptx::fence_before_copies();
        ptx::sync_threads();
        if (first + rows < l.lead + output_rows) copies.stage(first + rows);
        parity ^= 1;

        const int output = first - l.lead + row_in_round;
        int oldest = ring_row - l.lead + row_in_round;
        if (oldest < 0) oldest += l.ring_rows;
        if (oldest >= l.ring_rows) oldest -= l.ring_rows;
        ring_row += rows;
        if (ring_row >= l.ring_rows) ring_row -= l.ring_rows;
        if (output < 0 || output >= output_rows || x >= strip || row_in_round >= rows) continue;
        float sums[outputs][columns_per_thread] = {};
        filter_along_y<T, radius>(p, taps_y, ring, oldest, x, sums);

        T* out = destination + (top + output) * p.destination_stride;
#pragma unroll
        for (int i = 0; i < outputs; ++i, out += p.destination_stride) {
            if (output + i >= output_rows) break;
            vector<T, columns_per_thread> results;
#pragma unroll
            for (int w = 0; w < columns_per_thread; ++w) results[w] = from_float<T>(sums[i][w]);
            if constexpr (columns_per_thread == 4) {
                const quad<T> q = quad<T>::from_floats(sums[i]);
                if (is_whole) {
                    *reinterpret_cast<quad<T>*>(out) = q;
                    continue;
                }
            } else if (is_whole) {
                *reinterpret_cast<vector<T, columns_per_thread>*>(out) = results;
                continue;
            }
#pragma unroll
            for (int w = 0; w < columns_per_thread; ++w)
                if (x + w < strip) out[w] = results[w];
        }
    }
}

/// Lays out the blocks of a kernel: of one whose radius is compiled in, or of the one for any radius.
ring_layout lay_out(const filter_facts& p, bool is_compiled, int max_strip) {
    const auto channels = static_cast<int>(p.channels), value_bytes = p.value_bytes();
    const auto radius_of = [is_compiled](std::int64_t radius) {
        return is_compiled ? compiled_radius(radius, radius_step) : static_cast<int>(radius);
    };
    const int radius_x = radius_of(p.radius.x), radius_y = radius_of(p.radius.y);
    const int packet = max_vector_bytes / value_bytes;
    const int granule = std::lcm(outputs * channels, max_vector_bytes);  // whole groups of pixels and copies
    const std::int64_t strips = divide_up(p.row_values(), std::max(granule, max_strip / granule * granule));
    ring_layout l{};
    l.strip = round_up(static_cast<int>(divide_up(p.row_values(), strips)), granule);
    const int vector = std::min(outputs, packet);
    l.halo = round_up(round_up(radius_x, vector / std::gcd(vector, channels)) * channels, packet);
    l.lead = round_up(2 * radius_y, outputs);
    l.ring_rows = l.lead + rows;
    l.ring_pitch = l.strip + 4;
    // The pitch is an odd multiple of 16 bytes. The last group of pixels is loaded whole.
    const int row_bytes = (l.strip + 2 * l.halo + outputs * channels) * value_bytes;
    l.stage_pitch = (round_up(row_bytes, 2 * max_vector_bytes) + max_vector_bytes) / value_bytes;
    if (!is_compiled) {
        l.taps_x = round_up(2 * radius_x + 1, outputs) + 4 * outputs;
        l.taps_y = round_up(2 * radius_y + 1, outputs) + 4 * outputs;
    }
    const int columns = l.strip + 2 * l.halo + packet;
    l.bytes = max_vector_bytes +
              std::int64_t{4} * (l.ring_rows * l.ring_pitch + l.taps_x + l.taps_y + columns) +
              std::int64_t{value_bytes} * rows * l.stage_pitch;
    return l;
}

/// The shared memory that a block may have if an SM is to hold two.
std::int64_t bytes_of_half(const device_traits& device) {
    return static_cast<std::int64_t>(device.shared_memory_per_sm) / 2 - shared_bytes_reserved;
}

/// Takes the widest strips of which an SM holds two blocks, or else the narrowest strips.
ring_layout lay_out_any(const filter_facts& p, const device_traits& device) {
    constexpr int min_strip = 64;
    for (int strip = tile<any_radius>::strip;; strip /= 2) {
        const ring_layout l = lay_out(p, false, strip);
        if (l.bytes <= bytes_of_half(device) || strip <= min_strip) return l;
    }
}

/// `strips` takes smaller radii. Bytes have rungs on the tensor cores, and float has `chains`.
constexpr int largest_of_strips = max_register_radius(pixel_type::u16, 1);

bool may_be_compiled(const filter_facts& p) {
    return p.value_bytes() == 2 && p.channels == 1 && p.has_one_radius_up_to(max_compiled_radius) &&
           p.radius.x > largest_of_strips;
}

template <class T, int channels, int radius>
void launch(const fused_ring_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    const image_view<T>& out = a.destination.first;
    parameters<T, tile<radius>::taps> p{.source = a.source.first.data,
                                        .destination = out.data,
                                        .source_stride = a.source.first.row_stride,
                                        .source_image = a.source.stride,
                                        .destination_stride = out.row_stride,
                                        .destination_image = a.destination.stride,
                                        .source_height = a.source.first.height,
                                        .height = out.height,
                                        .y = a.y,
                                        .x = static_cast<int>(a.x),
                                        .source_width = static_cast<int>(a.source.first.width),
                                        .row_values = static_cast<int>(out.width * channels),
                                        .rows_per_block = plan.march.rows_per_block,
                                        .strips = plan.strips,
                                        .segments = plan.march.segments,
                                        .radius_x = a.taps_x.radius,
                                        .radius_y = a.taps_y.radius,
                                        .border = a.border,
                                        .border_value = a.border_value,
                                        .aligned_loads = plan.aligned_loads,
                                        .aligned_stores = plan.aligned_stores,
                                        .layout = plan.layout,
                                        .taps_x = {},
                                        .taps_y = {}};
    const int fewer = radius == any_radius ? 0 : radius - a.taps_x.radius;
    std::ranges::copy(a.taps_x.weights(), p.taps_x + fewer);
    std::ranges::copy(a.taps_y.weights(), p.taps_y + fewer);
    launch_batch(plan.grid, a.destination.count, fused_ring<T, channels, radius>, p, stream);
}

}  // namespace

std::int64_t shared_bytes_of_ring(const filter_facts& p, const device_traits& device) {
    return lay_out_any(p, device).bytes;
}

fused_ring_plan plan_fused_ring(const filter_facts& p, const device_traits& device) {
    using compiled = tile<max_compiled_radius>;
    using any = tile<any_radius>;
    ring_layout l = lay_out(p, true, compiled::strip);
    const bool is_compiled = may_be_compiled(p) && l.bytes <= bytes_of_half(device);
    if (!is_compiled) l = lay_out_any(p, device);
    const int columns = is_compiled ? compiled::columns : any::columns;
    const std::int64_t strips = divide_up(p.row_values(), l.strip);
    const int threads = round_up(l.strip / columns * rows / outputs, 32);
    const std::int64_t fit =
        static_cast<std::int64_t>(device.shared_memory_per_sm) / (l.bytes + shared_bytes_reserved);
    const std::int64_t blocks_per_sm = std::clamp<std::int64_t>(fit, 1, 65536 / (threads * 128));
    const march down = plan_march(p.height, strips, p.images, device.sm_count * blocks_per_sm, l.lead, rows,
                                  costs_of(device).march);
    const bool aligned_loads = p.place_alignment() >= max_vector_bytes;
    const cost_place row = p.value_bytes() == 4 ? cost_place("fused ring of float")
                           : aligned_loads      ? cost_place("fused ring")
                                                : cost_place("fused ring unaligned");
    return {.grid = {.blocks = {strips * down.segments},
                     .threads = {threads},
                     .shared_bytes = static_cast<std::size_t>(l.bytes),
                     .shared_limit = device.shared_memory_per_block_optin},
            .layout = l,
            .is_compiled = is_compiled,
            .strips = static_cast<unsigned>(strips),
            .march = down,
            .aligned_loads = aligned_loads,
            .aligned_stores = p.destination_alignment >= columns * p.value_bytes(),
            .us = predicted_us(row, device,
                               marching(p, strips * down.segments * p.images, blocks_per_sm,
                                        static_cast<double>(down.rows_per_block + l.lead), 1,
                                        static_cast<double>(l.lead + 2 * p.radius.x), device))};
}

template <class T>
void launch_fused_ring(const fused_ring_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    if constexpr (sizeof(T) == 2)
        if (plan.is_compiled)
            return with_radius<largest_of_strips + radius_step, max_compiled_radius, radius_step>(
                compiled_radius(a.taps_x.radius, radius_step),
                [&]<int radius>() { launch<T, 1, radius>(plan, a, stream); });
    with_channels(a.source.first.channels,
                  [&]<int channels>() { launch<T, channels, any_radius>(plan, a, stream); });
}

template void launch_fused_ring(const fused_ring_plan&, const arguments<float>&, cudaStream_t);
template void launch_fused_ring(const fused_ring_plan&, const arguments<half>&, cudaStream_t);
template void launch_fused_ring(const fused_ring_plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_fused_ring(const fused_ring_plan&, const arguments<std::uint8_t>&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
