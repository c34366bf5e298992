// vectorized: 16 bytes a load, one packet a thread.
//
//   a row:   | p p p p ... (packets of 16 bytes)                 | tail |
//
// A warp's instruction now moves 512 bytes instead of 64..128, and a full SM has 32 KB under way for every
// input: enough to cover DRAM's latency, for 2-byte types too. More packets a thread do not help: two or four
// cost sigmoid 3 %, and streaming hints (ld.cs, L1::no_allocate) cost add up to 10 %. Where pointers or row
// strides are not multiples of 16 bytes, the widest packet that divides all of them is used. Needs columns
// side by side. What limits it now is DRAM itself.
//
// 2^28 floats on an H200: add 4.4 TB/s, as much as CUB, and more than the 4.2 that a copy moves.

#include "kernels/device/grid.hpp"
#include "kernels/device/vector.cuh"
#include "kernels/elementwise/functors.cuh"
#include <heddle/error.hpp>

#include <algorithm>

namespace heddle::kernels::elementwise {
namespace {

struct tile {
    static constexpr int threads = 256;
};

template <class Functor, class T, int width>
__device__ void apply(const T* x, const T* y, T* z, std::int64_t left) {
    if (left >= width) {
        using packet = vector<T, width>;
        const packet xs = *reinterpret_cast<const packet*>(x);
        packet ys;
        if constexpr (Functor::inputs == 2) ys = *reinterpret_cast<const packet*>(y);
        packet result;
#pragma unroll
        for (int e = 0; e < width; ++e) result[e] = Functor{}(xs[e], ys[e]);
        *reinterpret_cast<packet*>(z) = result;
    } else {
        // The packet that the end of the row cuts.
        for (int e = 0; e < left; ++e) z[e] = Functor{}(x[e], Functor::inputs == 2 ? y[e] : T{});
    }
}

/// The grid is rows by packets: finding a place costs no division. Past the grid's limit blocks take further
/// rows.
template <class Functor, class T, int width>
__global__ void __launch_bounds__(tile::threads) vectorized(arguments<T> a) {
    const std::int64_t col = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * width;
    if (col >= a.z.cols) return;
    for (std::int64_t row = blockIdx.y * blockDim.y + threadIdx.y; row < a.z.rows;
         row += gridDim.y * blockDim.y)
        apply<Functor, T, width>(a.x.data + row * a.x.row_stride + col, a.y.data + row * a.y.row_stride + col,
                                 a.z.data + row * a.z.row_stride + col, a.z.cols - col);
}

template <class Functor, class T, int width>
void launch(const arguments<T>& arguments, cudaStream_t stream) {
    const std::int64_t packets = (arguments.z.cols + width - 1) / width;
    // Narrow matrices give their spare threads to further rows.
    std::int64_t threads_across = 1;
    while (threads_across < tile::threads && threads_across < packets) threads_across *= 2;
    const dim3 block(static_cast<unsigned>(threads_across),
                     static_cast<unsigned>(tile::threads / threads_across));
    const dim3 grid(static_cast<unsigned>((packets + block.x - 1) / block.x),
                    static_cast<unsigned>(std::min((arguments.z.rows + block.y - 1) / block.y, max_grid_y)));
    vectorized<Functor, T, width><<<grid, block, 0, stream>>>(arguments);
    check(cudaGetLastError());
}

/// The common alignment of all operands' rows, in bytes.
template <class T>
int row_alignment(const arguments<T>& a) {
    const auto address = [](const T* p) { return reinterpret_cast<std::uintptr_t>(p); };
    const auto step = [&](const auto& m) {
        return a.z.rows > 1 ? m.row_stride * std::int64_t{sizeof(T)} : 0;
    };
    return common_alignment(address(a.x.data), address(a.y.data), address(a.z.data), step(a.x), step(a.y),
                            step(a.z));
}

}  // namespace

template <class Functor, class T>
void launch_vectorized(const arguments<T>& arguments, const device_traits&, cudaStream_t stream) {
    const int width = row_alignment(arguments) / static_cast<int>(sizeof(T));
    if constexpr (sizeof(T) <= 2)
        if (width == 8) return launch<Functor, T, 8>(arguments, stream);
    if constexpr (sizeof(T) <= 4)
        if (width == 4) return launch<Functor, T, 4>(arguments, stream);
    if (width == 2) return launch<Functor, T, 2>(arguments, stream);
    launch<Functor, T, 1>(arguments, stream);
}

template void launch_vectorized<add>(const arguments<float>&, const device_traits&, cudaStream_t);
template void launch_vectorized<add>(const arguments<double>&, const device_traits&, cudaStream_t);
template void launch_vectorized<add>(const arguments<half>&, const device_traits&, cudaStream_t);
template void launch_vectorized<add>(const arguments<bfloat16>&, const device_traits&, cudaStream_t);
template void launch_vectorized<sigmoid>(const arguments<float>&, const device_traits&, cudaStream_t);
template void launch_vectorized<sigmoid>(const arguments<double>&, const device_traits&, cudaStream_t);
template void launch_vectorized<sigmoid>(const arguments<half>&, const device_traits&, cudaStream_t);
template void launch_vectorized<sigmoid>(const arguments<bfloat16>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::elementwise
