#pragma once

#include <heddle/device.hpp>
#include <heddle/linear.hpp>
#include <heddle/matmul.hpp>
#include <heddle/scratch.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

namespace heddle::kernels::linear {

/// dx = (gradient weights) * f'(x), f' the derivative of an activation of which x is the result; none has no derivative. dx has at
/// least one element, and is apart from all others.
template <class T>
struct derivative_arguments {
    matrix_view<const T> gradient;
    matrix_view<const T> weights;
    matrix_view<const T> x;
    matrix_view<T> dx;
    matmul_activation activation;
    heddle::precision precision;
    std::span<std::byte> workspace;
    heddle::scratch scratch;
};

/// matmul plans the product itself.
struct plan {};

/// `separate` takes any problem.
inline plan plan_separate(const linear_gradient_problem&, const device_traits&) {
    return {};
}
/// The product takes no scratch memory.
inline plan plan_fused(const linear_gradient_problem&, const device_traits&) {
    return {};
}

template <class T>
void launch_separate(const plan& plan, const derivative_arguments<T>& arguments, cudaStream_t stream);
/// T is half or bfloat16, and the activation not none.
template <class T>
void launch_fused(const plan& plan, const derivative_arguments<T>& arguments, cudaStream_t stream);

}  // namespace heddle::kernels::linear
