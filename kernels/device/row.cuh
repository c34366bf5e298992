#pragma once

#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/row_plan.hpp"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp_reduce.cuh"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace heddle::kernels {

/// One thread's share of a row of `count` packets: packets first, first + step, first + 2 step, ... With a step known at
/// compile time, one register holds all addresses.
///
///   row:      | p p p p p p p p | p p p p p p p p | p p p         packets of `width` elements
///   thread:     0 1 2 3 4 5 6 7   0 1 2 3 4 5 6 7   0 1 2         step = 8
template <class T, int width, int elements>
struct row_share {
    static constexpr int packets = elements / width;
    static_assert(packets * width == elements);
    using packet = vector<T, width>;
    /// A packet as words of registers; as one unsigned short where it is not whole words.
    using packet_bits =
        std::conditional_t<sizeof(packet) % sizeof(unsigned) == 0,
                           vector<unsigned, std::max<int>(sizeof(packet) / sizeof(unsigned), 1)>,
                           vector<unsigned short, 1>>;

    int first;
    int step;
    int count;

    /// The share of a row that blockDim.x lanes hold.
    __device__ static row_share of_lanes(std::int64_t cols) {
        return {static_cast<int>(threadIdx.x),
                has_whole_warps<width, elements> ? warp_size : static_cast<int>(blockDim.x),
                static_cast<int>(cols) / width};
    }

    /// The share of a row that a block or a cluster holds: each warp has a run of its own.
    __device__ static row_share of_block(std::int64_t cols) {
        const unsigned warp = (ptx::cluster_rank() * blockDim.x + threadIdx.x) / warp_size;
        return {static_cast<int>(warp * (warp_size * packets) + threadIdx.x % warp_size), warp_size,
                static_cast<int>(cols) / width};
    }

    /// The same for a row that is read chunk by chunk, with `left` columns left.
    __device__ static row_share of_chunk(std::int64_t left, std::int64_t chunk) {
        return of_block(left < chunk ? left : chunk);
    }

    /// How many elements the warp of a share of_block() has.
    __device__ int elements_of_warp() const {
        const int left = count - (first - static_cast<int>(threadIdx.x % warp_size));
        return width * (left < 0 ? 0 : left < warp_size * packets ? left : warp_size * packets);
    }

    __device__ bool holds(int p) const { return p * step < count - first; }

    /// Whether packet `packet_index` of the row belongs to this share.
    __device__ bool has(int packet_index) const {
        bool is_one = false;
#pragma unroll
        for (int p = 0; p < packets; ++p) is_one |= holds(p) && first + p * step == packet_index;
        return is_one;
    }

    /// The share that has only packet p of this one.
    __device__ row_share<T, width, width> only(int p) const {
        return {first + p * step, step, count};
    }

    /// Packet p of this share, in `row` or in an array that is parallel to it.
    __device__ packet& at(T* row, int p) const {
        return *(reinterpret_cast<packet*>(row) + first + p * step);
    }
    __device__ const packet& at(const T* row, int p) const {
        return *(reinterpret_cast<const packet*>(row) + first + p * step);
    }

    /// Loads the packets of this share as they lie in memory. Packets beyond the row get `rest` in all elements. All loads are
    /// issued before the first result is used, as only the words of a packet depend on whether the row has it.
    __device__ void load(const T* row, packet_bits (&loaded)[packets], float rest) const {
        packet rest_packet;
#pragma unroll
        for (int e = 0; e < width; ++e) rest_packet[e] = static_cast<T>(rest);
#pragma unroll
        for (int p = 0; p < packets; ++p) {
            loaded[p] = __builtin_bit_cast(packet_bits, rest_packet);
            if (holds(p)) loaded[p] = reinterpret_cast<const packet_bits&>(at(row, p));
        }
    }

    __device__ void load(const T* row, float (&values)[elements], float rest) const {
        packet_bits loaded[packets];
        load(row, loaded, rest);
#pragma unroll
        for (int p = 0; p < packets; ++p) {
            const auto packet_values = to_floats(loaded[p]);
#pragma unroll
            for (int e = 0; e < width; ++e) values[p * width + e] = packet_values[e];
        }
    }

