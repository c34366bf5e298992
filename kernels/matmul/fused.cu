// fused: what follows a product is done to its sums, before they are stored.
//
//   apart:  C = A B, stored, 2 bytes an element | read, + bias, activation, stored
//   fused:  C = activation(A B + bias), stored
//
// A layer of a network is a product, a bias and an activation. Done apart, the activation reads and writes C once more, and
// takes its input rounded to 16 bits. Here the sums go through shared memory, 32 columns at a time, to threads that have
// four neighbours of a row each, and are still float32. The kernel is persistent's.

#include "kernels/matmul/persistent.cuh"

namespace heddle::kernels::matmul {

template <class T>
void launch_fused(const product<T, T>& arguments, const device_traits& device, cudaStream_t stream) {
    const auto& c = arguments.c;
    const tile_layout layout = cheapest_whole(fused_tiles, c.rows, c.cols, arguments.a.cols, device.sm_count,
                                              1, arguments.tile.index);
    launch_layout<persistent_tile<2, 256, 4, 2, extra::epilogue>,
                  persistent_tile<2, 128, 6, 1, extra::epilogue, consumers_have::turns>,
                  persistent_tile<2, 128, 6, 2, extra::epilogue, consumers_have::turns>,
                  persistent_tile<1, 128, 8, 1, extra::epilogue>>(fused_tiles, layout, arguments, {}, stream);
}

template void launch_fused(const product<half, half>&, const device_traits&, cudaStream_t);
template void launch_fused(const product<bfloat16, bfloat16>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::matmul
