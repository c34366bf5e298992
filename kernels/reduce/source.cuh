#pragma once

#include "kernels/device/math.hpp"
#include "kernels/device/vector.cuh"
#include "kernels/reduce/operations.cuh"
#include <heddle/view.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace heddle::kernels::reduce {

/// Elements side by side, at any address: packets of 16 aligned bytes, and edges, the few elements before the first
/// packet and after the last.
///
///   x: | e e e | p p p p | p p p p | ... | p p p p | e e |
///      data    body (16-byte boundary)
template <class T>
class contiguous {
  public:
    static constexpr int width = max_vector_bytes / sizeof(T);
    using element = T;
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
    __device__ const packet* packet_at(std::int64_t i) const {
        return reinterpret_cast<const packet*>(data_ + place(i));
    }
    __device__ packet load(std::int64_t i) const { return *packet_at(i); }
    /// Where packet i begins.
    __device__ std::int64_t place(std::int64_t i) const { return head_ + i * width; }
    /// The number of elements outside the packets: fewer than a warp has lanes.
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
    using element = T;
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

/// Two vectors without gaps, in the packets of x. y is read in packets too where it is aligned like x. This changes neither
/// which elements meet nor the order of the sum.
template <class T, bool is_y_aligned>
class contiguous_pair {
  public:
    static constexpr int width = contiguous<T>::width;
    using element = T;
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
    using element = T;
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

/// x as the kernels of an operation read it: count_nonzero reads bits.
template <class Operation, class T>
auto as_read(vector_view<const T> x) {
    if constexpr (std::is_same_v<Operation, count_nonzero>)
        return vector_view<const bits_of<T>>{reinterpret_cast<const bits_of<T>*>(x.data), x.size, x.stride};
    else
        return x;
}

/// Calls launch(source) with a source that reads elements one by one.
template <class Operation, class T, class Launch>
void with_elements(const arguments<Operation, T>& arguments, Launch launch) {
    if constexpr (std::is_same_v<Operation, dot>)
        launch(strided_pair<T>(arguments.x, arguments.y));
    else
        launch(strided(as_read<Operation>(arguments.x)));
}

/// Calls launch(source) with a source whose loads are as wide as the plan says.
template <class Operation, class T, class Launch>
void with_loads(const plan& plan, const arguments<Operation, T>& arguments, Launch launch) {
    if (plan.width == 1) return with_elements(arguments, launch);
    if constexpr (std::is_same_v<Operation, dot>) {
        if (plan.y_is_alike)
            launch(contiguous_pair<T, true>(arguments.x, arguments.y.data));
        else
            launch(contiguous_pair<T, false>(arguments.x, arguments.y.data));
    } else {
        launch(contiguous(as_read<Operation>(arguments.x)));
    }
}

/// How many packets x has from packet i on; at most the extent of a round of `unroll` packets, `step` apart.
template <int unroll, class Source>
__device__ int valid_in_round(const Source& x, std::int64_t i, int step) {
    return static_cast<int>(::min(x.packets() - i, std::int64_t{unroll} * step));
}

/// Loads a round: load(0), load(step), ... below `valid`. All loads are issued before the first is used. load(0) stands
/// in for the packets from `valid` on: loads behind conditions would wait for each other.
template <class Packet, int unroll, class Load>
__device__ void load_round(Packet (&loaded)[unroll], int step, int valid, Load load) {
#pragma unroll
    for (int u = 0; u < unroll; ++u) loaded[u] = load(u * step < valid ? u * step : 0);
    asm volatile("" ::: "memory");  // keeps the compiler from moving loads to their uses
}

/// The state of one thread's share of x, in rounds of `unroll` packets that are `step` apart.
template <class Operation, class T, int unroll, class Source>
class running {
  public:
    using packet = typename Source::packet;
    using state = state_type<Operation, T>;

    __device__ running(Operation operation, const Source& x, int step)
        : operation_(operation), x_(x), step_(step) {}

    /// Adds the round that begins with packet i, without the packets that load_round() filled in.
    __device__ void join(packet (&loaded)[unroll], std::int64_t i, int valid) {
        if constexpr (!Operation::takes_repeats)
#pragma unroll
            for (int u = 1; u < unroll; ++u)
                if (u * step_ >= valid) loaded[u] = {};
        join(loaded, i);
    }

    /// Adds the full round that begins with packet i.
    __device__ void join(const packet (&loaded)[unroll], std::int64_t i) {
        recent_ = operation_(recent_, operation_.of(loaded, x_.place(i)));
    }

