// persistent: the convolution as a mainloop in the frame of products. One block per multiprocessor goes from tile to tile.
//
//   producer   | windows and filters of tile 0 | of tile 1 ...
//   consumers        | multiply 0 | epilogue, store 0 | multiply 1 ...
//
// In wgmma loads wait for products, and stores wait for both. Here a separate warpgroup fills a ring of stages. It loads
// the next tile's stages while the last tile is stored. The tensor memory accelerator stores whole rows. Scale, bias,
// residual and activation apply to the sums before. With tiles of 128 x 128 the two consumers have one tile each and take
// turns: one multiplies while the other stores. If there are few tiles, two blocks divide the depth of a tile, or all
// blocks share tiles of 64 x 64. Loads round floats to TF32.
//
// Has the needs of wgmma, but takes float too. All pixels of the output must lie at one stride, and so those of a
// residual. What limits it: the tensor cores; with few channels, memory and the epilogue.

#pragma once

#include "kernels/conv/epilogue.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/conv/windows.cuh"
#include "kernels/frame/boxed_epilogue.cuh"
#include "kernels/frame/chunk_epilogue.cuh"
#include "kernels/frame/wgmma_mainloop.cuh"
#include <heddle/matmul.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>

/// The convolution in the frame of products. Rows are pixels, and columns are channels.
namespace heddle::kernels::conv {

/// What the epilogue has beside the bias and the residual, which frame::epilogue has.
template <class Out, class Activation = matmul_activation>
struct channel_activation {
    Activation activation{};
    const Out* scale = nullptr;  ///< of each channel
    std::int64_t scale_stride = 0;
    bool residual_before_activation = true;
};

template <class Out, class Activation = matmul_activation>
using channel_epilogue = frame::epilogue<Out, channel_activation<Out, Activation>>;
template <class Out, class Activation>
using channel_product = frame::tensor_product<Out, channel_activation<Out, Activation>>;

template <class Out, class Activation>
channel_epilogue<Out, Activation> channel_epilogue_of(const epilogue<Out, Activation>& e,
                                                      std::int64_t residual_stride) {
    return {.activation = {e.activation, e.scale, e.scale_stride, e.residual_before_activation},
            .row_bias = e.bias,
            .row_bias_stride = e.bias_stride,
            .residual = e.residual.data,
            .residual_row_stride = residual_stride,
            .residual_col_stride = 1,
            .is_identity = e.is_identity};
}

template <class Out>
__device__ bool is_short(const channel_epilogue<Out>& e) {
    const channel_activation<Out>& a = e.activation;
    return e.residual == nullptr && a.scale == nullptr &&
           (a.activation == matmul_activation::none || a.activation == matmul_activation::relu);
}

template <class Out>
__device__ float short_activation(const channel_epilogue<Out>& e, float x) {
    return ptx::max_nan(x, e.activation.activation == matmul_activation::relu ? 0 : -frame::infinity);
}

/// Applies the activation to a thread's values of a chunk.
template <class Out>
__device__ void activate(const channel_product<Out, matmul_activation>& p, int, int,
                         float (&values)[frame::chunk_sums]) {
    frame::with_activation(p.epilogue.activation.activation, [&]<matmul_activation activation>() {
#pragma unroll
        for (float& value : values) value = frame::activated<Out, activation>(value);
    });
}

/// The same with a user's function, which is not called outside of the output.
template <class Out, class Function>
__device__ void activate(const channel_product<Out, element_function<Function>>& p, int row, int col,
                         float (&values)[frame::chunk_sums]) {
    const element_function<Function>& function = p.epilogue.activation.activation;
    pixel_place places[2];
#pragma unroll
    for (int half = 0; half < 2; ++half)
        places[half] = function.place_of_pixel(row + frame::row_of_thread(half));
    frame::for_each_place(p, row, col,
                          [&](int i, int, int c) { values[i] = function(values[i], places[i % 4 / 2], c); });
}

/// Applies the epilogue to a thread's values of the chunk at (row, col) of the output (frame::apply_epilogue). `biases` are
/// those of the chunk. `addend` is the output if beta is not 0, else the residual if there is one.
template <class Out, class Activation>
__device__ void apply_epilogue(const channel_product<Out, Activation>& p, int row, int col,
                               const float* biases, const float (&)[2],
                               const float (&addend)[frame::chunk_sums], float (&values)[frame::chunk_sums]) {
    const channel_epilogue<Out, Activation>& e = p.epilogue;
    const channel_activation<Out, Activation>& a = e.activation;
    const bool adds_output = p.beta != 0;
#pragma unroll
    for (int i = 0; i < frame::chunk_sums; ++i) {
        values[i] *= p.alpha;
        if (adds_output) values[i] = fmaf(p.beta, addend[i], values[i]);
    }
#pragma unroll
    for (int i = 0; i < frame::chunk_sums; i += 4)
#pragma unroll
        for (int side = 0; side < 2; ++side) {
            const int chunk_col = i / 4 * 8 + frame::col_of_thread() + side;
            const float scale = a.scale != nullptr && col + chunk_col < p.n
                                    ? static_cast<float>(a.scale[(col + chunk_col) * a.scale_stride])
                                    : 1;
#pragma unroll
            for (int half = 0; half < 4; half += 2)
                values[i + half + side] = fmaf(scale, values[i + half + side], biases[chunk_col]);
        }
    const auto add_residual = [&] {
        if (e.residual == nullptr) return;
        if (adds_output) return frame::add_residual(p, row, col, values);
#pragma unroll
        for (int i = 0; i < frame::chunk_sums; ++i) values[i] += addend[i];
    };
    if (a.residual_before_activation) add_residual();
    activate(p, row, col, values);
    if (!a.residual_before_activation) add_residual();
}

template <class Out, class Activation>
struct window_product : frame::product_with_residual<Out, channel_activation<Out, Activation>> {
    window_steps steps;
};

/// The mainloop whose rows of A are windows and whose columns of B are filters.
template <class In, class Tile>
struct window_mainloop : frame::wgmma_mainloop<In, Tile> {
    using base = frame::wgmma_mainloop<In, Tile>;
    using base::base;
    static constexpr int producer_registers = Tile::take_turns ? 40 : 56;  // more to locate windows
    using typename base::storage;
    using a_tile = base::template a_tile<true>;
    using b_tile = base::template b_tile<true>;

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

