// fused: what follows a product is done to its sums, before they are stored.
//
//   apart:  C = A B, stored, 2 bytes an element | read, + bias, activation, stored
//   fused:  C = activation(A B + bias), stored
//
// Apart, the activation reads and writes C once more, and its input is rounded to 16 bits. Here it is applied to the float32
// sums in the registers. In tiles of 128 x 256, for large products, the epilogue is short beside the steps along k. Tiles of 64
// columns are for a C that has no more. In tiles of 128 x 128 two consumers have one each, and take turns at the tensor cores:
//
//   warpgroup 0: | multiply tile 0 | epilogue, store | multiply tile 2 | ...
//   warpgroup 1:                   | multiply tile 1 | epilogue, store | ...
//
// What limits it: the epilogue's instructions, or where consumers take turns, L2: a tile of 128 x 128 loads A and B more often.

#pragma once

#include "kernels/matmul/persistent.cuh"

namespace heddle::kernels::matmul {

/// Whether it is compiled for the current device.
template <class In, class Out, class Activation>
bool has_fused_kernel() {
    return frame::is_compiled<persistent_kernel<In, Out, frame::wgmma_tile<fused_kernels, 0>, Activation>>();
}

template <class In, class Out, class Activation>
void launch_fused_kernel(const plan& plan, const product<In, Out, Activation>& arguments,
                         cudaStream_t stream) {
    launch_row_of<fused_kernels>(plan, arguments, stream);
}

template <class In, class Out>
void launch_fused(const plan& plan, const product<In, Out>& arguments, cudaStream_t stream) {
    launch_fused_kernel(plan, arguments, stream);
}

}  // namespace heddle::kernels::matmul
