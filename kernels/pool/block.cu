// vectorized (block): a block takes some packets of an output pixel, and its threads share the window. Where images are
// few, the blocks of a cluster share it too.
//
//   thread (x, y):   combines packet x of pixels y, y + Y, y + 2 Y, ... of the window; eight are under way together
//   block:           combines its results in shared memory: each step halves their number
//   cluster:         Y counts the threads of all its blocks; the first block combines the blocks' results
//
// It is for large windows, such as whole images. No more threads share a window than fill the device. The limit is DRAM;
// one image of few channels has too few clusters for the device.

#include "kernels/device/clusters.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/warp.hpp"
#include "kernels/pool/launch.hpp"
#include "kernels/pool/operations.cuh"
#include "kernels/pool/tuning/tuning.hpp"
#include "kernels/pool/vectorized.cuh"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace heddle::kernels::pool {
namespace {

struct tile {
    static constexpr int threads = 256;       // three blocks of as many fit an SM
    static constexpr int most_threads = 512;  // of a block, where few blocks have work
    static constexpr int threads_per_sm = 3 * threads;
    static constexpr int batch = 8;        // pixels that a thread loads at once
    static constexpr int max_cluster = 8;  // all devices with clusters run it
};

/// The binary logarithm of a power of two.
__device__ int log2_of(unsigned power) {
    return 31 - __clz(static_cast<int>(power));
}

/// Walks every `step`th pixel of a window, row by row.
template <class T>
class pixel_walk {
  public:
    __device__ pixel_walk(const tensor_view<const T>& input, const T* from, const clipped_window& w,
                          unsigned first, unsigned step)
        : width_(static_cast<unsigned>(w.width)),
          col_(first % width_),
          cols_(step % width_),
          step_(step / width_ * input.row_stride + cols_ * input.col_stride),
          turn_(input.row_stride - w.width * input.col_stride),
          at_(from + first / width_ * input.row_stride + col_ * input.col_stride) {}

    /// Returns the pixel and goes on to the next.
    __device__ const T* next() {
        const T* const pixel = at_;
        at_ += step_;
        col_ += cols_;
        if (col_ >= width_) {
            at_ += turn_;
            col_ -= width_;
        }
        return pixel;
    }

  private:
    unsigned width_, col_, cols_;
    std::int64_t step_, turn_;
    const T* at_;
};

/// Combines pixels `first`, `first` + `step`, ... of a window; the step is a power of two.
template <class Operation, int packet, class T>
__device__ vector<float, packet> combined(const tensor_view<const T>& input, const T* from,
                                          const clipped_window& w, unsigned first, unsigned step) {
    using loaded = vector<T, packet>;
    // A uint4 takes a register for four bytes. Compilers give each element of a vector its own register.
    using held = std::conditional_t<sizeof(loaded) == sizeof(uint4), uint4, loaded>;
    constexpr int batch = tile::batch;
    vector<float, packet> result;
#pragma unroll
    for (int e = 0; e < packet; ++e) result[e] = Operation::identity;
    const std::int64_t pixels = w.pixels();
    if (pixels == 0) return result;
    pixel_walk<T> walk(input, from, w, first, step);
    for (std::int64_t count = (pixels - first + step - 1) >> log2_of(step); count > 0; count -= batch) {
        const int here = static_cast<int>(::min(count, std::int64_t{batch}));
        held some[batch];
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const T* const pixel = walk.next();
            if (b < here) some[b] = *reinterpret_cast<const held*>(pixel);
        }
#pragma unroll
        for (int b = 0; b < batch; ++b)
            if (b < here) {
                loaded each;
                memcpy(&each, &some[b], sizeof(each));
                add<Operation>(result, each);
            }
    }
    return result;
}

/// Combines the results of each column of the block's threads, for row 0. `shared` has a place for each thread.
template <class Operation, int packet>
__device__ void combine_block(vector<float, packet>& result, vector<float, packet>* shared) {
    vector<float, packet>* const mine = shared + threadIdx.y * blockDim.x + threadIdx.x;
    *mine = result;
    ptx::sync_threads();
    for (unsigned rows = blockDim.y / 2; rows > 0; rows /= 2) {
        if (threadIdx.y < rows) {
            add<Operation>(result, mine[rows * blockDim.x]);
            *mine = result;
        }
        ptx::sync_threads();
    }
}

