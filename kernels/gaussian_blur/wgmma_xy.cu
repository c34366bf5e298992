// wgmma_xy: the blur of bytes as two products with banded matrices, in whole numbers, 64 values by 64 rows at a time.
//
//   along x   h^T (64 columns x 64 rows)   = W_x (64 x window) * rows of the image, as they lie in memory
//   along y   out^T (64 columns x 32 rows) = h^T (64 x 64) * W_y (64 x 32), twice
//
//   four warps       | load rows of a step each, and fill in columns beyond the edges (wgmma_rows.cuh)
//   four warpgroups  | along x, meanwhile store the last step's | cut | along y | pack | along y | pack | ...
//
// h^T stays in registers: a thread's part of the sums is its next operand. Weights are whole numbers 256 u + v. h is
// rounded to 24 bits, bytes a, b and c. All products except c v are taken: 256 a u + (a v + b u) + (b v + c u) / 256. A
// box's weights are all one, so one product along x and two along y suffice. A multiprocessor has one block.
//
// It needs a source whose rows start at multiples of 16 bytes. Radii go up to 16 along y and 32 along x. Windows of 64
// values lie within 320. Weights are at most 5/8, except a single one. Errors: docs/accuracy.md. What limits it: the
// products.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/tensor_map.hpp"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"
#include "kernels/gaussian_blur/wgmma_products.cuh"
#include "kernels/gaussian_blur/wgmma_rows.cuh"
#include "kernels/gaussian_blur/whole_weights.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::gaussian_blur::wgmma_xy {
namespace {

/// All threads that multiply call it. It reads by addresses of memory: constants that threads read at different places come
/// one after the other.
template <class Band>
__device__ void copy_band(Band& to, const Band& from) {
    constexpr int words = int{sizeof(Band)} / word;
    static_assert(words <= makers);
    const auto* source = reinterpret_cast<const unsigned*>(&from);
    asm volatile("" : "+l"(source));
    const auto i = threadIdx.x;
    if (i < words) reinterpret_cast<unsigned*>(&to)[i] = source[i];
}

template <bool of_box>
__global__ void __launch_bounds__(tile::threads, 1) blur(const __grid_constant__ parameters p) {
    extern __shared__ __align__(1024) unsigned char storage[];
    ptx::let_next_grid_begin();
    const layout at = lay_out(p.depths_x);
    auto& barriers = *reinterpret_cast<block_barriers*>(storage + at.barriers);
    const int group =
        __shfl_sync(~0u, static_cast<int>(threadIdx.x) / group_threads, 0);  // the same for a whole warp
    const int thread = static_cast<int>(threadIdx.x) % group_threads;
    if (group == tile::groups) {
        if (thread == 0) barriers.init();
        ptx::sync_threads(barrier_of_loaders, group_threads);
        ptx::arrive_threads(barrier_of_all, tile::threads);
        ptx::release_registers<tile::loader_registers>();
        const loader self{p, at, storage, thread / warp_threads, thread % warp_threads};
        ptx::wait_for_grids_before();
        self.load(walk(p), barriers);
        return;
    }
    auto& along_x = *reinterpret_cast<band_x*>(storage + at.band_x);
    auto& along_y = *reinterpret_cast<band_y*>(storage + at.band_y);
    copy_band(along_x, p.along_x);
    copy_band(along_y, p.along_y);
    ptx::sync_threads(barrier_of_all, tile::threads);
    ptx::claim_registers<tile::group_registers>();
    unsigned char* const x = storage + at.operand_x;
    unsigned char* const y = storage + at.operand_y;
    make_operand<tile::side>(x, x + boxes_of(p.depths_x) * operand::bytes, along_x, p.depths_x,
                             weights_along_x);
    make_operand<tile::depth>(y, y + operand_y::bytes, along_y, 1 + tile::before, weights_along_y);
    ptx::fence_before_copies();  // wgmma reads as copies do
    ptx::sync_threads(barrier_of_groups, makers);
    const multiplier self{p, at, storage, group, thread};
    ptx::wait_for_grids_before();
    self.filter<of_box>(walk(p), barriers.loads);
}

}  // namespace
}  // namespace heddle::kernels::gaussian_blur::wgmma_xy

namespace heddle::kernels::gaussian_blur {

void launch_wgmma_xy(const wgmma_xy_plan& plan, const arguments<std::uint8_t>& a, cudaStream_t stream) {
    using namespace wgmma_xy;
    const whole_weights weights_x =
        plan.is_box ? whole_weights(a.taps_x.count(), 1) : whole_weights(a.taps_x.weights());
    const whole_weights weights_y =
        plan.is_box ? whole_weights(a.taps_y.count(), 256) : whole_weights(a.taps_y.weights());
    const image_view<const std::uint8_t>& from = a.source.first;
    const int channels = static_cast<int>(from.channels);
    parameters p{};
    p.source = a.source;
    p.destination = a.destination;
    p.width = static_cast<int>(from.width);
    p.height = static_cast<int>(from.height);
    p.border = a.border;
    p.border_value = a.border_value;
    p.stores_boxes = plan.stores_boxes;
    p.stores_words = plan.stores_words;
    p.x = static_cast<int>(a.x) * channels;
    p.y = static_cast<int>(a.y);
    p.reach = a.taps_x.radius * channels;
    p.radius_y = a.taps_y.radius;
    p.per_channel = (1 << 16) / channels + 1;
    p.lead = plan.lead;
    p.depths_x = plan.depths_x;
    p.strips = plan.shares.strips;
    p.strip_tiles = plan.shares.strip_tiles;
    std::ranges::copy(plan.shares.first_tiles, p.first_tiles);

    const auto make_map = [](const auto& images, int box_rows, int box_columns) {
        const auto& first = images.first;
        return make_tensor_map(first.data, first.height, first.width * first.channels, first.row_stride,
                               box_rows, box_columns, images.count, images.count > 1 ? images.stride : 0);
    };
    image_batch_view<const std::uint8_t> source = a.source;
    p.has_one_source = source.stride == 0;
    if (p.has_one_source) source.count = 1;
    p.halves = make_map(source, tile::side / 2, operand::row);
    if (p.stores_boxes) p.result = make_map(a.destination, tile::side, tile::side);

    p.of_pixel = 1 / static_cast<float>(a.taps_x.count() * a.taps_y.count());
    const auto take = [](auto& band, const whole_weights& numbers, int count, int first, int step) {
        for (int i = 0; i < count; ++i) {
            band.high[tile::side - 1 + first + i * step] = numbers.high(i);
            band.low[tile::side - 1 + first + i * step] = numbers.low(i);
        }
    };
    take(p.along_x, weights_x, 2 * a.taps_x.radius + 1, p.lead - p.reach, channels);
    take(p.along_y, weights_y, 2 * p.radius_y + 1, tile::before * tile::depth - 2 * p.radius_y, 1);
    p.multiplier_x = weights_x.multiplier();
    p.multiplier_y = weights_y.multiplier();
    p.rounding_y = (1u << 23) + p.multiplier_y / 2;
    launch(config_of(plan.grid, stream), plan.is_box ? blur<true> : blur<false>, p);
}

}  // namespace heddle::kernels::gaussian_blur
