#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace heddle::kernels::ptx {

// The same value, of which the compiler does not know where it came from: it stays in a register, where a constant would
// be loaded again for each use.
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
