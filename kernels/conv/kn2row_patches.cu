// kn2row, patches: the product and the sums of shares in one kernel, for few taps in all.
//
//   a patch of the input    128 bytes of each pixel   |  mma.sync  |  shares, in shared memory   |  outputs of a tile
//   under a tile's windows  x the taps of all filters |  ------->  |  pixel by tap               |  add up R S each
//
// The products of kn2row leave shares in memory, which is 8 bytes for each tap and pixel. Here shares never leave the
// multiprocessor. A block loads the pixels that a tile's windows meet, of up to 64 channels at a time, while the channels
// before are multiplied. Pixels of padding are zeros, which are multiplied like others.
//
// Needs compute capability 8.0, half or bfloat16, one group, pixels and taps at multiples of 16 bytes, at most 64 taps
// in all filters, and windows whose patch fits. What limits it: memory, and the pixels at the edges of patches, which
// several tiles load and multiply.

#include "kernels/conv/epilogue.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/conv/mma_loader.cuh"
#include "kernels/conv/plan/kn2row.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/mma.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/quick_division.cuh"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::conv {
namespace {

constexpr int warp_rows = 32;      ///< pixels of a warp
constexpr int step_elements = 64;  ///< channels of a step, 128 bytes
constexpr int packet_elements = 8;
constexpr int packets = step_elements / packet_elements;
constexpr int patch_bytes = most_patch_pixels * mma_row_bytes,
              stage_bytes = patch_bytes + most_patch_taps * mma_row_bytes;
static_assert(patch_threads / 32 * warp_rows == most_patch_pixels && patch_threads % packets == 0);

/// The plan in the form that the kernel takes.
struct patch_shape {
    share_patch patch;
    int pixels;                ///< of a patch
    int taps, taps_of_filter;  ///< of all filters, and of one
    int channels, steps;
    int pitch;  ///< of shares, odd so that neighbouring pixels lie in different banks
    int step_y, step_x, top, left, down, right;
    wide_division by_down, by_across;  ///< tiles of an image
    wide_division by_patch, by_tile;   ///< pixels of a row
    wide_division by_outputs;

    template <class In, class Out>
    patch_shape(const arguments<In, Out>& a, const share_patch& p)
        : patch(p),
          pixels(p.pixels()),
          taps(narrow(a.filters.outputs * a.filters.height * a.filters.width)),
          taps_of_filter(narrow(a.filters.height * a.filters.width)),
          channels(narrow(a.filters.channels)),
          steps((channels - 1) / step_elements + 1),
          pitch(taps | 1),
          step_y(narrow(a.geometry.stride.y)),
          step_x(narrow(a.geometry.stride.x)),
          top(narrow(a.geometry.padding.top)),
          left(narrow(a.geometry.padding.left)),
          down(a.filters.height > 1 ? narrow(a.geometry.dilation.y) : 0),
          right(a.filters.width > 1 ? narrow(a.geometry.dilation.x) : 0),
          by_down(divisor(divide_up(a.output.height, p.tile_height))),
          by_across(divisor(divide_up(a.output.width, p.tile_width))),
          by_patch(divisor(p.width)),
          by_tile(divisor(p.tile_width)),
          by_outputs(divisor(a.filters.outputs)) {}

    std::size_t shared_bytes() const {
        return static_cast<std::size_t>(std::max(std::min(steps, 2) * stage_bytes,
                                                 patch.pixels() * pitch * static_cast<int>(sizeof(float))));
    }

