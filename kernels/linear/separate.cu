// separate: the derivative in a kernel of its own.
//
//   matmul:      gradient x weights -> dx
//   transform:   dx, x -> dx * f'(x) -> dx
//
// The product may be any that matmul takes, by the rung that is fastest for it. What limits it: dx is written, read and written,
// where once would do. Its sums are rounded to T in between, where they may overflow.

#include "kernels/linear/derivative.cuh"
#include "kernels/linear/launch.hpp"
#include <heddle/elementwise.cuh>
#include <heddle/types.hpp>

#include <cuda/stream_ref>

namespace heddle::kernels::linear {
namespace {

template <class T>
struct element_times_derivative {
    matmul_activation activation;

    __device__ T operator()(T x, T sum) const {
        return static_cast<T>(times_derivative(activation, static_cast<float>(x), static_cast<float>(sum)));
    }
};

}  // namespace

template <class T>
void launch_separate(const plan&, const derivative_arguments<T>& a, cudaStream_t stream) {
    const cuda::stream_ref on(stream);
    heddle::matmul<T>(a.gradient, a.weights, a.dx, on,
                      {.workspace = a.workspace, .scratch = a.scratch, .precision = a.precision});
    if (a.activation == matmul_activation::none) return;
    transform<T>(element_times_derivative<T>{a.activation}, a.x, a.dx, a.dx, on);
}

template void launch_separate(const plan&, const derivative_arguments<float>&, cudaStream_t);
template void launch_separate(const plan&, const derivative_arguments<half>&, cudaStream_t);
template void launch_separate(const plan&, const derivative_arguments<bfloat16>&, cudaStream_t);

}  // namespace heddle::kernels::linear
