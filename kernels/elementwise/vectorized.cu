// vectorized: 16 bytes a load, one packet a thread.
//
//   a row:   | p p p p ... (packets of 16 bytes)                 | tail |
//
// A warp's instruction now moves 512 bytes instead of 64..128, and a full SM has 32 KB under way for every
// input: enough to cover DRAM's latency, for 2-byte types too. More packets a thread do not help: two or four
// cost sigmoid 3 %, and streaming hints (ld.cs, L1::no_allocate) cost add up to 10 %. Where pointers or row
// strides are not multiples of 16 bytes, the widest packet that divides all of them is used. Needs columns
// side by side. What limits it now is DRAM itself.

#include "kernels/device/vector.cuh"
#include "kernels/elementwise/functors.cuh"
#include <heddle/error.hpp>

namespace heddle::kernels::elementwise {
namespace {

constexpr int threads_per_block = 256;

/// Block b takes group b % across of blockDim.x packets in each of its blockDim.y rows.
template <class Functor, class T, int width>
__global__ void __launch_bounds__(threads_per_block) vectorized(arguments<T> a, unsigned across) {
    using packet = vector<T, width>;
    const std::int64_t row = std::int64_t{blockIdx.x / across} * blockDim.y + threadIdx.y;
    const std::int64_t col = (std::int64_t{blockIdx.x % across} * blockDim.x + threadIdx.x) * width;
    if (row >= a.z.rows || col >= a.z.cols) return;
    const T* x = a.x.data + row * a.x.row_stride + col;
    const T* y = a.y.data + row * a.y.row_stride + col;
    T* z = a.z.data + row * a.z.row_stride + col;

    if (col + width <= a.z.cols) {
        const packet xs = *reinterpret_cast<const packet*>(x);
        packet ys;
        if constexpr (Functor::inputs == 2) ys = *reinterpret_cast<const packet*>(y);
        packet result;
#pragma unroll
        for (int e = 0; e < width; ++e) result[e] = Functor{}(xs[e], ys[e]);
        *reinterpret_cast<packet*>(z) = result;
    } else {
        // The packet that the end of the row cuts.
        for (int e = 0; col + e < a.z.cols; ++e) z[e] = Functor{}(x[e], Functor::inputs == 2 ? y[e] : T{});
    }
}

template <class Functor, class T, int width>
void launch(const arguments<T>& arguments, cudaStream_t stream) {
    const std::int64_t packets = (arguments.z.cols + width - 1) / width;
    // Narrow matrices give their spare threads to further rows.
    std::int64_t threads_across = 1;
    while (threads_across < threads_per_block && threads_across < packets) threads_across *= 2;
    const dim3 block(static_cast<unsigned>(threads_across),
                     static_cast<unsigned>(threads_per_block / threads_across));
    const std::int64_t across = (packets + threads_across - 1) / threads_across;
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
