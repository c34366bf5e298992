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

    __device__ std::int64_t size() const { return size_; }
    __device__ std::int64_t packets() const { return packets_; }
    __device__ packet load(std::int64_t i) const {
        return *reinterpret_cast<const packet*>(data_ + place(i));
    }
    /// Where packet i begins.
    __device__ std::int64_t place(std::int64_t i) const { return head_ + i * width; }
    /// Elements outside the packets: fewer than a warp has lanes.
    __device__ int edges() const { return edges_; }
    __device__ vector<T, 1> edge(std::int64_t i) const { return {data_[edge_place(i)]}; }
    __device__ std::int64_t edge_place(std::int64_t i) const { return i < head_ ? i : size_ - edges_ + i; }

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

    __device__ std::int64_t size() const { return x_.size; }
    __device__ std::int64_t packets() const { return x_.size; }
    __device__ packet load(std::int64_t i) const { return {__ldg(x_.data + i * x_.stride)}; }
    __device__ std::int64_t place(std::int64_t i) const { return i; }
    __device__ int edges() const { return 0; }
    __device__ packet edge(std::int64_t) const { return {}; }
    __device__ std::int64_t edge_place(std::int64_t) const { return 0; }

  private:
    vector_view<const T> x_;
};

/// Two vectors side by side, in the packets of x. y is read in packets too where it lies the same way modulo 16
/// bytes, which makes no difference to which elements meet, nor to the order of the sum.
template <class T, bool is_y_aligned>
class contiguous_pair {
  public:
    static constexpr int width = contiguous<T>::width;
    using packet = packet_pair<T, width>;

    contiguous_pair(vector_view<const T> x, const T* y) : x_(x), y_(y) {}

    __device__ std::int64_t size() const { return x_.size(); }
    __device__ std::int64_t packets() const { return x_.packets(); }
    __device__ packet load(std::int64_t i) const {
        const T* y = y_ + x_.place(i);
        packet loaded;
        loaded.x = x_.load(i);
        if constexpr (is_y_aligned) {
            loaded.y = *reinterpret_cast<const vector<T, width>*>(y);
        } else {
#pragma unroll
            for (int e = 0; e < width; ++e) loaded.y[e] = y[e];
        }
        return loaded;
    }
    __device__ std::int64_t place(std::int64_t i) const {
        return x_.place(i);
    }
    __device__ int edges() const {
        return x_.edges();
    }
    __device__ packet_pair<T, 1> edge(std::int64_t i) const {
        return {x_.edge(i), {y_[x_.edge_place(i)]}};
    }
    __device__ std::int64_t edge_place(std::int64_t i) const {
        return x_.edge_place(i);
    }

  private:
    contiguous<T> x_;
    const T* y_;
};

template <class T>
class strided_pair {
  public:
    static constexpr int width = 1;
    using packet = packet_pair<T, width>;

    strided_pair(vector_view<const T> x, vector_view<const T> y) : x_(x), y_(y) {}

    __device__ std::int64_t size() const { return x_.size(); }
    __device__ std::int64_t packets() const { return x_.packets(); }
    __device__ packet load(std::int64_t i) const { return {x_.load(i), y_.load(i)}; }
    __device__ std::int64_t place(std::int64_t i) const { return i; }
    __device__ int edges() const { return 0; }
    __device__ packet edge(std::int64_t) const { return {}; }
    __device__ std::int64_t edge_place(std::int64_t) const { return 0; }

  private:
    strided<T> x_;
    strided<T> y_;
};

/// launch(source): the elements one by one.
template <class Operation, class T, class Launch>
void with_elements(const arguments<Operation, T>& arguments, Launch launch) {
    if constexpr (std::is_same_v<Operation, dot>)
        launch(strided_pair<T>(arguments.x, arguments.y));
    else
        launch(strided<T>(arguments.x));
}

/// launch(source): in packets where the strides are 1.
template <class Operation, class T, class Launch>
void with_packets(const arguments<Operation, T>& arguments, Launch launch) {
    const vector_view<const T>& x = arguments.x;
    if constexpr (std::is_same_v<Operation, dot>) {
        const vector_view<const T>& y = arguments.y;
        if (x.stride != 1 || y.stride != 1) return with_elements(arguments, launch);
        const auto apart =
            reinterpret_cast<std::uintptr_t>(x.data) - reinterpret_cast<std::uintptr_t>(y.data);
        if (apart % max_vector_bytes == 0)
            launch(contiguous_pair<T, true>(x, y.data));
        else
            launch(contiguous_pair<T, false>(x, y.data));
    } else {
        if (x.stride != 1) return with_elements(arguments, launch);
        launch(contiguous<T>(x));
    }
}

/// Packets join the total of those before them: a thread's come in the order of their places.
template <class Operation, class State, class Packet, int count>
__device__ void join(State& total, const Packet (&packets)[count], std::int64_t first, std::int64_t step) {
    if constexpr (requires { Operation::may_change(total, packets); })
        if (!Operation::may_change(total, packets)) return;
    total = Operation{}(total, Operation::of(packets, first, step));
}

/// One thread's share of x: packets first, first + step, ..., and edge element `first` if there is one.
/// `unroll` loads are issued before the first is used.
template <class Operation, class T, int unroll, class Source>
__device__ state_type<Operation, T> accumulate(const Source& x, std::int64_t first, int step) {
    using state = state_type<Operation, T>;
    const std::int64_t packets = x.packets();
    state total = Operation::template identity<state>();
    const bool has_edge = first < x.edges();
    decltype(x.edge(first)) edge[1];
    if (has_edge) edge[0] = x.edge(first);

    std::int64_t i = first;
    for (; i + (unroll - 1) * step < packets; i += unroll * step) {
        typename Source::packet loaded[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u) loaded[u] = x.load(i + u * step);
        join<Operation>(total, loaded, x.place(i), std::int64_t{step} * Source::width);
    }

    // The last packet stands in for those that are not there: loads behind conditions would wait for each other.
    if (i < packets) {
        typename Source::packet loaded[unroll - 1];
#pragma unroll
        for (int u = 0; u < unroll - 1; ++u) {
            const std::int64_t wanted = i + u * step;
            loaded[u] = x.load(wanted < packets ? wanted : packets - 1);
        }
        asm volatile("" ::: "memory");  // no load is moved to its use
#pragma unroll
        for (int u = 0; u < unroll - 1; ++u)
            if (i + u * step < packets) {
                const typename Source::packet one[] = {loaded[u]};
                join<Operation>(total, one, x.place(i + u * step), 0);
            }
    }
    if (has_edge) total = Operation{}(total, Operation::of(edge, x.edge_place(first), 0));
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
