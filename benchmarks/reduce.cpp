#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operations.hpp"
#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/host.hpp>
#include <heddle/reduce.hpp>
#include <heddle/workspace.hpp>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <heddle_baselines.hpp>

#include <cstdint>
#include <string_view>

#if HEDDLE_HAS_OPENBLAS
#include <cblas.h>
#endif

namespace heddle::bench {
namespace {

/// The result is next to nothing.
template <class T>
problem vector(std::string_view op, std::int64_t size) {
    return {fmt::format("{}/{}/{}", op, dtype<T>, size), sizeof(T) * static_cast<double>(size)};
}

/// `call` takes x, the result's pointer and scratch memory of `scratch_bytes`.
template <class T, class Result, class Call>
void row(std::string_view op, std::int64_t size, std::string_view library, temperature temperature,
         std::int64_t scratch_bytes, Call call) {
    device_row(vector<T>(op, size), library, temperature, [size, scratch_bytes, call] {
        return [call, x = random_on_device<T>(size), result = device_buffer<Result>(1, stream()),
                scratch = workspace(scratch_bytes, stream())]() mutable { call(x, result.data(), scratch); };
    });
}

/// What row() calls.
template <class T>
auto by_cub(reduce_operation operation) {
    return [operation](auto& x, auto* result, auto& scratch) {
        cub_reduce<T>(operation, x.data(), nullptr, static_cast<std::int64_t>(x.size()), result, scratch);
    };
}

template <class T>
std::int64_t scratch_bytes(std::int64_t size, reduce_algorithm algorithm = reduce_algorithm::automatic) {
    if (!has_device()) return 0;
    return reduce_workspace_bytes({.x = {.size = size, .element_bytes = sizeof(T)}},
                                  traits_of(current_device()), algorithm);
}

template <class T>
void heddle_sum(std::int64_t size, temperature temperature,
                reduce_algorithm algorithm = reduce_algorithm::automatic) {
    row<T, sum_type<T>>("sum", size, implementation(algorithm), temperature,
                        scratch_bytes<T>(size, algorithm), [algorithm](auto& x, auto* result, auto& scratch) {
                            sum<T>(x, result, stream(), {.algorithm = algorithm, .workspace = scratch});
                        });
}

template <class T>
void cub_sum(std::int64_t size, temperature temperature) {
    row<T, sum_type<T>>("sum", size, "cub", temperature, cub_scratch_bytes, by_cub<T>(reduce_operation::sum));
}

/// The sum of absolute values.
void cublas_asum([[maybe_unused]] std::int64_t size, [[maybe_unused]] temperature temperature) {
#if HEDDLE_HAS_CUBLAS
    row<float, float>("sum", size, "cublas", temperature, 0, [](auto& x, auto* result, auto&) {
        const scalars_on_device mode;
        check(cublasSasum_64(cublas_handle(), static_cast<std::int64_t>(x.size()), x.data(), 1, result));
    });
#endif
}

template <class T>
void sums(std::int64_t size, temperature temperature) {
    heddle_sum<T>(size, temperature);
    cub_sum<T>(size, temperature);
    if constexpr (std::is_same_v<T, float>) cublas_asum(size, temperature);
}

void minima_and_maxima(std::int64_t size) {
    const std::int64_t bytes = scratch_bytes<float>(size);
    const auto add_row = [&](std::string_view op, std::string_view library, std::int64_t scratch, auto call) {
        row<float, float>(op, size, library, temperature::cold, scratch, call);
    };
    add_row("min", "heddle", bytes, [](auto& x, auto* result, auto& scratch) {
        min<float>(x, result, stream(), {.workspace = scratch});
    });
    add_row("min", "cub", cub_scratch_bytes, by_cub<float>(reduce_operation::min));
    add_row("max", "heddle", bytes, [](auto& x, auto* result, auto& scratch) {
        max<float>(x, result, stream(), {.workspace = scratch});
    });
    add_row("max", "cub", cub_scratch_bytes, by_cub<float>(reduce_operation::max));
}

/// `call` takes x, y, the result's pointer and scratch memory of `scratch_bytes`.
template <class T, class Call>
void dot_row(std::int64_t size, std::string_view library, std::int64_t scratch_bytes, Call call) {
    problem vectors = vector<T>("dot", size);
    vectors.bytes_read *= 2;
    device_row(vectors, library, temperature::cold, [size, scratch_bytes, call] {
        return
            [call, x = random_on_device<T>(size), y = random_on_device<T>(size),
             result = device_buffer<float>(1, stream()),
             scratch = workspace(scratch_bytes, stream())]() mutable { call(x, y, result.data(), scratch); };
    });
}

template <class T>
void dots(std::int64_t size) {
    dot_row<T>(size, "heddle", scratch_bytes<T>(size), [](auto& x, auto& y, auto* result, auto& scratch) {
        dot<T>(x, y, result, stream(), {.workspace = scratch});
    });
    dot_row<T>(size, "cub", cub_scratch_bytes, [size](auto& x, auto& y, auto* result, auto& scratch) {
        cub_reduce<T>(reduce_operation::dot, x.data(), y.data(), size, result, scratch);
    });
#if HEDDLE_HAS_CUBLAS
    if constexpr (std::is_same_v<T, float>)
        dot_row<T>(size, "cublas", 0, [size](auto& x, auto& y, auto* result, auto&) {
            const scalars_on_device mode;
            check(cublasSdot_64(cublas_handle(), size, x.data(), 1, y.data(), 1, result));
        });
#endif
}

/// cuBLAS looks for the largest magnitude, which is as much work.
void argmaxima(std::int64_t size) {
    const std::int64_t bytes = scratch_bytes<float>(size);
    const auto add_row = [&](std::string_view op, std::string_view library, std::int64_t scratch, auto call) {
        row<float, std::int64_t>(op, size, library, temperature::cold, scratch, call);
    };
    add_row("argmax", "heddle", bytes, [](auto& x, auto* result, auto& scratch) {
        argmax<float>(x, result, stream(), {.workspace = scratch});
    });
    add_row("argmax", "cub", cub_scratch_bytes, by_cub<float>(reduce_operation::argmax));
#if HEDDLE_HAS_CUBLAS
    add_row("argmax", "cublas", 0, [size](auto& x, auto* result, auto&) {
        const scalars_on_device mode;
        check(cublasIsamax_64(cublas_handle(), size, x.data(), 1, result));
    });
#endif
}

void argminima(std::int64_t size) {
    const std::int64_t bytes = scratch_bytes<float>(size);
    row<float, std::int64_t>("argmin", size, "heddle", temperature::cold, bytes,
                             [](auto& x, auto* result, auto& scratch) {
                                 argmin<float>(x, result, stream(), {.workspace = scratch});
                             });
    row<float, std::int64_t>("argmin", size, "cub", temperature::cold, cub_scratch_bytes,
                             by_cub<float>(reduce_operation::argmin));
}

/// CUB's mean is a sum, its norm2 one of squares.
template <class T>
void means_norms_and_counts(std::int64_t size) {
    const std::int64_t bytes = scratch_bytes<T>(size);
    const auto add_row = [&]<class Result>(Result, std::string_view op, std::string_view library,
                                           std::int64_t scratch, auto call) {
        row<T, Result>(op, size, library, temperature::cold, scratch, call);
    };
    add_row(float{}, "mean", "heddle", bytes, [](auto& x, auto* result, auto& scratch) {
        mean<T>(x, result, stream(), {.workspace = scratch});
    });
    add_row(float{}, "mean", "cub", cub_scratch_bytes, by_cub<T>(reduce_operation::sum));
    add_row(float{}, "norm1", "heddle", bytes, [](auto& x, auto* result, auto& scratch) {
        norm1<T>(x, result, stream(), {.workspace = scratch});
    });
    add_row(float{}, "norm1", "cub", cub_scratch_bytes, by_cub<T>(reduce_operation::norm1));
    add_row(float{}, "norm2", "heddle", bytes, [](auto& x, auto* result, auto& scratch) {
        norm2<T>(x, result, stream(), {.workspace = scratch});
    });
    add_row(float{}, "norm2", "cub", cub_scratch_bytes, by_cub<T>(reduce_operation::norm2));
    add_row(std::int64_t{}, "count_nonzero", "heddle", bytes, [](auto& x, auto* result, auto& scratch) {
        count_nonzero<T>(x, result, stream(), {.workspace = scratch});
    });
    add_row(std::int64_t{}, "count_nonzero", "cub", cub_scratch_bytes,
            by_cub<T>(reduce_operation::count_nonzero));
#if HEDDLE_HAS_CUBLAS
    if constexpr (std::is_same_v<T, float>) {
        add_row(float{}, "norm1", "cublas", 0, [size](auto& x, auto* result, auto&) {
            const scalars_on_device mode;
            check(cublasSasum_64(cublas_handle(), size, x.data(), 1, result));
        });
        add_row(float{}, "norm2", "cublas", 0, [size](auto& x, auto* result, auto&) {
            const scalars_on_device mode;
            check(cublasSnrm2_64(cublas_handle(), size, x.data(), 1, result));
        });
    }
#endif
}

/// The norm of double is the one that scales.
void norms_of_double(std::int64_t size) {
    row<double, double>("norm2", size, "heddle", temperature::cold, scratch_bytes<double>(size),
                        [](auto& x, auto* result, auto& scratch) {
                            norm2<double>(x, result, stream(), {.workspace = scratch});
                        });
#if HEDDLE_HAS_CUBLAS
    row<double, double>("norm2", size, "cublas", temperature::cold, 0, [size](auto& x, auto* result, auto&) {
        const scalars_on_device mode;
        check(cublasDnrm2_64(cublas_handle(), size, x.data(), 1, result));
    });
#endif
}

void host_sums(std::int64_t size) {
    host_row(vector<float>("sum", size), "host", [size] {
        return [x = random_on_host<float>(size), size] {
            benchmark::DoNotOptimize(host::sum<float>(vector_view{x.data(), size}));
        };
    });
#if HEDDLE_HAS_OPENBLAS
    host_row(vector<float>("sum", size), "openblas", [size] {
        return [x = random_on_host<float>(size)] {
            benchmark::DoNotOptimize(cblas_sasum(static_cast<blasint>(x.size()), x.data(), 1));
        };
    });
#endif
}

}  // namespace

void register_reduce() {
    for (const int exponent : {10, 12, 14, 17, 20, 24, 28})
        sums<float>(std::int64_t{1} << exponent, temperature::cold);
    for (const int exponent : {10, 22, 24}) sums<float>(std::int64_t{1} << exponent, temperature::hot);

    constexpr std::int64_t medium = 1 << 20;
    constexpr std::int64_t large = 1 << 28;
    sums<double>(large, temperature::cold);
    sums<half>(large, temperature::cold);
    sums<bfloat16>(large, temperature::cold);
    sums<std::int32_t>(large, temperature::cold);
    sums<std::int64_t>(large, temperature::cold);

    for (const int exponent : {16, 22, 24, 28}) argmaxima(std::int64_t{1} << exponent);

    for (const std::int64_t size : {medium, large}) {
        dots<float>(size);
        for (const auto algorithm : reduce_algorithms())
            heddle_sum<float>(size, temperature::cold, algorithm);
    }
    minima_and_maxima(large);
    argminima(large);
    dots<half>(large);
    means_norms_and_counts<float>(large);
    means_norms_and_counts<half>(large);
    norms_of_double(large);

    host_sums(medium);
}

void add_sum_rows(std::string_view type, const extents& shape) {
    const auto add = [size = shape[0]]<class T>(T) {
        for (const auto algorithm : reduce_algorithms()) heddle_sum<T>(size, temperature::cold, algorithm);
        sums<T>(size, temperature::cold);
    };
    if (type == "f64") return add(double{});
    if (type == "f16") return add(half{});
    if (type == "bf16") return add(bfloat16{});
    add(float{});
}

}  // namespace heddle::bench
