#pragma once

#include "kernels/matmul/launch.hpp"
#include "kernels/matmul/persistent.cuh"
#include "kernels/matmul/tf32_tiles.cuh"
#include "kernels/matmul/warp_tiled.cuh"
#include "kernels/matmul/wmma.cuh"
#include <heddle/device.hpp>
#include <heddle/error.hpp>
#include <heddle/matmul.hpp>
#include <heddle/stream.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

#pragma GCC visibility push(default)

/// For .cu files: matmul with the caller's own function in its epilogue.
namespace heddle {
namespace detail {

/// Checks and plans a call, and copies operands where the plan says so. The result is empty where there is nothing to
/// do. `is_compiled` tells whether the current device has the kernel of `fused`, or `tf32`, with the function.
template <class Out, class In>
std::optional<kernels::matmul::function_call<In, Out>> prepare_matmul(
    matrix_view<const In> a, matrix_view<const In> b, matrix_view<Out> c,
    const matmul_epilogue<Out>& epilogue, cuda::stream_ref stream, const matmul_options& options,
    bool (*is_compiled)());

template <class In, class Out, class Activation>
kernels::matmul::product<In, Out, Activation> with_activation(
    const kernels::matmul::function_call<In, Out>& call, const Activation& activation) {
    const auto& p = call.arguments;
    const auto& e = p.epilogue;
    return {p.a,
            p.b,
            p.c,
            p.alpha,
            p.beta,
            {activation, e.scale, e.row_bias, e.row_bias_stride, e.column_bias, e.column_bias_stride,
             e.residual, e.residual_row_stride, e.residual_col_stride, e.is_identity},
            p.batch,
            p.workspace};
}

}  // namespace detail

/// The matmul of heddle/matmul.hpp with a function instead of the epilogue's activation, applied before C is stored:
/// C = scale * function(alpha * A * B + beta * C + bias, row, column) + residual.
///
/// `function` is copied to the device. It is an extended __device__ lambda, or an object with a const __device__
/// operator(). It takes a float and two std::int64_t, and returns a float. It is called once for each element of C,
/// in no order, with the element's row and column in the caller's `c`. In is half or bfloat16, and Out the same or
/// float; or both are float.
///
/// For half and bfloat16 this is the kernel of `fused`, under three conditions. The device has compute capability 9.0;
/// the .cu file is compiled for 90a; `fused` takes the operands. Otherwise it is `wmma`, which takes any operands and
/// devices and is many times slower. For float it is `warp_tiled`, which uses FMAs and takes any operands and devices.
/// With precision::tf32 it is `tf32`, under the first two conditions of `fused`, where it can read A and B in place. It
/// has one tile and takes no workspace. These four may be requested.
///
/// @throws as matmul with an epilogue; invalid_argument too where the epilogue has an activation
template <class Out, class In = Out, class Function>
requires(!std::convertible_to<const Function&, cuda::stream_ref>) void matmul(
    matrix_view<const std::type_identity_t<In>> a, matrix_view<const std::type_identity_t<In>> b,
    matrix_view<Out> c, const matmul_epilogue<std::type_identity_t<Out>>& epilogue, const Function& function,
    cuda::stream_ref stream, const matmul_options& options = {}) {
    static_assert(std::is_trivially_copyable_v<Function>, "the function is copied to the device");
    namespace rungs = kernels::matmul;
    using activation = kernels::frame::element_function<Function>;
    constexpr bool is_float = std::is_same_v<In, float>;
    bool (*is_compiled)() = nullptr;
    if constexpr (is_float)
        is_compiled = rungs::has_tf32_kernel<activation>;
    else
        is_compiled = rungs::has_fused_kernel<In, Out, activation>;
    const auto call = detail::prepare_matmul<Out, In>(a, b, c, epilogue, stream, options, is_compiled);
    if (!call) return;
    const auto arguments = detail::with_activation(*call, activation{function, call->is_transposed});
    const detail::stream_device call_device(stream);
    if constexpr (is_float)
        call->by_warpgroups ? rungs::launch_tf32(call->plan, arguments, stream.get())
                            : rungs::launch_warp_tiled(call->plan, arguments, stream.get());
    else if (call->by_warpgroups)
        rungs::launch_fused(call->plan, arguments, stream.get());
    else
        rungs::launch_wmma(call->plan, arguments, stream.get());
}

}  // namespace heddle

#pragma GCC visibility pop