/// Combines the results that row 0 of each block has in `shared`, for block 0 of the cluster.
template <class Operation, int packet>
__device__ void combine_cluster(vector<float, packet>& result, const vector<float, packet>* shared) {
    ptx::cluster_arrive();
    ptx::cluster_wait();
    if (ptx::cluster_rank() == 0 && threadIdx.y == 0)
#pragma unroll 1
        for (unsigned rank = 1; rank < ptx::cluster_blocks(); ++rank)
#pragma unroll
            for (int e = 0; e < packet; ++e)
                result[e] =
                    Operation::combine(result[e], ptx::load_cluster(&shared[threadIdx.x].elements[e], rank));
    ptx::sync_warp();  // lanes that took branches meet before a barrier that warps come to as one
    ptx::cluster_arrive();
    ptx::cluster_wait();  // the others' results were read
}

template <class Operation, int packet, class T>
__global__ void __launch_bounds__(tile::threads_per_sm, 1)
    block(const __grid_constant__ arguments<T> a, const __grid_constant__ tile_counts tiles) {
    using values = vector<float, packet>;
    __shared__ values shared[tile::most_threads];
    const unsigned rank = ptx::cluster_rank(), blocks = ptx::cluster_blocks();
    const int log2_blocks = log2_of(blocks);
    for (std::int64_t t = blockIdx.x >> log2_blocks; t < tiles.all; t += gridDim.x >> log2_blocks) {
        const tile_place at(tiles, t);
        const std::int64_t channel = (at.chunk * blockDim.x + threadIdx.x) * packet;
        const bool is_inside = channel < a.output.channels;
        const clipped_window w = window_of(a, at.down, at.across);
        values result{};
        if (is_inside)
            result = combined<Operation, packet>(a.input, element(a.input, at.image, w.y, w.x, channel), w,
                                                 rank * blockDim.y + threadIdx.y, blocks * blockDim.y);
        if (blockDim.y * blocks > 1) combine_block<Operation>(result, shared);
        if (blocks > 1) combine_cluster<Operation>(result, shared);
        if (is_inside && threadIdx.y == 0 && rank == 0)
            store<Operation>(a, element(a.output, at.image, at.down, at.across, channel), result, w);
    }
}

}  // namespace

plan plan_vectorized_block(const pool_problem& problem, const device_traits& device) {
    const tensor_layout& out = problem.output;
    const bool is_wide = has_packets(problem);
    const std::int64_t pixels = out.count * out.height * out.width, packets = packets_of(problem),
                       window = window_pixels(problem);
    std::int64_t x = power_at_least(packets, warp_size), cluster = 1;
    std::int64_t y = power_at_least(
        std::min(divide_up(window, least_pixels), divide_up(filling_threads, pixels * packets)),
        filling_threads);
    const auto narrow = [&](std::int64_t least) {
        while (x > least && x * y > tile::threads) x /= 2;
    };
    narrow(is_wide ? line_packets : warp_size);
    if (has_clusters(device.compute_capability_major, device.compute_capability_minor))
        for (; cluster < tile::max_cluster && x * y > tile::threads; cluster *= 2) y /= 2;
    narrow(is_wide ? sector_packets : 1);
    y = std::min(y, tile::most_threads / x);
    while (packets % (2 * x) == 0 && x * y < least_threads) x *= 2;
    while (x * y < least_threads && y < window) y *= 2;
    return {.blocks = std::min(pixels * divide_up(packets, x), max_grid_x / cluster) * cluster,
            .threads = {x, y},
            .cluster = cluster,
            .has_packets = is_wide};
}

template <class T>
void launch_vectorized_block(const plan& plan, const arguments<T>& a, cudaStream_t stream) {
    const auto run = [&](auto kernel, std::int64_t packet) {
        const std::int64_t chunks = divide_up(a.output.channels / packet, plan.threads.x);
        launch({.blocks = {plan.blocks}, .threads = plan.threads, .stream = stream, .cluster = plan.cluster},
               kernel, a, tile_counts(chunks, a.output.width, a.output.height, a.output.count));
    };
    const bool is_max = a.mode == pool_mode::max;
    if (plan.has_packets)
        run(is_max ? block<largest, packet_of<T>, T> : block<mean, packet_of<T>, T>, packet_of<T>);
    else
        run(is_max ? block<largest, 1, T> : block<mean, 1, T>, 1);
}

HEDDLE_LAUNCHES(launch_vectorized_block, plan, arguments)

}  // namespace heddle::kernels::pool
