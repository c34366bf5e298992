#include "benchmarks/support/random.hpp"

#include "benchmarks/operations.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/buffer.hpp>
#include <heddle/host.hpp>
#include <heddle/random.hpp>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::bench {
namespace {

constexpr std::int64_t medium = 1 << 20, large = 1 << 28;
constexpr double p = 0.1;

template <class T>
problem vector(std::string_view op, std::int64_t size, double read) {
    const double bytes = sizeof(T) * static_cast<double>(size);
    return {fmt::format("{}/{}/{}", op, dtype<T>, size), read * bytes, bytes};
}

/// `call` takes the output, a generator and options.
template <class T, class Call>
void row(std::string_view op, std::int64_t size, Call call,
         random_algorithm algorithm = random_algorithm::automatic) {
    device_row(vector<T>(op, size, 0), implementation(algorithm), temperature::cold, [=] {
        return [=, y = device_buffer<T>(size, stream()), generator = philox{}]() mutable {
            call(vector_view<T>{y.data(), size}, generator, random_options{algorithm});
            generator.offset += static_cast<std::uint64_t>(size);
        };
    });
}

template <class T>
void uniform(std::int64_t size, random_algorithm algorithm = random_algorithm::automatic) {
    row<T>(
        "random_uniform", size,
        [](auto y, const philox& generator, const random_options& options) {
            random_uniform<T>(y, 0, 1, generator, stream(), options);
        },
        algorithm);
}

template <class T>
void normal(std::int64_t size, random_algorithm algorithm = random_algorithm::automatic) {
    row<T>(
        "random_normal", size,
        [](auto y, const philox& generator, const random_options& options) {
            random_normal<T>(y, 0, 1, generator, stream(), options);
        },
        algorithm);
}

template <class T>
void bernoulli(std::int64_t size) {
    row<T>("random_bernoulli", size, [](auto y, const philox& generator, const random_options& options) {
        random_bernoulli<T>(y, p, generator, stream(), options);
    });
}

template <class T>
void dropout_row(std::int64_t size, random_algorithm algorithm = random_algorithm::automatic) {
    device_row(vector<T>("dropout", size, 1), implementation(algorithm), temperature::cold, [=] {
        return [=, x = random_on_device<T>(size), y = device_buffer<T>(size, stream()),
                generator = philox{}]() mutable {
            dropout<T>(x, y, p, generator, stream(), {algorithm});
            generator.offset += static_cast<std::uint64_t>(size);
        };
    });
}

void permutation(std::int64_t size) {
    device_row(vector<std::int32_t>("random_permutation", size, 0), "heddle", temperature::cold, [=] {
        return [y = device_buffer<std::int32_t>(size, stream()), generator = philox{}]() mutable {
            random_permutation(y, generator, stream());
            ++generator.offset;
        };
    });
}

void host(std::int64_t size) {
    host_row(vector<float>("random_uniform", size, 0), "host", [=] {
        return [=, y = std::vector<float>(static_cast<std::size_t>(size))]() mutable {
            host::random_uniform<float>(vector_view<float>{y.data(), size}, 0, 1, {});
            benchmark::DoNotOptimize(y.data());
        };
    });
}

}  // namespace

void register_random() {
    for (const std::int64_t size : {medium, large}) {
        uniform<float>(size);
        uniform<half>(size);
        normal<float>(size);
        bernoulli<float>(size);
        dropout_row<float>(size);
        permutation(size);
    }
    uniform<double>(large);
    normal<half>(large);
    normal<bfloat16>(large);
    bernoulli<std::uint8_t>(large);
    dropout_row<half>(large);
    for (const auto algorithm : random_algorithms()) {
        uniform<float>(large, algorithm);
        normal<float>(large, algorithm);
        dropout_row<half>(large, algorithm);
    }
    host(medium);
}

}  // namespace heddle::bench