  private:
    static int narrow(std::int64_t n) { return static_cast<int>(n); }
    static std::uint32_t divisor(std::int64_t n) { return static_cast<std::uint32_t>(n); }
};

__device__ int quotient(int n, const wide_division& by) {
    return static_cast<int>(by.quotient(static_cast<std::uint32_t>(n)));
}

/// Starts the copies of a step of the patch, whose first pixel is (top, left) of the image, and of the filters.
template <class In, class Out>
__device__ void load_step(unsigned char* stage, const arguments<In, Out>& a, const patch_shape& s,
                          const In* image, int top, int left, int step) {
    const int packet = static_cast<int>(threadIdx.x) % packets,
              channel = step * step_elements + packet * packet_elements;
    constexpr int terms = 16;  // of a product
    if (channel >= (s.channels + terms - 1) / terms * terms) return;
    const bool has_channel = channel < s.channels;
    constexpr int together = patch_threads / packets;
#pragma unroll 1  // registers hold sums
    for (int i = 0; i < most_patch_pixels / together; ++i) {
        const int row = static_cast<int>(threadIdx.x) / packets + i * together;
        const int down = quotient(row, s.by_patch), right = row - down * s.patch.width;
        const int y = top + down, x = left + right;
        const bool is_inside = has_channel && y >= 0 && y < a.input.height && x >= 0 && x < a.input.width;
        if (row < s.pixels)
            ptx::cp_async<16>(swizzled(stage, row, packet * 16),
                              image + y * a.input.row_stride + x * a.input.col_stride + channel,
                              is_inside ? 16 : 0);
    }
    const int width = static_cast<int>(a.filters.width);
    for (int row = static_cast<int>(threadIdx.x) / packets; row < most_patch_taps; row += together) {
        const int k = row / s.taps_of_filter, tap = row - k * s.taps_of_filter, r = tap / width;
        const In* const from = a.filters.data + k * a.filters.output_stride + r * a.filters.row_stride +
                               (tap - r * width) * a.filters.col_stride + channel;
        ptx::cp_async<16>(swizzled(stage + patch_bytes, row, packet * 16), from,
                          has_channel && row < s.taps ? 16 : 0);
    }
}

template <class In, class Out>
__global__ void __launch_bounds__(patch_threads, 2)
    multiply_patches(const __grid_constant__ arguments<In, Out> a, const __grid_constant__ patch_shape s) {
    extern __shared__ __align__(128) unsigned char storage[];
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int line = quotient(static_cast<int>(blockIdx.x), s.by_across), n = quotient(line, s.by_down);
    const int first_y = (line - n * static_cast<int>(s.by_down.divisor)) * s.patch.tile_height,
              first_x = (static_cast<int>(blockIdx.x) - line * static_cast<int>(s.by_across.divisor)) *
                        s.patch.tile_width;
    const In* const image = a.input.data + n * a.input.image_stride;
    const int top = first_y * s.step_y - s.top, left = first_x * s.step_x - s.left;

    constexpr int parts = warp_rows / 16, columns = most_patch_taps / 8;
    float sums[parts][columns][4] = {};
#pragma unroll 1
    for (int loaded = 0; loaded <= s.steps; ++loaded) {  // one step more is loaded than is multiplied
        if (loaded < s.steps) load_step(storage + loaded % 2 * stage_bytes, a, s, image, top, left, loaded);
        ptx::cp_async_commit_group();
        const int step = loaded - 1;
        if (step < 0) continue;
        ptx::cp_async_wait_group<1>();
        ptx::sync_threads();
        unsigned char* const stage = storage + step % 2 * stage_bytes;
#pragma unroll
        for (int k = 0; k < mma_row_bytes; k += 32) {
            if (step * step_elements + k / 2 >= s.channels) break;
            unsigned as[parts][4];
#pragma unroll
            for (int i = 0; i < parts; ++i)
                ptx::load_matrices<false>(
                    as[i], swizzled(stage, warp * warp_rows + i * 16 + lane % 16, k + lane / 16 * 16));
#pragma unroll
            for (int c = 0; c < columns; c += 2) {
                if (c * 8 >= s.taps) break;
                unsigned bs[4];
                ptx::load_matrices<false>(bs, swizzled(stage + patch_bytes, c * 8 + lane / 16 * 8 + lane % 8,
                                                       k + lane / 8 % 2 * 16));
#pragma unroll
                for (int i = 0; i < parts; ++i) {
                    ptx::mma<In>(sums[i][c], as[i], bs[0], bs[1]);
                    ptx::mma<In>(sums[i][c + 1], as[i], bs[2], bs[3]);
                }
            }
        }
        ptx::sync_threads();  // all have read the stage, which the next copies or the shares overwrite
    }

    float* const shares = reinterpret_cast<float*>(storage);
#pragma unroll
    for (int i = 0; i < parts; ++i)
#pragma unroll
        for (int c = 0; c < columns; ++c)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int row = warp * warp_rows + i * 16 + lane / 4 + e / 2 * 8,
                          tap = c * 8 + lane % 4 * 2 + e % 2;
                if (row < s.pixels && tap < s.taps) shares[row * s.pitch + tap] = sums[i][c][e];
            }
    ptx::sync_threads();

    const int outputs = static_cast<int>(a.output.channels), height = static_cast<int>(a.filters.height),
              width = static_cast<int>(a.filters.width);
    for (int i = static_cast<int>(threadIdx.x); i < s.patch.tile_height * s.patch.tile_width * outputs;
         i += patch_threads) {
        const int pixel = quotient(i, s.by_outputs), k = i - pixel * outputs;
        const int y = quotient(pixel, s.by_tile), x = pixel - y * s.patch.tile_width;
        if (first_y + y >= a.output.height || first_x + x >= a.output.width) continue;
        float sum = 0;
        const float* row =
            shares + (y * s.step_y * s.patch.width + x * s.step_x) * s.pitch + k * s.taps_of_filter;
        for (int r = 0; r < height; ++r, row += s.down * s.patch.width * s.pitch)
            for (int t = 0; t < width; ++t) sum += row[t * s.right * s.pitch + r * width + t];
        store(a, {n, first_y + y, first_x + x}, k, sum);
    }
}

}  // namespace

template <class In, class Out>
void launch_kn2row_patches(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    const patch_shape shape(a, plan.patch);
    constexpr auto most = static_cast<std::size_t>(2 * stage_bytes);
    static_assert(most >= std::size_t{most_patch_pixels} * (most_patch_taps + 1) * sizeof(float));
    launch({.blocks = plan.blocks,
            .threads = {patch_threads},
            .shared_bytes = shape.shared_bytes(),
            .shared_limit = most,
            .stream = stream},
           multiply_patches<In, Out>, a, shape);
}

template void launch_kn2row_patches(const plan&, const arguments<half, half>&, cudaStream_t);
template void launch_kn2row_patches(const plan&, const arguments<half, float>&, cudaStream_t);
template void launch_kn2row_patches(const plan&, const arguments<bfloat16, bfloat16>&, cudaStream_t);
template void launch_kn2row_patches(const plan&, const arguments<bfloat16, float>&, cudaStream_t);

}  // namespace heddle::kernels::conv
