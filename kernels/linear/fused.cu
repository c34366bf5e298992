// fused: applies the derivative in the epilogue of the product.
//
//   matmul's fused:   sums of gradient x weights, in registers
//   its epilogue:     multiplies each by f'(x) of its place -> dx
//
// x comes to the epilogue as a residual would: the tensor memory accelerator fetches it while the tensor cores multiply. The
// result is written once, and its sums are rounded once. Needs half or bfloat16, a Hopper GPU, and operands that matmul's
// `fused` can read in place. A product with a function makes no copies and takes no scratch. What limits it: the product.

#include "kernels/linear/derivative.cuh"
#include "kernels/linear/launch.hpp"
#include <heddle/matmul.cuh>
#include <heddle/types.hpp>

namespace heddle::kernels::linear {
namespace {

struct sum_times_derivative {
    matmul_activation activation;

    __device__ float operator()(float sum, float x) const { return times_derivative(activation, x, sum); }
};

}  // namespace

template <class T>
void launch_fused(const matmul::function_call<T, T>& product, matmul_activation of_x, cudaStream_t stream) {
    using activation = frame::residual_function<sum_times_derivative>;
    matmul::launch_fused(product.plan, heddle::detail::with_activation(product, activation{{of_x}}), stream);
}

template void launch_fused(const matmul::function_call<half, half>&, matmul_activation, cudaStream_t);
template void launch_fused(const matmul::function_call<bfloat16, bfloat16>&, matmul_activation, cudaStream_t);

}  // namespace heddle::kernels::linear