    static __device__ vector<float, width> to_floats(const packet_bits& bits) {
        const auto elements_of_packet = __builtin_bit_cast(packet, bits);
        vector<float, width> result;
#pragma unroll
        for (int e = 0; e < width; ++e) result[e] = static_cast<float>(elements_of_packet[e]);
        return result;
    }

    __device__ void store(T* row, const float (&values)[elements]) const {
#pragma unroll
        for (int p = 0; p < packets; ++p) {
            packet result;
#pragma unroll
            for (int e = 0; e < width; ++e) result[e] = static_cast<T>(values[p * width + e]);
            if (holds(p)) at(row, p) = result;
        }
    }

    __device__ void fill(T* row, float value) const {
        packet filled;
#pragma unroll
        for (int e = 0; e < width; ++e) filled[e] = static_cast<T>(value);
#pragma unroll
        for (int p = 0; p < packets; ++p)
            if (holds(p)) at(row, p) = filled;
    }
};

/// Keeps loads before this point ahead of loads after it: the compiler moves no load across. The whole warp must call it.
__device__ inline void issue_loads() {
    ptx::sync_warp();
}

struct larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct plus {
    __device__ float operator()(float a, float b) const { return a + b; }
    template <class Value>
    __device__ Value operator()(const Value& a, const Value& b) const {
        return a + b;
    }
};

/// Every lane gets the combination of the values of its group of `lanes` neighbours, always in the same order and with the
/// same bits. `lanes` is a power of two up to 32. The whole warp must call it.
template <class Operation>
__device__ float lanes_reduce(float value, unsigned lanes, Operation operation) {
#pragma unroll
    for (unsigned distance = warp_size / 2; distance > 0; distance /= 2)
        if (distance < lanes) value = operation(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

/// Every thread of a block gets the sum of all threads' values. `of_warps` is shared memory, with a number for each warp.
template <int warps>
__device__ float block_sum(float value, float (&of_warps)[warps]) {
    value = lanes_reduce(value, warp_size, plus{});
    ptx::sync_threads();  // the former sum has been read
    if (threadIdx.x % warp_size == 0) of_warps[threadIdx.x / warp_size] = value;
    ptx::sync_threads();
    return lanes_reduce(of_warps[threadIdx.x % warps], warps, plus{});
}

/// An exchange of `size` numbers of each warp among the blocks that share a row. A kernel may use one exchange.
template <int size>
class row_exchange {
  public:
    static constexpr int most_warps = row_limits::most_blocks * row_limits::block_threads / warp_size;
    using storage = float[size][most_warps];

    /// Construct it as early as possible: other blocks write to this block's shared memory only once they know that it runs.
    __device__ explicit row_exchange(storage& shared)
        : shared_(shared), blocks_(ptx::cluster_blocks()), warps_(blockDim.x / warp_size) {
        if (blocks_ > 1) ptx::cluster_arrive_relaxed();
    }

    /// Afterwards every thread can read each warp's numbers.
    __device__ void publish(const float (&numbers)[size]) {
        const unsigned lane = threadIdx.x % warp_size;
        const unsigned warp = threadIdx.x / warp_size;
        if (blocks_ == 1) {
            if (lane == 0)
                for (int n = 0; n < size; ++n) shared_[n][warp] = numbers[n];
            ptx::sync_threads();
            return;
        }
        ptx::sync_warp();  // reconverges the lanes: the cluster's barrier is for whole warps
        ptx::cluster_wait();
        const unsigned place = ptx::cluster_rank() * warps_ + warp;
        if (lane < blocks_)
            for (int n = 0; n < size; ++n) ptx::store_cluster(&shared_[n][place], lane, numbers[n]);
        ptx::sync_warp();
        ptx::cluster_arrive();
        ptx::cluster_wait();
    }

    /// The number of warps that took part; number(n, w) is number n of warp w.
    __device__ unsigned warps() const { return blocks_ * warps_; }
    __device__ float number(int n, unsigned warp) const { return shared_[n][warp]; }

  private:
    storage& shared_;
    unsigned blocks_;
    unsigned warps_;
};

}  // namespace heddle::kernels