    /// Ends a chain of rounds: short chains keep rounding errors small.
    __device__ void cut() {
        total_ = operation_(total_, recent_);
        recent_ = Operation::template identity<state>();
    }

    /// The state of the whole share. All threads of the block call this.
    __device__ state total() {
        cut();
        return total_;
    }

  private:
    Operation operation_;
    const Source& x_;
    int step_;
    state recent_ = Operation::template identity<state>();
    state total_ = Operation::template identity<state>();
};

/// For argmin and argmax a thread keeps only the extremum and the round that has it. A thread whose extremum is the
/// block's, mostly one, loads that round again to find the place. The others return the identity.
template <class Operation, class T, int unroll, class Source>
requires is_any_of<Operation, argmin, argmax>
class running<Operation, T, unroll, Source> {
  public:
    using packet = typename Source::packet;
    using state = state_type<Operation, T>;

    __device__ running(Operation, const Source& x, int step) : x_(x), step_(step) {}

    __device__ void join(const packet (&loaded)[unroll], std::int64_t i, int) { join(loaded, i); }

    __device__ void join(const packet (&loaded)[unroll], std::int64_t i) {
        const auto round_best = Operation::extremum_of(loaded);
        if (round_ == none || Operation::is_better(round_best, best_)) {
            best_ = round_best;
            round_ = i;
        }
    }

    __device__ void cut() {}

    __device__ state total() {
        const auto block_best = block_extremum<Operation>(best_);
        if (round_ == none || Operation::is_better(block_best, best_))
            return Operation::template identity<state>();
        packet loaded[unroll];
        load_round(loaded, step_, valid_in_round<unroll>(x_, round_, step_),
                   [&](int offset) { return x_.load(round_ + offset); });
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
            const int first = Operation::first_in(loaded[u], best_);
            if (first < Source::width)
                return {rank_of<extremum>(best_), x_.place(round_ + u * step_) + first};
        }
        return Operation::template identity<state>();
    }

  private:
    using extremum = typename Operation::extremum;
    using value = typename Operation::template value_type<T>;
    static constexpr std::int64_t none = -1;

    const Source& x_;
    int step_;
    std::int64_t round_ = none;
    value best_ = extremum::template identity<value>();
};

/// Edge `i` of x, if there is one. It is loaded before it is needed.
template <class Source>
class early_edge {
  public:
    __device__ early_edge(const Source& x, std::int64_t i)
        : x_(x), i_(static_cast<int>(::min(i, std::int64_t{x.edges()}))) {
        if (i_ < x.edges()) element_[0] = x.edge(i_);
    }

    template <class Operation, class State>
    __device__ State joined_to(State total, Operation operation) const {
        return i_ < x_.edges() ? operation(total, operation.of(element_, x_.edge_place(i_))) : total;
    }

  private:
    const Source& x_;
    int i_;  ///< the edge, or the number of edges where there is none
    decltype(x_.edge(0)) element_[1];
};

/// Combines one thread's share of x: packets first, first + step, ..., in rounds of `unroll`, and edge `first` if there is
/// one. Full rounds and the last use the same code: fetching code takes longer than fetching small data. All threads
/// of the block call this.
template <class T, int unroll, class Operation, class Source>
__device__ state_type<Operation, T> accumulate(Operation operation, const Source& x, std::int64_t first,
                                               int step) {
    const early_edge<Source> edge(x, first);
    running<Operation, T, unroll, Source> seen(operation, x, step);
    for (std::int64_t i = first; i < x.packets(); i += unroll * step) {
        const int valid = valid_in_round<unroll>(x, i, step);
        typename Source::packet loaded[unroll];
        load_round(loaded, step, valid, [&](int offset) { return x.load(i + offset); });
        seen.join(loaded, i, valid);
    }
    return edge.joined_to(seen.total(), operation);
}

/// The combinations of one element in a round of `unroll` packets of `width` elements.
inline std::int64_t round_depth(std::int64_t width, int unroll) {
    const auto log2 = [](std::int64_t power) {
        return std::bit_width(static_cast<std::uint64_t>(power)) - 1;
    };
    return log2(width) + log2(unroll);
}

/// The most combinations of one element in accumulate(), where `threads` threads share `packets` packets of
/// `width` elements.
inline std::int64_t accumulate_depth(std::int64_t packets, std::int64_t width, int unroll,
                                     std::int64_t threads) {
    const std::int64_t rounds = divide_up(packets, threads * unroll);
    return round_depth(width, unroll) + rounds + 1;
}

}  // namespace heddle::kernels::reduce
