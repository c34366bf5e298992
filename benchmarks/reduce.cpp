#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operation.hpp"
#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/cublas.hpp"

#include <benchmark/benchmark.h>

namespace heddle::bench {
namespace {

/// The bytes of the result are not counted.
template <class T>
problem vectors(std::string_view op, std::int64_t size, int inputs = 1) {
    return {fmt::format("{}/{}/{}", op, dtype<T>, size), inputs * sizeof(T) * static_cast<double>(size)};
}

/// `call` takes x, the result's address and scratch memory of `scratch_bytes`.
template <class T, class Result>
void row(std::string_view op, std::int64_t size, std::string_view library, temperature temperature,
         std::int64_t scratch_bytes, auto call) {
    operand_row(vectors<T>(op, size), library, temperature, call, random_vector<T>(size),
                result_array<Result>(1), scratch{[scratch_bytes] { return scratch_bytes; }});
}

template <class T>
std::int64_t scratch_bytes(std::int64_t size, reduce_algorithm algorithm = reduce_algorithm::automatic) {
    if (!has_device()) return 0;
    return reduce_workspace_bytes({.x = {.size = size, .element_bytes = sizeof(T)}},
                                  traits_of(current_device()), algorithm);
}

/// `call` takes x, the result's address, the stream and options.
template <class T, class Result>
void heddle_row(std::string_view op, std::int64_t size, temperature temperature, auto call,
                reduce_algorithm algorithm = reduce_algorithm::automatic) {
    row<T, Result>(op, size, implementation(algorithm), temperature, scratch_bytes<T>(size, algorithm),
                   [call, algorithm](auto x, auto* result, auto scratch) {
                       call(x, result, stream(),
                            reduce_options{.algorithm = algorithm, .workspace = scratch});
                   });
}

template <class T, class Result>
void cub_row(std::string_view op, std::int64_t size, temperature temperature, reduce_operation operation) {
    row<T, Result>(op, size, "cub", temperature, cub_scratch_bytes,
                   [operation](auto x, auto* result, auto scratch) {
                       cub_reduce<T>(operation, x.data, nullptr, x.size, result, scratch);
                   });
}

#if HEDDLE_HAS_CUBLAS
/// `function` takes one vector.
template <class T, class Result>
void cublas_row(std::string_view op, std::int64_t size, temperature temperature, const auto& function) {
    row<T, Result>(op, size, "cublas", temperature, 0, [&function](auto x, auto* result, auto) {
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

void extrema(std::int64_t size) {
    pair_of_rows<float, float>("min", size, reduce_operation::min, min<float>);
    pair_of_rows<float, float>("max", size, reduce_operation::max, max<float>);
    pair_of_rows<float, std::int64_t>("argmin", size, reduce_operation::argmin, argmin<float>);
}

/// `call` takes x, y, the result's address and scratch memory of `scratch_bytes`.
template <class T>
void dot_row(std::int64_t size, std::string_view library, std::int64_t scratch_bytes, auto call) {
    operand_row(vectors<T>("dot", size, 2), library, cold, call, random_vector<T>(size),
                random_vector<T>(size), result_array<float>(1),
                scratch{[scratch_bytes] { return scratch_bytes; }});
}

template <class T>
void dots(std::int64_t size) {
    dot_row<T>(size, "heddle", scratch_bytes<T>(size), [](auto x, auto y, auto* result, auto scratch) {
        dot<T>(x, y, result, stream(), {.workspace = scratch});
    });
    dot_row<T>(size, "cub", cub_scratch_bytes, [](auto x, auto y, auto* result, auto scratch) {
        cub_reduce<T>(reduce_operation::dot, x.data, y.data, x.size, result, scratch);
    });
#if HEDDLE_HAS_CUBLAS
    if constexpr (std::is_same_v<T, float>)
        dot_row<T>(size, "cublas", 0, [](auto x, auto y, auto* result, auto) {
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
#if HEDDLE_HAS_CUBLAS
    if constexpr (std::is_same_v<T, float>) {
        cublas_row<float, float>("norm1", size, cold, cublasSasum_64);
        cublas_row<float, float>("norm2", size, cold, cublasSnrm2_64);
    }
#endif
}

/// norm2 of double scales its elements.
void norms_of_double(std::int64_t size) {
    heddle_row<double, double>("norm2", size, cold, norm2<double>);
#if HEDDLE_HAS_CUBLAS
    cublas_row<double, double>("norm2", size, cold, cublasDnrm2_64);
#endif
}

void host_sums(std::int64_t size) {
    host_operand_row(
        vectors<float>("sum", size), "host", [](auto x) { benchmark::DoNotOptimize(host::sum<float>(x)); },
        random_vector<float>(size));
#if HEDDLE_HAS_OPENBLAS
    host_operand_row(
        vectors<float>("sum", size), "openblas",
        [](auto x) { benchmark::DoNotOptimize(cblas_sasum(static_cast<blasint>(x.size), x.data, 1)); },
        random_vector<float>(size));
#endif
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
    extrema(large);
    dots<half>(large);
    means_norms_and_counts<float>(large);
    means_norms_and_counts<half>(large);
    norms_of_double(large);

    host_sums(medium);
}

void add_sum_rows(std::string_view type, const extents& shape) {
    with_type_named<double, half, bfloat16, float>(type, [size = shape[0]]<class T>() {
        for (const auto algorithm : reduce_algorithms()) heddle_sum<T>(size, cold, algorithm);
        sums<T>(size, cold);
    });
}

}  // namespace heddle::bench
