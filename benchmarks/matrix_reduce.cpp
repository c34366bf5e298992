#include "benchmarks/operations.hpp"
#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/cub_segmented_reduce.hpp"
#include "benchmarks/support/cudnn.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/host.hpp>
#include <heddle/matrix_reduce.hpp>
#include <heddle/workspace.hpp>

#include <fmt/format.h>
#include <heddle_baselines.hpp>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::bench {
namespace {

enum class along { rows, columns };

/// A dense rows x cols matrix in device memory is reduced to one Result a row or column.
template <class T, class Result>
problem matrix(std::string_view op, std::int64_t rows, std::int64_t cols, along direction) {
    const std::int64_t results = direction == along::rows ? rows : cols;
    return {fmt::format("{}/{}/{}x{}", op, dtype<T>, rows, cols),
            sizeof(T) * static_cast<double>(rows * cols), sizeof(Result) * static_cast<double>(results)};
}

/// `call` takes x, y and scratch memory, of as many bytes as `scratch_bytes` says.
template <class T, class Result, class ScratchBytes, class Call>
void row(std::string_view op, std::int64_t rows, std::int64_t cols, along direction, std::string_view library,
         ScratchBytes scratch_bytes, Call call) {
    device_row(matrix<T, Result>(op, rows, cols, direction), library, temperature::cold, [=] {
        const std::int64_t results = direction == along::rows ? rows : cols;
        return [=, x = random_on_device<T>(rows * cols), y = device_buffer<Result>(results, stream()),
                scratch = workspace(scratch_bytes(), stream())]() mutable {
            call(matrix_view<const T>{x.data(), rows, cols}, vector_view<Result>{y.data(), results}, scratch);
        };
    });
}

/// `call` takes x, y and options.
template <class T, class Result, class Call>
void heddle_row(std::string_view op, std::int64_t rows, std::int64_t cols, along direction, Call call,
                matrix_reduce_algorithm algorithm = matrix_reduce_algorithm::automatic) {
    const auto bytes = [=] {
        const matrix_view<const T> x{nullptr, rows, cols};
        return matrix_reduce_workspace_bytes(direction == along::rows ? row_problem(x) : column_problem(x),
                                             traits_of(current_device()), algorithm);
    };
    row<T, Result>(op, rows, cols, direction, implementation(algorithm), bytes,
                   [call, algorithm](auto matrix, auto result, auto& scratch) {
                       call(matrix, result,
                            matrix_reduce_options{.algorithm = algorithm, .workspace = scratch});
                   });
}

constexpr auto bytes_of_cub = [] { return cub_scratch_bytes; };

constexpr auto sum_rows = []<class T>(matrix_view<const T> x, vector_view<float> y,
                                      const matrix_reduce_options& options) {
    row_sum<T>(x, y, stream(), options);
};
constexpr auto sum_columns = []<class T>(matrix_view<const T> x, vector_view<float> y,
                                         const matrix_reduce_options& options) {
    column_sum<T>(x, y, stream(), options);
};

#if HEDDLE_HAS_CUDNN
using cudnn_reduction =
    cudnn_descriptor<cudnnCreateReduceTensorDescriptor, cudnnDestroyReduceTensorDescriptor>;

void cudnn_sum(std::string_view op, std::int64_t rows, std::int64_t cols, along direction) {
    device_row(matrix<float, float>(op, rows, cols, direction), "cudnn", temperature::cold, [=] {
        const bool of_rows = direction == along::rows;
        const auto extent = [](std::int64_t n) { return static_cast<int>(n); };
        cudnn_tensor from, to;
        check(cudnnSetTensor4dDescriptor(from, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, extent(rows),
                                         extent(cols)));
        check(cudnnSetTensor4dDescriptor(to, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1,
                                         of_rows ? extent(rows) : 1, of_rows ? 1 : extent(cols)));
        cudnn_reduction reduction;
        check(cudnnSetReduceTensorDescriptor(reduction, CUDNN_REDUCE_TENSOR_ADD, CUDNN_DATA_FLOAT,
                                             CUDNN_PROPAGATE_NAN, CUDNN_REDUCE_TENSOR_NO_INDICES,
                                             CUDNN_32BIT_INDICES));
        std::size_t bytes = 0;
        check(cudnnGetReductionWorkspaceSize(cudnn_handle(), reduction, from, to, &bytes));
        return [x = random_on_device<float>(rows * cols),
                y = device_buffer<float>(of_rows ? rows : cols, stream()),
                scratch = device_buffer<std::byte>(static_cast<std::int64_t>(bytes), stream()), bytes,
                from = std::move(from), to = std::move(to), reduction = std::move(reduction)]() mutable {
            const float alpha = 1, beta = 0;
            check(cudnnReduceTensor(cudnn_handle(), reduction, nullptr, 0, scratch.data(), bytes, &alpha,
                                    from, x.data(), &beta, to, y.data()));
        };
    });
}
#endif

void row_sums(std::int64_t rows, std::int64_t cols) {
    heddle_row<float, float>("row_sum", rows, cols, along::rows, sum_rows);
    row<float, float>(
        "row_sum", rows, cols, along::rows, "cub", bytes_of_cub,
        [](auto x, auto y, auto& scratch) { cub_row_sum(x.data, x.rows, x.cols, y.data, scratch); });
#if HEDDLE_HAS_CUDNN
    cudnn_sum("row_sum", rows, cols, along::rows);
#endif
}

void column_sums(std::int64_t rows, std::int64_t cols) {
    heddle_row<float, float>("column_sum", rows, cols, along::columns, sum_columns);
#if HEDDLE_HAS_CUDNN
    cudnn_sum("column_sum", rows, cols, along::columns);
#endif
}

template <class T>
void other_operations(std::int64_t rows, std::int64_t cols) {
    using options = matrix_reduce_options;
    using matrix_type = matrix_view<const T>;
    using indices = vector_view<std::int64_t>;
    const auto rows_of = along::rows, columns_of = along::columns;
    heddle_row<T, T>("row_max", rows, cols, rows_of, [](matrix_type x, vector_view<T> y, const options& o) {
        row_max<T>(x, y, stream(), o);
    });
    heddle_row<T, std::int64_t>(
        "row_argmax", rows, cols, rows_of,
        [](matrix_type x, indices y, const options& o) { row_argmax<T>(x, y, stream(), o); });
    heddle_row<T, float>(
        "row_variance", rows, cols, rows_of,
        [](matrix_type x, vector_view<float> y, const options& o) { row_variance<T>(x, y, stream(), o); });
    heddle_row<T, T>(
        "column_max", rows, cols, columns_of,
        [](matrix_type x, vector_view<T> y, const options& o) { column_max<T>(x, y, stream(), o); });
    heddle_row<T, std::int64_t>(
        "column_argmax", rows, cols, columns_of,
        [](matrix_type x, indices y, const options& o) { column_argmax<T>(x, y, stream(), o); });
    heddle_row<T, float>(
        "column_variance", rows, cols, columns_of,
        [](matrix_type x, vector_view<float> y, const options& o) { column_variance<T>(x, y, stream(), o); });
}

void host_sums(std::int64_t rows, std::int64_t cols) {
    host_row(matrix<float, float>("row_sum", rows, cols, along::rows), "host", [=] {
        return [=, x = random_on_host<float>(rows * cols),
                y = std::vector<float>(static_cast<std::size_t>(rows))]() mutable {
            host::row_sum<float>({x.data(), rows, cols}, {y.data(), rows});
        };
    });
    host_row(matrix<float, float>("column_sum", rows, cols, along::columns), "host", [=] {
        return [=, x = random_on_host<float>(rows * cols),
                y = std::vector<float>(static_cast<std::size_t>(cols))]() mutable {
            host::column_sum<float>({x.data(), rows, cols}, {y.data(), cols});
        };
    });
}

}  // namespace

