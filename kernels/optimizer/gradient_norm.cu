// gradient_norm: the l2 norm of all gradients, one launch for up to 512 parameters.
//
//   block b:      chunks b, b + blocks, ...      packets of 16 bytes -> squares in double -> partials[b]
//   last block:   draws the last ticket          partials, in the order of their blocks -> result
//
// Squares in double neither overflow nor underflow, and those of 16-bit gradients are exact. Longer lists take several
// launches, and the last launch adds the partials of all. Which block is last varies, but not the order of the sums. It
// takes any sizes and alignments. The limit is DRAM, and for small networks the launch.

#include "kernels/device/block_reduce.cuh"
#include "kernels/device/cut_line.cuh"
#include "kernels/device/last_block.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include "kernels/optimizer/table.cuh"
#include "kernels/optimizer/tuning/generic.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::optimizer {
namespace {

struct tile {
    static constexpr int threads = 256;
};

template <class Gradient>
inline constexpr int width_of = max_vector_bytes / static_cast<int>(sizeof(Gradient));

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

/// Where the blocks' sums go.
struct ending {
    float* result;
    double* partials;  ///< null: one block does all the work
    unsigned* ticket;
    std::int64_t before;  ///< partials of earlier launches
    bool is_last;         ///< whether no launch follows
};

/// The squares of a thread's share of chunk `which`: every 256th packet. All loads are issued before the first is used.
template <int chunk, class Gradient>
__device__ double squares_of_share(const gradients<Gradient>& g, std::int64_t which) {
    constexpr int width = width_of<Gradient>;
    constexpr int step = tile::threads * width;
    const cut_line<const Gradient, width, std::int64_t> line{g.data, g.count};
    const std::int64_t begin = line.begin_of(which * (chunk / width) + threadIdx.x);
    vector<Gradient, width> loaded[chunk / step];
#pragma unroll
    for (int r = 0; r < chunk / step; ++r) {
        const std::int64_t i = begin + r * step;
        loaded[r] = {};
        if (line.has_all(i))
            loaded[r] = *reinterpret_cast<const vector<Gradient, width>*>(g.data + i);
        else
#pragma unroll
            for (int k = 0; k < width; ++k)
                if (line.has(i, k)) loaded[r][k] = g.data[i + k];
    }
    double sum = 0;
#pragma unroll
    for (int r = 0; r < chunk / step; ++r)
#pragma unroll
        for (int k = 0; k < width; ++k) {
            const auto x = static_cast<double>(static_cast<float>(loaded[r][k]));
            sum = fma(x, x, sum);
        }
    return sum;
}

template <class Table>
__global__ void __launch_bounds__(tile::threads, norm_sharing::blocks_per_sm)
    gradient_norm(const __grid_constant__ Table table, ending to) {
    double sum = 0;
    for (std::int64_t chunk = blockIdx.x; chunk < table.chunks(); chunk += gridDim.x) {
        const int which = table.find(chunk);
        sum += squares_of_share<Table::chunk>(table.entries[which], chunk - table.first_chunk[which]);
    }
    sum = block_reduce(sum, addition{});

    if (to.partials != nullptr) {
        const partials_left left = leave([&] {
            if (threadIdx.x == 0) to.partials[to.before + blockIdx.x] = sum;
        });
        if (!to.is_last || !is_last_block(to.ticket, gridDim.x - 1, left)) return;
        sum = 0;
        for (std::int64_t i = threadIdx.x; i < to.before + gridDim.x; i += tile::threads)
            sum += __ldcg(to.partials + i);
        sum = block_reduce(sum, addition{});
    }
    if (threadIdx.x == 0) *to.result = static_cast<float>(sqrt(sum));
}

}  // namespace

norm_plan plan_gradient_norm(const optimizer_problem& problem, const device_traits& device,
                             bool has_scratch) {
    const std::int64_t launches = std::max<std::int64_t>(divide_up(problem.parameters, most_parameters), 1);
    if (!has_scratch || (launches == 1 && problem.elements <= norm_sharing::elements_of_one_block)) return {};
    const std::int64_t blocks = std::int64_t{device.sm_count} * norm_sharing::blocks_per_sm;
    return {.blocks = blocks, .partials = launches * blocks};
}

template <class T, class Gradient>
void launch_gradient_norm(const norm_plan& plan, const norm_arguments<T, Gradient>& arguments,
                          cudaStream_t stream) {
    const auto entry = [](const auto& p) { return gradients<Gradient>{p.gradient, p.count}; };
    const auto lead = [](const auto& g) { return lead_of<width_of<Gradient>>(g.data); };
    std::int64_t before = 0;
    deal(arguments.parameters, entry, lead, [&]<class Table>(const Table& table, bool is_last) {
        const std::int64_t blocks = std::clamp<std::int64_t>(table.chunks(), 1, plan.blocks);
        launch({.blocks = {blocks}, .threads = {tile::threads}, .stream = stream}, gradient_norm<Table>,
               table, ending{arguments.result, arguments.partials, arguments.ticket, before, is_last});
        before += blocks;
    });
}

HEDDLE_LAUNCHES_OF_PAIRS(launch_gradient_norm, norm_plan, norm_arguments)

}  // namespace heddle::kernels::optimizer
