// vectorized: one launch as in one_launch, four elements per thread at a time.
//
//   a parameter:  . x x x | x x x x | x x x x | x x . .       packets of 16 bytes of float, 8 of a 16-bit type;
//   a chunk:      1024 packets, a thread every 256th          the first and the last may be cut
//
// A thread has 16 bytes of up to four arrays under way at once. At full occupancy this more than covers DRAM's latency.
// Packets are aligned in the array of master weights. Where another array of a parameter is aligned otherwise, that
// parameter goes element by element. It takes any sizes and alignments. The limit is DRAM.

#include "kernels/device/cut_line.cuh"
#include "kernels/device/grid.hpp"
#include "kernels/optimizer/instantiate.hpp"
#include "kernels/optimizer/update.cuh"

#include <cstdint>

namespace heddle::kernels::optimizer {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int width = 4;
};

/// Whether packets of all arrays begin at the same elements.
template <class Rule, class T, class Gradient>
__device__ bool is_alike(const entry<T, Gradient>& p) {
    const int lead = lead_of<tile::width>(p.master);
    bool result = lead_of<tile::width>(p.gradient) == lead;
    if (p.value != nullptr) result = result && lead_of<tile::width>(p.value) == lead;
    if constexpr (Rule::moments > 0) result = result && lead_of<tile::width>(p.first_moment) == lead;
    if constexpr (Rule::moments > 1) result = result && lead_of<tile::width>(p.second_moment) == lead;
    return result;
}

template <class Rule, class Table>
__global__ void __launch_bounds__(tile::threads)
    vectorized(const __grid_constant__ Table table, const __grid_constant__ settings s) {
    const Rule rule(s);
    for (std::int64_t chunk = blockIdx.x; chunk < table.chunks(); chunk += gridDim.x) {
        const int which = table.find(chunk);
        const auto& p = table.entries[which];
        const cut_line<float, tile::width, std::int64_t> line{p.master, p.count};
        constexpr int packets = Table::chunk / tile::width;
        const std::int64_t first = (chunk - table.first_chunk[which]) * packets;
        const std::int64_t begin = line.begin_of(first);
        const std::int64_t end = ::min(begin + Table::chunk, p.count);
        if (!is_alike<Rule>(p)) {
            update_by_elements<tile::threads>(p, ::max(begin, std::int64_t{0}), end, rule);
            continue;
        }
        for (std::int64_t i = begin + std::int64_t{threadIdx.x} * tile::width; i < end;
             i += tile::threads * tile::width) {
            if (line.has_all(i)) {
                update<tile::width>(p, i, rule);
                continue;
            }
            for (int k = 0; k < tile::width; ++k)
                if (line.has(i, k)) update<1>(p, i + k, rule);
        }
    }
}

}  // namespace

plan plan_vectorized(const optimizer_problem&, const device_traits&) {
    return {.threads = tile::threads, .most_blocks = max_grid_x};
}

template <class Rule, class T, class Gradient>
void launch_vectorized(const plan& plan, const arguments<Rule, T, Gradient>& arguments, cudaStream_t stream) {
    const auto lead = [](const auto& p) { return lead_of<tile::width>(p.master); };
    launch_tables(plan, arguments, stream, lead,
                  []<class Table>(const Table&) { return vectorized<Rule, Table>; });
}

HEDDLE_OPTIMIZER_LAUNCHES(launch_vectorized)

}  // namespace heddle::kernels::optimizer
