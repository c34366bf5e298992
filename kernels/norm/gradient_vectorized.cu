// vectorized: x and dy are read once, dx is written once, and the columns' sums stay in registers down all rows.
//
//   block 0:   row 0, row 3, row 6, ...      a thread has the same 16 columns of each: their sums, and gamma
//   block 1:   row 1, row 4, ...             rows to come are on their way to shared memory
//   block 2:   row 2, row 5, ...             at the end each block stores partial sums, and another kernel adds them
//
// A block takes several short rows, with 4 to 32 lanes each. Whole warps take longer rows. Beyond 8192 elements a cluster
// of up to eight blocks shares each row. A warp copies and reads its own run of a row, so the ring of rows needs no
// barrier. A warp computes the mean of its elements, then the squares of their deviations and the sums of g and of g times
// the deviations. A row needs only one exchange of these four numbers: they are shifted to the row's mean afterwards.
// Elements go one by one where addresses or row lengths are no multiples of 16 bytes. The elements of a row must lie side
// by side; clusters need compute capability 9.0. The limit is DRAM.

#include "kernels/device/clusters.hpp"
#include "kernels/device/early_launch.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/norm/gradient_exchange.cuh"
#include "kernels/norm/gradient_partials.cuh"
#include "kernels/norm/gradient_ring.cuh"
#include "kernels/norm/gradient_row.cuh"
#include "kernels/norm/tuning/generic.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace heddle::kernels::norm {
namespace {

using tile = gradient_limits;

/// Stores the block's partial sums of the `count` columns from `first` on: adds its groups' sums in the groups' order.
template <class Share, int width>
__device__ void store_partials(const Share& part, const float (&sums)[tile::elements], float* shared,
                               float* partials, int first, int count) {
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
    float* const group_sums = shared + static_cast<int>(threadIdx.y) * count;
#pragma unroll
    for (int e = 0; e < tile::elements; ++e)
        if (part.holds(e / width))
            group_sums[(part.first + e / width * part.step) * width + e % width - first] = sums[e];
    ptx::sync_threads();
    for (int col = static_cast<int>(thread); col < count; col += static_cast<int>(threads)) {
        float sum = shared[col];
        for (int group = 1; group < static_cast<int>(blockDim.y); ++group) sum += shared[group * count + col];
        partials[first + col] = sum;
    }
    ptx::sync_threads();
}

/// A block takes blockDim.y rows at a time, with blockDim.x threads each: whole warps, or 4 to 32 lanes. Or a cluster takes
/// one row.
template <bool centred, bool adds_columns, class T, int width, bool by_warps>
__global__ void __launch_bounds__(tile::threads)
    gradient_vectorized(gradient_arguments<T> a, float* partials) {
    using ring_type = gradient_ring<T, width>;
    using share = typename ring_type::share;
    using packet = typename share::packet;
    extern __shared__ float4 dynamic[];  // the exchange, then the ring
    __shared__ gradient_exchange::barriers arrived;
    const unsigned blocks = by_warps ? ptx::cluster_blocks() : 1;
    auto* const shared = reinterpret_cast<std::byte*>(dynamic) + exchange_bytes(blocks);
    ring_type ring(shared, threadIdx.y * blockDim.x + threadIdx.x);

    const int cols = static_cast<int>(a.x.cols);
    const share whole =
        by_warps ? share::of_block(cols)
                 : share{static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x), cols / width};
    const unsigned lanes = by_warps ? warp_size : blockDim.x;
    const float per_col = 1.0f / static_cast<float>(cols);
    const float per_element =
        by_warps ? 1.0f / static_cast<float>(max(whole.elements_of_warp(), 1)) : per_col;
    const auto share_at = [&](std::int64_t row) {
        return share{whole.first, whole.step, row < a.x.rows ? whole.count : 0};
    };
    const row_factors<T, width> gamma(a.gamma, whole);

    const unsigned cluster = blockIdx.x / blocks;
    const std::int64_t step = std::int64_t{gridDim.x / blocks} * blockDim.y;
    std::int64_t row = std::int64_t{cluster} * blockDim.y + threadIdx.y;
    for (int s = 0; s < ring_type::stages; ++s)
        ring.start(share_at(row + s * step), a.x.data + (row + s * step) * a.x.row_stride,
                   a.dy.data + (row + s * step) * a.dy.row_stride);
    gradient_exchange exchange(dynamic, arrived, blocks);

