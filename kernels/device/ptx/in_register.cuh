#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace heddle::kernels::ptx {

/// Returns the value in a way that hides its origin from the compiler. It then stays in a register, where a constant would
/// be loaded again at each use.
__device__ inline std::int64_t in_register(std::int64_t value) {
    asm volatile("" : "+l"(value));
    return value;
}
__device__ inline int in_register(int value) {
    asm volatile("" : "+r"(value));
    return value;
}
__device__ inline unsigned in_register(unsigned value) {
    asm volatile("" : "+r"(value));
    return value;
}
__device__ inline float in_register(float value) {
    asm volatile("" : "+f"(value));
    return value;
}
template <class T>
__device__ T* in_register(T* value) {
    asm volatile("" : "+l"(value));
    return value;
}

}  // namespace heddle::kernels::ptx
