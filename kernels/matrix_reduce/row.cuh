#pragma once

#include "kernels/device/vector.cuh"
#include "kernels/matrix_reduce/operations.cuh"

#include <cstdint>

namespace heddle::kernels::matrix_reduce {

/// Elements side by side, at any address: packets of 16 aligned bytes, and edges, the few elements before the first
/// packet and after the last.
///
///   | e e e | p p p p | p p p p | ... | p p p p | e e |
///   data    body (16-byte boundary)
///
/// Index is the type of element counts and of steps past them: int saves registers where rows are short.
template <class T, class Index>
class packed_row {
  public:
    static constexpr int width = max_vector_bytes / sizeof(T);
    using packet = vector<T, width>;

    /// The first `size` elements from `data` on.
    __device__ packed_row(const T* data, Index size) : data_(data), size_(size) {
        const auto past_boundary =
            static_cast<int>(reinterpret_cast<std::uintptr_t>(data) / sizeof(T)) & (width - 1);
        head_ = (width - past_boundary) & (width - 1);
        if (head_ > size) head_ = static_cast<int>(size);
        packets_ = (size - head_) / width;
        edges_ = static_cast<int>(size - packets_ * width);
    }

    __device__ Index packets() const { return packets_; }
    __device__ packet load(Index i) const { return reinterpret_cast<const packet*>(data_ + head_)[i]; }
    __device__ Index index_of(Index i) const { return head_ + i * width; }

    /// The number of elements outside the packets: at most 2 * (width - 1).
    __device__ int edges() const { return edges_; }
    __device__ Index edge_index(int i) const { return i < head_ ? i : size_ - edges_ + i; }
    __device__ T edge(int i) const { return data_[edge_index(i)]; }

  private:
    const T* data_;
    Index size_;
    Index packets_;
    int head_;
    int edges_;
};

/// The state of one packet. Its first element has this index.
template <class Operation, class T, int width>
__device__ typename Operation::state state_of(const vector<T, width>& packet, std::int64_t index) {
    float values[width];
#pragma unroll
    for (int e = 0; e < width; ++e) values[e] = static_cast<float>(packet[e]);
    return Operation::of(values, index, 1);
}

/// Combines one thread's share of a row's packets: first, first + step, ... It issues `unroll` loads before it uses the
/// first.
template <class Operation, int unroll, class T, class Index>
__device__ typename Operation::state accumulate(const packed_row<T, Index>& row, Index first, int step) {
    using state = typename Operation::state;
    using packet = typename packed_row<T, Index>::packet;
    const Index packets = row.packets();
    state total = Operation::identity();

    Index i = first;
    for (; i + (unroll - 1) * step < packets; i += unroll * step) {
        packet loaded[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u) loaded[u] = row.load(i + u * step);
        state values[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u)
            values[u] = state_of<Operation>(loaded[u], row.index_of(i + u * step));
        total = Operation{}(total, combine_tree(values, Operation{}));
    }

    packet loaded[unroll - 1];
#pragma unroll
    for (int u = 0; u < unroll - 1; ++u)
        if (i + u * step < packets) loaded[u] = row.load(i + u * step);
#pragma unroll
    for (int u = 0; u < unroll - 1; ++u)
        if (i + u * step < packets)
            total = Operation{}(total, state_of<Operation>(loaded[u], row.index_of(i + u * step)));
    return total;
}

/// Adds the edges first, first + step, ... to a total.
template <class Operation, class T, class Index>
__device__ void accumulate_edges(typename Operation::state& total, const packed_row<T, Index>& row, int first,
                                 int step) {
    for (int i = first; i < row.edges(); i += step) {
        const float value[1] = {static_cast<float>(row.edge(i))};
        total = Operation{}(total, Operation::of(value, row.edge_index(i), 1));
    }
}

}  // namespace heddle::kernels::matrix_reduce
