// pipelined: the copy of the next tiles runs under the arithmetic of this one.
//
//   shared memory,   A  k-major: m rows of k (+4)   or  m-major: k rows of m    whichever way
//   per stage:       B  k-major: n rows of k (+4)   or  n-major: k rows of n    they lie in global memory
//   a warp: 4 x 8 threads, each 16 x 8 elements of C (4 x 4 in the smaller tiles)
//
// cp.async moves 16 bytes from global to shared memory without passing through registers, several stages
// ahead, so one barrier a tile is left and no thread waits for DRAM. An operand keeps the order that it has
// in global memory: a thread reads its fragment 16 bytes at a time either along m (n) or along k, four k at
// once, and never transposes. The four floats after each k-major row, and the way lanes are spread over the
// warp's tile, keep these reads free of bank conflicts. Edges are cut by cp.async's own zero fill: only bytes
// inside the matrix are read. Needs a unit stride along one dimension of A and of B; runs with 4-byte copies
// where rows are not 16-byte aligned. What limits it: issue slots; FFMA takes all but one in fifteen, and
// shared memory's pipe is half busy beside it.
//
// 4096^3 on an H200: 44 TFLOP/s, 0.85 of cuBLAS.

#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/matmul/element.cuh"
#include "kernels/matmul/tile_loader.cuh"
#include <heddle/error.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::kernels::matmul {
namespace {

template <int warps_m_, int warps_n_, int thread_m_, int thread_n_, int k_, int stages_, int blocks_per_sm_>
struct tile_config {
    static constexpr int lanes_m = 4;
    static constexpr int lanes_n = 8;
    static constexpr int thread_m = thread_m_;
    static constexpr int thread_n = thread_n_;
    static constexpr int warp_m = lanes_m * thread_m;
    static constexpr int warp_n = lanes_n * thread_n;
    static constexpr int warps_n = warps_n_;
    static constexpr int threads = warps_m_ * warps_n_ * 32;
    static constexpr int m = warps_m_ * warp_m;
    static constexpr int n = warps_n_ * warp_n;
    static constexpr int k = k_;
    static constexpr int stages = stages_;
    static constexpr int blocks_per_sm = blocks_per_sm_;
    static_assert(thread_m % 4 == 0 && thread_n % 4 == 0, "fragments are read four elements at a time");
    static_assert(stages >= 2, "one stage is computed while another is filled");
};

using large_tile = tile_config<2, 2, 16, 8, 16, 4, 2>;  // 128 x 128 by 128 threads
using medium_tile = tile_config<4, 2, 4, 4, 16, 4, 2>;  // 64 x 64 by 256 threads
using small_tile = tile_config<2, 2, 4, 4, 16, 4, 4>;   // 32 x 64 by 128 threads

/// An operand's tile of `extent` (along m or n) by k, in shared memory: rows of contiguous elements.
template <class Tile, int extent, bool k_major>
struct operand {
    static constexpr int rows = k_major ? extent : Tile::k;
    static constexpr int cols = k_major ? Tile::k : extent;
    static constexpr int row_stride = k_major ? cols + 4 : cols;
    static constexpr int size = rows * row_stride;

    template <int width>
    using loader = tile_loader<rows, cols, row_stride, k_major, width, Tile::threads>;

    /// Element i of `count` of a thread along m (n), in elements from the start of the warp's tile. k-major
    /// rows are dealt to the lanes one by one, others in groups of four, as their 16-byte reads need it.
    template <int lanes>
    static __device__ constexpr int position(int lane, int i) {
        return k_major ? lane + i * lanes : lane * 4 + i % 4 + i / 4 * (4 * lanes);
    }

