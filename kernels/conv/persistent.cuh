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

#pragma once

#include "kernels/conv/windows.cuh"
#include "kernels/frame/boxed_epilogue.cuh"
#include "kernels/frame/wgmma_mainloop.cuh"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

/// The convolution in the frame of products.
namespace heddle::kernels::conv {

template <class Out, class Activation>
struct window_product : frame::product_with_residual<Out, channel_activation<Out, Activation>> {
    window_steps steps;
};

/// Windows are rows of A, filters columns of B.
template <class In, class Tile>
struct window_mainloop : frame::wgmma_mainloop<In, Tile, true, true> {
    using base = frame::wgmma_mainloop<In, Tile, true, true>;
    using base::base;
    static constexpr int producer_registers = Tile::take_turns ? 40 : 56;  // where windows lie
    using typename base::a_tile, typename base::b_tile, typename base::storage;

    static __device__ void prefetch(const auto& p) {
        ptx::prefetch(p.steps.windows);
        ptx::prefetch(p.steps.filters);
    }

    static __device__ void load(storage& to, int stage, const auto& p, const frame::tile_place& from,
                                ptx::mbarrier* full) {
        ptx::arrive_and_expect(full, a_tile::bytes + b_tile::bytes);
        p.steps.template load_windows<a_tile>(to.a[stage], from.row, from.col, from.load, full);
        p.steps.template load_filters<b_tile>(to.b[stage], from.col, from.load, full);
    }
};

template <class In, class Out, class Tile, class Activation>
using window_kernel =
    frame::tile_kernel<window_mainloop<In, Tile>,
                       frame::boxed_epilogue<Out, channel_activation<Out, Activation>, typename Tile::share>,
                       frame::one_product<window_product<Out, Activation>>>;

template <int consumers, int n, int stages, frame::consumers_have have = frame::consumers_have::one_tile,
          int halves = 1>
using window_tile = frame::wgmma_tile<consumers, n, stages, 1, frame::extra::epilogue, have, halves>;

/// In the order of persistent_tiles.
using window_tiles =
    std::tuple<window_tile<2, 256, 4>, window_tile<2, 128, 4, frame::consumers_have::one_tile, 2>,
               window_tile<3, 128, 4>, window_tile<2, 128, 6, frame::consumers_have::turns, 2>,
               window_tile<1, 128, 8>, window_tile<2, 64, 4, frame::consumers_have::one_tile, 2>,
               window_tile<2, 64, 8>, window_tile<1, 64, 8>, frame::divided_tile<window_tile<2, 128, 6>, 2>>;
static_assert(std::tuple_size_v<window_tiles> == persistent_tiles.size());

template <class Tile, class In, class Out, class Activation>
window_product<Out, Activation> product_for(const arguments<In, Out, Activation>& a) {
    using epilogue = frame::boxed_epilogue<Out, channel_activation<Out, Activation>, typename Tile::share>;
    const auto narrow = [](std::int64_t n) { return static_cast<int>(n); };
    const std::int64_t pixels = a.output.count * a.output.height * a.output.width;
    const std::int64_t stride = pixel_stride(layout_of(a.output));
    const auto map_of = [&](auto* data, std::int64_t row_stride) {
        return make_tensor_map(data, pixels, a.output.channels, row_stride, warpgroup_m, epilogue::out_cols);
    };
    const tensor_view<const Out>& residual = a.epilogue.residual;
    const std::int64_t residual_stride = pixel_stride(layout_of(residual));
    window_product<Out, Activation> p{{{.c_data = a.output.data,
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

/// Launches tile `index` of persistent_tiles, where it is the plan's.
template <std::size_t index, class In, class Out, class Activation>
void launch_if_chosen(const plan& plan, const arguments<In, Out, Activation>& a, cudaStream_t stream) {
    using tile = std::tuple_element_t<index, window_tiles>;
    constexpr matmul_tile shape = persistent_tiles[index];
    static_assert(shape.m == tile::m && shape.n == tile::n && shape.blocks == tile::cluster);
    if (index == plan.tile)
        frame::launch<window_kernel<In, Out, tile, Activation>>(
            {.product = product_for<tile>(a), .schedule = plan.schedule, .sums = {}}, plan.schedule.workers,
            stream);
}

/// Whether what launches with a user's function is compiled for the current device.
template <class In, class Out, class Activation>
bool has_persistent_kernel() {
    using tile = std::tuple_element_t<persistent_with_function[0], window_tiles>;
    return frame::is_compiled<window_kernel<In, Out, tile, Activation>>();
}

/// Launches the plan's tile, which is at one of these places.
template <const auto& places, class In, class Out, class Activation>
void launch_tile_of(const plan& plan, const arguments<In, Out, Activation>& a, cudaStream_t stream) {
    const auto launch_chosen = [&]<std::size_t... i>(std::index_sequence<i...>) {
        (launch_if_chosen<places[i]>(plan, a, stream), ...);
    };
    launch_chosen(std::make_index_sequence<places.size()>());
}

template <class In, class Out, class Activation>
void launch_persistent_kernel(const plan& plan, const arguments<In, Out, Activation>& a,
                              cudaStream_t stream) {
    launch_tile_of<persistent_with_function>(plan, a, stream);
}

template <class In, class Out>
void launch_persistent(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    if constexpr (std::is_same_v<In, float>)
        launch_tile_of<persistent_of_float>(plan, a, stream);
    else
        launch_tile_of<all_persistent_tiles>(plan, a, stream);
}

}  // namespace heddle::kernels::conv