    float gamma_sums[tile::elements] = {}, beta_sums[tile::elements] = {};
    for (std::int64_t first = row - threadIdx.y; first < a.x.rows; first += step, row += step) {
        const share part = share_at(row);
        float x[tile::elements], dy[tile::elements];
        ring.take(part, a.x.data + row * a.x.row_stride, a.dy.data + row * a.dy.row_stride, x, dy);
        const std::int64_t next = row + ring_type::stages * step;
        ring.start(share_at(next), a.x.data + next * a.x.row_stride, a.dy.data + next * a.dy.row_stride);

        row_sums sums = sums_of<centred, width>(part, x, dy, gamma, per_element, lanes);
        if constexpr (by_warps) sums = combine<centred>(exchange, sums, cols, per_col);
        if (row >= a.x.rows) continue;

        const float scale = rsqrtf(sums.squares * per_col + a.epsilon);
        const float mean_of_gz = sums.g_deviations * scale * per_col;
        const float shift = centred ? sums.g * per_col * scale : 0.0f, slope = mean_of_gz * scale;
#pragma unroll
        for (int p = 0; p < share::packets; ++p) {
            packet result;
#pragma unroll
            for (int e = 0; e < width; ++e) {
                const int k = p * width + e;
                const float z = (x[k] - sums.mean) * scale;
                if constexpr (adds_columns) {
                    gamma_sums[k] += dy[k] * z;
                    beta_sums[k] += dy[k];
                }
                const float g = dy[k] * gamma(p, e);
                result[e] = static_cast<T>(g * scale - shift - z * slope);
            }
            if (a.dx.rows > 0 && part.holds(p)) part.at(a.dx.data + row * a.dx.row_stride, p) = result;
        }
    }

    if constexpr (adds_columns) {
        ptx::let_next_grid_begin();
        ptx::cp_async_wait_group<0>();
        ptx::sync_threads();
        const int block_cols = static_cast<int>(blockDim.x) * tile::elements;
        const int first_col = by_warps ? static_cast<int>(ptx::cluster_rank()) * block_cols : 0;
        const int count = max(min(cols - first_col, block_cols), 0);
        auto* const sums = reinterpret_cast<float*>(shared);
        store_partials<share, width>(whole, gamma_sums, sums, partials + partial_at(cluster, true, 0, cols),
                                     first_col, count);
        store_partials<share, width>(whole, beta_sums, sums, partials + partial_at(cluster, false, 0, cols),
                                     first_col, count);
    }
}

int width_of(const gradient_facts& problem) {
    return problem.in_packets ? max_vector_bytes / static_cast<int>(problem.element_bytes) : 1;
}

/// Bytes of the ring per thread. At the end it has room for a sum of each of the thread's columns.
std::int64_t ring_bytes(std::size_t element_bytes) {
    return gradient_sharing::stages(element_bytes) * 2 * tile::elements *
           static_cast<std::int64_t>(element_bytes);
}
static_assert(gradient_sharing::stages(2) * 2 * 2 >= sizeof(float));

std::int64_t shared_bytes(std::int64_t threads, std::int64_t blocks, std::size_t element_bytes) {
    return exchange_bytes(blocks) + threads * ring_bytes(element_bytes);
}

std::int64_t largest_cluster(const device_traits& device) {
    return has_clusters(device.compute_capability_major, device.compute_capability_minor) ? tile::cluster : 1;
}

/// Blocks that share a row. Blocks have half of the most threads while the cluster's blocks suffice: one computes while
/// others wait.
std::int64_t cluster_of(std::int64_t cols, const device_traits& device) {
    const auto blocks_of = [cols](std::int64_t threads) {
        std::int64_t blocks = 1;
        while (blocks * threads * tile::elements < cols) blocks *= 2;
        return blocks;
    };
    if (cols <= gradient_sharing::lone_threads * tile::elements || largest_cluster(device) == 1) return 1;
    const std::int64_t blocks = blocks_of(tile::threads / 2);
    return blocks <= tile::cluster ? blocks : blocks_of(tile::threads);
}