    template <int n>
    __device__ void multiply(auto& kernel, const auto& /*p*/, int steps,
                             float (&sums)[Tile::halves][n / 2]) const {
        base::template multiply_in_order<n, true, true>(kernel, steps, sums);
    }
};

template <class In, class Out, class Tile, class Activation>
using window_kernel_of =
    frame::tile_kernel<window_mainloop<In, Tile>,
                       frame::boxed_epilogue<Out, channel_activation<Out, Activation>, typename Tile::share>,
                       frame::one_product<window_product<Out, Activation>, Tile::streams>>;

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
    // Stores have 16 bytes, and may reach past the end of the output.
    constexpr std::int64_t per_packet = 16 / sizeof(Out);
    if (has_boxes(layout_of(a.output))) {
        p.c = map_of(a.output.data, stride);
        p.c_map_cols = a.output.channels % per_packet == 0 ? std::numeric_limits<int>::max() : p.n;
    }
    p.has_residual_map = residual.data != nullptr && has_boxes(layout_of(residual));
    if (p.has_residual_map) p.residual = map_of(residual.data, residual_stride);
    return p;
}

template <std::size_t row>
using window_tile = frame::wgmma_tile<persistent_kernels, row>;

/// Whether the kernels with a user's function are compiled for the current device.
template <class In, class Out, class Activation>
bool has_persistent_kernel() {
    static_assert(persistent_kernels[0].takes_function);
    return frame::is_compiled<window_kernel_of<In, Out, window_tile<0>, Activation>>();
}

/// Launches the plan's row, one of those that are compiled for these types and, if there is one, for a function.
template <class In, class Out, class Activation>
void launch_persistent(const plan& plan, const arguments<In, Out, Activation>& a, cudaStream_t stream) {
    constexpr bool has_function = !std::is_same_v<Activation, matmul_activation>;
    frame::with_row<persistent_kernels>(plan.kernel, [&]<std::size_t row>() {
        constexpr const window_kernel& kernel = persistent_kernels[row];
        if constexpr ((!std::is_same_v<In, float> || kernel.takes_float) &&
                      (!has_function || kernel.takes_function)) {
            using tile = window_tile<row>;
            frame::shared_sums sums;
            if (plan.schedule.streams > 0)
                sums = {reinterpret_cast<float*>(a.scratch + plan.sums), a.tickets};
            frame::launch<window_kernel_of<In, Out, tile, Activation>>(
                {.product = product_for<tile>(a), .schedule = plan.schedule, .sums = sums},
                plan.schedule.workers, stream);
        } else {
            throw std::logic_error("conv: a kernel that is not compiled was chosen");
        }
    });
}

}  // namespace heddle::kernels::conv
