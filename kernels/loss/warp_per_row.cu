// warp_per_row: one warp per row; the largest element and the sum in one pass.
//
//   lane l:  elements l, l + 32, ...   m' = max(m, x),  s' = s exp(m - m') + exp(x - m'): whenever a larger
//   warp:    (m, s) + (m', s')         element comes, the sum so far is brought up to it
//
// A warp's loads of a row-major matrix lie side by side. Two of the three passes are left (Milakov and Gimelshein,
// "Online normalizer calculation for softmax", 2018). There is no barrier, and a block has several rows, so that few
// classes keep it busy. Its limits are a load instruction for every element, each waiting for the one before it, two
// reads, and idle SMs where rows are few. It takes any strides.

#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/row_launch.hpp"
#include "kernels/device/strided_row.cuh"
#include "kernels/loss/launch.hpp"
#include "kernels/loss/row_target.cuh"
#include "kernels/loss/squared_error.cuh"

#include <cstdint>

namespace heddle::kernels::loss {
namespace {

struct tile {
    static constexpr int rows = 8;
    static constexpr int threads = rows * warp_size;
};

__device__ std::int64_t row_of_warp() {
    return std::int64_t{blockIdx.x} * tile::rows + threadIdx.x / warp_size;
}

template <class T>
__global__ void __launch_bounds__(tile::threads) warp_per_row(cross_entropy_arguments<T> a) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t row = row_of_warp();
    if (row >= a.logits.rows) return;
    const strided_row x(a.logits, row);
    const row_target target = target_of(a, row);
    const float logit = logit_of(a, row, target);

    normalizer mine{-infinity, 0};
    float distances = 0;
    for (std::int64_t col = lane; col < a.logits.cols; col += warp_size) {
        const float value = x(col);
        const float former = mine.largest;
        mine.largest = fmaxf(mine.largest, value);
        mine.sum = mine.sum * exponential<T>(difference(former, mine.largest)) +
                   exponential<T>(difference(value, mine.largest));
        distances += difference(logit, value);
    }
    const normalizer of_row = combine<T>(mine);
    distances = lanes_reduce(distances, warp_size, plus{});

    if (lane == 0) write_loss(a.loss, row, loss_of(a, target, of_row, logit, distances));
    if (!is_wanted(a.gradient)) return;
    ptx::sync_warp();  // every lane has read the label's logit
    const one_hot hot(a);
    const float factor = a.scale / of_row.sum;
    T* y = a.gradient.data + row * a.gradient.row_stride;
    for (std::int64_t col = lane; col < a.logits.cols; col += warp_size) {
        const float wanted = col == target.col ? hot.of_label : hot.of_others;
        const float share = exponential<T>(difference(x(col), of_row.largest));
        y[col * a.gradient.col_stride] =
            static_cast<T>(target.is_col() ? fmaf(share, factor, -wanted) : target.fill());
    }
}

template <class T>
__global__ void __launch_bounds__(tile::threads) warp_per_row(mean_squared_error_arguments<T> a) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t row = row_of_warp();
    if (row >= a.prediction.rows) return;
    const squared_error_row<T> in_row(a, row);
    float sum = 0;
    for (std::int64_t col = lane; col < a.prediction.cols; col += warp_size) sum += in_row.take_square(col);
    sum = lanes_reduce(sum, warp_size, plus{});
    if (lane == 0) write_loss(a.loss, row, sum / in_row.cols);
}

/// Whether row_argmax() prefers a column to the label: NaN wins, then the larger score, and the first of equals.
__device__ bool beats(float score, std::int64_t col, float label_score, std::int64_t label) {
    const bool is_equal = score == label_score || (isnan(score) && isnan(label_score));
    return is_equal ? col < label : isnan(score) || score > label_score;
}

template <class T>
__global__ void __launch_bounds__(tile::threads) hits_of_warps(label_hits_arguments<T> a) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t row = row_of_warp();
    if (row >= a.scores.rows) return;
    const T* x = a.scores.data + row * a.scores.row_stride;
    const std::int64_t label = a.labels.data[row * a.labels.stride];
    bool is_hit = label >= 0 && label < a.scores.cols;
    if (is_hit) {
        const auto label_score = static_cast<float>(x[label * a.scores.col_stride]);
#pragma unroll 8
        for (std::int64_t col = lane; col < a.scores.cols; col += warp_size)
            is_hit &= !beats(static_cast<float>(x[col * a.scores.col_stride]), col, label_score, label);
    }
    is_hit = __all_sync(0xffffffffu, is_hit) != 0;
    if (lane == 0) a.hits.data[row * a.hits.stride] = is_hit ? 1 : 0;
}

}  // namespace

plan plan_warp_per_row(const loss_facts& problem, const device_traits&) {
    return {.rows = {.threads = {tile::threads}, .blocks = divide_up(problem.rows, tile::rows)}};
}

template <class Arguments>
void launch_warp_per_row(const plan& plan, const Arguments& arguments, cudaStream_t stream) {
    void (*const kernel)(Arguments) = warp_per_row;
    launch_rows(plan.rows, kernel, arguments, stream);
}

template <class T>
void launch_label_hits_of_warps(const label_hits_plan& plan, const label_hits_arguments<T>& arguments,
                                cudaStream_t stream) {
    static_assert(label_hits_plan::threads == tile::threads);
    launch({.blocks = {plan.blocks}, .threads = {tile::threads}, .stream = stream}, hits_of_warps<T>,
           arguments);
}

HEDDLE_LAUNCHES(launch_warp_per_row, plan, cross_entropy_arguments)
HEDDLE_LAUNCHES(launch_warp_per_row, plan, mean_squared_error_arguments)
HEDDLE_LAUNCHES(launch_label_hits_of_warps, label_hits_plan, label_hits_arguments)

}  // namespace heddle::kernels::loss
