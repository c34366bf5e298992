#pragma once

#include <cuda_runtime_api.h>

namespace heddle::kernels {

/// Combines the values of an array, whose size is a power of two. Neighbours are combined first: values of 16 bits share a
/// register with their neighbour.
template <class Value, int size, class Operation>
__device__ Value combine_tree(Value (&values)[size], Operation operation) {
    static_assert(size > 0 && (size & (size - 1)) == 0);
#pragma unroll
    for (int count = size / 2; count > 0; count /= 2)
#pragma unroll
        for (int i = 0; i < count; ++i) values[i] = operation(values[2 * i], values[2 * i + 1]);
    return values[0];
}

}  // namespace heddle::kernels
