// vectorized: 16 bytes a load, several loads in flight a thread.
//
//   a row:   | v v v v ... (vectors of 16 bytes)                 | tail |
//   a block: `unroll` groups of threads.x vectors; loads first, then arithmetic, then stores
//
// A warp's instruction now moves 512 bytes instead of 64..128, and each thread has `unroll` of them under way
// for every input: enough bytes in flight to cover DRAM's latency, for 2-byte types too. Where pointers or
// row strides are not multiples of 16 bytes, the widest vector that divides all of them is used. Needs
// columns side by side. What limits it now is DRAM itself.

#include "kernels/device/vector.cuh"
#include "kernels/elementwise/functors.cuh"
#include <heddle/error.hpp>

#include <algorithm>

namespace heddle::kernels::elementwise {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int unroll = 2;
    static constexpr int max_grid_y = 65535;
};

template <class Functor, class T, int width>
__global__ void __launch_bounds__(tile::threads) vectorized(arguments<T> a) {
    using packet = vector<T, width>;
    const std::int64_t packets = a.z.cols / width;
    const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x * tile::unroll + threadIdx.x;
    const std::int64_t row_step = std::int64_t{gridDim.y} * blockDim.y;

    for (std::int64_t row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < a.z.rows;
         row += row_step) {
        const T* x = a.x.data + row * a.x.row_stride;
        const T* y = a.y.data + row * a.y.row_stride;
        T* z = a.z.data + row * a.z.row_stride;

        packet xs[tile::unroll], ys[tile::unroll];
#pragma unroll
        for (int u = 0; u < tile::unroll; ++u) {
            const std::int64_t i = first + u * blockDim.x;
            if (i < packets) {
                xs[u] = reinterpret_cast<const packet*>(x)[i];
                if constexpr (Functor::inputs == 2) ys[u] = reinterpret_cast<const packet*>(y)[i];
            }
        }
#pragma unroll
        for (int u = 0; u < tile::unroll; ++u) {
            const std::int64_t i = first + u * blockDim.x;
            if (i < packets) {
                packet result;
#pragma unroll
                for (int e = 0; e < width; ++e) result[e] = Functor{}(xs[u][e], ys[u][e]);
                reinterpret_cast<packet*>(z)[i] = result;
            }
        }
        if (blockIdx.x == 0) {
            for (std::int64_t i = packets * width + threadIdx.x; i < a.z.cols; i += blockDim.x)
                z[i] = Functor{}(x[i], Functor::inputs == 2 ? y[i] : T{});
        }
    }
}

template <class Functor, class T, int width>
void launch(const arguments<T>& arguments, cudaStream_t stream) {
    const std::int64_t packets = arguments.z.cols / width;
    // Narrow matrices give their spare threads to further rows.
    std::int64_t threads_across = 1;
    while (threads_across < tile::threads && threads_across * tile::unroll < packets) threads_across *= 2;
    const dim3 block(static_cast<unsigned>(threads_across),
                     static_cast<unsigned>(tile::threads / threads_across));
    const std::int64_t packets_per_block = threads_across * tile::unroll;
    const std::int64_t across =
        std::max<std::int64_t>(1, (packets + packets_per_block - 1) / packets_per_block);
    const std::int64_t down =
        std::min<std::int64_t>((arguments.z.rows + block.y - 1) / block.y, tile::max_grid_y);
    const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(down));
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
