#pragma once

#include <heddle/device.hpp>
#include <heddle/matmul.hpp>
#include <heddle/scratch.hpp>
#include <heddle/tensor.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace heddle {

/// The rungs of the convolution; kernels/conv/README.md is their ladder.
enum class conv_algorithm {
    automatic,
    naive,
    tiled,
    register_tiled,
    depthwise,
    im2col,
    mma_sync,
    grouped,
    wgmma,
    persistent,
};

/// All rungs, without `automatic`: what tests, benchmarks and pages go through.
std::span<const conv_algorithm> conv_algorithms();
std::string_view to_string(conv_algorithm algorithm);

/// The compiled kernels of a rung, or with `automatic` of all: "persistent 128x256". The first word names the rung, and the last
/// the tile, pixels by channels of the output, where there are several.
std::span<const std::string_view> conv_kernels(conv_algorithm algorithm = conv_algorithm::automatic);

/// Pixels from one place to the next.
struct conv_steps {
    std::int64_t y = 1;
    std::int64_t x = 1;

    bool operator==(const conv_steps&) const = default;
};

/// Rows and columns of zeros around each image.
struct conv_padding {
    std::int64_t top = 0;
    std::int64_t bottom = 0;
    std::int64_t left = 0;
    std::int64_t right = 0;

    bool operator==(const conv_padding&) const = default;
};

/// Which pixels a filter meets. Tap (r, s) of output pixel (y, x) is input pixel
/// (y * stride.y - padding.top + r * dilation.y, x * stride.x - padding.left + s * dilation.x).
struct conv_geometry {
    conv_steps stride{};
    conv_padding padding{};
    conv_steps dilation{};
    /// Input and output channels are divided into so many equal groups, each of which meets its own alone. As many as input
    /// channels: a depthwise convolution.
    std::int64_t groups = 1;

    bool operator==(const conv_geometry&) const = default;
};

/// How many places a filter has along one side of an image; 0 where it has none.
constexpr std::int64_t conv_output_extent(std::int64_t extent, std::int64_t filter, std::int64_t padding,
                                          std::int64_t stride, std::int64_t dilation) {
    const std::int64_t rest = extent + padding - (filter - 1) * dilation - 1;
    return rest < 0 || stride < 1 ? 0 : rest / stride + 1;
}
constexpr std::int64_t conv_output_height(std::int64_t height, std::int64_t filter_height,
                                          const conv_geometry& g = {}) {
    return conv_output_extent(height, filter_height, g.padding.top + g.padding.bottom, g.stride.y,
                              g.dilation.y);
}
constexpr std::int64_t conv_output_width(std::int64_t width, std::int64_t filter_width,
                                         const conv_geometry& g = {}) {
    return conv_output_extent(width, filter_width, g.padding.left + g.padding.right, g.stride.x,
                              g.dilation.x);
}

struct conv_options {
    conv_geometry geometry{};
    float alpha = 1;
    /// Where it is 0, the output is not read: it may hold anything, NaN too.
    float beta = 0;
    conv_algorithm algorithm = conv_algorithm::automatic;
    /// Device scratch memory, zeroed before its first use (heddle::workspace is), of at least
    /// conv_workspace_bytes(), 16-byte aligned, apart from the operands; ready for the next call when this one is done.
    std::span<std::byte> workspace{};
    /// Without a workspace, scratch memory that makes the call faster comes, stream-ordered, from heddle's pool of the stream's
    /// device (memory_pool::scratch_of); with a workspace nothing is allocated. scratch::none forbids it: then the call plans
    /// without scratch memory, and a rung that needs some throws unsupported.
    heddle::scratch scratch = heddle::scratch::pool;
    /// Limits what `automatic` chooses from where the operands are float.
    heddle::precision precision = heddle::precision::fp32;
    /// One of conv_kernels(), or the first words of several, from which the plan chooses; of `algorithm`, where that is not
    /// automatic. Empty: all.
    std::string_view kernel{};
};

/// What becomes of a convolution before it is stored, all of it in float32: output =
/// activation(scale[k] * (alpha * conv + beta * output) + bias[k] + residual), or with the residual added to that activation.
template <class Out>
struct conv_epilogue {
    matmul_activation activation = matmul_activation::none;
    /// One of each for each output channel k, or empty: a bias of 0, a scale of 1.
    vector_view<const Out> bias{};
    vector_view<const Out> scale{};
    /// Has the output's shape, or is empty. The output itself may be given: it is read before it is written.
    tensor_view<const Out> residual{};
    bool residual_before_activation = true;
};

/// A convolution without its memory: what its plan depends on. conv_problem_of() makes it.
struct conv_problem {
    tensor_layout input{}, filters{}, output{};
    conv_geometry geometry{};
    element_type operands = element_type::f32;
    element_type result = element_type::f32;
    bool has_epilogue = false;
    /// The epilogue is one that matmul has as well: no scale for each channel, and a residual that is added last.
    bool is_matmul_epilogue = false;
    tensor_layout residual{};  ///< of the epilogue; all zero where there is none
    /// Scratch memory is there: given, or from the pool.
    bool has_scratch = true;
    heddle::precision precision = heddle::precision::fp32;

    bool operator==(const conv_problem&) const = default;
};

/// The problem of a call of conv() with these arguments. What the views point to is not read; they may be null.
/// @throws invalid_argument  as conv(), but for pointers and overlaps
template <class Out, class In = Out>
conv_problem conv_problem_of(tensor_view<const std::type_identity_t<In>> input,
                             filter_view<const std::type_identity_t<In>> filters, tensor_view<Out> output,
                             const conv_options& options = {});
