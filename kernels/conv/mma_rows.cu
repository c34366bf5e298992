// mma_sync, rows: for images of few channels. Windows are read in place from the image in shared memory.
//
//   a row of a filter    | s0 c0 c1 c2 | s1 c0 c1 c2 | ... 0 0 0 |   in steps of 8 along k, then the next row
//   a row of the image   . . . | x0 c0 c1 c2 | x1 c0 c1 c2 | ...     neighbours in memory match the row's taps
//
// With three channels, copying windows would move single elements. But the input under a row of taps is one run of the
// image. So a block loads the image under 8 x 16 outputs into shared memory once, and threads read their pairs along k
// there. For runs that begin at odd elements, a second copy begins one element later. Values that a step reads beyond a
// window's row are masked, as they may be infinite. Filters stay in shared memory for all tiles of a block.
//
// Needs one group, pixels and taps side by side, no dilation along x, and few taps. What limits it: loads from shared memory,
// and the stores.

#include "kernels/conv/epilogue.cuh"
#include "kernels/conv/geometry.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/conv/plan/mma_rows.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/ptx/mma.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/frame/epilogue.cuh"
#include <heddle/types.hpp>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::conv {
namespace {

/// rows_layout in the form that the kernel takes.
struct rows_shape {
    int taps, padded, steps, filter_pitch, patch_rows, patch_width, patch_pitch, patch_size, copies;
    int height, step_x, rows_apart,
        row_step;  ///< of filters; elements and rows from one window to the next; rows from one tap to the next
    index_division by_tiles_down, by_tiles_across;
    std::int64_t tiles;

    template <class In, class Out>
    rows_shape(const arguments<In, Out>& a, const rows_layout& l)
        : taps(narrow(l.taps)),
          padded(narrow(l.padded)),
          steps(narrow(l.depth / 16)),
          filter_pitch(narrow(l.filter_pitch)),
          patch_rows(narrow(l.patch_rows)),
          patch_width(narrow(l.patch_width)),
          patch_pitch(narrow(l.patch_pitch)),
          patch_size(narrow(l.patch_size())),
          copies(l.copies),
          height(narrow(a.filters.height)),
          step_x(narrow(a.geometry.stride.x * a.filters.channels)),
          rows_apart(narrow(a.geometry.stride.y)),
          row_step(narrow(a.geometry.dilation.y)),
          by_tiles_down(down(a), a.output.count * down(a)),
          by_tiles_across(across(a), a.output.count * down(a) * across(a)),
          tiles(a.output.count * down(a) * across(a)) {}

