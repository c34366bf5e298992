// vectorized: x and dy are read once, dx is written once, and the columns' sums stay in registers down all rows.
//
//   block 0:   row 0, row 3, row 6, ...      a thread has the same 16 columns of each: their sums, and gamma
//   block 1:   row 1, row 4, ...             rows to come are on their way to shared memory
//   block 2:   row 2, row 5, ...             in the end a row of partial sums a block, which another kernel adds up
//
// Short rows go several a block, 4 to 32 lanes each; longer ones by whole warps. A thread copies and reads its own packets, so that
// the ring of rows needs no barrier. A warp takes the mean of what it holds, then the squares about it and the sums of g and of g
// times those deviations; one exchange of these four numbers is all that a row needs, as they are moved to the row's mean
// afterwards. Element by element where addresses or row lengths are no multiples of 16 bytes, without a ring. Needs elements side by
// side, and at most 8192 in a row. What limits it is DRAM.

#include "kernels/device/early_launch.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/norm/gradient_partials.cuh"
#include "kernels/norm/gradient_row.cuh"
#include "kernels/norm/tuning/generic.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace heddle::kernels::norm {
namespace {

using tile = gradient_limits;

/// The partial sums of the block's columns: those of its groups, added in their order.
template <class Share, int width>
__device__ void store_partials(const Share& part, const float (&sums)[tile::elements], bool is_of_gamma,
                               float* shared, float* partials, int cols) {
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
    float* const of_group = shared + threadIdx.y * static_cast<unsigned>(cols);
#pragma unroll
    for (int e = 0; e < tile::elements; ++e)
        if (part.holds(e / width))
            of_group[(part.first + e / width * part.step) * width + e % width] = sums[e];
    __syncthreads();
    for (int col = static_cast<int>(thread); col < cols; col += static_cast<int>(threads)) {
        float sum = shared[col];
        for (int group = 1; group < static_cast<int>(blockDim.y); ++group) sum += shared[group * cols + col];
        partials[partial_at(blockIdx.x, is_of_gamma, col, cols)] = sum;
    }
    __syncthreads();
}

/// blockDim.x threads a row, blockDim.y rows at a time; whole warps, or 4 to 32 lanes of one.
template <bool centred, bool adds_columns, class T, int width, bool by_warps>
__global__ void __launch_bounds__(tile::threads)
    gradient_vectorized(gradient_arguments<T> a, float* partials) {
    using ring_type = gradient_ring<T, width>;
    using share = typename ring_type::share;
    using packet = typename share::packet;
    extern __shared__ uint4 dynamic[];
    __shared__ float4 of_warps[2][tile::warps];
    auto* const shared = reinterpret_cast<std::byte*>(dynamic);
    ring_type ring(shared, threadIdx.y * blockDim.x + threadIdx.x);

    const int cols = static_cast<int>(a.x.cols);
    const share whole =
        by_warps ? share::of_block(cols)
                 : share{static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x), cols / width};
    const unsigned lanes = by_warps ? warp_size : blockDim.x;
    const float per_col = 1.0f / static_cast<float>(cols);
    const float per_element = by_warps ? 1.0f / static_cast<float>(whole.elements_of_warp()) : per_col;
    const auto share_at = [&](std::int64_t row) {
        return share{whole.first, whole.step, row < a.x.rows ? whole.count : 0};
    };
    const row_factors<T, width> gamma(a.gamma, whole);

    const std::int64_t step = std::int64_t{gridDim.x} * blockDim.y;
    std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    for (int s = 0; s < ring_type::stages; ++s)
        ring.start(share_at(row + s * step), a.x.data + (row + s * step) * a.x.row_stride,
                   a.dy.data + (row + s * step) * a.dy.row_stride);

