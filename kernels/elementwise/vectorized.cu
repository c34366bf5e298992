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

namespace heddle::kernels::elementwise {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int unroll = 2;
};

/// Block b takes group b % across of `unroll` * blockDim.x packets in each of its blockDim.y rows.
template <class Functor, class T, int width>
__global__ void __launch_bounds__(tile::threads) vectorized(arguments<T> a, unsigned across) {
    using packet = vector<T, width>;
    const std::int64_t row = std::int64_t{blockIdx.x / across} * blockDim.y + threadIdx.y;
    if (row >= a.z.rows) return;
    const std::int64_t group = std::int64_t{blockIdx.x % across} * (tile::unroll * blockDim.x);
    const std::int64_t left = a.z.cols - group * width;  // elements from this group's first on
    const T* x = a.x.data + row * a.x.row_stride + group * width;
    const T* y = a.y.data + row * a.y.row_stride + group * width;
    T* z = a.z.data + row * a.z.row_stride + group * width;

    packet xs[tile::unroll], ys[tile::unroll];
#pragma unroll
    for (int u = 0; u < tile::unroll; ++u) {
        const int i = threadIdx.x + u * blockDim.x;
        if ((i + 1) * width <= left) {
            xs[u] = reinterpret_cast<const packet*>(x)[i];
            if constexpr (Functor::inputs == 2) ys[u] = reinterpret_cast<const packet*>(y)[i];
        }
    }
#pragma unroll
    for (int u = 0; u < tile::unroll; ++u) {
        const int i = threadIdx.x + u * blockDim.x;
        if ((i + 1) * width <= left) {
            packet result;
#pragma unroll
            for (int e = 0; e < width; ++e) result[e] = Functor{}(xs[u][e], ys[u][e]);
            reinterpret_cast<packet*>(z)[i] = result;
        } else {
            // The packet that the end of the row cuts, if it is this thread's.
            for (int e = i * width; e < left; ++e) z[e] = Functor{}(x[e], Functor::inputs == 2 ? y[e] : T{});
        }
    }
}

template <class Functor, class T, int width>
void launch(const arguments<T>& arguments, cudaStream_t stream) {
    const std::int64_t packets = (arguments.z.cols + width - 1) / width;
    // Narrow matrices give their spare threads to further rows.
    std::int64_t threads_across = 1;
    while (threads_across < tile::threads && threads_across * tile::unroll < packets) threads_across *= 2;
    const dim3 block(static_cast<unsigned>(threads_across),
                     static_cast<unsigned>(tile::threads / threads_across));
    const std::int64_t group = threads_across * tile::unroll;
    const std::int64_t across = (packets + group - 1) / group;
    const std::int64_t down = (arguments.z.rows + block.y - 1) / block.y;
    vectorized<Functor, T, width><<<static_cast<unsigned>(across * down), block, 0, stream>>>(
        arguments, static_cast<unsigned>(across));
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
