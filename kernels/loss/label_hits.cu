// label_hits: rows are read once, in packets of 16 bytes, and no index is kept.
//
//   row:   | < label ... < label | label | <= label ... <= label |     a hit, where no element is NaN
//
// The label is the argmax where all elements before it are less and all after it are at most equal. So a thread keeps two
// numbers: the largest element before the label's packet, and the largest after. 16-bit elements are compared in pairs, as
// they lie in memory. A warp takes a row, and a block takes a long one (plan/label_hits.hpp). The elements of a row must
// lie side by side; warp_per_row.cu takes any strides. The limit is DRAM.

#include "kernels/device/block_reduce.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/ptx/min_max.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/row.cuh"
#include "kernels/loss/launch.hpp"

#include <cstdint>
#include <limits>

namespace heddle::kernels::loss {
namespace {

struct tile {
    static constexpr int threads = label_hits_plan::threads;
    static constexpr int blocks_per_sm = 6;
    static constexpr int packets = 4;   ///< that a thread loads at once
    static constexpr int elements = 8;  ///< that a thread loads at once where it reads no packets
};

constexpr float infinity = std::numeric_limits<float>::infinity();

/// NaN counts as larger than all else.
struct larger_or_nan {
    template <class T>
    static __device__ T identity() {
        return -infinity;
    }
    __device__ float operator()(float a, float b) const { return ptx::max_nan(a, b); }
};

template <class T, int width, class Share>
__device__ float largest_of(const typename Share::packet_bits& packet) {
    if constexpr (sizeof(T) == 2 && width > 1) {
        unsigned pair = packet[0];
#pragma unroll
        for (int w = 1; w < width / 2; ++w) pair = ptx::max_nan_pair<T>(pair, packet[w]);
        const auto elements = __builtin_bit_cast(vector<T, 2>, pair);
        return ptx::max_nan(static_cast<float>(elements[0]), static_cast<float>(elements[1]));
    } else {
        const auto values = Share::to_floats(packet);
        float largest = values[0];
#pragma unroll
        for (int e = 1; e < width; ++e) largest = ptx::max_nan(largest, values[e]);
        return largest;
    }
}

/// blockDim.x threads share a row: a warp, or the block.
template <class T, int width>
__global__ void __launch_bounds__(tile::threads, tile::blocks_per_sm) hits(label_hits_arguments<T> a) {
    constexpr int packets = width == 1 ? tile::elements : tile::packets;
    using share = row_share<T, width, packets * width>;
    const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    if (row >= a.scores.rows) return;  // a whole warp returns; a block of one row never does
    const T* x = a.scores.data + row * a.scores.row_stride;
    const int thread = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
    const std::int64_t chunk = std::int64_t{packets} * width * step;
    const auto share_at = [&](std::int64_t col) {
        const std::int64_t left = a.scores.cols - col;
        return share{thread, step, static_cast<int>((left < chunk ? left : chunk) / width)};
    };

    typename share::packet_bits loaded[packets];
    share_at(0).load(x, loaded, -infinity);
    issue_loads();
    const std::int64_t label = a.labels.data[row * a.labels.stride];
    const bool is_col = label >= 0 && label < a.scores.cols;
    const std::int64_t packet_col = is_col ? label - label % width : 0;

    // The row's first threads compare the label's packet, an element each.
    float before = -infinity, after = -infinity, score = 0;
    if (thread < width && is_col) {
        const std::int64_t col = packet_col + thread;
        score = static_cast<float>(x[col]);
        if (col < label) before = score;
        if (col > label) after = score;
    }
    const float label_score = __shfl_sync(0xffffffffu, score, static_cast<int>(is_col ? label % width : 0));

    for (std::int64_t col = 0; is_col;) {
        const std::int64_t from_here = (packet_col - col) / width;
        const int label_packet = static_cast<int>(from_here < 0 ? -1 : from_here);
#pragma unroll
        for (int p = 0; p < packets; ++p) {
            const float largest = largest_of<T, width, share>(loaded[p]);
            const int packet = thread + p * step;
            if (packet < label_packet) before = ptx::max_nan(before, largest);
            if (packet > label_packet) after = ptx::max_nan(after, largest);
        }
        col += chunk;
        if (col >= a.scores.cols) break;
        share_at(col).load(x + col, loaded, -infinity);
    }

    before = block_reduce(before, larger_or_nan{});
    if (step > warp_size) ptx::sync_threads();  // both reductions use the same shared memory
    after = block_reduce(after, larger_or_nan{});
    if (thread != 0) return;
    const bool is_largest = (label == 0 || before < label_score) && after <= label_score;
    const bool is_hit = is_col && (isnan(label_score) ? !isnan(before) : is_largest);
    a.hits.data[row * a.hits.stride] = is_hit ? 1 : 0;
}

}  // namespace

template <class T>
void launch_label_hits(const label_hits_plan& plan, const label_hits_arguments<T>& arguments,
                       cudaStream_t stream) {
    constexpr int packet = max_vector_bytes / static_cast<int>(sizeof(T));
    launch({.blocks = {plan.blocks}, .threads = {plan.lanes, tile::threads / plan.lanes}, .stream = stream},
           plan.width == 1 ? hits<T, 1> : hits<T, packet>, arguments);
}

HEDDLE_LAUNCHES(launch_label_hits, label_hits_plan, label_hits_arguments)

}  // namespace heddle::kernels::loss
