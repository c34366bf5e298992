#pragma once

#include "kernels/conv/mma_sync.cuh"
#include "kernels/conv/naive.cuh"
#include "kernels/conv/persistent.cuh"
#include "kernels/conv/tiled.cuh"
#include <heddle/conv.hpp>
#include <heddle/device.hpp>
#include <heddle/error.hpp>
#include <heddle/stream.hpp>
#include <heddle/tensor.hpp>

#include <cuda/stream_ref>

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

#pragma GCC visibility push(default)

/// For .cu files: conv with the caller's own function in its epilogue.
namespace heddle {
namespace detail {

/// Checks and plans a call. The result is empty where there is nothing to do. `is_compiled` tells whether the current
/// device has the kernel of `persistent` with the function.
template <class Out, class In>
std::optional<kernels::conv::function_call<In, Out>> prepare_conv(
    tensor_view<const In> input, filter_view<const In> filters, tensor_view<Out> output,
    const conv_epilogue<Out>& epilogue, cuda::stream_ref stream, const conv_options& options,
    bool (*is_compiled)());

template <class In, class Out, class Function>
auto with_function(const kernels::conv::arguments<In, Out>& a, const Function& function) {
    using activation = kernels::conv::element_function<Function>;
    const auto division = [](std::int64_t by) {
        return kernels::wide_division(static_cast<std::uint32_t>(by));
    };
    const auto& e = a.epilogue;
    return kernels::conv::arguments<In, Out, activation>{
        a.input,
        a.filters,
        a.output,
        a.geometry,
        a.alpha,
        a.beta,
        {activation{function, division(a.output.height), division(a.output.width)}, e.bias, e.bias_stride,
         e.scale, e.scale_stride, e.residual, e.residual_before_activation, e.is_identity},
        a.scratch};
}

}  // namespace detail

/// The conv of heddle/conv.hpp with a function instead of the epilogue's activation, applied before the store:
/// output(n, y, x, k) = function(scale[k] * (alpha * conv + beta * output) + bias[k] + residual, n, y, x, k).
/// The residual may instead be added to the result of the function, as conv_epilogue says.
///
/// `function` is copied to the device. It is an extended __device__ lambda, or an object with a const __device__
/// operator(). It takes a float and four std::int64_t, and returns a float. It is called once for each element of the
/// output, in no order, with the element's image n, row y, column x and channel k. In is half or bfloat16, and Out
/// the same or float; or both are float. The .cu file is compiled for 80 or later. No scratch memory is taken.
///
/// For half and bfloat16 this is the kernel of `persistent`, in three of its tiles, under three conditions. The
/// device has compute capability 9.0; the .cu file is compiled for 90a; `persistent` takes the operands as they lie,
/// with at least 16 channels in a group. Otherwise it is `mma_sync elements 64x64`, which takes operands at any
/// address and is many times slower. For float it is `tiled` for every precision, as `persistent` and `mma_sync` take
/// no function there. Where groups have few outputs it is `naive`. These four may be requested.
///
/// @throws as conv with an epilogue; invalid_argument too where the epilogue has an activation
template <class Out, class In = Out, class Function>
requires(!std::convertible_to<const Function&, cuda::stream_ref>) void conv(
    tensor_view<const std::type_identity_t<In>> input, filter_view<const std::type_identity_t<In>> filters,
    tensor_view<Out> output, const conv_epilogue<std::type_identity_t<Out>>& epilogue,
    const Function& function, cuda::stream_ref stream, const conv_options& options = {}) {
    static_assert(std::is_trivially_copyable_v<Function>, "the function is copied to the device");
    namespace rungs = kernels::conv;
    using activation = kernels::conv::element_function<Function>;
    constexpr bool is_float = std::is_same_v<In, float>;
    bool (*is_compiled)() = nullptr;
    if constexpr (!is_float) is_compiled = rungs::has_persistent_kernel<In, Out, activation>;
    const auto call =
        detail::prepare_conv<Out, In>(input, filters, output, epilogue, stream, options, is_compiled);
    if (!call) return;
    const auto arguments = detail::with_function(call->arguments, function);
    const detail::stream_device call_device(stream);
    if constexpr (!is_float) {
        if (call->rung == conv_algorithm::persistent)
            return rungs::launch_persistent(call->plan, arguments, stream.get());
        if (call->rung == conv_algorithm::mma_sync)
            return rungs::launch_mma_sync_with_function(call->plan, arguments, stream.get());
    }
    call->rung == conv_algorithm::tiled ? rungs::launch_tiled(call->plan, arguments, stream.get())
                                        : rungs::launch_naive(call->plan, arguments, stream.get());
}

}  // namespace heddle

#pragma GCC visibility pop