template <class Out, class In = Out>
conv_problem conv_problem_of(tensor_view<const std::type_identity_t<In>> input,
                             filter_view<const std::type_identity_t<In>> filters, tensor_view<Out> output,
                             const conv_epilogue<std::type_identity_t<Out>>& epilogue,
                             const conv_options& options = {});

/// The rung that `automatic` stands for. It can run the problem. Pure.
/// @throws invalid_argument  a problem that conv_problem_of() does not make; device.sm_count below 1
conv_algorithm select(const conv_problem& problem, const device_traits& device);

/// Why a rung cannot run a problem on a device, as `unsupported` says it; empty where it can, and of `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm or kernel
std::string why_not(conv_algorithm algorithm, const conv_problem& problem, const device_traits& device,
                    std::string_view kernel = {});

/// The kernel that a call takes, of those that it may: one of conv_kernels(). "naive" where there is no output. Pure.
/// @throws invalid_argument  as why_not()
/// @throws unsupported       none of them can run the problem
std::string_view select_kernel(const conv_problem& problem, const device_traits& device,
                               conv_algorithm algorithm = conv_algorithm::automatic,
                               std::string_view kernel = {});

/// The workspace, in bytes, with which this convolution is fastest; 0 where it makes no difference, and where the rung cannot
/// run it. problem.has_scratch counts for nothing. Pure.
/// @throws invalid_argument  as why_not()
std::int64_t conv_workspace_bytes(const conv_problem& problem, const device_traits& device,
                                  conv_algorithm algorithm = conv_algorithm::automatic,
                                  std::string_view kernel = {});

/// The same for a call of conv() with these arguments, on the stream's device.
/// @throws as conv_problem_of()
template <class Out, class In = Out>
std::int64_t conv_workspace_bytes(tensor_view<const std::type_identity_t<In>> input,
                                  filter_view<const std::type_identity_t<In>> filters,
                                  tensor_view<Out> output,
                                  const conv_epilogue<std::type_identity_t<Out>>& epilogue,
                                  cuda::stream_ref stream, const conv_options& options = {}) {
    return conv_workspace_bytes(conv_problem_of<Out, In>(input, filters, output, epilogue, options),
                                traits_of(device_of(stream)), options.algorithm, options.kernel);
}
template <class Out, class In = Out>
std::int64_t conv_workspace_bytes(tensor_view<const std::type_identity_t<In>> input,
                                  filter_view<const std::type_identity_t<In>> filters,
                                  tensor_view<Out> output, cuda::stream_ref stream,
                                  const conv_options& options = {}) {
    return conv_workspace_bytes<Out, In>(input, filters, output, {}, stream, options);
}

/// output(n, y, x, k) = alpha * sum + beta * output(n, y, x, k). The sum is over the taps (r, s) of filter k and the channels c
/// of its group, of input(n, y', x', c) * filters(k, r, s, c), where (y', x') is the pixel that conv_geometry says. It is
/// what networks call a convolution: the filters are not turned around.
///
/// Tensors in device memory, at any address and with any strides that keep their elements apart. The output is
/// conv_output_height() x conv_output_width() pixels of one channel for each filter, and overlaps neither input nor filters.
/// Padding is zeros that are multiplied as pixels are: times an infinite or a NaN filter they give NaN. Input and filters are
/// not read where alpha is 0. Nothing is done where there are no images or no filters; where there are no input channels, the
/// sum is 0 whatever alpha is. Enqueued on `stream` and its device; never synchronises; safe under stream capture; allocates
/// only as conv_options says. The same call gives the same bits each time.
///
/// Out is float, and In too. Or In is half or bfloat16 and Out the same or float, as in conv<float, half>: exact products,
/// summed in float32, and one rounding to Out. The error bounds are in docs/accuracy.md.
///
/// @throws invalid_argument  counts, channels or extents that disagree or are negative; a filter of no taps; a filter that the
///                           padded image has no place for; channels that the groups do not divide; strides, dilations or groups
///                           below one, padding below zero; view strides that let elements share an address, a null or misaligned
///                           pointer, an overlap; a workspace as in matmul(); an unknown algorithm or precision, a kernel that
///                           the algorithm does not have (nothing is enqueued)
/// @throws unsupported       the algorithm that was asked for cannot run this problem on this device;
///                           says why (nothing is enqueued): `depthwise` has one filter for each input channel, of at most 81
///                           taps; `im2col` needs filters whose taps lie side by side, and scratch memory but for filters of
///                           one tap; `register_tiled` takes float; `mma_sync` and `persistent` take half, bfloat16, and
///                           float where options.precision is tf32; `grouped` takes groups of 1 to 32 input channels and of
///                           at most 32 outputs; `wgmma`, of half and bfloat16, and `persistent` run on compute capability
///                           9.0, and take windows that the tensor memory accelerator can read (kernels/conv/README.md)
/// @throws cuda_error        the launch or the allocation failed
template <class Out, class In = Out>
void conv(tensor_view<const std::type_identity_t<In>> input,
          filter_view<const std::type_identity_t<In>> filters, tensor_view<Out> output,
          cuda::stream_ref stream, const conv_options& options = {});

/// The same with an epilogue, which is applied before the output is stored. A residual may be the output itself; otherwise
/// residual, bias and scale do not overlap the output.
///
/// @throws as above, and where bias or scale is not as long as the output has channels, or the residual is not of its shape
template <class Out, class In = Out>
void conv(tensor_view<const std::type_identity_t<In>> input,
          filter_view<const std::type_identity_t<In>> filters, tensor_view<Out> output,
          const conv_epilogue<std::type_identity_t<Out>>& epilogue, cuda::stream_ref stream,
          const conv_options& options = {});

}  // namespace heddle
