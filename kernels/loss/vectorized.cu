// vectorized: every logit is read once, kept in a register, and its gradient written once.
//
//   up to 1024 classes:  a warp per row, or per 2 to 32 short rows: shuffles, no barrier
//   up to 262144:        a block or cluster per row, whose warps exchange the pairs (m_w, s_w)
//   more:                a block or cluster per row, which reads it twice, the second time from its end backwards,
//                        where L2 still holds it; once, where no gradient is wanted
//
// The plan is softmax's (kernels/device/row_plan.hpp), with larger clusters. So is the arithmetic
// (kernels/device/normalizer.cuh): exp(x - m) / s is exp(x - m_w) times one factor for all of a warp. Rows of 16-bit
// packets stay packed in registers (kernels/device/packed_row.cuh) where they are long and many, or where nothing else
// holds them, up to 524288 classes. The label's logit is loaded along with the row, and its gradient is stored last.
// The elements of a row must lie side by side. The limit is DRAM.

#include "kernels/device/launchers.hpp"
#include "kernels/device/packed_row.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/row.cuh"
#include "kernels/device/row_launch.hpp"
#include "kernels/loss/launch.hpp"
#include "kernels/loss/row_target.cuh"

#include <cstdint>

namespace heddle::kernels::loss {
namespace {

struct tile : row_limits {
    /// Four blocks share the registers. Three do where many elements are loaded one by one.
    static constexpr int lanes_blocks_per_sm(int width, int elements) {
        return width == 1 && elements == large_elements ? 3 : 4;
    }
    static constexpr int medium_blocks_per_sm = 3;
    static constexpr int large_blocks_per_sm = 2;

    /// Packets of 16-bit elements may stay packed.
    static constexpr int most_elements(int width) {
        return width == max_vector_bytes / 2 ? packed_elements : large_elements;
    }
};

/// The sum over a thread's elements of the label's logit less the element.
template <class Share, int elements>
__device__ float distances_of(const Share& share, const float (&values)[elements], float logit) {
    constexpr int width = elements / Share::packets;
    float sum = 0;
#pragma unroll
    for (int e = 0; e < elements; ++e) sum += share.holds(e / width) ? difference(logit, values[e]) : 0;
    return sum;
}

/// Makes the gradient of exponentials that are relative to `held`.
template <class T>
struct gradient_of_row {
    row_target target;
    one_hot hot;
    float factor;
    float held_largest;

    __device__ gradient_of_row(const cross_entropy_arguments<T>& a, const row_target& of_row,
                               const normalizer& held, const normalizer& row)
        : target(of_row),
          hot(a),
          factor(exponential<T>(difference(held.largest, row.largest)) / row.sum * a.scale),
          held_largest(held.largest) {}

    /// Stores the gradient as if no column were the label: a test of each column would cost two more instructions.
    template <class Share, int elements>
    __device__ void store(T* y, const Share& share, float (&values)[elements]) const {
        if (!target.is_col()) return share.fill(y, target.fill());
#pragma unroll
        for (int e = 0; e < elements; ++e) values[e] = fmaf(values[e], factor, -hot.of_others);
        share.store(y, values);
    }

