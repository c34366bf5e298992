#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operation.hpp"
#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/cublas.hpp"

#include <benchmark/benchmark.h>

namespace heddle::bench {
namespace {

/// Calls take scratch memory, one vector or two, and the result's address. The bytes of the result are not counted.
template <class T, class Result, int inputs = 1>
auto reduction_of(std::string_view op, std::int64_t size, auto scratch_bytes) {
    const auto x = random_vector<T>(size);
    const problem of{fmt::format("{}/{}/{}", op, dtype<T>, size), inputs * x.bytes()};
    if constexpr (inputs == 1)
        return row_case(of, scratch{scratch_bytes}, x, result_array<Result>(1));
    else
        return row_case(of, scratch{scratch_bytes}, x, x, result_array<Result>(1));
}

/// `call` takes the vectors, the result's address, the stream and options.
template <class T, class Result, int inputs = 1>
void heddle_row(std::string_view op, std::int64_t size, temperature temperature, auto call,
                reduce_algorithm algorithm = reduce_algorithm::automatic) {
    const auto bytes = [=] {
        return reduce_workspace_bytes({.x = {.size = size, .element_bytes = sizeof(T)}},
                                      traits_of(current_device()), algorithm);
    };
    reduction_of<T, Result, inputs>(op, size, bytes)
        .row(implementation(algorithm), temperature, [call, algorithm](auto scratch, auto... views) {
            call(views..., stream(), reduce_options{.algorithm = algorithm, .workspace = scratch});
        });
}

template <class T, class Result>
void cub_row(std::string_view op, std::int64_t size, temperature temperature, reduce_operation operation) {
    reduction_of<T, Result>(op, size, [] {
        return cub_scratch_bytes;
    }).row("cub", temperature, [operation](auto scratch, auto x, auto* result) {
        cub_reduce<T>(operation, x.data, nullptr, x.size, result, scratch);
    });
}

#if HEDDLE_HAS_CUBLAS
/// `function` takes one vector.
template <class T, class Result>
void cublas_row(std::string_view op, std::int64_t size, temperature temperature, const auto& function) {
    reduction_of<T, Result>(op, size, [] {
        return 0;
    }).row("cublas", temperature, [&function](auto, auto x, auto* result) {
        const scalars_on_device mode;
        check(function(cublas_handle(), x.size, x.data, 1, result));
    });
}
#endif

template <class T>
void heddle_sum(std::int64_t size, temperature temperature,
                reduce_algorithm algorithm = reduce_algorithm::automatic) {
    heddle_row<T, sum_type<T>>("sum", size, temperature, sum<T>, algorithm);
}

/// cuBLAS's sum is of absolute values.
template <class T>
void sums(std::int64_t size, temperature temperature) {
    heddle_sum<T>(size, temperature);
    cub_row<T, sum_type<T>>("sum", size, temperature, reduce_operation::sum);
#if HEDDLE_HAS_CUBLAS
    if constexpr (std::is_same_v<T, float>)
        cublas_row<float, float>("sum", size, temperature, cublasSasum_64);
#endif
}

/// Adds heddle's row by heddle_row(), and the row of CUB's operation.
template <class T, class Result>
void pair_of_rows(std::string_view op, std::int64_t size, reduce_operation of_cub, auto call) {
    heddle_row<T, Result>(op, size, cold, call);
    cub_row<T, Result>(op, size, cold, of_cub);
}

/// cuBLAS finds the largest magnitude, which is as much work.
void argmaxima(std::int64_t size) {
    pair_of_rows<float, std::int64_t>("argmax", size, reduce_operation::argmax, argmax<float>);
#if HEDDLE_HAS_CUBLAS
    cublas_row<float, std::int64_t>("argmax", size, cold, cublasIsamax_64);
#endif
}

template <class T>
void dots(std::int64_t size) {
    heddle_row<T, float, 2>("dot", size, cold, dot<T>);
    reduction_of<T, float, 2>("dot", size, [] {
        return cub_scratch_bytes;
    }).row("cub", cold, [](auto scratch, auto x, auto y, auto* result) {
        cub_reduce<T>(reduce_operation::dot, x.data, y.data, x.size, result, scratch);
    });
#if HEDDLE_HAS_CUBLAS
    if constexpr (std::is_same_v<T, float>)
        reduction_of<T, float, 2>("dot", size, [] {
            return 0;
        }).row("cublas", cold, [](auto, auto x, auto y, auto* result) {
            const scalars_on_device mode;
            check(cublasSdot_64(cublas_handle(), x.size, x.data, 1, y.data, 1, result));
        });
#endif
}

/// CUB's mean is a sum, and its norm2 is a sum of squares.
template <class T>
void means_norms_and_counts(std::int64_t size) {
    pair_of_rows<T, float>("mean", size, reduce_operation::sum, mean<T>);
    pair_of_rows<T, float>("norm1", size, reduce_operation::norm1, norm1<T>);
    pair_of_rows<T, float>("norm2", size, reduce_operation::norm2, norm2<T>);
    pair_of_rows<T, std::int64_t>("count_nonzero", size, reduce_operation::count_nonzero, count_nonzero<T>);
}

}  // namespace

void register_reduce() {
    for (const int exponent : {10, 12, 14, 17, 20, 24, 28}) sums<float>(std::int64_t{1} << exponent, cold);
    for (const int exponent : {10, 22, 24}) sums<float>(std::int64_t{1} << exponent, hot);

    constexpr std::int64_t medium = 1 << 20, large = 1 << 28;
    sums<double>(large, cold);
    sums<half>(large, cold);
    sums<bfloat16>(large, cold);
    sums<std::int32_t>(large, cold);
    sums<std::int64_t>(large, cold);

    for (const int exponent : {16, 22, 24, 28}) argmaxima(std::int64_t{1} << exponent);

    for (const std::int64_t size : {medium, large}) {
        dots<float>(size);
        for (const auto algorithm : reduce_algorithms()) heddle_sum<float>(size, cold, algorithm);
    }
    pair_of_rows<float, float>("min", large, reduce_operation::min, min<float>);
    pair_of_rows<float, float>("max", large, reduce_operation::max, max<float>);
    pair_of_rows<float, std::int64_t>("argmin", large, reduce_operation::argmin, argmin<float>);
    dots<half>(large);
    means_norms_and_counts<float>(large);
    means_norms_and_counts<half>(large);
    heddle_row<double, double>("norm2", large, cold, norm2<double>);  // it scales its elements
#if HEDDLE_HAS_CUBLAS
    cublas_row<float, float>("norm1", large, cold, cublasSasum_64);
    cublas_row<float, float>("norm2", large, cold, cublasSnrm2_64);
    cublas_row<double, double>("norm2", large, cold, cublasDnrm2_64);
#endif

    const row_case on_host(fmt::format("sum/f32/{}", medium), random_vector<float>(medium));
    on_host.host_row("host", [](auto x) { benchmark::DoNotOptimize(host::sum<float>(x)); });
#if HEDDLE_HAS_OPENBLAS
    on_host.host_row("openblas", [](auto x) {
        benchmark::DoNotOptimize(cblas_sasum(static_cast<blasint>(x.size), x.data, 1));
    });
#endif
}

void add_sum_rows(std::string_view type, const extents& shape) {
    with_type_named<double, half, bfloat16, float>(type, [size = shape[0]]<class T>() {
        for (const auto algorithm : reduce_algorithms()) heddle_sum<T>(size, cold, algorithm);
        sums<T>(size, cold);
    });
}

}  // namespace heddle::bench
