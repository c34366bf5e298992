// fused: the derivative in the epilogue of the product.
//
//   matmul's fused:   sums of gradient x weights, in registers
//   its epilogue:     each times f'(x) of its own place -> dx
//
// x comes to the epilogue as a residual would: the tensor memory accelerator fetches it while the tensor cores multiply. dx is
// written once, and its sums are rounded once. Needs half or bfloat16, a Hopper GPU, and operands that matmul's `fused` reads
// where they lie: a product with a function takes no copies here, so it takes no scratch memory. What limits it: the product.

#include "kernels/linear/derivative.cuh"
#include "kernels/linear/launch.hpp"
#include <heddle/matmul.cuh>
#include <heddle/types.hpp>

#include <cuda/stream_ref>

namespace heddle::kernels::linear {
namespace {

struct sum_times_derivative {
    matmul_activation activation;

    __device__ float operator()(float sum, float x) const { return times_derivative(activation, x, sum); }
};

}  // namespace

template <class T>
void launch_fused(const plan& plan, const derivative_arguments<T>& a, cudaStream_t stream) {
    if (a.gradient.cols == 0) return launch_separate(plan, a, stream);  // sums of nothing have no tiles
    heddle::detail::matmul_with_residual<T>(a.gradient, a.weights, a.x, a.dx,
                                            sum_times_derivative{a.activation}, cuda::stream_ref(stream));
}

template void launch_fused(const plan&, const derivative_arguments<half>&, cudaStream_t);
template void launch_fused(const plan&, const derivative_arguments<bfloat16>&, cudaStream_t);

}  // namespace heddle::kernels::linear
