// one_launch: all parameters in one launch, one thread per element.
//
//   parameters:  | a a a a a a a | b | c c c ...        cut into chunks of 4096 elements, of one parameter each
//   blocks:        0 1 2 3 4 5 6   7   8 9 ...          a block finds its chunk by binary search in a table
//
// The table of addresses is a kernel argument: up to 512 parameters per launch. So a small parameter costs one block,
// which runs beside all others. It takes any sizes and alignments. But each element of each array needs an instruction,
// and few bytes are under way.

#include "kernels/device/grid.hpp"
#include "kernels/optimizer/instantiate.hpp"
#include "kernels/optimizer/update.cuh"

#include <cstdint>

namespace heddle::kernels::optimizer {
namespace {

struct tile {
    static constexpr int threads = 256;
};

template <class Rule, class Table>
__global__ void __launch_bounds__(tile::threads)
    one_launch(const __grid_constant__ Table table, const __grid_constant__ settings s) {
    const Rule rule(s);
    for (std::int64_t chunk = blockIdx.x; chunk < table.chunks(); chunk += gridDim.x) {
        const int which = table.find(chunk);
        const auto& p = table.entries[which];
        const std::int64_t begin = (chunk - table.first_chunk[which]) * Table::chunk;
        update_by_elements<tile::threads>(p, begin, ::min(begin + Table::chunk, p.count), rule);
    }
}

}  // namespace

plan plan_one_launch(const optimizer_problem&, const device_traits&) {
    return {.threads = tile::threads, .most_blocks = max_grid_x};
}

template <class Rule, class T, class Gradient>
void launch_one_launch(const plan& plan, const arguments<Rule, T, Gradient>& arguments, cudaStream_t stream) {
    const auto no_lead = [](const auto&) { return 0; };
    launch_tables(plan, arguments, stream, no_lead,
                  []<class Table>(const Table&) { return one_launch<Rule, Table>; });
}

HEDDLE_OPTIMIZER_LAUNCHES(launch_one_launch)

}  // namespace heddle::kernels::optimizer
