// persistent: one block a multiprocessor goes from tile to tile.
//
//   block b: tiles b, b + blocks, b + 2 blocks, ... in groups of 8 rows, column by column
//   producer   | load tile 0 | load tile 1 ...      |
//   consumers        | multiply 0 | store 0 | multiply 1 ...
//
// In warp_specialized every tile begins with an empty ring and ends with stores that nothing hides. Here the producer fills
// the ring with the next tile while the last one is stored by the tensor memory accelerator, in whole rows. Tiles that run
// together are near-square, so that A and B are read from L2. The kernel sets up while the one before it in the stream still
// runs.
//
// stream_k is this kernel with another schedule. The steps along k of the tiles that fill no round are one row, which is cut
// into equal lengths (Osama, Merrill, Cecka, Garland, Owens: Stream-K, 2023). Whoever comes last to a tile adds up what all
// left of it in the workspace, in one order. What limits it: what L2 gives, and without stream_k the last round.

#include "kernels/matmul/persistent.cuh"

namespace heddle::kernels::matmul {

template <class In, class Out>
void launch_persistent(const plan& plan, const product<In, Out>& arguments, cudaStream_t stream) {
    launch_row_of<persistent_kernels>(plan, arguments, stream);
}

template void launch_persistent(const plan&, const product<half, half>&, cudaStream_t);
template void launch_persistent(const plan&, const product<half, float>&, cudaStream_t);
template void launch_persistent(const plan&, const product<bfloat16, bfloat16>&, cudaStream_t);
template void launch_persistent(const plan&, const product<bfloat16, float>&, cudaStream_t);

}  // namespace heddle::kernels::matmul
