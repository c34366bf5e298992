// fused, variant ring, for windows whose sums do not fit the registers and for two different radii: the rows filtered along
// x wait in a ring in shared memory.
//
//   source --bulk copies--> 32 rows as they are --along x, 8 pixels a thread--> ring of 2r + 32 rows of float
//                                               --along y, 8 rows a thread----> destination
//
// A block marches down a strip. A round filters its 32 rows along x into the ring, where they take the place
// of the 32 oldest, starts the copies of the next 32, and meanwhile filters the rows that are now complete
// along y. Both passes are one function, convolve(): a thread holds the sums of 8 outputs of several columns
// or channels, and each input that it loads feeds all that it is for, up to 32 FMAs for a load of 16 bytes.
// Along x the lanes of a warp lie in different rows, at odd multiples of 16 bytes, along y in neighbouring
// columns: neither has bank conflicts.
//
// Radii up to 16 of one channel are compiled in, their taps come from the constant bank. Others loop over
// groups of 8 inputs, of which the first and the last skip the products that have no tap. What stands outside
// of the image is looked up once a block and copied value by value. Ring and rows limit the radius.
//
// What keeps it from the FMA pipes' rate is other instructions beside the FMAs, barriers, and the last blocks' SMs.

#include "kernels/device/border.cuh"
#include "kernels/device/early_launch.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/bulk_copy.cuh"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/mbarrier.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/separable_filter/batch_rows.hpp"
#include "kernels/separable_filter/launch.hpp"
#include "kernels/separable_filter/pixel.cuh"
#include "kernels/separable_filter/plan/compiled.hpp"
#include "kernels/separable_filter/plan/extents.hpp"
#include "kernels/separable_filter/plan/fused_ring.hpp"
#include "kernels/separable_filter/plan/march.hpp"
#include "kernels/separable_filter/tuning/tuning.hpp"

#include <algorithm>
#include <numeric>

