// skinny: one side of C is short, and the product is a read of the other operand.
//
//   C (16 x 4096)   = A (16 x 4096) B:   as C^T = B^T A^T, in tiles of 64 x 16, each 4096 deep
//   shared out along k among all multiprocessors, 160 KB on their way to each
//
// A wgmma has 64 rows, so a tile of 64 or more wastes most of its work on a C of 16 rows, and 4096 / 256 tiles leave most
// multiprocessors idle. Turned around, the long side fills the 64 rows and the short one is n, of 8 to 64. Then the bytes
// are the limit: the ring of stages takes all of shared memory, and the work is streamed as in stream_k.

#include "kernels/matmul/persistent.cuh"

namespace heddle::kernels::matmul {

template <class In, class Out>
void launch_skinny(const product<In, Out>& arguments, std::byte* workspace, const device_traits& device,
                   cudaStream_t stream) {
    const product<In, Out> turned = arguments.c.rows < arguments.c.cols ? transposed(arguments) : arguments;
    const tile_layout layout = lay_out_skinny(turned.c.rows, turned.c.cols, turned.a.cols, device.sm_count,
                                              workspace != nullptr, !has_tensor_rows(turned.b));
    launch_layout<persistent_tile<1, 8, 20, 1, extra::streams>, persistent_tile<1, 16, 18, 1, extra::streams>,
                  persistent_tile<1, 32, 16, 1, extra::streams>,
                  persistent_tile<1, 64, 12, 1, extra::streams>>(skinny_tiles, layout, turned,
                                                                 shared_sums_in(workspace), stream);
}

template void launch_skinny(const product<half, half>&, std::byte*, const device_traits&, cudaStream_t);
template void launch_skinny(const product<half, float>&, std::byte*, const device_traits&, cudaStream_t);
template void launch_skinny(const product<bfloat16, bfloat16>&, std::byte*, const device_traits&,
                            cudaStream_t);
template void launch_skinny(const product<bfloat16, float>&, std::byte*, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::matmul
