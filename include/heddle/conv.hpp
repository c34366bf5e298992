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

#pragma GCC visibility push(default)

namespace heddle {

/// The rungs of the convolution; kernels/conv/README.md is their ladder.
enum class conv_algorithm {
    automatic,
    naive,
    tiled,
    register_tiled,
    depthwise,
    im2col,
    kn2row,
    mma_sync,
    grouped,
    wgmma,
    persistent,
};

/// All rungs except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const conv_algorithm> conv_algorithms();
std::string_view to_string(conv_algorithm algorithm);

/// The compiled kernels of a rung, or of all rungs for `automatic`: "persistent 128x256". The first word names the
/// rung. Where a rung has several tiles, the last word is the tile, pixels by channels of the output.
std::span<const std::string_view> conv_kernels(conv_algorithm algorithm = conv_algorithm::automatic);

/// The distance in pixels between neighbouring places of a filter.
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

/// The geometry of the windows. Tap (r, s) of output pixel (y, x) is input pixel
/// (y * stride.y - padding.top + r * dilation.y, x * stride.x - padding.left + s * dilation.x).
struct conv_geometry {
    conv_steps stride{};
    conv_padding padding{};
    conv_steps dilation{};
    /// The number of equal groups of input and output channels. A group's outputs depend on its own inputs alone. As
    /// many groups as input channels give a depthwise convolution.
    std::int64_t groups = 1;

    bool operator==(const conv_geometry&) const = default;
};

/// The number of places that a filter has along one side of an image; 0 where it has none.
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
    /// If 0, the output is not read. It may then hold anything, even NaN.
    float beta = 0;
    conv_algorithm algorithm = conv_algorithm::automatic;
    /// Device scratch memory, as in heddle::workspace: at least conv_workspace_bytes(), 16-byte aligned, zeroed before
    /// first use, apart from the operands. Each call leaves it ready for the next.
    std::span<std::byte> workspace{};
    /// The source of scratch memory without a workspace. With a workspace nothing is allocated.
    heddle::scratch scratch = heddle::scratch::pool;
    /// Limits the choice of `automatic` where the operands are float.
    heddle::precision precision = heddle::precision::fp32;
    /// One of conv_kernels(), or the first words of several, from which the plan chooses. It belongs to `algorithm`
    /// unless that is automatic. Empty: all.
    std::string_view kernel{};
};

/// Operations on the result of a convolution before it is stored, all in float32:
/// output = activation(scale[k] * (alpha * conv + beta * output) + bias[k] + residual). The residual may instead be
/// added to the result of the activation.
template <class Out>
struct conv_epilogue {
    matmul_activation activation = matmul_activation::none;
    /// One element of each for each output channel k, or empty: a bias of 0, a scale of 1.
    vector_view<const Out> bias{};
    vector_view<const Out> scale{};
    /// Has the output's shape, or is empty. It may be the output itself, as it is read before the output is written.
    tensor_view<const Out> residual{};
    bool residual_before_activation = true;
};

/// The facts by which a convolution is planned. conv_problem_of() makes it.
struct conv_problem {
    tensor_layout input{}, filters{}, output{};
    conv_geometry geometry{};
    element_type operands = element_type::f32;
    element_type result = element_type::f32;
    bool has_epilogue = false;
    /// matmul has this epilogue as well: no scale for each channel, and the residual is added last.
    bool is_matmul_epilogue = false;
    tensor_layout residual{};  ///< the epilogue's; all zero without one
    /// Scratch memory is available: a workspace, or the pool.
    bool has_scratch = true;
    heddle::precision precision = heddle::precision::fp32;

    bool operator==(const conv_problem&) const = default;
};

/// The problem of a call of conv() with these arguments. Elements are not read; pointers may be null.
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

/// The rung that `automatic` chooses. It can run the problem. Pure.
/// @throws invalid_argument  a problem that conv_problem_of() does not make; device.sm_count below 1
conv_algorithm select(const conv_problem& problem, const device_traits& device);

