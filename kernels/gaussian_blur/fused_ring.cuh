#pragma once

#include "kernels/device/border.cuh"
#include "kernels/device/ptx/bulk_copy.cuh"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/mbarrier.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"
#include "kernels/gaussian_blur/plan/fused.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"
#include <heddle/image.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>

/// The parts of a round of the ring: the copies of rows, and the two passes.
namespace heddle::kernels::gaussian_blur::ring {

#if __CUDA_ARCH__ >= 900
inline constexpr bool has_bulk_copies = true;
#else
inline constexpr bool has_bulk_copies = false;
#endif

/// Outputs, along x or along y, whose sums a thread holds.
inline constexpr int outputs = 8;
/// Rows that a round filters.
inline constexpr int rows = 32;

/// Stands for radii that are known only at run time. They are at most max_ring_radius, and may differ along x and y.
inline constexpr int any_radius = -1;
/// The largest radius with a compiled kernel: they are for one channel of 16 bits and multiples of radius_step.
inline constexpr int max_compiled_radius = 16;
inline constexpr int radius_step = 2;

template <int radius>
struct tile {
    static constexpr int taps = 2 * (radius == any_radius ? max_ring_radius : radius) + 1;  ///< of a table
    static constexpr int strip = radius == any_radius ? 128 : 256;  ///< values of a row, at most
    static constexpr int columns = radius == any_radius ? 2 : 4;    ///< that a thread filters along y
    static constexpr int max_threads = strip / columns * rows / outputs;
};

/// Values of a row in shared memory that one instruction loads.
template <class T>
constexpr int vector_values = std::min(outputs, max_vector_bytes / static_cast<int>(sizeof(T)));

/// The fewest pixels whose values fill whole vectors.
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
    std::int64_t y;       ///< the source's row at the destination's first
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

/// sums[i] += tap(k) * inputs[i + k], for all inputs of a group and all k with is_tap(k). The other taps are left out, as a
/// weight of 0 would let a NaN into other windows.
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

/// sums[i] = sum over k = first..last-1 of taps[k] * inputs[i + k]. load(inputs) gives the next 8 inputs. The first and the
/// last tap count only if `has_outer`.
template <int first, int last, int width, class Load>
__device__ void convolve(float (&sums)[outputs][width], const float* taps, bool has_outer, Load load) {
#pragma unroll
    for (int base = 0; base < last + outputs - 1; base += outputs) {
        float inputs[outputs][width];
        load(inputs);
        add_group(
            sums, inputs, [=](int k) { return taps[base + k - first]; },
            [=](int k) {
                const bool is_inner = base + k > first && base + k < last - 1;
                const bool is_outer = base + k == first || base + k == last - 1;
                return is_inner || (is_outer && has_outer);
            });
    }
}

/// A zero of which the compiler cannot tell that all threads have the same. Taps at addresses that include it stay in
/// ordinary registers. Moving them to uniform registers takes longer than loading them.
__device__ inline int own_zero() {
    int zero;
    asm("mov.u32 %0, 0;" : "=r"(zero));
    return zero;
}

/// The same for bounds known only at run time. `taps` lie in shared memory, with room for 8 more before and after.
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

/// Loads 8 pixels as float. Their address is aligned to a vector.
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

/// Copies the rows of a strip to shared memory. Values inside the image are copied 16 bytes at a time. Where rows are not
/// aligned, these are put together from words on the way. The ragged rest on the left and on the right is copied value by
/// value, from the elements that `columns` has.
template <class T, int channels, int taps>
struct row_copies {
    static constexpr int packet = max_vector_bytes / static_cast<int>(sizeof(T));
    static constexpr int packet_words = max_vector_bytes / int{sizeof(unsigned)};
    /// The most values beside a packet that its words of memory also hold.
    static constexpr int slack = int{sizeof(unsigned)} / static_cast<int>(sizeof(T)) - 1;

    const parameters<T, taps>& p;
    const T* source;
    T* staged;
    int* columns;
    std::uint64_t* arrived;
    std::int64_t first_row;
    int input_rows;
    int window;
    int window_begin;
    int left;
    int right;
    int ragged;

    __device__ row_copies(const parameters<T, taps>& of, const T* image, T* to, int* of_columns,
                          std::uint64_t* barrier, int begin, int strip, std::int64_t top, int inputs)
        : p(of),
          source(image),
          staged(to),
          columns(of_columns),
          arrived(barrier),
          first_row(top),
          input_rows(inputs) {
        const ring_layout& l = p.layout;
        window = round_up(strip + 2 * l.halo, packet);
        window_begin = p.x * channels + begin - l.halo;
        const int beside = p.aligned_loads ? 0 : slack;
        left = ::min(window, round_up(::max(beside - window_begin, 0), packet));
        right =
            ::max(left, ::min(window, (p.source_width * channels - beside - window_begin) / packet * packet));
        ragged = left + window - right;
        const int threads = static_cast<int>(blockDim.x);
        for (int i = static_cast<int>(threadIdx.x); i < ragged; i += threads) {
            const int at = window_begin + (i < left ? i : i - left + right) + l.halo * channels;
            const int pixel = source_index(at / channels - l.halo, p.source_width, p.border);
            columns[i] = pixel < 0 ? -1 : pixel * channels + at % channels;
        }
    }

