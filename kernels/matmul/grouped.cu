// grouped: products of any shapes in one launch.
//
//   tiles of all products in one sequence, longest k first:    | 0 0 0 0 | 1 1 1 1 1 1 | 2 2 | 3 ...
//   block b: b, b + blocks, b + 2 blocks, ...
//
// A product that is too small for the device leaves multiprocessors idle, and each launch ends with a partial round. One
// sequence of tiles has only one such round for all products. A persistent block can take any tile next: it keeps filling
// its ring across products, and all tensor maps are parameters of the kernel. Tiles of different k take different times,
// so the longest come first. What limits it: the longest tile.

#include "kernels/matmul/persistent.cuh"

#include <cstddef>
#include <span>

namespace heddle::kernels::matmul {
namespace {

constexpr std::size_t max_parameter_bytes = 32764;

template <class tile, class In, class Out>
void launch_row(const group_plan& plan, std::span<const product<In, Out>> products, cudaStream_t stream) {
    using group = frame::product_group<tensor_product<Out>, max_grouped>;
    static_assert(sizeof(group) <= max_parameter_bytes);
    group all{};
    all.schedule.workers = plan.workers;
    for (const auto& p : products) {
        all.products[all.schedule.products] = product_for<tile>(p);
        all.schedule.add(schedule_of(tiles_in_group(plan, p.c.rows, p.c.cols, p.a.cols)));
    }
    using epilogue = frame::boxed_epilogue<Out, matmul_activation, tile>;
    frame::launch<frame::tile_kernel<product_mainloop<In, tile>, epilogue, group>>(all, plan.workers, stream);
}

}  // namespace

template <class T>
void launch_grouped(const group_plan& plan, std::span<const product<T, T>> products, cudaStream_t stream) {
    frame::with_row<grouped_kernels>(plan.kernel, [&]<std::size_t row>() {
        launch_row<frame::wgmma_tile<grouped_kernels, row>>(plan, products, stream);
    });
}

template void launch_grouped(const group_plan&, std::span<const product<half, half>>, cudaStream_t);
template void launch_grouped(const group_plan&, std::span<const product<bfloat16, bfloat16>>, cudaStream_t);

}  // namespace heddle::kernels::matmul
