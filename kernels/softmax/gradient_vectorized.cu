// vectorized: every element of y and dy is read once and kept in registers, and dx is written once.
//
//   a short row has a warp or a part of one, a longer one a block, then a cluster; the longest are read twice, the second
//   time from their end backwards, where L2 still holds them (kernels/device/row_plan.hpp)
//
// A row needs only one exchange of sums between warps. A thread holds packets as they were loaded. Rows are read in
// packets of 16 bytes, or element by element where addresses or row lengths are no multiples of that. Clusters need
// compute capability 9.0. The elements of a row must lie side by side. The limit is DRAM.

#include "kernels/device/launchers.hpp"
#include "kernels/device/row.cuh"
#include "kernels/device/row_launch.hpp"
#include "kernels/softmax/gradient.cuh"
#include "kernels/softmax/launch.hpp"

#include <cstdint>

namespace heddle::kernels::softmax {
namespace {

struct tile : row_limits {
    static constexpr int most_elements = medium_elements;  // of y, and as many of dy
    static constexpr int lanes_blocks_per_sm = 4;
    static constexpr int blocks_per_sm = 2;
};

/// A thread's share of a row of y and of dy.
template <class Share>
struct held {
    typename Share::packet y[Share::packets];
    typename Share::packet dy[Share::packets];
};

/// All loads are issued before the first is used.
template <class T, class Share>
__device__ void load(const Share& share, const T* y, const T* dy, held<Share>& row) {
#pragma unroll
    for (int p = 0; p < Share::packets; ++p) {
        if (!share.holds(p)) continue;
        row.y[p] = share.at(y, p);
        row.dy[p] = share.at(dy, p);
    }
}

template <bool logarithm, int width, class Share>
__device__ float sum_of(const Share& share, const held<Share>& row) {
    float sum = 0;
#pragma unroll
    for (int p = 0; p < Share::packets; ++p)
#pragma unroll
        for (int e = 0; e < width; ++e)
            if (share.holds(p))
                sum += gradient_term<logarithm>(static_cast<float>(row.y[p][e]),
                                                static_cast<float>(row.dy[p][e]));
    return sum;
}

template <bool logarithm, int width, class T, class Share>
__device__ void finish(const Share& share, const held<Share>& row, float sum, T* dx) {
#pragma unroll
    for (int p = 0; p < Share::packets; ++p) {
        if (!share.holds(p)) continue;
        typename Share::packet result;
#pragma unroll
        for (int e = 0; e < width; ++e)
            result[e] = static_cast<T>(gradient_of<logarithm, T>(static_cast<float>(row.y[p][e]),
                                                                 static_cast<float>(row.dy[p][e]), sum));
        share.at(dx, p) = result;
    }
}

/// The sum of the row, from those of the warps that share it.
__device__ inline float combine(row_exchange<1>& exchange, float of_warp) {
    exchange.publish({of_warp});
    float sum = 0;
    for (unsigned w = threadIdx.x % warp_size; w < exchange.warps(); w += warp_size)
        sum += exchange.number(0, w);
    return lanes_reduce(sum, warp_size, plus{});
}

/// blockDim.x lanes share a row; a block has blockDim.y rows.
template <bool logarithm, class T, int width, int elements>
__global__ void __launch_bounds__(tile::lanes_threads, tile::lanes_blocks_per_sm)
    gradient_lanes(gradient_arguments<T> a) {
    using share_type = row_share<T, width, elements>;
    const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    const auto share = share_type::of_lanes(row < a.dx.rows ? a.dx.cols : 0);
    held<share_type> values;
    load(share, a.y.data + row * a.y.row_stride, a.dy.data + row * a.dy.row_stride, values);
    const float sum = lanes_reduce(sum_of<logarithm, width>(share, values), blockDim.x, plus{});
    finish<logarithm, width>(share, values, sum, a.dx.data + row * a.dx.row_stride);
}

template <bool logarithm, class T, int width, int elements>
__global__ void __launch_bounds__(tile::block_threads, tile::blocks_per_sm)
    gradient_block(gradient_arguments<T> a) {
    using share_type = row_share<T, width, elements>;
    __shared__ row_exchange<1>::storage shared;
    row_exchange<1> exchange(shared);
    const std::int64_t row = ptx::cluster_id();
    const auto share = share_type::of_block(a.dx.cols);
    held<share_type> values;
    load(share, a.y.data + row * a.y.row_stride, a.dy.data + row * a.dy.row_stride, values);
    const float of_warp = lanes_reduce(sum_of<logarithm, width>(share, values), warp_size, plus{});
    const float sum = combine(exchange, of_warp);
    finish<logarithm, width>(share, values, sum, a.dx.data + row * a.dx.row_stride);
}

template <bool logarithm, class T, int width, int elements>
__global__ void __launch_bounds__(tile::block_threads, tile::blocks_per_sm)
    gradient_streamed(gradient_arguments<T> a) {
    using share_type = row_share<T, width, elements>;
    __shared__ row_exchange<1>::storage shared;
    row_exchange<1> exchange(shared);
    const unsigned blocks = ptx::cluster_blocks();
    const std::int64_t row = ptx::cluster_id();
    const T* y = a.y.data + row * a.y.row_stride;
    const T* dy = a.dy.data + row * a.dy.row_stride;
    const std::int64_t chunk = std::int64_t{elements} * blocks * blockDim.x;
    const auto share_at = [&](std::int64_t col) { return share_type::of_chunk(a.dx.cols - col, chunk); };

    held<share_type> values;
    float of_thread = 0;
    std::int64_t col = 0;
    for (; col < a.dx.cols; col += chunk) {
        const auto share = share_at(col);
        load(share, y + col, dy + col, values);
        of_thread += sum_of<logarithm, width>(share, values);
    }
    const float sum = combine(exchange, lanes_reduce(of_thread, warp_size, plus{}));
    for (col -= chunk; col >= 0; col -= chunk) {
        const auto share = share_at(col);
        load(share, y + col, dy + col, values);
        finish<logarithm, width>(share, values, sum, a.dx.data + row * a.dx.row_stride + col);
    }
}

}  // namespace

gradient_plan plan_gradient_vectorized(const gradient_facts& problem, const device_traits& device) {
    return {plan_rows(problem, device, tile::most_elements), load_width(problem)};
}

template <bool logarithm, class T>
void launch_gradient_vectorized(const gradient_plan& plan, const gradient_arguments<T>& arguments,
                                cudaStream_t stream) {
    launch_rows<T>(plan.rows, plan.width, arguments, stream, [&]<int width>(elements_constant<width>) {
        return kernel_of_rows<width, tile::most_elements>(
            plan.rows,
            []<int elements>(elements_constant<elements>) {
                return gradient_lanes<logarithm, T, width, elements>;
            },
            []<int elements>(elements_constant<elements>) {
                return gradient_block<logarithm, T, width, elements>;
            },
            []<int elements>(elements_constant<elements>) {
                return gradient_streamed<logarithm, T, width, elements>;
            });
    });
}

HEDDLE_LAUNCHES_OF_BOTH(launch_gradient_vectorized, gradient_plan, gradient_arguments)

}  // namespace heddle::kernels::softmax
