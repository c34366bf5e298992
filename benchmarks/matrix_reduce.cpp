#include "benchmarks/operation.hpp"
#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/cudnn.hpp"

namespace heddle::bench {
namespace {

enum class along { rows, columns };

/// A reduction of a dense matrix to one result for each row or column.
struct reduction {
    std::string_view op;
    matrix_shape shape;
    along direction;

    [[nodiscard]] std::int64_t results() const { return direction == along::rows ? shape.rows : shape.cols; }
    template <class T, class Result>
    [[nodiscard]] bench::problem problem() const {
        return {fmt::format("{}/{}/{}x{}", op, dtype<T>, shape.rows, shape.cols),
                sizeof(T) * static_cast<double>(shape.size()),
                sizeof(Result) * static_cast<double>(results())};
    }
};

/// `call` takes x, y and scratch memory. `scratch_bytes` returns its size.
template <class T, class Result>
void row(const reduction& of, std::string_view library, auto scratch_bytes, auto call) {
    operand_row(of.problem<T, Result>(), library, cold, call, random_matrix<T>(of.shape),
                result_vector<Result>(of.results()), scratch{scratch_bytes});
}

/// `call` takes x, y, the stream and options.
template <class T, class Result>
void heddle_row(const reduction& of, auto call,
                matrix_reduce_algorithm algorithm = matrix_reduce_algorithm::automatic) {
    const auto bytes = [=] {
        const matrix_view<const T> x{nullptr, of.shape.rows, of.shape.cols};
        return matrix_reduce_workspace_bytes(of.direction == along::rows ? row_problem(x) : column_problem(x),
                                             traits_of(current_device()), algorithm);
    };
    row<T, Result>(of, implementation(algorithm), bytes, [call, algorithm](auto x, auto y, auto scratch) {
        call(x, y, stream(), matrix_reduce_options{.algorithm = algorithm, .workspace = scratch});
    });
}

/// `call` is CUB's function.
void cub_row(const reduction& of, auto call) {
    row<float, float>(
        of, "cub", [] { return cub_scratch_bytes; },
        [call](auto x, auto y, auto scratch) { call(x.data, x.rows, x.cols, y.data, scratch); });
}

reduction row_sum_of(const matrix_shape& s) {
    return {"row_sum", s, along::rows};
}
reduction column_sum_of(const matrix_shape& s) {
    return {"column_sum", s, along::columns};
}

void cudnn_sum([[maybe_unused]] const reduction& of) {
#if HEDDLE_HAS_CUDNN
    prepared_row(
        of.problem<float, float>(), "cudnn", cold,
        [](auto x, auto y) {
            return
                [x, y, sum = cudnn_matrix_reduction<float, float>(CUDNN_REDUCE_TENSOR_ADD, x, y)]() mutable {
                    sum(x.data, y.data);
                };
        },
        random_matrix<float>(of.shape),
        of.direction == along::rows ? result_matrix<float>(of.results(), 1)
                                    : result_matrix<float>(1, of.results()));
#endif
}

template <class T>
void other_operations(const matrix_shape& s) {
    heddle_row<T, T>({"row_max", s, along::rows}, row_max<T>);
    heddle_row<T, std::int64_t>({"row_argmax", s, along::rows}, row_argmax<T>);
    heddle_row<T, float>({"row_variance", s, along::rows}, row_variance<T>);
    heddle_row<T, T>({"column_max", s, along::columns}, column_max<T>);
    heddle_row<T, std::int64_t>({"column_argmax", s, along::columns}, column_argmax<T>);
    heddle_row<T, float>({"column_variance", s, along::columns}, column_variance<T>);
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
        heddle_row<float, float>(row_sum_of(s), row_sum<float>);
        cub_row(row_sum_of(s), cub_row_sum);
        cudnn_sum(row_sum_of(s));
    }
    for (const matrix_shape& s :
         {matrix_shape{4096, 4096}, {16384, 128}, {64, 1 << 20}, {1 << 20, 8}, {4095, 4097}}) {
        heddle_row<float, float>(column_sum_of(s), column_sum<float>);
        cudnn_sum(column_sum_of(s));
    }

    constexpr matrix_shape square{4096, 4096}, tall{8192, 4096};
    for (const auto algorithm : matrix_reduce_algorithms()) {
        heddle_row<float, float>(row_sum_of(square), row_sum<float>, algorithm);
        heddle_row<float, float>(column_sum_of(square), column_sum<float>, algorithm);
    }
    heddle_row<half, float>(row_sum_of(tall), row_sum<half>);
    heddle_row<half, float>(column_sum_of(tall), column_sum<half>);

    cub_row({"row_max", square, along::rows}, cub_row_max);
    other_operations<float>(square);
    other_operations<half>(tall);

    const auto x = random_matrix<float>(square);
    const auto y = result_vector<float>(square.rows);
    host_operand_row(
        row_sum_of(square).problem<float, float>(), "host",
        [](auto... views) { host::row_sum<float>(views...); }, x, y);
    host_operand_row(
        column_sum_of(square).problem<float, float>(), "host",
        [](auto... views) { host::column_sum<float>(views...); }, x, y);
}

}  // namespace heddle::bench
