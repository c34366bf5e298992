// vectorized: every element is read once, kept in a register, and written once.
//
//   up to 1024 elements:  a warp per row, or per 2 to 32 short rows: shuffles, no barrier
//   up to 16384:          a block of up to 512 threads per row
//   up to 131072:         a cluster of up to eight blocks per row, which exchange numbers through shared memory
//   longer:               a block or cluster per row, which reads it twice, the second time from its end backwards,
//                         where L2 still holds it
//
// Rows are read in packets of 16 bytes, or element by element where addresses or row lengths are no multiples of that.
// Each warp computes the mean of its elements, then the squares of their deviations, both from registers. A row needs
// only one exchange of (count, mean, squares). The squares about the warps' means and the spread of these means give
// the squares about the row's mean (Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing
// sample variances", 1979). So no large sums are subtracted. Clusters need compute capability 9.0; elsewhere rows
// beyond 16384 are read twice. The elements of a row must lie side by side. The limit is DRAM.

#include "kernels/device/launchers.hpp"
#include "kernels/device/row.cuh"
#include "kernels/device/row_launch.hpp"
#include "kernels/norm/launch.hpp"
#include "kernels/norm/scale.cuh"

#include <cstdint>

namespace heddle::kernels::norm {
namespace {

struct tile : row_limits {
    static constexpr int lanes_blocks_per_sm = 4;
    static constexpr int medium_blocks_per_sm = 3;
    static constexpr int large_blocks_per_sm = 2;
};

struct moments {
    float count;
    float mean;     ///< of `count` elements; 0 for rms_norm
    float squares;  ///< the sum of the squared deviations from the mean
};

/// The moments of the `count` elements that a group of lanes holds; values beyond these are 0.
template <bool centred, class Share, int elements>
__device__ moments moments_of(const Share& share, const float (&values)[elements], int count,
                              unsigned lanes) {
    constexpr int width = elements / Share::packets;
    float mean = 0;
    if constexpr (centred) {
        float sum = 0;
#pragma unroll
        for (int e = 0; e < elements; ++e) sum += values[e];
        sum = lanes_reduce(sum, lanes, plus{});
        if (count > 0) mean = sum / static_cast<float>(count);
    }
    float squares = 0;
#pragma unroll
    for (int e = 0; e < elements; ++e) {
        const float deviation = values[e] - mean;
        if (!centred || share.holds(e / width)) squares += deviation * deviation;
    }
    return {static_cast<float>(count), mean, lanes_reduce(squares, lanes, plus{})};
}

/// The moments of both sets together.
template <bool centred>
__device__ moments merge(const moments& a, const moments& b) {
    if constexpr (!centred) return {a.count + b.count, 0, a.squares + b.squares};
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const float count = a.count + b.count;
    const float share_of_b = b.count / count;
    const float distance = b.mean - a.mean;
    return {count, a.mean + distance * share_of_b,
            a.squares + b.squares + distance * distance * (a.count * share_of_b)};
}

template <bool centred>
using exchange_of = row_exchange<centred ? 3 : 1>;

/// The moments of the row, from those of the warps that share it.
template <bool centred>
__device__ moments combine(exchange_of<centred>& exchange, const moments& of_warp, float cols) {
    const unsigned lane = threadIdx.x % warp_size;
    float mean = 0;
    float squares = 0;
    if constexpr (centred) {
        exchange.publish({of_warp.squares, of_warp.mean, of_warp.count});
        float sum = 0;
        for (unsigned w = lane; w < exchange.warps(); w += warp_size)
            sum += exchange.number(1, w) * exchange.number(2, w);
        mean = lanes_reduce(sum, warp_size, plus{}) / cols;
        for (unsigned w = lane; w < exchange.warps(); w += warp_size) {
            const float distance = exchange.number(1, w) - mean;
            if (exchange.number(2, w) > 0)
                squares += exchange.number(0, w) + exchange.number(2, w) * (distance * distance);
        }
    } else {
        exchange.publish({of_warp.squares});
        for (unsigned w = lane; w < exchange.warps(); w += warp_size) squares += exchange.number(0, w);
    }
    return {cols, mean, lanes_reduce(squares, warp_size, plus{})};
}

/// Computes and stores the results. The columns of this share start at `col`. A packet's parameters are loaded
/// when their turn comes: all at once would take twice as many registers as the row.
template <bool centred, class T, class Share, int elements>
__device__ void finish(const arguments<T>& a, std::int64_t col, const Share& share, T* y,
                       const float (&values)[elements], const moments& row) {
    using packet = typename Share::packet;
    constexpr int width = elements / Share::packets;
    const float scale = reciprocal_deviation(row.squares, row.count, a.epsilon);
#pragma unroll
    for (int p = 0; p < Share::packets; ++p) {
        if (!share.holds(p)) continue;
        float results[width];
#pragma unroll
        for (int e = 0; e < width; ++e) results[e] = (values[p * width + e] - row.mean) * scale;
        if (a.gamma.size > 0) {
            const packet gamma = share.at(a.gamma.data + col, p);
#pragma unroll
            for (int e = 0; e < width; ++e) results[e] *= static_cast<float>(gamma[e]);
        }
        if (centred && a.beta.size > 0) {
            const packet beta = share.at(a.beta.data + col, p);
#pragma unroll
            for (int e = 0; e < width; ++e) results[e] += static_cast<float>(beta[e]);
        }
        packet result;
#pragma unroll
        for (int e = 0; e < width; ++e) result[e] = static_cast<T>(results[e]);
        share.at(y, p) = result;
    }
}

/// blockDim.x lanes share a row; a block has blockDim.y rows.
template <bool centred, class T, int width, int elements>
__global__ void __launch_bounds__(tile::lanes_threads, tile::lanes_blocks_per_sm) lanes(arguments<T> a) {
    const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    const auto share = row_share<T, width, elements>::of_lanes(row < a.x.rows ? a.x.cols : 0);

    float values[elements];
    share.load(a.x.data + row * a.x.row_stride, values, 0);

    const moments of_row = moments_of<centred>(share, values, static_cast<int>(a.x.cols), blockDim.x);
    finish<centred>(a, 0, share, a.y.data + row * a.y.row_stride, values, of_row);
}

template <bool centred, class T, int width, int elements>
__global__ void __launch_bounds__(tile::block_threads, elements == tile::medium_elements
                                                           ? tile::medium_blocks_per_sm
                                                           : tile::large_blocks_per_sm)
    block(arguments<T> a) {
    __shared__ typename exchange_of<centred>::storage shared;
    exchange_of<centred> exchange(shared);
    const std::int64_t row = ptx::cluster_id();
    const auto share = row_share<T, width, elements>::of_block(a.x.cols);

    float values[elements];
    share.load(a.x.data + row * a.x.row_stride, values, 0);

    const moments of_warp = moments_of<centred>(share, values, share.elements_of_warp(), warp_size);
    const moments of_row = combine<centred>(exchange, of_warp, static_cast<float>(a.x.cols));
    finish<centred>(a, 0, share, a.y.data + row * a.y.row_stride, values, of_row);
}

template <bool centred, class T, int width, int elements>
__global__ void __launch_bounds__(tile::block_threads, tile::large_blocks_per_sm) streamed(arguments<T> a) {
    __shared__ typename exchange_of<centred>::storage shared;
    exchange_of<centred> exchange(shared);
    const unsigned blocks = ptx::cluster_blocks();
    const std::int64_t row = ptx::cluster_id();
    const T* x = a.x.data + row * a.x.row_stride;
    T* y = a.y.data + row * a.y.row_stride;
    const std::int64_t chunk = std::int64_t{elements} * blocks * blockDim.x;
    const auto share_at = [&](std::int64_t col) {
        return row_share<T, width, elements>::of_chunk(a.x.cols - col, chunk);
    };

    float values[elements];
    moments of_warp{0, 0, 0};
    std::int64_t col = 0;
    for (; col < a.x.cols; col += chunk) {
        const auto share = share_at(col);
        share.load(x + col, values, 0);
        of_warp =
            merge<centred>(of_warp, moments_of<centred>(share, values, share.elements_of_warp(), warp_size));
    }

    const moments of_row = combine<centred>(exchange, of_warp, static_cast<float>(a.x.cols));

    for (col -= chunk; col >= 0; col -= chunk) {
        const auto share = share_at(col);
        share.load(x + col, values, 0);
        finish<centred>(a, col, share, y + col, values, of_row);
    }
}

}  // namespace

plan plan_vectorized(const norm_facts& problem, const device_traits& device) {
    return {plan_rows(problem, device), load_width(problem)};
}

template <bool centred, class T>
void launch_vectorized(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    launch_rows<T>(plan.rows, plan.width, arguments, stream, [&]<int width>(elements_constant<width>) {
        return kernel_of_rows<width>(
            plan.rows,
            []<int elements>(elements_constant<elements>) { return lanes<centred, T, width, elements>; },
            []<int elements>(elements_constant<elements>) { return block<centred, T, width, elements>; },
            []<int elements>(elements_constant<elements>) { return streamed<centred, T, width, elements>; });
    });
}

HEDDLE_LAUNCHES_OF_BOTH(launch_vectorized, plan, arguments)

}  // namespace heddle::kernels::norm
