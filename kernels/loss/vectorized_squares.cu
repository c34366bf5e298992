// vectorized, for mean_squared_error: each element is read once and its gradient written at once.
//
//   up to 1024 columns:  a warp per row, or per 2 to 32 short rows
//   more:                a block or cluster per row, packet by packet: no element waits for the row's sum
//
// The plan is softmax's (kernels/device/row_plan.hpp). A thread holds 16 elements of both operands at a time, or fewer of
// short rows. The elements of a row must lie side by side. The limit is DRAM.

#include "kernels/device/launchers.hpp"
#include "kernels/device/row.cuh"
#include "kernels/device/row_launch.hpp"
#include "kernels/loss/launch.hpp"
#include "kernels/loss/row_target.cuh"
#include "kernels/loss/squared_error.cuh"

#include <cstdint>

namespace heddle::kernels::loss {
namespace {

struct tile : row_limits {
    static constexpr int lanes_blocks_per_sm(int elements) { return elements == large_elements ? 2 : 4; }
    static constexpr int block_blocks_per_sm = 2;
};

/// Stores the gradient of a share of a row from column `col` on. Returns the share's sum of squared differences.
template <class T, int width, int elements>
__device__ float take_squares(const mean_squared_error_arguments<T>& a,
                              const row_share<T, width, elements>& share, std::int64_t row, std::int64_t col,
                              float factor) {
    float values[elements], targets[elements];
    share.load(a.prediction.data + row * a.prediction.row_stride + col, values, 0);
    share.load(a.target.data + row * a.target.row_stride + col, targets, 0);
    float sum = 0;
#pragma unroll
    for (int e = 0; e < elements; ++e) {
        const float difference = values[e] - targets[e];
        sum += difference * difference;
        values[e] = squared_error_gradient(values[e], targets[e], factor);
    }
    if (is_wanted(a.gradient)) share.store(a.gradient.data + row * a.gradient.row_stride + col, values);
    return sum;
}

/// blockDim.x lanes share a row; a block has blockDim.y rows.
template <class T, int width, int elements>
__global__ void __launch_bounds__(tile::lanes_threads, tile::lanes_blocks_per_sm(elements))
    lanes(mean_squared_error_arguments<T> a) {
    const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    const bool has_row = row < a.prediction.rows;
    const auto share = row_share<T, width, elements>::of_lanes(has_row ? a.prediction.cols : 0);
    const auto cols = static_cast<float>(a.prediction.cols);
    const float squares = take_squares(a, share, row, 0, 2 / cols * a.scale);
    const float sum = lanes_reduce(squares, blockDim.x, plus{});
    if (has_row && threadIdx.x == 0) write_loss(a.loss, row, sum / cols);
}

template <class T, int width, int elements>
__global__ void __launch_bounds__(tile::block_threads, tile::block_blocks_per_sm)
    blocks(mean_squared_error_arguments<T> a) {
    __shared__ row_exchange<1>::storage shared;
    row_exchange<1> exchange(shared);
    const std::int64_t row = ptx::cluster_id();
    const std::int64_t chunk = std::int64_t{elements} * ptx::cluster_blocks() * blockDim.x;
    const auto cols = static_cast<float>(a.prediction.cols);
    const float factor = 2 / cols * a.scale;
    float sum = 0;
    for (std::int64_t col = 0; col < a.prediction.cols; col += chunk) {
        const auto share = row_share<T, width, elements>::of_chunk(a.prediction.cols - col, chunk);
        sum += take_squares(a, share, row, col, factor);
    }
    exchange.publish({lanes_reduce(sum, warp_size, plus{})});
    sum = 0;
    for (unsigned w = threadIdx.x % warp_size; w < exchange.warps(); w += warp_size)
        sum += exchange.number(0, w);
    sum = lanes_reduce(sum, warp_size, plus{});
    if (ptx::cluster_rank() == 0 && threadIdx.x == 0) write_loss(a.loss, row, sum / cols);
}

}  // namespace

plan plan_vectorized_squares(const loss_facts& problem, const device_traits& device) {
    return {plan_rows(problem, device), load_width(problem)};
}

template <class T>
void launch_vectorized(const plan& plan, const mean_squared_error_arguments<T>& arguments,
                       cudaStream_t stream) {
    launch_rows<T>(plan.rows, plan.width, arguments, stream, [&]<int width>(elements_constant<width>) {
        return kernel_of_rows<width>(
            plan.rows, []<int elements>(elements_constant<elements>) { return lanes<T, width, elements>; },
            [](auto) { return blocks<T, width, tile::medium_elements>; },
            []<int elements>(elements_constant<elements>) { return blocks<T, width, elements>; });
    });
}

HEDDLE_LAUNCHES(launch_vectorized, plan, mean_squared_error_arguments)

}  // namespace heddle::kernels::loss