  private:
    static int narrow(std::int64_t n) { return static_cast<int>(n); }
    static std::int64_t down(const auto& a) { return divide_up(a.output.height, rows_tile_height); }
    static std::int64_t across(const auto& a) { return divide_up(a.output.width, rows_tile_width); }
};

/// Loads the filters from `output` on, with zeros as in the layout.
template <int n, class In, class Out>
__device__ void load_filters(In* to, const arguments<In, Out>& a, const rows_shape& s, std::int64_t output) {
    constexpr int together = 8;  // elements that a thread loads together
    const int size = n * s.filter_pitch;
    for (int first = threadIdx.x; first < size; first += rows_threads * together) {
        In values[together];
#pragma unroll
        for (int part = 0; part < together; ++part) {
            const int i = first + part * rows_threads, k = i / s.filter_pitch, at = i - k * s.filter_pitch,
                      r = at / s.padded, j = at - r * s.padded;
            const bool is_tap = i < size && r < s.height && j < s.taps && output + k < a.output.channels;
            values[part] =
                is_tap ? a.filters.data[(output + k) * a.filters.output_stride + r * a.filters.row_stride + j]
                       : In(0.0f);
        }
#pragma unroll
        for (int part = 0; part < together; ++part)
            if (const int i = first + part * rows_threads; i < size) to[i] = values[part];
    }
}

/// Loads the part of the input that the tile's windows meet, from row `top` and element `left` of a row on.
template <class In, class Out>
__device__ void load_patch(In* to, const arguments<In, Out>& a, const rows_shape& s, std::int64_t image,
                           std::int64_t top, std::int64_t left) {
    constexpr int warps = rows_threads / 32, rows = 4,
                  parts = 4;  // rows, and parts of rows, that a warp loads together
    const std::int64_t width = a.input.width * a.filters.channels;
    const In* const image_start = a.input.data + image * a.input.image_stride + left;
    for (int first = threadIdx.x % 32; first < s.patch_width; first += 32 * parts)
        for (int r = threadIdx.x / 32; r < s.patch_rows; r += warps * rows) {
            In values[rows][parts];
#pragma unroll
            for (int i = 0; i < rows; ++i)
#pragma unroll
                for (int part = 0; part < parts; ++part) {
                    const std::int64_t y = top + r + i * warps;
                    const int e = first + part * 32;
                    const bool is_inside = r + i * warps < s.patch_rows && e < s.patch_width && y >= 0 &&
                                           y < a.input.height && left + e >= 0 && left + e < width;
                    values[i][part] = is_inside ? image_start[y * a.input.row_stride + e] : In(0.0f);
                }
#pragma unroll
            for (int i = 0; i < rows; ++i)
#pragma unroll
                for (int part = 0; part < parts; ++part) {
                    const int e = first + part * 32, at = (r + i * warps) * s.patch_pitch + e;
                    if (r + i * warps >= s.patch_rows || e >= s.patch_width) continue;
                    to[at] = values[i][part];
                    if (s.copies > 1 && e > 0) to[s.patch_size + at - 1] = values[i][part];
                }
        }
}

/// Loads a thread's pairs along k from the windows of its two rows (mma.cuh): its own pixel, and eight to the right.
template <class In>
__device__ void load_pairs(unsigned (&pairs)[2], const In* row, const int (&pixel)[2], unsigned mask) {
#pragma unroll
    for (int side = 0; side < 2; ++side)
        pairs[side] = *reinterpret_cast<const unsigned*>(row + pixel[side]) & mask;
}

/// Stores `width` channels of a pixel for each thread, if the epilogue adds nothing but biases.
template <int width, class In, class Out>
__device__ void store_packet(const arguments<In, Out>& a, const float* sums, const float (&scale)[width],
                             const float (&bias)[width], Out* to) {
    vector<float, width> x;
#pragma unroll
    for (int i = 0; i < width; ++i) x[i] = fmaf(a.alpha * sums[i], scale[i], bias[i]);
    frame::with_activation(a.epilogue.activation, [&]<matmul_activation activation>() {
        vector<Out, width> packet;
#pragma unroll
        for (int i = 0; i < width; ++i) packet[i] = static_cast<Out>(frame::activated<Out, activation>(x[i]));
        *reinterpret_cast<vector<Out, width>*>(to) = packet;
    });
}

/// Stores a warp's sums of a row of the tile: 16 pixels of n channels.
template <int n, class In, class Out>
__device__ void store_rows(const arguments<In, Out>& a, const float* sums, const pixel_place& first,
                           std::int64_t output, bool in_packets) {
    constexpr int pitch = n + 8, width = max_vector_bytes / sizeof(Out), across = n / width;
    const int lane = threadIdx.x % 32;
    const auto each = [&](int begin, int step, auto function) {
        for (int i = begin; i < rows_tile_width; i += step) {
            const pixel_place at{first.image, first.y, first.x + i};
            if (at.y < a.output.height && at.x < a.output.width) function(i, at);
        }
    };
    if (!in_packets || a.beta != 0 || a.epilogue.residual.data != nullptr)
        return each(0, 1, [&](int i, const pixel_place& at) {
            for (int c = lane; c < n && output + c < a.output.channels; c += 32)
                store(a, at, output + c, sums[i * pitch + c]);
        });
    const int c = lane % across * width;
    if (output + c >= a.output.channels) return;
    float scale[width], bias[width];
#pragma unroll
    for (int i = 0; i < width; ++i) {
        const std::int64_t k = output + c + i;
        scale[i] = a.epilogue.scale != nullptr
                       ? static_cast<float>(a.epilogue.scale[k * a.epilogue.scale_stride])
                       : 1;
        bias[i] =
            a.epilogue.bias != nullptr ? static_cast<float>(a.epilogue.bias[k * a.epilogue.bias_stride]) : 0;
    }
    each(lane / across, 32 / across, [&](int i, const pixel_place& at) {
        store_packet<width>(a, sums + i * pitch + c, scale, bias, &element(a.output, at, output + c));
    });
}

template <int n, class In, class Out>
__global__ void __launch_bounds__(rows_threads, rows_blocks_per_sm)
    mma_rows(const __grid_constant__ arguments<In, Out> a, const __grid_constant__ rows_shape s,
             bool in_packets) {
    constexpr int pitch = n + 8;  // of sums
    extern __shared__ __align__(128) unsigned char storage[];
    auto* const tile_sums = reinterpret_cast<float*>(storage);
    auto* const filters = reinterpret_cast<In*>(tile_sums + rows_threads / 32 * rows_tile_width * pitch);
    In* const patch = filters + n * s.filter_pitch;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, low = lane / 4, pair = lane % 4 * 2;

    const std::int64_t across = (a.output.channels - 1) / n + 1, worker = blockIdx.x / across;
    const std::int64_t output = (blockIdx.x - worker * across) * n;
    load_filters<n>(filters, a, s, output);
    int pixel[2];  // starts of a thread's two windows in a row of the patch, in the copy where they are even
#pragma unroll
    for (int side = 0; side < 2; ++side) {
        const int at = (low + 8 * side) * s.step_x;
        pixel[side] = pair + (at % 2 == 0 ? at : s.patch_size + at - 1);
    }
    const In* const filter_row = filters + (lane / 16 * 8 + lane % 8) * s.filter_pitch + lane / 8 % 2 * 8;
    float* const warp_sums = tile_sums + warp * rows_tile_width * pitch;

    for (std::int64_t tile = worker; tile < s.tiles; tile += gridDim.x / across) {
        const std::int64_t line = s.by_tiles_across.quotient(tile), image = s.by_tiles_down.quotient(line);
        const pixel_place first{image, (line - image * s.by_tiles_down.divisor) * rows_tile_height,
                                (tile - line * s.by_tiles_across.divisor) * rows_tile_width};
        ptx::sync_threads();  // all have finished with the previous patch
        load_patch(patch, a, s, image, first.y * a.geometry.stride.y - a.geometry.padding.top,
                   (first.x * a.geometry.stride.x - a.geometry.padding.left) * a.filters.channels);
        ptx::sync_threads();

        float sums[2][n / 8][4] = {};
        int r = 0, j = 0;  // row of the filters, and place in it
        for (int step = 0; step < s.steps; ++step) {
            unsigned windows[2][4];
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int left = r < s.height ? s.taps - j - pair : 0;
                const unsigned mask = left > 1 ? ~0u : left > 0 ? 0xffffu : 0u;
                const In* const row =
                    patch + (2 * warp * s.rows_apart + ::min(r, s.height - 1) * s.row_step) * s.patch_pitch +
                    j;
#pragma unroll
                for (int i = 0; i < 2; ++i)
                    load_pairs(reinterpret_cast<unsigned(&)[2]>(windows[i][2 * half]),
                               row + i * s.rows_apart * s.patch_pitch, pixel, mask);
                j += 8;
                if (j == s.padded) ++r, j = 0;
            }
#pragma unroll
            for (int c = 0; c < n; c += 16) {
                unsigned taps[4];
                ptx::load_matrices<false>(taps, filter_row + c * s.filter_pitch + step * 16);
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    ptx::mma<In>(sums[i][c / 8], windows[i], taps[0], taps[1]);
                    ptx::mma<In>(sums[i][c / 8 + 1], windows[i], taps[2], taps[3]);
                }
            }
        }

#pragma unroll
        for (int i = 0; i < 2; ++i) {
            ptx::sync_warp();  // all have stored the previous sums
#pragma unroll
            for (int c = 0; c < n / 8; ++c)
#pragma unroll
                for (int side = 0; side < 2; ++side)
                    *reinterpret_cast<float2*>(warp_sums + (low + 8 * side) * pitch + c * 8 + pair) =
                        make_float2(sums[i][c][2 * side], sums[i][c][2 * side + 1]);
            ptx::sync_warp();
            store_rows<n>(a, warp_sums, {first.image, first.y + 2 * warp + i, first.x}, output, in_packets);
        }
    }
}

template <int n, class In, class Out>
void launch_outputs(const plan& plan, const arguments<In, Out>& a, const rows_layout& layout,
                    cudaStream_t stream) {
    const auto bytes = static_cast<std::size_t>(layout.shared_bytes(n));
    launch({.blocks = plan.blocks,
            .threads = plan.threads,
            .shared_bytes = bytes,
            .shared_limit = bytes,
            .stream = stream},
           mma_rows<n, In, Out>, a, rows_shape(a, layout), plan.stores_packets);
}

}  // namespace

template <class In, class Out>
void launch_mma_rows(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    conv_problem problem{};
    problem.filters = layout_of(a.filters);
    problem.geometry = a.geometry;
    const rows_layout layout(problem);
    plan.rows_outputs == 64 ? launch_outputs<64>(plan, a, layout, stream)
                            : launch_outputs<32>(plan, a, layout, stream);
}

HEDDLE_LAUNCHES_OF_16_BITS(launch_mma_rows, plan, arguments)

}  // namespace heddle::kernels::conv
