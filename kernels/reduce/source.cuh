#pragma once

#include "kernels/device/vector.cuh"
#include "kernels/reduce/operations.cuh"
#include <heddle/view.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace heddle::kernels::reduce {

/// Elements side by side, at any address: packets of 16 aligned bytes, and the few elements before the first
/// and after the last of them.
///
///   x: | e e e | p p p p | p p p p | ... | p p p p | e e |
///      data    body (16-byte boundary)
template <class T>
class contiguous {
  public:
    static constexpr int width = max_vector_bytes / sizeof(T);
    using packet = vector<T, width>;

    explicit contiguous(vector_view<const T> x) : data_(x.data), size_(x.size) {
        const auto misalignment = reinterpret_cast<std::uintptr_t>(x.data) % max_vector_bytes;
        const auto to_boundary =
            static_cast<std::int64_t>((max_vector_bytes - misalignment) % max_vector_bytes / sizeof(T));
        head_ = static_cast<int>(std::min(x.size, to_boundary));
        packets_ = (x.size - head_) / width;
        edges_ = static_cast<int>(x.size - packets_ * width);
    }

    __device__ std::int64_t packets() const { return packets_; }
    __device__ packet load(std::int64_t i) const { return reinterpret_cast<const packet*>(data_ + head_)[i]; }
    /// Elements outside the packets: fewer than a warp has lanes.
    __device__ int edges() const { return edges_; }
    __device__ T edge(std::int64_t i) const { return data_[i < head_ ? i : size_ - edges_ + i]; }

  private:
    const T* data_;
    std::int64_t size_;
    std::int64_t packets_;
    int head_;
    int edges_;
};

/// Elements `stride` apart, one by one.
template <class T>
class strided {
  public:
    static constexpr int width = 1;
    using packet = vector<T, width>;

    explicit strided(vector_view<const T> x) : x_(x) {}

    __device__ std::int64_t packets() const { return x_.size; }
    __device__ packet load(std::int64_t i) const { return {__ldg(x_.data + i * x_.stride)}; }
    __device__ int edges() const { return 0; }
    __device__ T edge(std::int64_t) const { return {}; }

  private:
    vector_view<const T> x_;
};

/// Combines the elements of an array, neighbours first: those of one register, where they are 16 bits wide.
template <class Operation, class T, int size>
__device__ T combine_tree(T (&values)[size]) {
    static_assert((size & (size - 1)) == 0);
#pragma unroll
    for (int count = size / 2; count > 0; count /= 2)
#pragma unroll
        for (int i = 0; i < count; ++i) values[i] = Operation{}(values[2 * i], values[2 * i + 1]);
    return values[0];
}

template <class Operation, class T, int width>
__device__ result_type<Operation, T> combine(const vector<T, width>& packet) {
    result_type<Operation, T> values[width];
#pragma unroll
    for (int e = 0; e < width; ++e) values[e] = static_cast<result_type<Operation, T>>(packet[e]);
    return combine_tree<Operation>(values);
}

/// One thread's share of x: packets first, first + step, ..., and edge element `first` if there is one.
/// `unroll` loads are issued before the first is used.
template <class Operation, class T, int unroll, class Source>
__device__ result_type<Operation, T> accumulate(const Source& x, std::int64_t first, int step) {
    using result = result_type<Operation, T>;
    const std::int64_t packets = x.packets();
    result total = Operation::template identity<result>();
    if (first < x.edges()) total = static_cast<result>(x.edge(first));

    std::int64_t i = first;
    for (; i + (unroll - 1) * step < packets; i += unroll * step) {
        typename Source::packet loaded[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u) loaded[u] = x.load(i + u * step);
        result values[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u) values[u] = combine<Operation>(loaded[u]);
        total = Operation{}(total, combine_tree<Operation>(values));
    }

    typename Source::packet loaded[unroll - 1];
#pragma unroll
    for (int u = 0; u < unroll - 1; ++u)
        if (i + u * step < packets) loaded[u] = x.load(i + u * step);
#pragma unroll
    for (int u = 0; u < unroll - 1; ++u)
        if (i + u * step < packets) total = Operation{}(total, combine<Operation>(loaded[u]));
    return total;
}

/// Combinations on the way of one element through accumulate(), at most, where `threads` threads share
/// `packets` packets of `width` elements.
inline std::int64_t accumulate_depth(std::int64_t packets, std::int64_t width, int unroll,
                                     std::int64_t threads) {
    const auto log2 = [](std::int64_t power) {
        return std::bit_width(static_cast<std::uint64_t>(power)) - 1;
    };
    const std::int64_t full_rounds = packets / (threads * unroll);
    return log2(width) + log2(unroll) + full_rounds + (unroll - 1);
}

}  // namespace heddle::kernels::reduce