namespace heddle::kernels::separable_filter {
namespace {

#if __CUDA_ARCH__ >= 900
constexpr bool has_bulk_copies = true;
#else
constexpr bool has_bulk_copies = false;
#endif

/// Outputs, along x or along y, whose sums a thread holds.
constexpr int outputs = 8;
/// Of a round.
constexpr int rows = 32;

/// In place of a radius: those along x and along y are known at run time, up to max_ring_radius.
constexpr int any_radius = -1;
/// Of one channel, each in a kernel of its own.
constexpr int max_compiled_radius = 16;

template <int radius>
struct tile {
    static constexpr int taps = 2 * (radius == any_radius ? max_ring_radius : radius) + 1;  ///< at most
    static constexpr int strip = radius == any_radius ? 128 : 256;  ///< values of a row, at most
    static constexpr int columns = radius == any_radius ? 2 : 4;    ///< that a thread filters along y
    static constexpr int max_threads = strip / columns * rows / outputs;
};

/// Values of a row in shared memory that one instruction loads.
template <class T>
constexpr int vector_values = std::min(outputs, max_vector_bytes / static_cast<int>(sizeof(T)));

/// Pixels whose values fill whole vectors.
template <class T, int channels>
constexpr int vector_pixels = vector_values<T> / std::gcd(vector_values<T>, channels);

template <class T, int taps>
struct parameters {
    const T* source;
    T* destination;
    std::int64_t source_stride;
    std::int64_t source_image;
    std::int64_t destination_stride;
    std::int64_t destination_image;
    std::int64_t source_height;
    std::int64_t height;  ///< of the destination
    std::int64_t y;       ///< of its first row in the source
    int x;
    int source_width;
    int row_values;
    int rows_per_block;
    unsigned strips;
    unsigned segments;
    int radius_x;
    int radius_y;
    heddle::border border;
    T border_value;
    bool aligned_loads;
    bool aligned_stores;
    ring_layout layout;
    float taps_x[taps];
    float taps_y[taps];
};

/// sums[i] += tap(k) * inputs[i + k], for all k of a group of inputs for which is_tap(k). No weight of zero
/// stands in for the others: a NaN stays in its window.
template <int width, class Tap, class IsTap>
__device__ void add_group(float (&sums)[outputs][width], const float (&inputs)[outputs][width], Tap tap,
                          IsTap is_tap) {
#pragma unroll
    for (int k = 1 - outputs; k < outputs; ++k)
        if (is_tap(k))
#pragma unroll
            for (int i = ::max(0, -k); i < ::min(outputs, outputs - k); ++i)
#pragma unroll
                for (int w = 0; w < width; ++w) sums[i][w] = fmaf(tap(k), inputs[i + k][w], sums[i][w]);
}

/// sums[i] = sum over k = first..last-1 of taps[k] * inputs[i + k]. load(inputs) gives the next 8 inputs.
template <int first, int last, int width, class Load>
__device__ void convolve(float (&sums)[outputs][width], const float* taps, Load load) {
#pragma unroll
    for (int base = 0; base < last + outputs - 1; base += outputs) {
        float inputs[outputs][width];
        load(inputs);
        add_group(
            sums, inputs, [=](int k) { return taps[base + k - first]; },
            [=](int k) { return base + k >= first && base + k < last; });
    }
}

/// A zero that the compiler takes for a thread's own. Taps that are loaded from behind it stay in ordinary
/// registers: to move them to uniform ones takes longer than to load them.
__device__ inline int own_zero() {
    int zero;
    asm("mov.u32 %0, 0;" : "=r"(zero));
    return zero;
}

/// The same for bounds known at run time. `taps` lie in shared memory, with room for 8 more before and after.
template <int width, class Load>
__device__ void convolve(float (&sums)[outputs][width], const float* taps, int first, int last, Load load) {
#pragma unroll 1
    for (int base = 0; base < last + outputs - 1; base += outputs) {
        float inputs[outputs][width];
        load(inputs);
        float window[2 * outputs];
#pragma unroll
        for (int v = 0; v < 2 * outputs / 4; ++v) {
            const float4 t = reinterpret_cast<const float4*>(taps + base - outputs)[v];
            window[4 * v] = t.x;
            window[4 * v + 1] = t.y;
            window[4 * v + 2] = t.z;
            window[4 * v + 3] = t.w;
        }
        const auto tap = [&](int k) { return window[outputs + k]; };
        if (base >= first + outputs - 1 && base + outputs <= last)
            add_group(sums, inputs, tap, [](int) { return true; });
        else if (base == 0)
            add_group(sums, inputs, tap, [=](int k) { return k >= 0 && k >= first && k < last; });
        else
            add_group(sums, inputs, tap, [=](int k) { return base + k >= first && base + k < last; });
    }
}

/// The 8 pixels from an address aligned to a vector on, as float.
template <int channels, int first, int width, class T>
__device__ void load_pixels(float (&pixels)[outputs][width], const T* from) {
    constexpr int size = vector_values<T>;
#pragma unroll
    for (int v = 0; v < outputs * channels / size; ++v) {
        const auto loaded = reinterpret_cast<const vector<quad<T>, size / 4>*>(from)[v];
#pragma unroll
        for (int q = 0; q < size / 4; ++q) {
            const float4 f = loaded[q].to_floats();
            const float values[4] = {f.x, f.y, f.z, f.w};
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int at = v * size + 4 * q + i;
                pixels[at / channels][first + at % channels] = values[i];
            }
        }
    }
}

template <class T, int channels, int radius>
__global__ void __launch_bounds__(tile<radius>::max_threads, 2)
    fused_ring(const __grid_constant__ parameters<T, tile<radius>::taps> p) {
    extern __shared__ float4 storage[];
    constexpr int columns_per_thread = tile<radius>::columns;
    constexpr int chunk = outputs * channels;
    // Along x a thread takes one row or two.
    constexpr int rows_x = channels == 1 ? 2 : 1;
    constexpr int row_groups = rows / rows_x;
    constexpr int width_x = channels * rows_x;
    constexpr int shift_limit = vector_pixels<T, channels>;
    const ring_layout& l = p.layout;
    const int radius_x = radius == any_radius ? p.radius_x : radius;
    const int radius_y = radius == any_radius ? p.radius_y : radius;
    // Rows in shared memory are loaded from `shift` pixels before the window on, where a vector begins.
    const int shift = round_up(radius_x, shift_limit) - radius_x;

    auto* arrived = reinterpret_cast<std::uint64_t*>(storage);
    float* ring = reinterpret_cast<float*>(storage + 1);
    T* staged = reinterpret_cast<T*>(ring + l.ring_rows * l.ring_pitch);
    float* taps_x = reinterpret_cast<float*>(staged + rows * l.stage_pitch) + own_zero();
    float* taps_y = taps_x + l.taps_x;
    int* columns = reinterpret_cast<int*>(taps_y + l.taps_y);

    const int thread = static_cast<int>(threadIdx.x);
    const int threads = static_cast<int>(blockDim.x);
    const int lane = thread % 32;
    const int warp = thread / 32;
    const int warps = threads / 32;
    const unsigned segment = blockIdx.x / p.strips % p.segments;
    const std::int64_t image = blockIdx.x / p.strips / p.segments;
    const int begin = static_cast<int>(blockIdx.x % p.strips) * l.strip;
    const std::int64_t top = std::int64_t{segment} * p.rows_per_block;
    const int output_rows = static_cast<int>(::min(std::int64_t{p.rows_per_block}, p.height - top));
    const int input_rows = output_rows + 2 * radius_y;
    const int strip = ::min(l.strip, p.row_values - begin);

    // The window of a row: what lies inside of the image is copied 16 bytes at a time, the ragged rest on the
    // left and on the right value by value, from where `columns` tells.
    constexpr int packet = max_vector_bytes / static_cast<int>(sizeof(T));
    const int window = round_up(strip + 2 * l.halo, packet);
    const int window_begin = p.x * channels + begin - l.halo;
    const int left = p.aligned_loads ? ::min(window, round_up(::max(-window_begin, 0), packet)) : window;
    const int right =
        ::max(left, ::min(window, (p.source_width * channels - window_begin) / packet * packet));
    const int ragged = left + window - right;
    for (int i = thread; i < ragged; i += threads) {
        const int at = window_begin + (i < left ? i : i - left + right) + l.halo * channels;
        const int pixel = source_index(at / channels - l.halo, p.source_width, p.border);
        columns[i] = pixel < 0 ? -1 : pixel * channels + at % channels;
    }
    if (radius == any_radius) {
        for (int i = thread; i <= 2 * radius_x; i += threads) taps_x[outputs + shift + i] = p.taps_x[i];
        for (int i = thread; i <= 2 * radius_y; i += threads) taps_y[outputs + i] = p.taps_y[i];
    }
    if (thread == 0) {
        ptx::init(arrived, 1);
        ptx::fence_mbarrier_init();
    }
    __syncthreads();

    const T* source = p.source + image * p.source_image;
    const std::int64_t first_row = p.y + top - radius_y;
    const auto stage = [&](int first) {
        const int count = ::min(rows, input_rows - first);
        if (has_bulk_copies && warp == 0) {
            const std::int64_t y =
                lane < count ? source_index(first_row + first + lane, p.source_height, p.border) : -1;
            const bool copies = y >= 0 && right > left;
            const int bytes = (right - left) * static_cast<int>(sizeof(T));
            const int all = __popc(__ballot_sync(~0u, copies)) * bytes;
            if (lane == 0) ptx::arrive_and_expect(arrived, static_cast<unsigned>(all));
            __syncwarp();
            if (copies)
                ptx::bulk_copy(staged + lane * l.stage_pitch + left,
                               source + y * p.source_stride + window_begin + left,
                               static_cast<unsigned>(bytes), arrived);
        }
        const bool has_border = first_row + first < 0 || first_row + first + count > p.source_height;
        if (has_bulk_copies && ragged == 0 && !has_border) return;
        for (int i = warp; i < count; i += warps) {
            T* to = staged + i * l.stage_pitch;
            const std::int64_t y = source_index(first_row + first + i, p.source_height, p.border);
            if (y < 0) {
                for (int v = lane; v < window; v += 32) to[v] = p.border_value;
                continue;
            }
            const T* row = source + y * p.source_stride;
            if (!has_bulk_copies)
                for (int v = left + lane * packet; v < right; v += 32 * packet)
                    ptx::cp_async<16>(to + v, row + window_begin + v, 16);
            for (int v = lane; v < ragged; v += 32) {
                const int column = columns[v];
                T* at = to + (v < left ? v : v - left + right);
                if (column < 0)
                    *at = p.border_value;
                else if constexpr (sizeof(T) == 4)
                    ptx::cp_async<4>(at, row + column, 4);
                else
                    *at = row[column];
            }
        }
    };

    // Along y: a thread's columns of the strip, and its 8 rows of a round.
    const int threads_per_row = l.strip / columns_per_thread;
    const int x = thread % threads_per_row * columns_per_thread;
    const int row_in_round = thread / threads_per_row * outputs;
    const bool is_whole = begin + x + columns_per_thread <= p.row_values && p.aligned_stores;
    T* destination = p.destination + image * p.destination_image + begin + x;

    stage(0);
    unsigned parity = 0;
    int ring_row = 0;
    for (int first = 0; first < l.lead + output_rows; first += rows) {
        ptx::cp_async_commit_group();
        ptx::cp_async_wait_group<0>();
        if (has_bulk_copies) ptx::wait(arrived, parity);
        __syncthreads();
        {  // along x
            const int row = thread % row_groups;
            for (int at = thread / row_groups * chunk; at < strip; at += threads / row_groups * chunk) {
                const T* from = staged + row * l.stage_pitch + at + l.halo - (radius_x + shift) * channels;
                const auto load = [&](float(&pixels)[outputs][width_x]) {
                    load_pixels<channels, 0>(pixels, from);
                    if constexpr (rows_x == 2)
                        load_pixels<channels, channels>(pixels, from + row_groups * l.stage_pitch);
                    from += chunk;
                };
                float sums[outputs][width_x] = {};
                if constexpr (radius == any_radius) {
                    convolve(sums, taps_x + outputs, shift, shift + 2 * radius_x + 1, load);
                } else {
                    constexpr int before = round_up(radius, shift_limit) - radius;
                    convolve<before, before + 2 * radius + 1>(sums, p.taps_x, load);
                }
#pragma unroll
                for (int r = 0; r < rows_x; ++r) {
                    int place = ring_row + row + r * row_groups;
                    if (place >= l.ring_rows) place -= l.ring_rows;
                    float4* to = reinterpret_cast<float4*>(ring + place * l.ring_pitch + at);
#pragma unroll
                    for (int v = 0; v < chunk / 4; ++v) {
                        const auto sum = [&](int i) {
                            return sums[(4 * v + i) / channels][r * channels + (4 * v + i) % channels];
                        };
                        to[v] = make_float4(sum(0), sum(1), sum(2), sum(3));
                    }
                }
            }
        }
        ptx::fence_before_copies();
        __syncthreads();
        if (first + rows < l.lead + output_rows) stage(first + rows);
        parity ^= 1;

        const int output = first - l.lead + row_in_round;
        int oldest = ring_row - l.lead + row_in_round;
        if (oldest < 0) oldest += l.ring_rows;
        if (oldest >= l.ring_rows) oldest -= l.ring_rows;
        ring_row += rows;
        if (ring_row >= l.ring_rows) ring_row -= l.ring_rows;
        if (output < 0 || output >= output_rows || x >= strip || row_in_round >= rows) continue;
        const auto load = [&](float(&inputs)[outputs][columns_per_thread]) {
            const float* from = ring + oldest * l.ring_pitch + x;
#pragma unroll
            for (int e = 0; e < outputs; ++e, from += l.ring_pitch) {
                const auto loaded = *reinterpret_cast<const vector<float, columns_per_thread>*>(from);
#pragma unroll
                for (int w = 0; w < columns_per_thread; ++w) inputs[e][w] = loaded[w];
            }
            oldest += outputs;
            if (oldest >= l.ring_rows) oldest -= l.ring_rows;
        };
        float sums[outputs][columns_per_thread] = {};
        if constexpr (radius == any_radius)
            convolve(sums, taps_y + outputs, 0, 2 * radius_y + 1, load);
        else
            convolve<0, 2 * radius + 1>(sums, p.taps_y, load);

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

/// Lays out blocks of a kernel whose window is compiled in, or of the one for any window.
ring_layout lay_out(const problem& p, bool is_compiled, int max_strip) {
    const auto channels = static_cast<int>(p.channels), value_bytes = p.value_bytes();
    const auto radius_x = static_cast<int>(p.radius.x), radius_y = static_cast<int>(p.radius.y);
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
    // An odd multiple of 16 bytes. The last group of pixels is loaded whole.
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

/// Of a block, where an SM is to hold two.
std::int64_t bytes_of_half(const device_traits& device) {
    return static_cast<std::int64_t>(device.shared_memory_per_sm) / 2 - shared_bytes_reserved;
}

/// The widest strips of which an SM holds two blocks, or else the narrowest.
ring_layout lay_out_any(const problem& p, const device_traits& device) {
    constexpr int min_strip = 64;
    for (int strip = tile<any_radius>::strip;; strip /= 2) {
        const ring_layout l = lay_out(p, false, strip);
        if (l.bytes <= bytes_of_half(device) || strip <= min_strip) return l;
    }
}

constexpr int first_compiled_radius(pixel_type type) {
    return max_register_radius(type, 1) + 1;
}

bool may_be_compiled(const problem& p) {
    return p.channels == 1 && p.has_one_radius_up_to(max_compiled_radius) &&
           p.radius.x >= first_compiled_radius(p.type);
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
    std::copy_n(a.taps_x.table, 2 * a.taps_x.radius + 1, p.taps_x);
    std::copy_n(a.taps_y.table, 2 * a.taps_y.radius + 1, p.taps_y);
    launch_batch(plan.grid, a.destination.count, fused_ring<T, channels, radius>, p, stream);
}

template <class T>
void launch_compiled(const fused_ring_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    with_radius<max_compiled_radius>(a.taps_x.radius, [&]<int radius>() {
        if constexpr (radius >= first_compiled_radius(pixel_type_of<T>))
            launch<T, 1, radius>(plan, a, stream);
    });
}

}  // namespace

std::int64_t shared_bytes_of_ring(const problem& p, const device_traits& device) {
    return lay_out_any(p, device).bytes;
}

fused_ring_plan plan_fused_ring(const problem& p, const device_traits& device) {
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
                                  tuning_of(device).march);
    return {.grid = {.blocks = {strips * down.segments},
                     .threads = {threads},
                     .shared_bytes = static_cast<std::size_t>(l.bytes),
                     .shared_limit = device.shared_memory_per_block_optin},
            .layout = l,
            .is_compiled = is_compiled,
            .strips = static_cast<unsigned>(strips),
            .march = down,
            .aligned_loads = p.place_alignment() >= max_vector_bytes,
            .aligned_stores = p.destination_alignment >= columns * p.value_bytes()};
}

template <class T>
void launch_fused_ring(const fused_ring_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    if (plan.is_compiled) return launch_compiled(plan, a, stream);
    with_channels(a.source.first.channels,
                  [&]<int channels>() { launch<T, channels, any_radius>(plan, a, stream); });
}

template void launch_fused_ring(const fused_ring_plan&, const arguments<float>&, cudaStream_t);
template void launch_fused_ring(const fused_ring_plan&, const arguments<half>&, cudaStream_t);
template void launch_fused_ring(const fused_ring_plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_fused_ring(const fused_ring_plan&, const arguments<std::uint8_t>&, cudaStream_t);

}  // namespace heddle::kernels::separable_filter