void register_matrix_reduce() {
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{4096, 4096},
                                     {65536, 256},
                                     {64, 1 << 20},
                                     {1 << 20, 8},
                                     {512, 65536},
                                     {4095, 4097},
                                     {1, 1 << 24}})
        row_sums(rows, cols);
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{4096, 4096},
                                     {16384, 128},
                                     {64, 1 << 20},
                                     {1 << 20, 8},
                                     {4095, 4097}})
        column_sums(rows, cols);

    constexpr std::int64_t side = 4096;
    for (const auto algorithm : matrix_reduce_algorithms()) {
        heddle_row<float, float>("row_sum", side, side, along::rows, sum_rows, algorithm);
        heddle_row<float, float>("column_sum", side, side, along::columns, sum_columns, algorithm);
    }
    heddle_row<half, float>("row_sum", 2 * side, side, along::rows, sum_rows);
    heddle_row<half, float>("column_sum", 2 * side, side, along::columns, sum_columns);

    row<float, float>(
        "row_max", side, side, along::rows, "cub", bytes_of_cub,
        [](auto x, auto y, auto& scratch) { cub_row_max(x.data, x.rows, x.cols, y.data, scratch); });
    other_operations<float>(side, side);
    other_operations<half>(2 * side, side);

    host_sums(side, side);
}

}  // namespace heddle::bench
