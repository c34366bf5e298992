// fused strips: one launch, one read, one write. A warp marches down a strip of the image. It filters each row along x
// from shared memory and, at once, along y in registers.
//
//            strip: halo | 32 * tile::values values | halo                  taps w, n = 2r + 1
//   row y+2  . . . . . . being loaded . . . . . . . . . . . .
//   row y+1  in shared memory  ->  h = sum of w[k] * in[x + k]
//   row y    written: out[y - r] = sums[0] + w[n - 1] * h, and sums[i] = sums[i + 1] + w[n - 2 - i] * h
//
// sums[i] belong to the output rows that still miss inputs. Each row of h adds one term to all of them, and an FMA writes
// its sum one place down for free. So the pass along y loads and stores nothing. After the start no warp waits for
// another. A few rows at a time are fetched into registers, staged and filtered, with one branch for all. Halos and values
// beyond a border are fetched singly, mostly one by each lane. So a warp at an edge does the same as all others.
//
// It needs one radius for both axes, up to max_register_radius(). A kernel is compiled for an even radius, and also takes
// the radius below it. The one for 2 also takes 0. For smaller radii it leaves the outer taps out. Where rows are not
// aligned, packets are put together from words, and results pass through shared memory. CMake writes the files that
// compile it. What limits it: DRAM, and for larger radii FMAs.

#pragma once

#include "kernels/device/border.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"
#include "kernels/gaussian_blur/plan/fused.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"

#include <type_traits>

namespace heddle::kernels::gaussian_blur {

/// The shape of a strip for windows of at most this radius.
template <class T, int channels, int radius>
struct tile {
    static constexpr int size = static_cast<int>(sizeof(T));
    static constexpr int least_radius = gaussian_blur::least_radius(radius, strip_radius_step);
    static constexpr strip_shape shape{size, channels, radius};
    static constexpr int warps = strip_shape::warps;
    static constexpr int values = shape.values;
    static constexpr int warp_values = strip_shape::lanes * values;
    static constexpr int words = shape.words;
    static constexpr int halo = shape.halo;
    static constexpr int lead = shape.lead;
    static constexpr int packets = shape.packets;
    static constexpr bool shifts = shape.shifts;
    static constexpr int slack = shape.slack;
    static constexpr int head = shape.head;
    static constexpr int singles = shape.singles;
    static constexpr int rows = shape.rows;
    static constexpr int blocks_per_sm = shape.blocks_per_sm;
};

/// `source` points to the place of the destination's pixel (0, 0).
template <class T, int radius>
struct parameters : batch_rows<T> {
    int row_values;
    int left;  ///< pixels of the source's row before that place
    int source_width;
    unsigned strips;
    unsigned segments;
    int rows_per_block;
    int own_radius;
    bool aligned;  ///< packets of source and destination start at multiples of their size
    heddle::border border;
    T border_value;
    float taps_x[2 * radius + 1];  ///< own_radius of them on each side of the middle one
    float taps_y[2 * radius + 1];  ///< the last ones, after places that are not used
};

/// A lane's fetched part of a row: its packet, which starts `shift` bits into the words, and single values.
template <class T, class tile>
struct fetched {
    static constexpr int words_read = tile::words + (tile::shifts ? 1 : 0);

    unsigned words[words_read];
    unsigned shift;
    T singles[tile::singles];

    __device__ void fetch_packet(const T* from, bool aligned) {
        if (aligned) {
            const auto read = *reinterpret_cast<const packet<T, tile::values>*>(from);
#pragma unroll
            for (int i = 0; i < tile::words; ++i) words[i] = read.words[i];
            shift = 0;
        } else {
            const auto address = reinterpret_cast<std::uintptr_t>(from);
            const auto* first = reinterpret_cast<const unsigned*>(address / 4 * 4);
            shift = static_cast<unsigned>(address % 4 * 8);
#pragma unroll
            for (int i = 0; i < tile::words; ++i) words[i] = first[i];
            if constexpr (tile::shifts)
                if (shift != 0) words[tile::words] = first[tile::words];
        }
    }
    __device__ void fill(T value) {
        const unsigned filled = word_of(value);
#pragma unroll
        for (unsigned& word : words) word = filled;
#pragma unroll
        for (T& single : singles) single = value;
    }
    __device__ packet<T, tile::values> own() const {
        packet<T, tile::values> result;
#pragma unroll
        for (int i = 0; i < tile::words; ++i) {
            if constexpr (tile::shifts)
                result.words[i] = __funnelshift_r(words[i], words[i + 1], shift);
            else
                result.words[i] = words[i];
        }
        return result;
    }
};

/// Filters a thread's values along x. `window` is where their window begins in a staged row.
template <class tile, int channels, int radius, class T>
__device__ void filter_row(const packet<T, tile::values>* window, const float* taps, int own_radius,
                           float (&h)[tile::values]) {
#pragma unroll
    for (int k = 0; k < tile::packets; ++k) {
        const packet<T, tile::values> loaded = window[k];
#pragma unroll
        for (int e = 0; e < tile::values; ++e) {
            const int at = k * tile::values + e - tile::lead;
            if (at < -tile::halo || at >= tile::values + tile::halo) continue;
            filter_row_input<tile, channels, radius, tile::least_radius>(at, loaded.get(e), taps, h,
                                                                         own_radius);
        }
    }
}

/// The values that a lane fetches singly: their places in a staged row, and the columns of the source that stand for them.
/// Where the border's constant stands for a value, its column does not matter.
template <class T, int channels, int radius, class tile>
struct singles {
    int places[tile::singles];
    int columns[tile::singles];
    bool is_border[tile::singles];

