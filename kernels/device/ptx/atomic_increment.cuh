#pragma once

#include <cuda_runtime_api.h>

namespace heddle::kernels::ptx {

/// Returns *counter and sets it to (*counter == last ? 0 : *counter + 1). Of the whole device: what the
/// thread wrote before is seen by whoever increments after it.
__device__ inline unsigned atomic_increment(unsigned* counter, unsigned last) {
    unsigned before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(__cvta_generic_to_global(counter)), "r"(last)
                 : "memory");
    return before;
}

}  // namespace heddle::kernels::ptx
