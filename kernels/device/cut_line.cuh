#pragma once

#include "kernels/device/vector.cuh"

#include <cstdint>

namespace heddle::kernels {

/// A line of elements, cut where aligned packets of `width` elements begin. Its first and last piece may be shorter.
///
///   line:   . x x x | x x x x | x x . .       width 4, shift 1: piece p has elements 4 p - 1 .. 4 p + 2
template <class Out, int width, class Index = int>
struct cut_line {
    using packet = vector<Out, width>;
    Out* data;
    Index length;

    /// The element where piece p begins; it may lie before the line.
    __device__ Index begin_of(Index p) const {
        return p * width - static_cast<Index>(reinterpret_cast<std::uintptr_t>(data) / sizeof(Out) % width);
    }
    /// Whether element e of the piece that begins at `at` belongs to the line.
    __device__ bool has(Index at, int e) const { return at + e >= 0 && at + e < length; }
    __device__ bool has_all(Index at) const { return at >= 0 && at + width <= length; }

    __device__ packet load(Index at) const {
        if (has_all(at)) return *reinterpret_cast<const packet*>(data + at);
        packet loaded{};
#pragma unroll
        for (int e = 0; e < width; ++e)
            if (has(at, e)) loaded[e] = data[at + e];
        return loaded;
    }
    __device__ void store(Index at, const packet& stored) const {
        if (has_all(at)) {
            *reinterpret_cast<packet*>(data + at) = stored;
            return;
        }
#pragma unroll
        for (int e = 0; e < width; ++e)
            if (has(at, e)) data[at + e] = stored[e];
    }
};

}  // namespace heddle::kernels