/// Threads that share a row, or a block's part of a row where a cluster shares it.
std::int64_t lanes_of(std::int64_t cols, int width) {
    if (cols > tile::warp_elements) return divide_up(cols, tile::warp_elements) * warp_size;
    std::int64_t lanes = width == 1 ? warp_size : tile::least_lanes;
    while (lanes * tile::elements < cols) lanes *= 2;
    return lanes;
}

struct row_sharing {
    std::int64_t cluster;  ///< cluster_of()
    std::int64_t lanes;    ///< lanes_of()

    row_sharing(const gradient_facts& problem, const device_traits& device)
        : cluster(cluster_of(problem.cols, device)),
          lanes(lanes_of(divide_up(problem.cols, cluster), width_of(problem))) {}
};

}  // namespace

bool holds_gradient_row(const gradient_facts& problem, const device_traits& device) {
    if (problem.cols > largest_cluster(device) * tile::cols) return false;
    const row_sharing sharing(problem, device);
    return shared_bytes(sharing.lanes, sharing.cluster, problem.element_bytes) + tile::static_bytes <=
           static_cast<std::int64_t>(device.shared_memory_per_block_optin);
}

gradient_plan plan_gradient_vectorized(const gradient_facts& problem, const device_traits& device) {
    const auto [cluster, lanes] = row_sharing(problem, device);
    const std::int64_t groups = std::max<std::int64_t>(gradient_sharing::block_threads / lanes, 1);
    const std::int64_t optin = static_cast<std::int64_t>(device.shared_memory_per_block_optin);
    const auto parts_for = [&, groups](std::int64_t rows_each) {
        return divide_up(std::max<std::int64_t>(problem.rows, 1), groups * rows_each);
    };
    const std::int64_t resident = gradient_sharing::clusters_at_once(
        device.sm_count, gradient_sharing::threads_per_sm / (lanes * groups), cluster);
    const std::int64_t parts = std::max(std::min(parts_for(1), resident), parts_for(tile::rows));
    return {
        .threads = {lanes, groups},
        .blocks = parts * cluster,
        .cluster = cluster,
        .width = width_of(problem),
        .shared_bytes = shared_bytes(lanes * groups, cluster, problem.element_bytes),
        .shared_limit = std::min(shared_bytes(tile::threads, largest_cluster(device), problem.element_bytes),
                                 optin - tile::static_bytes),
        .begins_early = waits_for_grids(device),
        .partials = problem.has_column_sums ? parts : 0,
        .cols = problem.cols};
}

template <bool centred, class T>
void launch_gradient_vectorized(const gradient_plan& plan, const gradient_arguments<T>& arguments,
                                cudaStream_t stream) {
    constexpr int packet = max_vector_bytes / static_cast<int>(sizeof(T));
    auto* const partials = reinterpret_cast<float*>(arguments.scratch);
    const bool adds_columns = has_column_sums(arguments);
    const auto launch_kernel = [&](auto adds, auto width, auto by_warps) {
        launch({.blocks = {plan.blocks},
                .threads = plan.threads,
                .shared_bytes = static_cast<std::size_t>(plan.shared_bytes),
                .shared_limit = static_cast<std::size_t>(plan.shared_limit),
                .stream = stream,
                .cluster = plan.cluster},
               gradient_vectorized<centred, adds.value, T, width.value, by_warps.value>, arguments, partials);
    };
    const auto launch_width = [&](auto adds) {
        if (plan.width == 1)
            launch_kernel(adds, std::integral_constant<int, 1>{}, std::true_type{});
        else if (plan.threads.x > warp_size)
            launch_kernel(adds, std::integral_constant<int, packet>{}, std::true_type{});
        else
            launch_kernel(adds, std::integral_constant<int, packet>{}, std::false_type{});
    };
    adds_columns ? launch_width(std::true_type{}) : launch_width(std::false_type{});
    if (adds_columns) launch_gradient_sums(plan, arguments, partials, stream);
}

HEDDLE_LAUNCHES_OF_BOTH(launch_gradient_vectorized, gradient_plan, gradient_arguments)

}  // namespace heddle::kernels::norm
