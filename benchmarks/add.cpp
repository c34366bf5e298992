#include "benchmarks/operation.hpp"
#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/cublas.hpp"
#include <heddle/elementwise.hpp>

#if HEDDLE_HAS_OPENBLAS
#include <cblas.h>
#endif

namespace heddle::bench {
namespace {

template <class T>
problem vectors(std::int64_t size) {
    const double bytes = sizeof(T) * static_cast<double>(size);
    return {fmt::format("add/{}/{}", dtype<T>, size), 2 * bytes, bytes};
}

/// `call` takes the vectors x, y and z.
template <class T>
void row(std::int64_t size, std::string_view library, temperature temperature, auto call) {
    operand_row(vectors<T>(size), library, temperature, call, random_vector<T>(size), random_vector<T>(size),
                result_vector<T>(size));
}

template <class T>
void heddle_row(std::int64_t size, temperature temperature,
                elementwise_algorithm algorithm = elementwise_algorithm::automatic) {
    row<T>(size, implementation(algorithm), temperature,
           [algorithm](auto x, auto y, auto z) { add<T>(x, y, z, stream(), {.algorithm = algorithm}); });
}

/// y += x: the same traffic.
void cublas_row([[maybe_unused]] std::int64_t size, [[maybe_unused]] temperature temperature) {
#if HEDDLE_HAS_CUBLAS
    problem in_place = vectors<float>(size);
    in_place.footprint = in_place.bytes_read;
    operand_row(
        in_place, "cublas", temperature,
        [](auto x, auto y) {
            const float alpha = 1;
            check(cublasSaxpy_64(cublas_handle(), x.size, &alpha, x.data, 1, y.data, 1));
        },
        random_vector<float>(size), random_vector<float>(size));
#endif
}

template <class T>
void comparison(std::int64_t size, temperature temperature) {
    heddle_row<T>(size, temperature);
    row<T>(size, "cub", temperature, [](auto x, auto y, auto z) {
        cub_elementwise<T>(elementwise_operation::add, {x.data, y.data}, z.data, x.size);
    });
    if constexpr (std::is_same_v<T, float>) cublas_row(size, temperature);
}

void host_rows(std::int64_t size) {
    const auto x = random_vector<float>(size), y = x;
    host_operand_row(
        vectors<float>(size), "host", [](auto... views) { host::add<float>(views...); }, x, y,
        result_vector<float>(size));
#if HEDDLE_HAS_OPENBLAS
    host_operand_row(
        vectors<float>(size), "openblas",
        [](auto of_x, auto of_y) {
            cblas_saxpy(static_cast<blasint>(of_x.size), 1, of_x.data, 1, of_y.data, 1);
        },
        x, y);
#endif
}

}  // namespace

void register_add() {
    for (const int exponent : {10, 12, 16, 20, 24, 28}) comparison<float>(std::int64_t{1} << exponent, cold);
    for (const int exponent : {20, 22}) comparison<float>(std::int64_t{1} << exponent, hot);

    constexpr std::int64_t large = 1 << 28;
    comparison<double>(large, cold);
    comparison<half>(large, cold);
    comparison<bfloat16>(large, cold);

    for (const std::int64_t size : {std::int64_t{1} << 20, large})
        for (const auto algorithm : elementwise_algorithms()) heddle_row<float>(size, cold, algorithm);

    host_rows(1 << 20);
}

}  // namespace heddle::bench
