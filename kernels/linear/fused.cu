// fused: the derivative in the epilogue of the product.
//
//   matmul's fused:   sums of gradient x weights, in registers
//   its epilogue:     each times f'(x) of its own place -> dx
//
// dx is written once, and its sums are rounded once. Needs half or bfloat16, a Hopper GPU, and operands that matmul's `fused` reads
// where they lie: a product with a function takes no copies here, so it takes no scratch memory. What limits it: the product;
// elements of x are loads of two bytes that wait for the sums.

#include "kernels/linear/derivative.cuh"
#include "kernels/linear/launch.hpp"
#include <heddle/matmul.cuh>
#include <heddle/types.hpp>

#include <cuda/stream_ref>

#include <cstdint>

namespace heddle::kernels::linear {
namespace {

template <class T>
struct sum_times_derivative {
    matmul_activation activation;
    matrix_view<const T> x;

    __device__ float operator()(float sum, std::int64_t row, std::int64_t col) const {
        const T result = x.data[row * x.row_stride + col * x.col_stride];
        return times_derivative(activation, static_cast<float>(result), sum);
    }
};

}  // namespace

template <class T>
void launch_fused(const plan&, const derivative_arguments<T>& a, cudaStream_t stream) {
    heddle::matmul<T>(a.gradient, a.weights, a.dx, {}, sum_times_derivative<T>{a.activation, a.x},
                      cuda::stream_ref(stream),
                      {.algorithm = matmul_algorithm::fused, .scratch = heddle::scratch::none});
}

template void launch_fused(const plan&, const derivative_arguments<half>&, cudaStream_t);
template void launch_fused(const plan&, const derivative_arguments<bfloat16>&, cudaStream_t);

}  // namespace heddle::kernels::linear
