// vectorized, for rows of a few elements: one thread per row.
//
//   neighbours across rows:            row 0   row 1   row 2 ..        a warp reads one element of 32 rows, side by side;
//                       element 0      t 0     t 1     t 2             a thread loads all elements of its rows at once
//                       element 1      t 0     t 1     t 2
//
//   neighbours in a row:   | row 0 | row 1 | row 2 | ..   ->  shared memory  ->  t 0, t 1, t 2 ..
//                          | p p p p p p p p p p p ..         p: packets of 16 bytes, wherever rows begin
//
// Several lanes of such a row would mostly be idle, or would read its edges one by one. It needs at most 8 elements per
// row where neighbours lie across rows, else at most 128 bytes and no gap between rows. The limit is DRAM.

#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matrix_reduce/instantiate.hpp"
#include "kernels/matrix_reduce/row.cuh"

namespace heddle::kernels::matrix_reduce {
namespace {

struct tile {
    static constexpr int threads = 128;
    static constexpr int batch = 8;  ///< elements of a row that are combined at once
    /// Rows per thread where neighbours lie across rows: any type has as many bytes under way.
    __host__ __device__ static constexpr int rows(std::size_t element_bytes) {
        return 8 / static_cast<int>(element_bytes);
    }
};
static_assert(tile::batch >= row_sharing::thread_elements_across);

template <class Operation>
__device__ void join(typename Operation::state& total, float value, std::int64_t col) {
    const float values[1] = {value};
    total = Operation{}(total, Operation::of(values, col, 1));
}

template <class Operation, class T, class Result>
__global__ void __launch_bounds__(tile::threads)
    short_across(matrix_view<const T> x, vector_view<Result> y, float divisor) {
    constexpr int rows = tile::rows(sizeof(T));
    const int cols = static_cast<int>(x.cols);
    const std::int64_t first = std::int64_t{blockIdx.x} * (tile::threads * rows) + threadIdx.x;
    T loaded[rows][tile::batch];
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
        for (int col = 0; col < tile::batch; ++col)
            if (col < cols && first + r * tile::threads < x.rows)
                loaded[r][col] = x.data[first + r * tile::threads + col * x.col_stride];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const std::int64_t row = first + r * tile::threads;
        if (row >= x.rows) return;
        auto total = Operation::identity();
#pragma unroll
        for (int col = 0; col < tile::batch; ++col)
            if (col < cols) join<Operation>(total, static_cast<float>(loaded[r][col]), col);
        y.data[row * y.stride] = Operation::template finish<Result>(total, divisor);
    }
}

template <class Operation, class T, class Result>
__global__ void __launch_bounds__(tile::threads)
    short_side_by_side(matrix_view<const T> x, vector_view<Result> y, float divisor) {
    using packed = packed_row<T, int>;
    extern __shared__ uint4 storage[];
    const int thread = static_cast<int>(threadIdx.x), cols = static_cast<int>(x.cols);
    const std::int64_t first = std::int64_t{blockIdx.x} * tile::threads;
    const auto rows = static_cast<int>(::min(x.rows - first, std::int64_t{tile::threads}));
    const T* const from = x.data + first * cols;
    const packed all(from, rows * cols);
    // Elements lie relative to packets in shared memory as they do in x.
    T* const shared =
        reinterpret_cast<T*>(storage) + reinterpret_cast<std::uintptr_t>(from) % max_vector_bytes / sizeof(T);
#pragma unroll 4
    for (int i = thread; i < all.packets(); i += tile::threads)
        *reinterpret_cast<typename packed::packet*>(shared + all.index_of(i)) = all.load(i);
    if (thread < all.edges()) shared[all.edge_index(thread)] = all.edge(thread);
    ptx::sync_threads();
    if (thread >= rows) return;

    const T* const row = shared + thread * cols;
    auto total = Operation::identity();
    int col = 0;
    for (; col + tile::batch <= cols; col += tile::batch) {
        float values[tile::batch];
#pragma unroll
        for (int e = 0; e < tile::batch; ++e) values[e] = static_cast<float>(row[col + e]);
        total = Operation{}(total, Operation::of(values, col, 1));
    }
    for (; col < cols; ++col) join<Operation>(total, static_cast<float>(row[col]), col);
    y.data[(first + thread) * y.stride] = Operation::template finish<Result>(total, divisor);
}

}  // namespace

template <class Operation>
plan plan_vectorized_short(const matrix_facts& problem, const device_traits&) {
    constexpr int log_batch = 3;
    static_assert(1 << log_batch == tile::batch);
    const bool is_across = is_across_rows(problem);
    const std::int64_t rows = tile::threads * (is_across ? tile::rows(problem.element_bytes) : 1);
    return {.blocks = divide_up(problem.rows, rows),
            .threads = tile::threads,
            .is_across = is_across,
            .depth = is_across ? problem.cols
                               : log_batch + problem.cols / tile::batch + problem.cols % tile::batch};
}

template <class Operation, class T>
void launch_vectorized_short(const plan& plan, const arguments<Operation, T>& arguments,
                             cudaStream_t stream) {
    using result = result_type<Operation, T>;
    launch_config config{.blocks = {plan.blocks}, .threads = {plan.threads}, .stream = stream};
    if (!plan.is_across)
        config.shared_bytes =
            static_cast<std::size_t>(tile::threads * arguments.x.cols) * sizeof(T) + max_vector_bytes;
    launch(config,
           plan.is_across ? short_across<Operation, T, result> : short_side_by_side<Operation, T, result>,
           arguments.x, arguments.y, arguments.divisor);
}

HEDDLE_MATRIX_REDUCE_PLANS(plan_vectorized_short)
HEDDLE_MATRIX_REDUCE_LAUNCHES(launch_vectorized_short)

}  // namespace heddle::kernels::matrix_reduce
