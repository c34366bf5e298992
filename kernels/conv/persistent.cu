// persistent: the convolution as a mainloop in the frame of products. One block a multiprocessor goes from tile to tile.
//
//   producer   | windows and filters of tile 0 | of tile 1 ...
//   consumers        | multiply 0 | epilogue, store 0 | multiply 1 ...
//
// In wgmma loads wait for products and stores for both. Here a warpgroup of its own fills a ring of stages, also with those of
// the next tile while the last one is stored, in whole rows, by the tensor memory accelerator. Scale, bias, residual and
// activation are done to the sums on their way. With tiles of 128 x 128 the two consumers have one each, and take turns: one
// multiplies while the other stores. Where tiles are few, two blocks divide the depth of one.
//
// Needs what wgmma needs, and an output, and a residual, whose pixels lie at one stride. What limits it: the tensor cores; of
// few channels, memory and the epilogue.

#include "kernels/conv/persistent.cuh"
#include <heddle/types.hpp>

#include <array>
#include <cstddef>
#include <limits>
#include <stdexcept>

namespace heddle::kernels::conv {
namespace {

using enum frame::consumers_have;

template <int consumers, int n, int stages, frame::consumers_have have = one_tile, int halves = 1>
using tile = frame::wgmma_tile<consumers, n, stages, 1, frame::extra::epilogue, have, halves>;

template <class Tile, class In, class Out>
window_product<Out> product_for(const arguments<In, Out>& a) {
    using epilogue = frame::boxed_epilogue<Out, channel_activation<Out>, typename Tile::share>;
    const auto narrow = [](std::int64_t n) { return static_cast<int>(n); };
    const std::int64_t pixels = a.output.count * a.output.height * a.output.width;
    const std::int64_t stride = pixel_stride(layout_of(a.output));
    const auto map_of = [&](auto* data, std::int64_t row_stride) {
        return make_tensor_map(data, pixels, a.output.channels, row_stride, warpgroup_m, epilogue::out_cols);
    };
    const tensor_view<const Out>& residual = a.epilogue.residual;
    const std::int64_t residual_stride = pixel_stride(layout_of(residual));
    window_product<Out> p{{{.c_data = a.output.data,
                            .c_row_stride = stride,
                            .c_col_stride = 1,
                            .m = narrow(pixels),
                            .n = narrow(a.output.channels),
                            .alpha = a.alpha,
                            .beta = a.beta,
                            .epilogue = channel_epilogue_of(a.epilogue, residual_stride)}},
                          window_steps(a, Tile::m, Tile::n)};
    // Stores are of 16 bytes, also where the output ends within them.
    constexpr std::int64_t of_packet = 16 / sizeof(Out);
    if (has_boxes(layout_of(a.output))) {
        p.c = map_of(a.output.data, stride);
        p.c_map_cols = a.output.channels % of_packet == 0 ? std::numeric_limits<int>::max() : p.n;
    }
    p.has_residual_map = residual.data != nullptr && has_boxes(layout_of(residual));
    if (p.has_residual_map) p.residual = map_of(residual.data, residual_stride);
    return p;
}

}  // namespace

template <class In, class Out>
void launch_persistent(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    std::size_t index = 0;
    const auto launch_if_chosen = [&]<class Tile>() {
        const matmul_tile& shape = persistent_tiles[index];
        if (index++ != plan.tile) return;
        if (shape.m != Tile::m || shape.n != Tile::n || shape.blocks != Tile::cluster)
            throw std::logic_error("conv: a kernel is not of its plan's tile");
        frame::launch<window_kernel<In, Out, Tile>>(
            {.product = product_for<Tile>(a), .schedule = plan.schedule, .sums = {}}, plan.schedule.workers,
            stream);
    };
    const auto launch_chosen = [&]<class... Tiles>() {
        static_assert(sizeof...(Tiles) == persistent_tiles.size());
        (launch_if_chosen.template operator()<Tiles>(), ...);
    };
    launch_chosen
        .template operator()<tile<2, 256, 4>, tile<2, 128, 4, one_tile, 2>, tile<3, 128, 4>,
                             tile<2, 128, 6, turns, 2>, tile<1, 128, 8>, tile<2, 64, 4, one_tile, 2>,
                             tile<2, 64, 8>, tile<1, 64, 8>, frame::divided_tile<tile<2, 128, 6>, 2>>();
}

template void launch_persistent(const plan&, const arguments<half, half>&, cudaStream_t);
template void launch_persistent(const plan&, const arguments<half, float>&, cudaStream_t);
template void launch_persistent(const plan&, const arguments<bfloat16, bfloat16>&, cudaStream_t);
template void launch_persistent(const plan&, const arguments<bfloat16, float>&, cudaStream_t);

}  // namespace heddle::kernels::conv
