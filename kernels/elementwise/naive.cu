// naive: one thread, one element.
//
// Thread i takes element (i / cols, i % cols), so a warp reads 32 neighbours of a row: coalesced already.
// What it costs is a 64-bit division an element, one small load in flight a thread, and a block for every 256
// elements. Any shape, any strides.
//
// 2^28 floats on an H200: add 3.0 TB/s, sigmoid 2.1 TB/s, of 4.2 that a copy moves.

#include "kernels/elementwise/functors.cuh"
#include <heddle/error.hpp>

namespace heddle::kernels::elementwise {
namespace {

struct tile {
    static constexpr int threads = 256;
};

template <class Functor, class T>
__global__ void __launch_bounds__(tile::threads) naive(arguments<T> a) {
    const std::int64_t i = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    if (i >= a.z.rows * a.z.cols) return;
    const std::int64_t row = i / a.z.cols;
    const std::int64_t col = i % a.z.cols;

    const T x = a.x.data[row * a.x.row_stride + col * a.x.col_stride];
    T y{};
    if constexpr (Functor::inputs == 2) y = a.y.data[row * a.y.row_stride + col * a.y.col_stride];
    a.z.data[row * a.z.row_stride + col * a.z.col_stride] = Functor{}(x, y);
}

}  // namespace

template <class Functor, class T>
void launch_naive(const arguments<T>& arguments, const device_traits&, cudaStream_t stream) {
    const std::int64_t blocks = (arguments.z.rows * arguments.z.cols + tile::threads - 1) / tile::threads;
    naive<Functor><<<static_cast<unsigned>(blocks), tile::threads, 0, stream>>>(arguments);
    check(cudaGetLastError());
}

template void launch_naive<add>(const arguments<float>&, const device_traits&, cudaStream_t);
template void launch_naive<add>(const arguments<double>&, const device_traits&, cudaStream_t);
template void launch_naive<add>(const arguments<half>&, const device_traits&, cudaStream_t);
template void launch_naive<add>(const arguments<bfloat16>&, const device_traits&, cudaStream_t);
template void launch_naive<sigmoid>(const arguments<float>&, const device_traits&, cudaStream_t);
template void launch_naive<sigmoid>(const arguments<double>&, const device_traits&, cudaStream_t);
template void launch_naive<sigmoid>(const arguments<half>&, const device_traits&, cudaStream_t);
template void launch_naive<sigmoid>(const arguments<bfloat16>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::elementwise
