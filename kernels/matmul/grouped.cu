// grouped: products of any shapes in one launch.
//
//   tiles of all products in one row, of the longest k first:  | 0 0 0 0 | 1 1 1 1 1 1 | 2 2 | 3 ...
//   block b: b, b + blocks, b + 2 blocks, ...
//
// A product that is too small for the device leaves multiprocessors idle, and each launch has a last round that is not
// full. In one row of tiles there is one such round for all, and a persistent block does not mind whose tile comes next:
// its ring goes on filling across products, each read and stored by its own tensor maps, which are parameters of the
// kernel. Tiles of different k take different times, so the longest come first: what evens out at the end is short. How
// an operand lies is part of the instructions, so products that lie differently take launches of their own.

#include "kernels/device/launch.hpp"
#include "kernels/matmul/persistent.cuh"

namespace heddle::kernels::matmul {
namespace {

constexpr std::size_t max_parameter_bytes = 32764;

template <class Out>
struct product_group {
    tensor_product<Out> products[max_grouped];
    grouped_schedule<max_grouped> schedule;
};

template <class In, class Out, class Tile, bool a_k_major, bool b_k_major>
__global__ void __launch_bounds__(Tile::threads, 1)
    grouped(const __grid_constant__ product_group<Out> group) {
    using kernel = persistent_kernel<In, Out, Tile, a_k_major, b_k_major>;
    extern __shared__ __align__(1024) unsigned char storage[];
    auto& shared = *reinterpret_cast<typename kernel::shared_storage*>(storage);
    if (threadIdx.x == 0) shared.barriers.init(1, Tile::consumers);
    __syncthreads();
    ptx::let_next_grid_begin();
    ptx::wait_for_grids_before();

    stage_position<Tile::stages> at{};
    const shared_sums none{};
    const auto for_each_tile = [&](auto function) {
        grouped_worker tiles(group.schedule, static_cast<int>(blockIdx.x));
        int product = 0;
        for (tile_work work{}; tiles.next(product, work);) {
            kernel self{.p = group.products[product],
                        .schedule = group.schedule.of[product],
                        .partial = none,
                        .shared = shared,
                        .at = at};
            function(self, work);
            at = self.at;
        }
    };
    if (threadIdx.x < warpgroup_threads) {
        ptx::release_registers<Tile::producer_registers>();
        if (threadIdx.x == 0)
            for_each_tile([](kernel& self, const tile_work& work) {
                if (self.p.c_map_cols > 0) ptx::prefetch(self.p.c);
                self.load(work);
            });
        __syncwarp();
    } else {
        ptx::claim_registers<Tile::consumer_registers>();
        for_each_tile([](kernel& self, const tile_work& work) {
            float sums[Tile::halves][Tile::sums];
            self.multiply(work.last, sums);
            self.store(self.row_of(work) + self.row_of_half(0), self.col_of(work), work.batch, sums[0]);
        });
        if (threadIdx.x % warpgroup_threads == 0) ptx::wait_for_reads_of_stores<0>();
    }
}

template <class Tile, class In, class Out>
void launch_tile(const group_plan& plan, std::span<const product<In, Out>> products, cudaStream_t stream) {
    static_assert(sizeof(product_group<Out>) <= max_parameter_bytes);
    require_tile_of<Tile>(persistent_tiles[plan.tile]);
    with_orders(products.front(), [&]<bool a_k_major, bool b_k_major>() {
        using kernel = persistent_kernel<In, Out, Tile, a_k_major, b_k_major>;
        product_group<Out> group{};
        group.schedule.workers = plan.workers;
        for (const auto& p : products) {
            group.products[group.schedule.products] =
                make_tensor_product<typename kernel::a_tile, typename kernel::b_tile, a_k_major, b_k_major>(
                    p, Tile::cluster, kernel::out_cols);
            group.schedule.add(schedule_of(tiles_in_group(plan, p.c.rows, p.c.cols, p.a.cols)));
        }
        launch({.blocks = {plan.workers},
                .threads = {Tile::threads},
                .shared_bytes = sizeof(typename kernel::shared_storage),
                .shared_limit = sizeof(typename kernel::shared_storage),
                .stream = stream,
                .cluster = Tile::cluster,
                .begins_early = true},
               grouped<In, Out, Tile, a_k_major, b_k_major>, group);
    });
}

}  // namespace

template <class T>
void launch_grouped(const group_plan& plan, std::span<const product<T, T>> products, cudaStream_t stream) {
    if (plan.tile == grouped_tiles[0])
        launch_tile<persistent_tile<2, 256, 4, 1>>(plan, products, stream);
    else
        launch_tile<persistent_tile<1, 128, 8, 1>>(plan, products, stream);
}

template void launch_grouped(const group_plan&, std::span<const product<half, half>>, cudaStream_t);
template void launch_grouped(const group_plan&, std::span<const product<bfloat16, bfloat16>>, cudaStream_t);

}  // namespace heddle::kernels::matmul
