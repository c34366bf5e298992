// vectorized: every element is read once, kept in a register, and written once.
//
//   up to 1024 elements:  a warp per row, or per 2 to 32 short rows: shuffles, no barrier
//   up to 16384:          a block of up to 512 threads per row
//   up to 131072:         a cluster of up to eight blocks per row, which exchange numbers through shared memory
//   longer:               a block or cluster per row, which reads it twice, the second time from its end backwards,
//                         where L2 still holds it
//
// Rows are read in packets of 16 bytes, or element by element where addresses or row lengths are no multiples of
// that. Each warp has its own largest element m_w and sum s_w relative to it. A row needs only one exchange of
// these pairs: exp(x - m) / s is exp(x - m_w) times exp(m_w - m) / s, one factor for the whole warp. Clusters
// need compute capability 9.0; elsewhere rows beyond 16384 are read twice. The elements of a row must lie side
// by side. The limit is DRAM.

#include "kernels/device/launchers.hpp"
#include "kernels/device/row.cuh"
#include "kernels/device/row_launch.hpp"
#include "kernels/softmax/exponential.cuh"
#include "kernels/softmax/launch.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace heddle::kernels::softmax {
namespace {

struct tile : row_limits {
    /// Five blocks that load packets share the registers. Four do where the logarithm keeps elements beside their sum, or
    /// where a thread holds large_elements floats. Rows that are loaded element by element take more registers.
    static constexpr int lanes_blocks_per_sm(bool logarithm, int width, int elements) {
        if (width == 1) return elements == large_elements ? 3 : 4;
        return logarithm || (width == 4 && elements == large_elements) ? 4 : 5;
    }
    static constexpr int medium_blocks_per_sm = 3;
    static constexpr int large_blocks_per_sm = 2;
};

/// Makes the results of values that are relative to `held.largest`: exponentials, or for the logarithm the
/// differences that origin_of() left.
template <bool logarithm, class T, int elements>
__device__ void finish(float (&values)[elements], const normalizer& held, const normalizer& row) {
    if constexpr (logarithm) {
        const float origin = isinf(held.largest) ? -difference(held.largest, row.largest) : row.largest;
        const float log_sum = logf(row.sum);
#pragma unroll
        for (int e = 0; e < elements; ++e) values[e] = values[e] - origin - log_sum;
    } else {
        const float factor = exponential<T>(difference(held.largest, row.largest)) / row.sum;
#pragma unroll
        for (int e = 0; e < elements; ++e) values[e] *= factor;
    }
}

/// blockDim.x lanes share a row; a block has blockDim.y rows.
template <bool logarithm, class T, int width, int elements>
__global__ void __launch_bounds__(tile::lanes_threads, tile::lanes_blocks_per_sm(logarithm, width, elements))
    lanes(arguments<T> a) {
    const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    const auto share = row_share<T, width, elements>::of_lanes(row < a.x.rows ? a.x.cols : 0);

    float values[elements];
    share.load(a.x.data + row * a.x.row_stride, values, -infinity);

    const normalizer of_row = normalize<logarithm, T>(share, values, blockDim.x);
    finish<logarithm, T>(values, of_row, of_row);

    share.store(a.y.data + row * a.y.row_stride, values);
}

template <bool logarithm, class T, int width, int elements>
__global__ void __launch_bounds__(tile::block_threads, elements == tile::medium_elements
                                                           ? tile::medium_blocks_per_sm
                                                           : tile::large_blocks_per_sm)
    block(arguments<T> a) {
    __shared__ row_exchange<2>::storage shared;
    row_exchange<2> exchange(shared);
    const std::int64_t row = ptx::cluster_id();
    const auto share = row_share<T, width, elements>::of_block(a.x.cols);

    float values[elements];
    share.load(a.x.data + row * a.x.row_stride, values, -infinity);

    const normalizer of_warp = normalize<logarithm, T>(share, values, warp_size);
    exchange.publish({of_warp.largest, of_warp.sum});
    const normalizer of_row = combine<T>(exchange);
    finish<logarithm, T>(values, of_warp, of_row);

    share.store(a.y.data + row * a.y.row_stride, values);
}

template <bool logarithm, class T, int width, int elements>
__global__ void __launch_bounds__(tile::block_threads, tile::large_blocks_per_sm) streamed(arguments<T> a) {
    __shared__ row_exchange<2>::storage shared;
    row_exchange<2> exchange(shared);
    const unsigned blocks = ptx::cluster_blocks();
    const std::int64_t row = ptx::cluster_id();
    const T* x = a.x.data + row * a.x.row_stride;
    T* y = a.y.data + row * a.y.row_stride;
    const std::int64_t chunk = std::int64_t{elements} * blocks * blockDim.x;
    const auto share_at = [&](std::int64_t col) {
        return row_share<T, width, elements>::of_chunk(a.x.cols - col, chunk);
    };

    float values[elements];
    normalizer mine{-infinity, 0};
    std::int64_t col = 0;
    for (; col < a.x.cols; col += chunk) {
        const auto share = share_at(col);
        share.load(x + col, values, -infinity);
        add<T>(mine, share, values);
    }

    const normalizer of_warp = combine<T>(mine);
    exchange.publish({of_warp.largest, of_warp.sum});
    const normalizer of_row = combine<T>(exchange);

    for (col -= chunk; col >= 0; col -= chunk) {
        const auto share = share_at(col);
        share.load(x + col, values, -infinity);
        const float origin = origin_of(share, values, of_row.largest);
        if constexpr (!logarithm) take_exponentials<T>(values, origin);
        finish<logarithm, T>(values, of_row, of_row);
        share.store(y + col, values);
    }
}

}  // namespace

plan plan_vectorized(const softmax_facts& problem, const device_traits& device) {
    return {plan_rows(problem, device), load_width(problem)};
}

template <bool logarithm, class T>
void launch_vectorized(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    launch_rows<T>(plan.rows, plan.width, arguments, stream, [&]<int width>(elements_constant<width>) {
        return kernel_of_rows<width>(
            plan.rows,
            []<int elements>(elements_constant<elements>) { return lanes<logarithm, T, width, elements>; },
            []<int elements>(elements_constant<elements>) { return block<logarithm, T, width, elements>; },
            []<int elements>(elements_constant<elements>) {
                return streamed<logarithm, T, width, elements>;
            });
    });
}

HEDDLE_LAUNCHES_OF_BOTH(launch_vectorized, plan, arguments)

}  // namespace heddle::kernels::softmax