    /// Elements [0, count) of a thread for k .. k + 3: fragment[i][kk].
    template <int lanes, int count>
    static __device__ void load_fragment(float (&fragment)[count][4], const float* tile, int first, int lane,
                                         int k) {
        using packet = vector<float, 4>;
        if constexpr (k_major) {
#pragma unroll
            for (int i = 0; i < count; ++i) {
                const int at = first + position<lanes>(lane, i);
                const packet read = *reinterpret_cast<const packet*>(tile + at * row_stride + k);
#pragma unroll
                for (int kk = 0; kk < 4; ++kk) fragment[i][kk] = read[kk];
            }
        } else {
#pragma unroll
            for (int kk = 0; kk < 4; ++kk)
#pragma unroll
                for (int i = 0; i < count; i += 4) {
                    const int at = first + position<lanes>(lane, i);
                    const packet read = *reinterpret_cast<const packet*>(tile + (k + kk) * row_stride + at);
#pragma unroll
                    for (int e = 0; e < 4; ++e) fragment[i + e][kk] = read[e];
                }
        }
    }
};

/// A and B as tiles of contiguous rows: k-major operands are (m or n) x k, others k x (m or n).
template <class Tile, bool a_k_major, bool b_k_major, int width>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_sm)
    pipelined(arguments p, matrix_view<const float> a, matrix_view<const float> b, std::int64_t k_extent,
              bool vector_store) {
    using a_tile = operand<Tile, Tile::m, a_k_major>;
    using b_tile = operand<Tile, Tile::n, b_k_major>;
    extern __shared__ float4 storage[];
    float* const a_stages = reinterpret_cast<float*>(storage);
    float* const b_stages = a_stages + Tile::stages * a_tile::size;

    // locate: lanes that differ in bit 0 or bit 1 share a 16-byte word of A or of B, which lets a half-warp's
    // 16-byte reads go in one pass.
    const tile_position position = grouped<Tile>(p);
    const std::int64_t row = position.row * Tile::m;
    const std::int64_t col = position.col * Tile::n;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int lane_m = (lane & 1) | (lane >> 3 & 2);
    const int lane_n = lane >> 1 & 7;
    const int warp_row = warp / Tile::warps_n * Tile::warp_m;
    const int warp_col = warp % Tile::warps_n * Tile::warp_n;

    // load
    typename a_tile::template loader<width> a_loader(a, a_k_major ? row : 0, a_k_major ? 0 : row);
    typename b_tile::template loader<width> b_loader(b, b_k_major ? col : 0, b_k_major ? 0 : col);
    const auto load = [&](int stage) {
        a_loader.copy_async(a_stages + stage * a_tile::size);
        b_loader.copy_async(b_stages + stage * b_tile::size);
    };
    const std::int64_t tiles = (k_extent + Tile::k - 1) / Tile::k;
#pragma unroll
    for (int stage = 0; stage < Tile::stages - 1; ++stage) {
        if (stage < tiles) load(stage);
        ptx::cp_async_commit_group();
    }

    // compute
    float sums[Tile::thread_m][Tile::thread_n] = {};
    int stage = 0;
    for (std::int64_t t = 0; t < tiles; ++t) {
        ptx::cp_async_wait_group<Tile::stages - 2>();
        __syncthreads();  // this tile has arrived for all, and all are done with the one that is overwritten
                          // next
        if (t + Tile::stages - 1 < tiles) load(stage == 0 ? Tile::stages - 1 : stage - 1);
        ptx::cp_async_commit_group();

        const float* const a_now = a_stages + stage * a_tile::size;
        const float* const b_now = b_stages + stage * b_tile::size;
#pragma unroll
        for (int k = 0; k < Tile::k; k += 4) {
            float as[Tile::thread_m][4], bs[Tile::thread_n][4];
            a_tile::template load_fragment<Tile::lanes_m>(as, a_now, warp_row, lane_m, k);
            b_tile::template load_fragment<Tile::lanes_n>(bs, b_now, warp_col, lane_n, k);
#pragma unroll
            for (int kk = 0; kk < 4; ++kk)
#pragma unroll
                for (int i = 0; i < Tile::thread_m; ++i)
#pragma unroll
                    for (int j = 0; j < Tile::thread_n; ++j) sums[i][j] += as[i][kk] * bs[j][kk];
        }
        stage = stage + 1 == Tile::stages ? 0 : stage + 1;
    }

    // store
#pragma unroll
    for (int i = 0; i < Tile::thread_m; ++i) {
        const std::int64_t r = row + warp_row + a_tile::template position<Tile::lanes_m>(lane_m, i);
#pragma unroll
        for (int j = 0; j < Tile::thread_n; j += 4) {
            const std::int64_t c = col + warp_col + b_tile::template position<Tile::lanes_n>(lane_n, j);
            if (!b_k_major && vector_store && r < p.c.rows && c + 4 <= p.c.cols) {
                auto& target = reinterpret_cast<vector<float, 4>&>(element(p.c, r, c));
                vector<float, 4> result{};
                if (p.beta != 0.0f) result = target;
#pragma unroll
                for (int e = 0; e < 4; ++e)
                    result[e] = p.beta == 0.0f ? p.alpha * sums[i][j + e]
                                               : p.alpha * sums[i][j + e] + p.beta * result[e];
                target = result;
            } else {
#pragma unroll
                for (int e = 0; e < 4; ++e)
                    store(p, r, col + warp_col + b_tile::template position<Tile::lanes_n>(lane_n, j + e),
                          sums[i][j + e]);
            }
        }
    }
}

