// persistent: the convolution as a mainloop in the frame of products. One block a multiprocessor goes from tile to tile.
//
//   producer   | windows and filters of tile 0 | of tile 1 ...
//   consumers        | multiply 0 | epilogue, store 0 | multiply 1 ...
//
// In wgmma loads wait for products and stores for both. Here a warpgroup of its own fills a ring of stages, also with those of
// the next tile while the last one is stored, in whole rows, by the tensor memory accelerator. Scale, bias, residual and
// activation are done to the sums on their way. With tiles of 128 x 128 the two consumers have one each, and take turns: one
// multiplies while the other stores. Where tiles are few, two blocks divide the depth of one. Floats are rounded to TF32 as
// they are loaded.
//
// Needs what wgmma needs, of float too, and an output, and a residual, whose pixels lie at one stride. What limits it: the
// tensor cores; of few channels, memory and the epilogue.

#include "kernels/conv/persistent.cuh"
#include <heddle/types.hpp>

#include <type_traits>

namespace heddle::kernels::conv {

template <class In, class Out>
void launch_persistent(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    if constexpr (std::is_same_v<In, float>)
        launch_tile_of<persistent_of_float>(plan, a, stream);
    else
        launch_tile_of<all_persistent_tiles>(plan, a, stream);
}

template void launch_persistent(const plan&, const arguments<float, float>&, cudaStream_t);
template void launch_persistent(const plan&, const arguments<half, half>&, cudaStream_t);
template void launch_persistent(const plan&, const arguments<half, float>&, cudaStream_t);
template void launch_persistent(const plan&, const arguments<bfloat16, bfloat16>&, cudaStream_t);
template void launch_persistent(const plan&, const arguments<bfloat16, float>&, cudaStream_t);

}  // namespace heddle::kernels::conv