    /// The thread that wrote the label's packet stores the label's gradient. `share` begins at the row's column `first_col`.
    template <class Share>
    __device__ void store_label(T* y, const Share& share, float logit, std::int64_t first_col = 0) const {
        constexpr auto width = static_cast<int>(sizeof(typename Share::packet) / sizeof(T));
        if (!target.is_col() || target.col < first_col) return;
        if (share.has(static_cast<int>((target.col - first_col) / width)))
            y[target.col] =
                static_cast<T>(fmaf(exponential<T>(difference(logit, held_largest)), factor, -hot.of_label));
    }
};

/// The sum of the numbers `n` that the warps of a row have published.
template <int size>
__device__ float total_of(const row_exchange<size>& exchange, int n) {
    float sum = 0;
    for (unsigned w = threadIdx.x % warp_size; w < exchange.warps(); w += warp_size)
        sum += exchange.number(n, w);
    return lanes_reduce(sum, warp_size, plus{});
}

/// blockDim.x lanes share a row; a block has blockDim.y rows.
template <class T, int width, int elements>
__global__ void __launch_bounds__(tile::lanes_threads, tile::lanes_blocks_per_sm(width, elements))
    lanes(cross_entropy_arguments<T> a) {
    const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    const bool has_row = row < a.logits.rows;
    const auto share = row_share<T, width, elements>::of_lanes(has_row ? a.logits.cols : 0);

    float values[elements];
    share.load(a.logits.data + row * a.logits.row_stride, values, -infinity);
    issue_loads();
    const row_target target = has_row ? target_of(a, row) : row_target{};
    const float logit = logit_of(a, row, target);
    float distances = 0;
    if (a.smoothing > 0) distances = lanes_reduce(distances_of(share, values, logit), blockDim.x, plus{});

    const normalizer of_row = normalize<false, T>(share, values, blockDim.x);
    if (has_row && threadIdx.x == 0) write_loss(a.loss, row, loss_of(a, target, of_row, logit, distances));
    if (!is_wanted(a.gradient)) return;
    const gradient_of_row<T> gradient(a, target, of_row, of_row);
    ptx::sync_warp();  // every lane has read the label's logit
    T* y = a.gradient.data + row * a.gradient.row_stride;
    gradient.store(y, share, values);
    gradient.store_label(y, share, logit);
}

template <class T, int width, int elements>
__global__ void __launch_bounds__(tile::block_threads, elements == tile::medium_elements
                                                           ? tile::medium_blocks_per_sm
                                                           : tile::large_blocks_per_sm)
    block(cross_entropy_arguments<T> a) {
    __shared__ row_exchange<3>::storage shared;
    row_exchange<3> exchange(shared);
    const std::int64_t row = ptx::cluster_id();
    const auto share = row_share<T, width, elements>::of_block(a.logits.cols);

    float values[elements];
    share.load(a.logits.data + row * a.logits.row_stride, values, -infinity);
    issue_loads();
    const row_target target = target_of(a, row);
    const float logit = logit_of(a, row, target);
    float distances = 0;
    if (a.smoothing > 0) distances = lanes_reduce(distances_of(share, values, logit), warp_size, plus{});

    const normalizer of_warp = normalize<false, T>(share, values, warp_size);
    exchange.publish({of_warp.largest, of_warp.sum, distances});
    const normalizer of_row = combine<T>(exchange);
    if (a.smoothing > 0) distances = total_of(exchange, 2);
    if (ptx::cluster_rank() == 0 && threadIdx.x == 0)
        write_loss(a.loss, row, loss_of(a, target, of_row, logit, distances));
    if (!is_wanted(a.gradient)) return;
    const gradient_of_row<T> gradient(a, target, of_warp, of_row);
    T* y = a.gradient.data + row * a.gradient.row_stride;
    gradient.store(y, share, values);
    gradient.store_label(y, share, logit);
}

/// As block(), but 16-bit elements stay packed. A row takes half the registers, so an SM has two rows and loads one while
/// it stores the other. Each exponential is computed twice.
template <class T, int width, int elements>
__global__ void __launch_bounds__(tile::block_threads, tile::large_blocks_per_sm)
    packed(cross_entropy_arguments<T> a) {
    __shared__ row_exchange<3>::storage shared;
    row_exchange<3> exchange(shared);
    const std::int64_t row = ptx::cluster_id();
    const auto share = row_share<T, width, elements>::of_block(a.logits.cols);

    packed_row<T, width, elements> held(share, a.logits.data + row * a.logits.row_stride);
    issue_loads();
    const row_target target = target_of(a, row);
    const float logit = logit_of(a, row, target);
    float distances = 0;
    if (a.smoothing > 0) {
        held.for_each([&](const auto& packet, float(&values)[width]) {
            distances += distances_of(packet, values, logit);
        });
        distances = lanes_reduce(distances, warp_size, plus{});
    }

    const normalizer of_warp = held.normalize();
    exchange.publish({of_warp.largest, of_warp.sum, distances});
    const normalizer of_row = combine<T>(exchange);
    if (a.smoothing > 0) distances = total_of(exchange, 2);
    if (ptx::cluster_rank() == 0 && threadIdx.x == 0)
        write_loss(a.loss, row, loss_of(a, target, of_row, logit, distances));
    if (!is_wanted(a.gradient)) return;
    const gradient_of_row<T> gradient(a, target, of_warp, of_row);
    T* y = a.gradient.data + row * a.gradient.row_stride;
    held.for_each([&](const auto& packet, float(&values)[width]) {
        take_exponentials<T>(values, held.origin());
        gradient.store(y, packet, values);
    });
    gradient.store_label(y, share, logit);
}

template <class T, int width, int elements>
__global__ void __launch_bounds__(tile::block_threads, tile::large_blocks_per_sm)
    streamed(cross_entropy_arguments<T> a) {
    __shared__ row_exchange<3>::storage shared;
    row_exchange<3> exchange(shared);
    const std::int64_t row = ptx::cluster_id(), cols = a.logits.cols;
    const T* x = a.logits.data + row * a.logits.row_stride;
    const std::int64_t chunk = std::int64_t{elements} * ptx::cluster_blocks() * blockDim.x;
    const auto share_at = [&](std::int64_t col) {
        return row_share<T, width, elements>::of_chunk(cols - col, chunk);
    };
    const row_target target = target_of(a, row);
    const float logit = logit_of(a, row, target);

    float values[elements];
    normalizer mine{-infinity, 0};
    float distances = 0;
    std::int64_t col = 0;
    for (; col < cols; col += chunk) {
        const auto share = share_at(col);
        share.load(x + col, values, -infinity);
        if (a.smoothing > 0) distances += distances_of(share, values, logit);
        add<T>(mine, share, values);
    }

    const normalizer of_warp = combine<T>(mine);
    exchange.publish({of_warp.largest, of_warp.sum, lanes_reduce(distances, warp_size, plus{})});
    const normalizer of_row = combine<T>(exchange);
    distances = total_of(exchange, 2);
    if (ptx::cluster_rank() == 0 && threadIdx.x == 0)
        write_loss(a.loss, row, loss_of(a, target, of_row, logit, distances));
    if (!is_wanted(a.gradient)) return;

    const gradient_of_row<T> gradient(a, target, of_row, of_row);
    T* y = a.gradient.data + row * a.gradient.row_stride;
    for (col -= chunk; col >= 0; col -= chunk) {
        const auto share = share_at(col);
        share.load(x + col, values, -infinity);
        const float origin = origin_of(share, values, of_row.largest);
        take_exponentials<T>(values, origin);
        gradient.store(y + col, share, values);
        gradient.store_label(y, share, logit, col);
    }
}

}  // namespace

plan plan_vectorized(const loss_facts& problem, const device_traits& device) {
    return {plan_rows(problem, device, tile::most_elements(load_width(problem)), tile::most_blocks),
            load_width(problem)};
}

template <class T>
void launch_vectorized(const plan& plan, const cross_entropy_arguments<T>& arguments, cudaStream_t stream) {
    launch_rows<T>(plan.rows, plan.width, arguments, stream, [&]<int width>(elements_constant<width>) {
        return kernel_of_rows<width, tile::most_elements(width)>(
            plan.rows, []<int elements>(elements_constant<elements>) { return lanes<T, width, elements>; },
            []<int elements>(elements_constant<elements>) {
                if constexpr (elements == tile::packed_elements)
                    return packed<T, width, elements>;
                else
                    return block<T, width, elements>;
            },
            []<int elements>(elements_constant<elements>) { return streamed<T, width, elements>; });
    });
}

HEDDLE_LAUNCHES(launch_vectorized, plan, cross_entropy_arguments)

}  // namespace heddle::kernels::loss
