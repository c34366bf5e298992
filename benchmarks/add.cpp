#include "benchmarks/operations.hpp"
#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/elementwise.hpp>
#include <heddle/host.hpp>

#include <fmt/format.h>
#include <heddle_baselines.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

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

/// `call` takes the buffers x, y and z.
template <class T, class Call>
void row(std::int64_t size, std::string_view library, temperature temperature, Call call) {
    device_row(vectors<T>(size), library, temperature, [size, call] {
        return [call, x = random_on_device<T>(size), y = random_on_device<T>(size),
                z = device_buffer<T>(size, stream())]() mutable { call(x, y, z); };
    });
}

template <class T>
void heddle_row(std::int64_t size, temperature temperature,
                elementwise_algorithm algorithm = elementwise_algorithm::automatic) {
    row<T>(size, implementation(algorithm), temperature,
           [algorithm](auto& x, auto& y, auto& z) { add<T>(x, y, z, stream(), {.algorithm = algorithm}); });
}

template <class T>
void cub_row(std::int64_t size, temperature temperature) {
    row<T>(size, "cub", temperature, [](auto& x, auto& y, auto& z) {
        cub_elementwise<T>(elementwise_operation::add, {x.data(), y.data()}, z.data(),
                           static_cast<std::int64_t>(x.size()));
    });
}

/// y += x: the same traffic.
void cublas_row([[maybe_unused]] std::int64_t size, [[maybe_unused]] temperature temperature) {
#if HEDDLE_HAS_CUBLAS
    problem in_place = vectors<float>(size);
    in_place.footprint = in_place.bytes_read;
    device_row(in_place, "cublas", temperature, [size] {
        return [size, x = random_on_device<float>(size), y = random_on_device<float>(size)]() mutable {
            const float alpha = 1;
            check(cublasSaxpy_64(cublas_handle(), size, &alpha, x.data(), 1, y.data(), 1));
        };
    });
#endif
}

template <class T>
void comparison(std::int64_t size, temperature temperature) {
    heddle_row<T>(size, temperature);
    cub_row<T>(size, temperature);
    if constexpr (std::is_same_v<T, float>) cublas_row(size, temperature);
}

void host(std::int64_t size) {
    host_row(vectors<float>(size), "host", [size] {
        return [x = random_on_host<float>(size), y = random_on_host<float>(size),
                z = std::vector<float>(static_cast<std::size_t>(size)), size]() mutable {
            host::add<float>(vector_view{x.data(), size}, vector_view{y.data(), size},
                             vector_view{z.data(), size});
        };
    });
#if HEDDLE_HAS_OPENBLAS
    host_row(vectors<float>(size), "openblas", [size] {
        return [x = random_on_host<float>(size), y = random_on_host<float>(size)]() mutable {
            cblas_saxpy(static_cast<blasint>(x.size()), 1, x.data(), 1, y.data(), 1);
        };
    });
#endif
}

}  // namespace

void register_add() {
    for (const int exponent : {10, 12, 16, 20, 24, 28})
        comparison<float>(std::int64_t{1} << exponent, temperature::cold);
    for (const int exponent : {20, 22}) comparison<float>(std::int64_t{1} << exponent, temperature::hot);

    constexpr std::int64_t large = 1 << 28;
    comparison<double>(large, temperature::cold);
    comparison<half>(large, temperature::cold);
    comparison<bfloat16>(large, temperature::cold);

    for (const std::int64_t size : {std::int64_t{1} << 20, large})
        for (const auto algorithm : elementwise_algorithms())
            heddle_row<float>(size, temperature::cold, algorithm);

    host(1 << 20);
}

}  // namespace heddle::bench
