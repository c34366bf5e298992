#pragma once

#include "kernels/device/math.hpp"

namespace heddle::kernels {

/// `size` elements that one instruction of up to 16 bytes loads or stores.
template <class T, int size>
struct alignas(size * sizeof(T)) vector {
    T elements[size];

    __device__ T& operator[](int i) { return elements[i]; }
    __device__ const T& operator[](int i) const { return elements[i]; }
};

}  // namespace heddle::kernels