    __device__ singles(const parameters<T, radius>& p, int lane, int begin, int valid, int head, int whole) {
#pragma unroll
        for (int k = 0; k < tile::singles; ++k) {
            const int i = lane + 32 * k;
            const int place = i < tile::lead + head ? i : i - head + whole;
            const bool is_needed =
                place >= tile::lead - tile::halo && place < tile::lead + valid + tile::halo;
            const int value = begin + place - tile::lead + tile::halo;  // not negative where it is needed
            const int pixel = is_needed
                                  ? source_index(p.left + value / channels - radius, p.source_width, p.border)
                                  : p.left;
            places[k] = is_needed ? place : -1;
            is_border[k] = pixel < 0;
            columns[k] = is_needed && pixel >= 0 ? (pixel - p.left) * channels + value % channels : 0;
        }
    }
};

/// Stores a row of results, of which the first `valid` values are the destination's.
template <class T, class tile>
__device__ __forceinline__ void store_row(T* out, const packet<T, tile::values>& result,
                                          packet<T, tile::values>* stage, bool aligned, int lane, int valid) {
    const bool is_whole = (lane + 1) * tile::values <= valid;
    if (aligned) {
        if (is_whole) {
            store(out + lane * tile::values, result);
        } else {
#pragma unroll
            for (int e = 0; e < tile::values; ++e)
                if (lane * tile::values + e < valid)
                    out[lane * tile::values + e] = reinterpret_cast<const T*>(result.words)[e];
        }
    } else {
        // The row passes through shared memory, so that a warp stores neighbours.
        ptx::sync_warp();
        stage[lane] = result;
        ptx::sync_warp();
#pragma unroll 1
        for (int e = lane; e < valid; e += 32) out[e] = reinterpret_cast<const T*>(stage)[e];
    }
}

template <class T, int channels, int radius>
__global__ void __launch_bounds__(32 * tile<T, channels, radius>::warps,
                                  tile<T, channels, radius>::blocks_per_sm)
    fused(const __grid_constant__ parameters<T, radius> p) {
    using tile = tile<T, channels, radius>;
    using packet = packet<T, tile::values>;
    __shared__ packet staged[tile::warps][tile::rows][32 + tile::packets - 1];
    __shared__ std::int64_t border_rows[2 * radius + 1];
    ptx::let_next_grid_begin();

    const int lane = static_cast<int>(threadIdx.x % 32);
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int strip = static_cast<int>(blockIdx.x % p.strips);
    const std::int64_t image = blockIdx.x / p.strips / p.segments;
    const std::int64_t top = std::int64_t{blockIdx.x / p.strips % p.segments} * p.rows_per_block;
    const int outputs = static_cast<int>(min(std::int64_t{p.rows_per_block}, p.height - top));
    const int inputs = outputs + 2 * p.own_radius;
    const std::int64_t first_row = p.above + top - p.own_radius;
    const T* source = p.source + image * p.source_image;

    // The rows that stand for those above and below the source are looked up once.
    if (first_row < 0 || first_row + inputs > p.source_height) {
        for (int i = static_cast<int>(threadIdx.x); i < 2 * p.own_radius; i += static_cast<int>(blockDim.x)) {
            const int below = i - p.own_radius;
            border_rows[i] =
                source_index(below < 0 ? below : p.source_height + below, p.source_height, p.border);
        }
        ptx::sync_threads();
    }

    // From here on each warp goes its own way.
    const int begin = (strip * static_cast<int>(blockDim.x / 32) + warp) * tile::warp_values;
    if (begin >= p.row_values) return;
    const int x = begin + lane * tile::values;
    const int valid = min(p.row_values - begin, tile::warp_values);
    const int row_end = (p.source_width - p.left) * channels;
    const int head = p.aligned ? 0 : tile::head, slack = p.aligned ? 0 : tile::slack;
    // Values of the warp's columns up to the end of the last packet that lies in the source's rows.
    const int whole = max(head, min((row_end - begin - slack) & -tile::values, tile::warp_values));
    const bool fetches_packet = lane * tile::values >= head && (lane + 1) * tile::values <= whole;

    const singles<T, channels, radius, tile> single(p, lane, begin, valid, head, whole);

    fetched<T, tile> rows[tile::rows] = {};
    // Inputs [inside_begin, inside_end) are rows of the source.
    const int inside_begin = first_row < 0 ? static_cast<int>(-first_row) : 0;
    const int inside_end = static_cast<int>(min(p.source_height - first_row, std::int64_t{inputs}));
    const T* next = source + (first_row - p.above) * p.source_stride;
    const auto fetch_rows = [&](int first) {
#pragma unroll
        for (int i = 0; i < tile::rows; ++i, next += p.source_stride) {
            const int input = first + i;
            if (input >= inputs) break;
            const T* row = next;
            if (input < inside_begin || input >= inside_end) {
                const std::int64_t y =
                    border_rows[p.own_radius + input - (input < inside_begin ? inside_begin : inside_end)];
                if (y < 0) {
                    rows[i].fill(p.border_value);
                    continue;
                }
                row = source + (y - p.above) * p.source_stride;
            }
            if (fetches_packet) rows[i].fetch_packet(row + x, p.aligned);
#pragma unroll
            for (int k = 0; k < tile::singles; ++k) rows[i].singles[k] = row[single.columns[k]];
        }
    };

    float sums[tile::values][2 * radius + 1] = {};
    // `out` begins 2 * own_radius rows early, as the first inputs complete no row.
    T* out =
        p.destination + image * p.destination_image + (top - 2 * p.own_radius) * p.destination_stride + begin;
    ptx::wait_for_grids_before();
    // The first turn only fetches.
    for (int first = -tile::rows; first < inputs; first += tile::rows) {
        ptx::sync_warp();  // the rows before have been read
#pragma unroll
        for (int i = 0; i < tile::rows; ++i) {
            packet* stage = staged[warp][i];
            if (fetches_packet) stage[tile::packets / 2 + lane] = rows[i].own();
#pragma unroll
            for (int k = 0; k < tile::singles; ++k)
                if (single.places[k] >= 0)
                    reinterpret_cast<T*>(stage)[single.places[k]] =
                        single.is_border[k] ? p.border_value : rows[i].singles[k];
        }
        ptx::sync_warp();
        fetch_rows(first + tile::rows);
        if (first < 0) continue;

            // Rows beyond the inputs give results that nobody uses. To skip them would cost more.
#pragma unroll
        for (int i = 0; i < tile::rows; ++i) {
            float h[tile::values];
            float complete[tile::values];
            filter_row<tile, channels, radius>(&staged[warp][i][lane], p.taps_x, p.own_radius, h);
#pragma unroll
            for (int e = 0; e < tile::values; ++e)
                complete[e] = filter_column<radius, 0, 2 * radius, tile::least_radius>(h[e], p.taps_y,
                                                                                       sums[e], p.own_radius);
            const packet result = packet::from_floats(complete);

            if (first + i >= 2 * p.own_radius && first + i < inputs)
                store_row<T, tile>(out, result, staged[warp][i], p.aligned, lane, valid);
            out += p.destination_stride;
        }
    }
}

template <class T, int channels, int radius>
void launch(const fused_strips_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    parameters<T, radius> p{batch_rows<T>::of(a, a.y * a.source.first.row_stride + a.x * channels),
                            static_cast<int>(a.destination.first.width) * channels,
                            static_cast<int>(a.x),
                            static_cast<int>(a.source.first.width),
                            plan.strips,
                            plan.march.segments,
                            plan.march.rows_per_block,
                            a.taps_x.radius,
                            plan.aligned,
                            a.border,
                            a.border_value,
                            {},
                            {}};
    const int fewer = radius - a.taps_x.radius;
    for (int i = 0; i <= 2 * a.taps_x.radius; ++i) {
        p.taps_x[fewer + i] = a.taps_x.table[i] * scale_of_first_pass<T>;
        p.taps_y[2 * fewer + i] = a.taps_y.table[i] * scale_of_second_pass<T>;
    }
    launch_batch(plan.grid, a.destination.count, fused<T, channels, radius>, p, stream);
}

template <class T>
void launch_fused_strips(const fused_strips_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    with_channels(a.source.first.channels, [&]<int channels>() {
        constexpr int step = strip_radius_step, last = max_register_radius(pixel_type_of<T>, channels);
        with_radius<step, last, step>(compiled_radius(a.taps_x.radius, step),
                                      [&]<int radius>() { launch<T, channels, radius>(plan, a, stream); });
    });
}

}  // namespace heddle::kernels::gaussian_blur
