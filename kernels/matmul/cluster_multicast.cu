// cluster_multicast: two blocks, one below the other, share their tile of B.
//
//   block 0: A0, upper half of B -> both      block 1: A1, lower half of B -> both
//
// At full rate a 128 x 256 tile pulls 48 KB out of L2 for every 1024 clocks, all multiprocessors together about as much
// as L2 gives. Blocks that need the same B load half of it each, for both: 32 KB. A stage is refilled when both blocks
// have multiplied with it.

#include "kernels/matmul/persistent.cuh"

namespace heddle::kernels::matmul {

template <class In, class Out>
void launch_cluster_multicast(const product<In, Out>& arguments, const device_traits& device,
                              cudaStream_t stream) {
    const auto& c = arguments.c;
    const tile_layout layout = cheapest_whole(multicast_tiles, c.rows, c.cols, arguments.a.cols,
                                              device.sm_count, arguments.batch.count, arguments.tile.index);
    launch_layout<persistent_tile<2, 256, 4, 2>, persistent_tile<2, 192, 4, 2>, persistent_tile<2, 160, 4, 2>,
                  persistent_tile<1, 128, 8, 2>>(multicast_tiles, layout, arguments, {}, stream);
}

template void launch_cluster_multicast(const product<half, half>&, const device_traits&, cudaStream_t);
template void launch_cluster_multicast(const product<half, float>&, const device_traits&, cudaStream_t);
template void launch_cluster_multicast(const product<bfloat16, bfloat16>&, const device_traits&,
                                       cudaStream_t);
template void launch_cluster_multicast(const product<bfloat16, float>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::matmul
