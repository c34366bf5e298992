#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operations.hpp"
#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/copy.hpp>
#include <heddle/host.hpp>
#include <heddle/transpose.hpp>

#include <fmt/format.h>
#include <heddle_baselines.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::bench {
namespace {

template <class T>
problem matrix(std::int64_t rows, std::int64_t cols) {
    const double bytes = sizeof(T) * static_cast<double>(rows * cols);
    return {fmt::format("transpose/{}/{}x{}", dtype<T>, rows, cols), bytes, bytes};
}

/// `call` takes the source, rows x cols, and the destination, cols x rows.
template <class T, class Call>
void row(std::int64_t rows, std::int64_t cols, std::string_view library, temperature temperature, Call call) {
    device_row(matrix<T>(rows, cols), library, temperature, [=] {
        return [=, from = random_on_device<T>(rows * cols),
                to = device_buffer<T>(rows * cols, stream())]() mutable {
            call(matrix_view<const T>{from.data(), rows, cols}, matrix_view<T>{to.data(), cols, rows});
        };
    });
}

template <class T>
void heddle_row(std::int64_t rows, std::int64_t cols, temperature temperature = temperature::cold,
                transpose_algorithm algorithm = transpose_algorithm::automatic) {
    row<T>(rows, cols, implementation(algorithm), temperature, [algorithm](auto source, auto destination) {
        transpose<T>(source, destination, stream(), {.algorithm = algorithm});
    });
}

/// The same bytes, not turned over: what there is to reach.
template <class T>
void copy_row(std::int64_t rows, std::int64_t cols, temperature temperature = temperature::cold) {
    row<T>(rows, cols, "copy", temperature, [](auto source, auto destination) {
        const std::int64_t size = source.rows * source.cols;
        copy(vector_view<const T>{source.data, size}, vector_view<T>{destination.data, size}, stream());
    });
}

/// A^T + 0 B. In cuBLAS's order of columns, source and destination are each other's transposes too.
void cublas_row([[maybe_unused]] std::int64_t rows, [[maybe_unused]] std::int64_t cols,
                [[maybe_unused]] temperature temperature = temperature::cold) {
#if HEDDLE_HAS_CUBLAS
    row<float>(rows, cols, "cublas", temperature, [](auto source, auto destination) {
        const float one = 1, zero = 0;
        check(cublasSgeam_64(cublas_handle(), CUBLAS_OP_T, CUBLAS_OP_N, source.rows, source.cols, &one,
                             source.data, source.cols, &zero, destination.data, source.rows, destination.data,
                             source.rows));
    });
#endif
}

template <class T>
void comparison(std::int64_t rows, std::int64_t cols, temperature temperature = temperature::cold) {
    heddle_row<T>(rows, cols, temperature);
    copy_row<T>(rows, cols, temperature);
    if constexpr (std::is_same_v<T, float>) cublas_row(rows, cols, temperature);
}

/// A row-major source and a column-major destination: rows are copied.
void same_order(std::int64_t rows, std::int64_t cols) {
    problem problem = matrix<float>(rows, cols);
    problem.name += "-same-order";
    device_row(problem, "heddle", temperature::cold, [=] {
        return [=, from = random_on_device<float>(rows * cols),
                to = device_buffer<float>(rows * cols, stream())]() mutable {
            transpose<float>(matrix_view<const float>{from.data(), rows, cols},
                             transposed(matrix_view<float>{to.data(), rows, cols}), stream());
        };
    });
}

void host(std::int64_t rows, std::int64_t cols) {
    host_row(matrix<float>(rows, cols), "host", [=] {
        return [=, from = random_on_host<float>(rows * cols),
                to = std::vector<float>(static_cast<std::size_t>(rows * cols))]() mutable {
            host::transpose<float>(matrix_view<const float>{from.data(), rows, cols},
                                   matrix_view<float>{to.data(), cols, rows});
        };
    });
}

}  // namespace

void register_transpose() {
    comparison<float>(4096, 4096);
    comparison<float>(65536, 1024);
    comparison<float>(1000, 1000);
    comparison<float>(1000, 1000, temperature::hot);
    comparison<float>(16384, 16384);
    comparison<float>(4097, 4099);
    comparison<float>(1 << 22, 8);
    comparison<float>(8, 1 << 22);
    comparison<half>(4097, 4099);
    comparison<double>(4096, 4096);
    comparison<std::uint8_t>(4097, 4099);

    for (const auto algorithm : transpose_algorithms())
        heddle_row<float>(4096, 4096, temperature::cold, algorithm);
    same_order(4096, 4096);

    host(4096, 4096);
}

void add_transpose_rows(std::string_view type, const extents& shape) {
    const auto add = [rows = shape[0], cols = shape[1]]<class T>(T) {
        for (const auto algorithm : transpose_algorithms())
            heddle_row<T>(rows, cols, temperature::cold, algorithm);
        comparison<T>(rows, cols);
    };
    if (type == "f64") return add(double{});
    if (type == "f16") return add(half{});
    if (type == "u8") return add(std::uint8_t{});
    add(float{});
}

}  // namespace heddle::bench
