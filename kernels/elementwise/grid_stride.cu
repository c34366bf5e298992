// grid_stride: as many threads as the device holds, each walking the data in steps of the whole grid.
//
// Blocks are started once, and the division is replaced by walking rows and columns separately. But a thread
// waits for its one small load before it asks for the next, where `naive` has a new block to start. Any
// shape, any strides.
//
// 2^28 floats on an H200: add 2.6 TB/s, less than `naive`; sigmoid 2.9 TB/s, more than it.

#include "kernels/elementwise/functors.cuh"
#include <heddle/error.hpp>

#include <algorithm>

namespace heddle::kernels::elementwise {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int blocks_per_sm = 8;
};

template <class Functor, class T>
__global__ void __launch_bounds__(tile::threads) grid_stride(arguments<T> a) {
    const std::int64_t first_col = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t first_row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    const std::int64_t col_step = std::int64_t{gridDim.x} * blockDim.x;
    const std::int64_t row_step = std::int64_t{gridDim.y} * blockDim.y;

    for (std::int64_t row = first_row; row < a.z.rows; row += row_step) {
        for (std::int64_t col = first_col; col < a.z.cols; col += col_step) {
            const T x = a.x.data[row * a.x.row_stride + col * a.x.col_stride];
            T y{};
            if constexpr (Functor::inputs == 2) y = a.y.data[row * a.y.row_stride + col * a.y.col_stride];
            a.z.data[row * a.z.row_stride + col * a.z.col_stride] = Functor{}(x, y);
        }
    }
}

}  // namespace

template <class Functor, class T>
void launch_grid_stride(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream) {
    // Narrow matrices give their spare threads to further rows.
    std::int64_t width = 1;
    while (width < tile::threads && width < arguments.z.cols) width *= 2;
    const dim3 block(static_cast<unsigned>(width), static_cast<unsigned>(tile::threads / width));
    const std::int64_t resident = std::int64_t{device.sm_count} * tile::blocks_per_sm;
    const std::int64_t across = std::min((arguments.z.cols + block.x - 1) / block.x, resident);
    const std::int64_t down =
        std::min((arguments.z.rows + block.y - 1) / block.y, std::max<std::int64_t>(1, resident / across));
    const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(down));
    grid_stride<Functor><<<grid, block, 0, stream>>>(arguments);
    check(cudaGetLastError());
}

template void launch_grid_stride<add>(const arguments<float>&, const device_traits&, cudaStream_t);
template void launch_grid_stride<add>(const arguments<double>&, const device_traits&, cudaStream_t);
template void launch_grid_stride<add>(const arguments<half>&, const device_traits&, cudaStream_t);
template void launch_grid_stride<add>(const arguments<bfloat16>&, const device_traits&, cudaStream_t);
template void launch_grid_stride<sigmoid>(const arguments<float>&, const device_traits&, cudaStream_t);
template void launch_grid_stride<sigmoid>(const arguments<double>&, const device_traits&, cudaStream_t);
template void launch_grid_stride<sigmoid>(const arguments<half>&, const device_traits&, cudaStream_t);
template void launch_grid_stride<sigmoid>(const arguments<bfloat16>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::elementwise
