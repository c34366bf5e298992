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

#include <algorithm>

namespace heddle::kernels::matmul {
namespace {

constexpr int max_grouped = 47;
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
void launch_tile(std::span<const product<In, Out>> products, const tile_plan& plan, int workers,
                 cudaStream_t stream) {
    static_assert(sizeof(product_group<Out>) <= max_parameter_bytes);
    require_tile_of<Tile>(plan);
    with_orders(products.front(), [&]<bool a_k_major, bool b_k_major>() {
        using kernel = persistent_kernel<In, Out, Tile, a_k_major, b_k_major>;
        product_group<Out> group{};
        group.schedule.workers = workers;
        for (const auto& p : products) {
            group.products[group.schedule.products] =
                make_tensor_product<typename kernel::a_tile, typename kernel::b_tile, a_k_major, b_k_major>(
                    p, Tile::cluster, kernel::out_cols);
            group.schedule.add(schedule_of(lay_out(plan, p.c.rows, p.c.cols, p.a.cols, workers)));
        }
        launch({.blocks = {workers},
                .threads = {Tile::threads},
                .shared_bytes = sizeof(typename kernel::shared_storage),
                .shared_limit = sizeof(typename kernel::shared_storage),
                .stream = stream,
                .cluster = Tile::cluster,
                .begins_early = true},
               grouped<In, Out, Tile, a_k_major, b_k_major>, group);
    });
}

/// At most max_grouped, all of whose operands lie the same way.
template <class In, class Out>
void launch_group(std::span<const product<In, Out>> products, const device_traits& device,
                  cudaStream_t stream) {
    const grouped_layout layout = cheapest_grouped(products, device.sm_count);
    const tile_plan& plan = grouped_tiles[layout.tile];
    const auto workers = static_cast<int>(std::min<std::int64_t>(layout.tiles, device.sm_count));
    if (layout.tile == 0)
        launch_tile<persistent_tile<2, 256, 4, 1>>(products, plan, workers, stream);
    else
        launch_tile<persistent_tile<1, 128, 8, 1>>(products, plan, workers, stream);
}

}  // namespace

template <class T>
void launch_grouped(std::span<product<T, T>> products, const device_traits& device, cudaStream_t stream) {
    while (!products.empty()) {
        const auto lies_as_the_first = [a = has_tensor_rows(products.front().a),
                                        b = has_tensor_rows(products.front().b)](const product<T, T>& p) {
            return has_tensor_rows(p.a) == a && has_tensor_rows(p.b) == b;
        };
        const auto others = std::ranges::stable_partition(products, lies_as_the_first);
        std::span<const product<T, T>> alike = products.first(products.size() - others.size());
        products = products.last(others.size());
        for (std::size_t launches = divide_up(alike.size(), max_grouped); launches > 0; --launches) {
            const std::size_t count = divide_up(alike.size(), launches);
            launch_group<T, T>(alike.first(count), device, stream);
            alike = alike.subspan(count);
        }
    }
}

template void launch_grouped(std::span<product<half, half>>, const device_traits&, cudaStream_t);
template void launch_grouped(std::span<product<bfloat16, bfloat16>>, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::matmul