/// The reason, as in `unsupported`, why a rung cannot run a problem; empty if it can, and for `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm or kernel
std::string why_not(conv_algorithm algorithm, const conv_problem& problem, const device_traits& device,
                    std::string_view kernel = {});

/// The kernel that a call with these arguments runs, one of conv_kernels(). "naive" where there is no output. Pure.
/// @throws invalid_argument  as why_not()
/// @throws unsupported       no kernel that may be chosen can run the problem
std::string_view select_kernel(const conv_problem& problem, const device_traits& device,
                               conv_algorithm algorithm = conv_algorithm::automatic,
                               std::string_view kernel = {});

/// The bytes of workspace with which this convolution is fastest. 0 where a workspace makes no difference, and where
/// the rung cannot run the problem. problem.has_scratch is ignored. Pure.
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

/// output(n, y, x, k) = alpha * sum + beta * output(n, y, x, k). The sum is over the taps (r, s) of filter k and the
/// channels c of its group. Its terms are input(n, y', x', c) * filters(k, r, s, c); conv_geometry gives the pixel
/// (y', x'). This is what networks call a convolution: the filters are not flipped.
///
/// Tensors are in device memory, at any address and with any strides that give each element its own. The output has
/// conv_output_height() x conv_output_width() pixels of one channel for each filter. It overlaps neither input nor
/// filters. Pixels of padding are zeros that are multiplied: times an infinite or a NaN filter they give NaN. Input and
/// filters are not read where alpha is 0. Nothing is done where there are no images or no filters. Where there are no
/// input channels, the sum is 0 for any alpha. The call is enqueued on `stream` and its device. It never synchronises,
/// is safe under stream capture, and allocates only as conv_options says. The same call gives the same bits each time.
///
/// Out and In are both float; or In is half or bfloat16 and Out the same or float, as in conv<float, half>. 16-bit
/// operands have exact products, summed in float32, and one rounding to Out. docs/accuracy.md bounds the errors.
///
/// @throws invalid_argument  counts, channels or extents that disagree or are negative; a filter without taps; a filter
///                           larger than the padded image; channels that the groups do not divide; strides, dilations
///                           or groups below one, padding below zero; view strides by which elements share an address,
///                           a null or misaligned pointer, an overlap; a workspace as in matmul(); an unknown algorithm
///                           or precision, a kernel that the algorithm does not have (nothing is enqueued)
/// @throws unsupported       the requested algorithm cannot run this problem on this device; says why (nothing is
///                           enqueued). `depthwise` takes one filter for each input channel, of at most 81 taps.
///                           `im2col` takes filters whose taps are contiguous, and needs scratch memory except for
///                           filters of one tap. `register_tiled` takes float. `mma_sync` and `persistent` take half,
///                           bfloat16, and float where options.precision is tf32. `grouped` takes groups of 1 to 32
///                           input channels and of at most 32 outputs. `wgmma`, for half and bfloat16, and
///                           `persistent` need compute capability 9.0 and windows that the tensor memory accelerator
///                           can read (kernels/conv/README.md). Where pixels or taps do not lie at multiples of 16
///                           bytes, they need scratch memory for copies
/// @throws cuda_error        the launch or the allocation failed
template <class Out, class In = Out>
void conv(tensor_view<const std::type_identity_t<In>> input,
          filter_view<const std::type_identity_t<In>> filters, tensor_view<Out> output,
          cuda::stream_ref stream, const conv_options& options = {});

/// The same with an epilogue, applied before the output is stored. A residual may be the output itself. Otherwise
/// residual, bias and scale do not overlap the output.
///
/// @throws as above, and where bias or scale do not have one element for each output channel, or the residual has
/// another shape
template <class Out, class In = Out>
void conv(tensor_view<const std::type_identity_t<In>> input,
          filter_view<const std::type_identity_t<In>> filters, tensor_view<Out> output,
          const conv_epilogue<std::type_identity_t<Out>>& epilogue, cuda::stream_ref stream,
          const conv_options& options = {});

}  // namespace heddle

#pragma GCC visibility pop
