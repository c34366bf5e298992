#pragma once

#include <cuda_runtime_api.h>

namespace heddle::kernels {

/// Combines `pairs` pairs of neighbours, then pairs of their results, and so on. Each level is a function of its own, as the
/// compiler does not unroll nested loops of 16 values.
template <int pairs, class Value, class Operation>
__device__ void combine_levels(Value* values, Operation operation) {
#pragma unroll
    for (int i = 0; i < pairs; ++i) values[i] = operation(values[2 * i], values[2 * i + 1]);
    if constexpr (pairs > 1) combine_levels<pairs / 2>(values, operation);
}

/// Combines the values of an array, whose size is a power of two. Neighbours are combined first: values of 16 bits share a
/// register with their neighbour.
template <class Value, int size, class Operation>
__device__ Value combine_tree(Value (&values)[size], Operation operation) {
    static_assert(size > 0 && (size & (size - 1)) == 0);
    if constexpr (size > 1) combine_levels<size / 2>(values, operation);
    return values[0];
}

}  // namespace heddle::kernels