template <class Tile, bool a_k_major, bool b_k_major, int width>
void launch(const arguments& arguments, const matrix_view<const float>& a, const matrix_view<const float>& b,
            bool vector_store, cudaStream_t stream) {
    constexpr int bytes = Tile::stages * static_cast<int>(sizeof(float)) *
                          (operand<Tile, Tile::m, a_k_major>::size + operand<Tile, Tile::n, b_k_major>::size);
    const auto kernel = pipelined<Tile, a_k_major, b_k_major, width>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    kernel<<<tile_count(arguments, Tile::m, Tile::n), Tile::threads, bytes, stream>>>(
        arguments, a, b, arguments.a.cols, vector_store);
    check(cudaGetLastError());
}

template <class Tile>
void launch_tile(const arguments& p, cudaStream_t stream) {
    const bool a_k_major = p.a.cols <= 1 || p.a.col_stride == 1;
    const bool b_k_major = !(p.b.cols <= 1 || p.b.col_stride == 1);
    const matrix_view<const float> a = a_k_major ? p.a : transposed(p.a);
    const matrix_view<const float> b = b_k_major ? transposed(p.b) : p.b;
    const bool is_aligned =
        is_vector_aligned(a.data, a.rows, a.row_stride) && is_vector_aligned(b.data, b.rows, b.row_stride);
    const bool vector_store =
        (p.c.cols <= 1 || p.c.col_stride == 1) && is_vector_aligned(p.c.data, p.c.rows, p.c.row_stride);

    const auto with = [&]<int width>() {
        if (a_k_major)
            b_k_major ? launch<Tile, true, true, width>(p, a, b, vector_store, stream)
                      : launch<Tile, true, false, width>(p, a, b, vector_store, stream);
        else
            b_k_major ? launch<Tile, false, true, width>(p, a, b, vector_store, stream)
                      : launch<Tile, false, false, width>(p, a, b, vector_store, stream);
    };
    is_aligned ? with.template operator()<4>() : with.template operator()<1>();
}

/// What the busiest multiprocessor has to do, in units of the large tile's time for an element of C.
template <class Tile>
double cost(const arguments& p, const device_traits& device, double relative_rate) {
    const double tiles = tile_count(p, Tile::m, Tile::n);
    return std::ceil(tiles / device.sm_count) * Tile::m * Tile::n / relative_rate;
}

}  // namespace

/// Small tiles reach less, but they occupy every multiprocessor where large ones would be too few. The rates
/// are those measured on an H200: at 4096^3; and for the large tile, which needs two blocks side by side, at
/// 1024^3 too.
void launch_pipelined(const arguments& arguments, const device_traits& device, cudaStream_t stream) {
    const bool is_alone =
        tile_count(arguments, large_tile::m, large_tile::n) <= static_cast<unsigned>(device.sm_count);
    const double large = cost<large_tile>(arguments, device, is_alone ? 0.6 : 1.0);
    const double medium = cost<medium_tile>(arguments, device, 0.87);
    const double small = cost<small_tile>(arguments, device, 0.85);
    if (large <= std::min(medium, small)) return launch_tile<large_tile>(arguments, stream);
    if (medium <= small) return launch_tile<medium_tile>(arguments, stream);
    launch_tile<small_tile>(arguments, stream);
}

}  // namespace heddle::kernels::matmul