    float gamma_sums[tile::elements] = {}, beta_sums[tile::elements] = {};
    int turn = 0;
    for (std::int64_t first = row - threadIdx.y; first < a.x.rows; first += step, row += step) {
        const share part = share_at(row);
        float x[tile::elements], dy[tile::elements];
        ring.take(part, a.x.data + row * a.x.row_stride, a.dy.data + row * a.dy.row_stride, x, dy);
        const std::int64_t next = row + ring_type::stages * step;
        ring.start(share_at(next), a.x.data + next * a.x.row_stride, a.dy.data + next * a.dy.row_stride);

        row_sums of = sums_of<centred, width>(part, x, dy, gamma, per_element, lanes);
        if constexpr (by_warps) of = combine<centred>(of_warps[turn], of, cols, per_col);
        turn ^= 1;
        if (row >= a.x.rows) continue;

        const float scale = rsqrtf(of.squares * per_col + a.epsilon);
        const float mean_of_gz = of.g_deviations * scale * per_col;
        const float shift = centred ? of.g * per_col * scale : 0.0f, slope = mean_of_gz * scale;
#pragma unroll
        for (int p = 0; p < share::packets; ++p) {
            packet result;
#pragma unroll
            for (int e = 0; e < width; ++e) {
                const int k = p * width + e;
                const float z = (x[k] - of.mean) * scale;
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
        if constexpr (ring_type::stages > 0) ptx::cp_async_wait_group<0>();
        __syncthreads();
        store_partials<share, width>(whole, gamma_sums, true, reinterpret_cast<float*>(shared), partials,
                                     cols);
        store_partials<share, width>(whole, beta_sums, false, reinterpret_cast<float*>(shared), partials,
                                     cols);
    }
}

int width_of(const norm_gradient_problem& problem) {
    return problem.in_packets ? max_vector_bytes / static_cast<int>(problem.element_bytes) : 1;
}

/// A thread's: the ring, and at the end a sum for each of its columns.
std::int64_t thread_bytes(int width, std::size_t element_bytes) {
    const std::int64_t row = 2 * tile::elements * static_cast<std::int64_t>(element_bytes);
    const std::int64_t sums = tile::elements * std::int64_t{sizeof(float)};
    return std::max(width == 1 ? 0 : gradient_sharing::stages(element_bytes) * row, sums);
}

std::int64_t lanes_of(std::int64_t cols, int width) {
    if (cols > tile::warp_elements) return ((cols - 1) / tile::warp_elements + 1) * warp_size;
    std::int64_t lanes = width == 1 ? warp_size : tile::least_lanes;
    while (lanes * tile::elements < cols) lanes *= 2;
    return lanes;
}

}  // namespace

bool holds_gradient_row(const norm_gradient_problem& problem, const device_traits& device) {
    return problem.cols <= tile::cols && lanes_of(problem.cols, width_of(problem)) *
                                                     thread_bytes(width_of(problem), problem.element_bytes) +
                                                 tile::static_bytes <=
                                             static_cast<std::int64_t>(device.shared_memory_per_block_optin);
}

gradient_plan plan_gradient_vectorized(const norm_gradient_problem& problem, const device_traits& device) {
    const std::int64_t lanes = lanes_of(problem.cols, width_of(problem));
    const std::int64_t groups = std::max<std::int64_t>(gradient_sharing::block_threads / lanes, 1);
    const std::int64_t of_thread = thread_bytes(width_of(problem), problem.element_bytes);
    const std::int64_t optin = static_cast<std::int64_t>(device.shared_memory_per_block_optin);
    const auto blocks_for = [&](std::int64_t rows_each) {
        return (problem.rows - 1) / (groups * rows_each) + 1;
    };
    const std::int64_t resident = gradient_sharing::threads_per_sm / (lanes * groups) * device.sm_count;
    const std::int64_t blocks = std::max(std::min(blocks_for(1), resident), blocks_for(tile::rows));
    return {.threads = {lanes, groups},
            .blocks = blocks,
            .width = width_of(problem),
            .shared_bytes = lanes * groups * of_thread,
            .shared_limit = std::min(tile::threads * of_thread, optin - tile::static_bytes),
            .begins_early = waits_for_grids(device),
            .partials = problem.has_column_sums ? blocks : 0,
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
                .stream = stream},
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

template void launch_gradient_vectorized<false>(const gradient_plan&, const gradient_arguments<float>&,
                                                cudaStream_t);
template void launch_gradient_vectorized<false>(const gradient_plan&, const gradient_arguments<half>&,
                                                cudaStream_t);
template void launch_gradient_vectorized<false>(const gradient_plan&, const gradient_arguments<bfloat16>&,
                                                cudaStream_t);
template void launch_gradient_vectorized<true>(const gradient_plan&, const gradient_arguments<float>&,
                                               cudaStream_t);
template void launch_gradient_vectorized<true>(const gradient_plan&, const gradient_arguments<half>&,
                                               cudaStream_t);
template void launch_gradient_vectorized<true>(const gradient_plan&, const gradient_arguments<bfloat16>&,
                                               cudaStream_t);

}  // namespace heddle::kernels::norm
