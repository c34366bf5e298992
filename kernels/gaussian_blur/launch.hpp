#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/gaussian_blur/decimated/decimated.hpp"
#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/plan/fused.hpp"
#include "kernels/gaussian_blur/plan/grids.hpp"
#include "kernels/gaussian_blur/plan/mma_xy.hpp"
#include "kernels/gaussian_blur/plan/mma_xy_by_channel.hpp"
#include "kernels/gaussian_blur/plan/predict.hpp"
#include "kernels/gaussian_blur/plan/tiled.hpp"
#include "kernels/gaussian_blur/plan/two_passes.hpp"
#include "kernels/gaussian_blur/plan/wgmma_xy.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"
#include <heddle/device.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <source_location>
#include <string_view>
#include <variant>

namespace heddle::kernels::gaussian_blur {

/// The arguments of all kernels. No extent of the images is 0. The destination's pixel (0, 0) is the source's pixel (x, y),
/// for the blur of a region inside the source.
template <class T>
struct arguments {
    image_batch_view<const T> source;
    image_batch_view<T> destination;
    std::int64_t x = 0;
    std::int64_t y = 0;
    taps taps_x;
    taps taps_y;
    heddle::border border;
    T border_value;
    /// Scratch memory of as many bytes as the plan says, at a multiple of 16 bytes.
    float* intermediate = nullptr;
};

struct naive_plan {
    kernel_grid grid;
    double us;  ///< predicted
};

struct fused_chains_plan {
    kernel_grid grid;
    unsigned strips;
    gaussian_blur::march march;
    int rows_per_warp;  ///< the last warp of a block has those that are left
    double us;          ///< predicted
};

/// A kernel's plan for a problem.
struct plan {
    std::variant<naive_plan, separable_plan, shared_memory_plan, tiled_plan, fused_ring_plan,
                 fused_strips_plan, fused_chains_plan, fused_tiles_plan, mma_xy_plan, wgmma_xy_plan,
                 mma_xy_by_channel_plan, decimated_plan>
        kernels;
    double us = 0;  ///< predicted
};

inline std::int64_t scratch_bytes(const plan& plan) {
    return std::visit(
        [](const auto& own) -> std::int64_t {
            if constexpr (requires { own.scratch_bytes; }) return own.scratch_bytes;
            return 0;
        },
        plan.kernels);
}
inline bool needs_tickets(const plan&) {
    return false;
}

inline launch_config config_of(const kernel_grid& grid, cudaStream_t stream,
                               std::source_location where = std::source_location::current()) {
    return {.blocks = grid.blocks,
            .threads = grid.threads,
            .shared_bytes = grid.shared_bytes,
            .shared_limit = grid.shared_limit,
            .stream = stream,
            .begins_early = grid.begins_early,
            .where = where};
}

/// Where the rows of a batch's images lie. Strides count elements.
template <class T>
struct batch_rows {
    const T* source;  ///< of the first image, at the pixel from which the kernel counts
    T* destination;
    std::int64_t source_stride;
    std::int64_t source_image;
    std::int64_t destination_stride;
    std::int64_t destination_image;
    std::int64_t height;  ///< of the destination
    std::int64_t above;   ///< rows of the source above the region
    std::int64_t source_height;

    static batch_rows of(const arguments<T>& a, std::int64_t first_element) {
        const image_view<const T>& from = a.source.first;
        const image_view<T>& to = a.destination.first;
        return {from.data + first_element,
                to.data,
                from.row_stride,
                a.source.stride,
                to.row_stride,
                a.destination.stride,
                to.height,
                a.y,
                from.height};
    }
};

/// Launches kernel(parameters) for all images of a batch, as many at a time as a grid has room for.
template <class Parameters>
void launch_batch(const kernel_grid& grid, std::int64_t images, void (*kernel)(Parameters), Parameters p,
                  cudaStream_t stream, std::source_location where = std::source_location::current()) {
    launch_config config = config_of(grid, stream, where);
    const std::int64_t most = std::max<std::int64_t>(1, std::numeric_limits<int>::max() / grid.blocks.x);
    for (std::int64_t first = 0; first < images; first += most) {
        config.blocks.x = std::min(most, images - first) * grid.blocks.x;
        kernels::launch(config, kernel, p);
        p.source += most * p.source_image;
        p.destination += most * p.destination_image;
    }
}

// Plans, and the functions that the choice of a kernel calls, are pure. Some stand in plan/, as other files compile their
// kernels. A launch takes the plan that was made for its arguments' problem.

/// Needs tables of both taps.
naive_plan plan_naive(const filter_facts& facts, const device_traits& device);
template <class T>
void launch_naive(const naive_plan& plan, const arguments<T>& arguments, cudaStream_t stream);

separable_plan plan_separable(const filter_facts& facts, const device_traits& device);
template <class T>
void launch_separable(const separable_plan& plan, const arguments<T>& arguments, cudaStream_t stream);

template <class T>
void launch_shared_memory(const shared_memory_plan& plan, const arguments<T>& arguments, cudaStream_t stream);

template <class T>
void launch_tiled(const tiled_plan& plan, const arguments<T>& arguments, cudaStream_t stream);

inline constexpr int max_ring_radius = 255;
/// The shared memory that a block of the ring has to hold, for radii up to max_ring_radius.
std::int64_t shared_bytes_of_ring(const filter_facts& facts, const device_traits& device);
fused_ring_plan plan_fused_ring(const filter_facts& facts, const device_traits& device);
template <class T>
void launch_fused_ring(const fused_ring_plan& plan, const arguments<T>& arguments, cudaStream_t stream);

template <class T>
void launch_fused_strips(const fused_strips_plan& plan, const arguments<T>& arguments, cudaStream_t stream);

/// Needs one channel of float, and one radius above that of tiles and up to that of registers. Rows of the destination, and
/// of the source from the region's place on, start at multiples of 16 bytes.
fused_chains_plan plan_fused_chains(const filter_facts& facts, const device_traits& device);
void launch_fused_chains(const fused_chains_plan& plan, const arguments<float>& arguments,
                         cudaStream_t stream);

template <class T>
void launch_fused_tiles(const fused_tiles_plan& plan, const arguments<T>& arguments, cudaStream_t stream);

// The kernels on the tensor cores exist only if heddle is compiled for compute capability 9.0.
void launch_mma_xy(const mma_xy_plan& plan, const arguments<std::uint8_t>& arguments, cudaStream_t stream);
void launch_wgmma_xy(const wgmma_xy_plan& plan, const arguments<std::uint8_t>& arguments,
                     cudaStream_t stream);
void launch_mma_xy_by_channel(const mma_xy_by_channel_plan& plan, const arguments<std::uint8_t>& arguments,
                              cudaStream_t stream);

/// The need of decimated, to keep its bound of error, that the problem does not meet; empty if it can run.
std::string_view decimated_needs(const filter_facts& facts, const device_traits& device);
decimated_plan plan_decimated(const filter_facts& facts, const device_traits& device);
template <class T>
void launch_decimated(const decimated_plan& plan, const arguments<T>& arguments, cudaStream_t stream);

}  // namespace heddle::kernels::gaussian_blur