    /// A packet that begins at any address.
    struct words_of_packet {
        unsigned words[packet_words + 1];
        unsigned shift;

        __device__ void load(const T* from) {
            const auto address = reinterpret_cast<std::uintptr_t>(from);
            const auto* first =
                reinterpret_cast<const unsigned*>(address / sizeof(unsigned) * sizeof(unsigned));
            shift = static_cast<unsigned>(address % sizeof(unsigned) * 8);
#pragma unroll
            for (int i = 0; i < packet_words; ++i) words[i] = first[i];
            words[packet_words] = shift == 0 ? 0 : first[packet_words];
        }
        __device__ void store(T* to) const {
            const auto word = [this](int i) { return __funnelshift_r(words[i], words[i + 1], shift); };
            *reinterpret_cast<uint4*>(to) = make_uint4(word(0), word(1), word(2), word(3));
        }
    };

    /// Copies the packets of rows that are not aligned. Several are under way at a time.
    __device__ void stage_words(int first, int count) const {
        constexpr int batch = 2;
        const int row_packets = (right - left) / packet, threads = static_cast<int>(blockDim.x);
        for (int begin = static_cast<int>(threadIdx.x); begin < count * row_packets;
             begin += batch * threads) {
            words_of_packet loaded[batch];
            T* to[batch];
#pragma unroll
            for (int b = 0; b < batch; ++b) {
                const int i = begin + b * threads, row = i / row_packets;
                const int at = left + (i - row * row_packets) * packet;
                const std::int64_t y =
                    row < count ? source_index(first_row + first + row, p.source_height, p.border) : -1;
                to[b] = y < 0 ? nullptr : staged + row * p.layout.stage_pitch + at;
                if (y >= 0) loaded[b].load(source + y * p.source_stride + window_begin + at);
            }
#pragma unroll
            for (int b = 0; b < batch; ++b)
                if (to[b] != nullptr) loaded[b].store(to[b]);
        }
    }

    __device__ void stage(int first) const {
        const ring_layout& l = p.layout;
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const int warp = static_cast<int>(threadIdx.x) / 32;
        const int warps = static_cast<int>(blockDim.x) / 32;
        const int count = ::min(rows, input_rows - first);
        if (has_bulk_copies && warp == 0) {
            const std::int64_t y =
                lane < count ? source_index(first_row + first + lane, p.source_height, p.border) : -1;
            const bool copies = p.aligned_loads && y >= 0 && right > left;
            const int bytes = (right - left) * static_cast<int>(sizeof(T));
            const int all = __popc(__ballot_sync(~0u, copies)) * bytes;
            if (lane == 0) ptx::arrive_and_expect(arrived, static_cast<unsigned>(all));
            ptx::sync_warp();
            if (copies)
                ptx::bulk_copy(staged + lane * l.stage_pitch + left,
                               source + y * p.source_stride + window_begin + left,
                               static_cast<unsigned>(bytes), arrived);
        }
        if (!p.aligned_loads) stage_words(first, count);
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
            if (!has_bulk_copies && p.aligned_loads)
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
    }
};

/// Filters a round's rows along x, from shared memory into the ring. A thread takes one row or two. It loads them from
/// `shift` pixels before the window on, where a vector begins. `taps_x` are for radii that are not compiled in.
template <class T, int channels, int radius>
__device__ __forceinline__ void filter_along_x(const parameters<T, tile<radius>::taps>& p, const T* staged,
                                               const float* taps_x, float* ring, int ring_row, int strip) {
    constexpr int chunk = outputs * channels;
    constexpr int rows_x = channels == 1 ? 2 : 1;
    constexpr int row_groups = rows / rows_x;
    constexpr int width_x = channels * rows_x;
    constexpr int shift_limit = vector_pixels<T, channels>;
    const ring_layout& l = p.layout;
    const int radius_x = radius == any_radius ? p.radius_x : radius;
    const int shift = round_up(radius_x, shift_limit) - radius_x;
    const int thread = static_cast<int>(threadIdx.x);
    const int threads = static_cast<int>(blockDim.x);
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
            convolve<before, before + 2 * radius + 1>(sums, p.taps_x, p.radius_x == radius, load);
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

/// The sums along y for 8 rows of a thread's columns. They read the ring from row `oldest` on.
template <class T, int radius>
__device__ __forceinline__ void filter_along_y(const parameters<T, tile<radius>::taps>& p,
                                               const float* taps_y, const float* ring, int oldest, int x,
                                               float (&sums)[outputs][tile<radius>::columns]) {
    constexpr int columns_per_thread = tile<radius>::columns;
    const ring_layout& l = p.layout;
    const int radius_y = radius == any_radius ? p.radius_y : radius;
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
    if constexpr (radius == any_radius)
        convolve(sums, taps_y + outputs, 0, 2 * radius_y + 1, load);
    else
        convolve<0, 2 * radius + 1>(sums, p.taps_y, p.radius_y == radius, load);
}

}  // namespace heddle::kernels::gaussian_blur::ring
