// add_parts: adds up the parts of tiles, which split_k's blocks or workers of the frame leave (kernels/frame/parts.cuh).
//
//   one tile, of k = 65536:     | part 0: k 0 .. 511 | part 1: 512 .. 1023 | ... |  one worker each
//   workspace:                  | sums of part 0     | sums of part 1      | ... |   added up by this kernel
//
// The last worker of a tile could add up alone, but reads all parts of it at the rate of one multiprocessor. This kernel
// reads them at the rate of all, begins while the parts are multiplied, and has the epilogue of the product.

#include "kernels/matmul/add_parts.cuh"
#include <heddle/types.hpp>

namespace heddle::kernels::matmul {

template <class Out>
void launch_add_parts(const plan& plan, const frame::tensor_product<Out>& p,
                      const frame::tile_schedule& schedule, const frame::parts_left& left,
                      cudaStream_t stream) {
    frame::launch_add_parts(p, schedule, left, plan.adders, plan.begins_early, stream);
}

template void launch_add_parts(const plan&, const frame::tensor_product<float>&, const frame::tile_schedule&,
                               const frame::parts_left&, cudaStream_t);
template void launch_add_parts(const plan&, const frame::tensor_product<half>&, const frame::tile_schedule&,
                               const frame::parts_left&, cudaStream_t);
template void launch_add_parts(const plan&, const frame::tensor_product<bfloat16>&,
                               const frame::tile_schedule&, const frame::parts_left&, cudaStream_t);

}  // namespace heddle::kernels::matmul
