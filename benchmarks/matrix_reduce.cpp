#include "benchmarks/operation.hpp"
#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/cudnn.hpp"

namespace heddle::bench {
namespace {

/// Calls take scratch memory, x and y. `results` is the number of rows or of columns.
template <class T, class Result>
auto reduction_of(std::string_view op, const matrix_shape& s, auto scratch_bytes) {
    const std::int64_t results = op.starts_with("row") ? s.rows : s.cols;
    return row_case(s.name<T>(op), scratch{scratch_bytes}, random_matrix<T>(s),
                    result_vector<Result>(results));
}

/// `call` takes x, y, the stream and options.
template <class T, class Result>
void heddle_row(std::string_view op, const matrix_shape& s, auto call,
                matrix_reduce_algorithm algorithm = matrix_reduce_algorithm::automatic) {
    const auto bytes = [=] {
        const matrix_view<const T> x{nullptr, s.rows, s.cols};
        return matrix_reduce_workspace_bytes(op.starts_with("row") ? row_problem(x) : column_problem(x),
                                             traits_of(current_device()), algorithm);
    };
    reduction_of<T, Result>(op, s, bytes)
        .row(implementation(algorithm), cold, [call, algorithm](auto scratch, auto... x_y) {
            call(x_y..., stream(), matrix_reduce_options{.algorithm = algorithm, .workspace = scratch});
        });
}

void cub_row(std::string_view op, const matrix_shape& s) {
    reduction_of<float, float>(op, s, [] {
        return cub_scratch_bytes;
    }).row("cub", cold, [is_sum = op == "row_sum"](auto scratch, auto x, auto y) {
        cub_row_reduction(is_sum, x.data, x.rows, x.cols, y.data, scratch);
    });
}

void cudnn_sum([[maybe_unused]] std::string_view op, [[maybe_unused]] const matrix_shape& s) {
#if HEDDLE_HAS_CUDNN
    const bool is_of_rows = op.starts_with("row");
    row_case(s.name<float>(op), random_matrix<float>(s),
             is_of_rows ? result_matrix<float>({s.rows, 1}) : result_matrix<float>({1, s.cols}))
        .prepared_row("cudnn", cold, [](auto x, auto y) {
            return
                [x, y, sum = cudnn_matrix_reduction<float, float>(CUDNN_REDUCE_TENSOR_ADD, x, y)]() mutable {
                    sum(x.data, y.data);
                };
        });
#endif
}

template <class T>
void other_operations(const matrix_shape& s) {
    heddle_row<T, T>("row_max", s, row_max<T>);
    heddle_row<T, std::int64_t>("row_argmax", s, row_argmax<T>);
    heddle_row<T, float>("row_variance", s, row_variance<T>);
    heddle_row<T, T>("column_max", s, column_max<T>);
    heddle_row<T, std::int64_t>("column_argmax", s, column_argmax<T>);
    heddle_row<T, float>("column_variance", s, column_variance<T>);
}

}  // namespace

void register_matrix_reduce() {
    for (const matrix_shape& s : {matrix_shape{4096, 4096},
                                  {65536, 256},
                                  {64, 1 << 20},
                                  {1 << 20, 8},
                                  {512, 65536},
                                  {4095, 4097},
                                  {1, 1 << 24}}) {
        heddle_row<float, float>("row_sum", s, row_sum<float>);
        cub_row("row_sum", s);
        cudnn_sum("row_sum", s);
    }
    for (const matrix_shape& s :
         {matrix_shape{4096, 4096}, {16384, 128}, {64, 1 << 20}, {1 << 20, 8}, {4095, 4097}}) {
        heddle_row<float, float>("column_sum", s, column_sum<float>);
        cudnn_sum("column_sum", s);
    }

    constexpr matrix_shape square{4096, 4096}, tall{8192, 4096};
    for (const auto algorithm : matrix_reduce_algorithms()) {
        heddle_row<float, float>("row_sum", square, row_sum<float>, algorithm);
        heddle_row<float, float>("column_sum", square, column_sum<float>, algorithm);
    }
    heddle_row<half, float>("row_sum", tall, row_sum<half>);
    heddle_row<half, float>("column_sum", tall, column_sum<half>);

    cub_row("row_max", square);
    other_operations<float>(square);
    other_operations<half>(tall);

    const auto x = random_matrix<float>(square);
    const auto y = result_vector<float>(square.rows);
    row_case(square.name<float>("row_sum"), x, y).host_row("host", [](auto... views) {
        host::row_sum<float>(views...);
    });
    row_case(square.name<float>("column_sum"), x, y).host_row("host", [](auto... views) {
        host::column_sum<float>(views...);
    });
}

}  // namespace heddle::bench
