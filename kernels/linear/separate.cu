// separate: a separate kernel applies the derivative.
//
//   matmul:      gradient x weights -> dx
//   transform:   dx, x -> dx * f'(x) -> dx
//
// The product runs by the fastest rung for it, and may be any that matmul takes. What limits it: dx is written, read and
// written again. Its sums are rounded to T in between, where they may overflow.

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
void launch_derivative(const matrix_view<const T>& x, const matrix_view<T>& dx, matmul_activation of_x,
                       cudaStream_t stream) {
    transform<T>(element_times_derivative<T>{of_x}, x, dx, dx, cuda::stream_ref(stream));
}

#define INSTANTIATE(T)                                                                                     \
    template void launch_derivative(const matrix_view<const T>&, const matrix_view<T>&, matmul_activation, \
                                    cudaStream_t);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle::kernels::linear
