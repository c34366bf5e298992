#include "benchmarks/operation.hpp"

#include <benchmark/benchmark.h>

namespace heddle::bench {
namespace {

constexpr std::int64_t medium = 1 << 20, large = 1 << 28;
constexpr double p = 0.1;

template <class T>
problem vector(std::string_view op, std::int64_t size, double read) {
    const double bytes = sizeof(T) * static_cast<double>(size);
    return {fmt::format("{}/{}/{}", op, dtype<T>, size), read * bytes, bytes};
}

/// `call` takes the result, a generator, the stream and options. Each call draws other numbers.
template <class T>
void row(std::string_view op, std::int64_t size, random_algorithm algorithm, auto call) {
    operand_row(
        vector<T>(op, size, 0), implementation(algorithm), cold,
        [=, generator = philox{}](auto y) mutable {
            call(y, generator, stream(), random_options{algorithm});
            generator.offset += static_cast<std::uint64_t>(size);
        },
        result_vector<T>(size));
}

constexpr auto automatic = random_algorithm::automatic;

template <class T>
void uniform(std::int64_t size, random_algorithm algorithm = automatic) {
    row<T>("random_uniform", size, algorithm,
           [](auto y, const auto&... others) { random_uniform<T>(y, 0, 1, others...); });
}

template <class T>
void normal(std::int64_t size, random_algorithm algorithm = automatic) {
    row<T>("random_normal", size, algorithm,
           [](auto y, const auto&... others) { random_normal<T>(y, 0, 1, others...); });
}

template <class T>
void bernoulli(std::int64_t size) {
    row<T>("random_bernoulli", size, automatic,
           [](auto y, const auto&... others) { random_bernoulli<T>(y, p, others...); });
}

template <class T>
void dropout_row(std::int64_t size, random_algorithm algorithm = automatic) {
    operand_row(
        vector<T>("dropout", size, 1), implementation(algorithm), cold,
        [algorithm, generator = philox{}](auto x, auto y) mutable {
            dropout<T>(x, y, p, generator, stream(), {algorithm});
            generator.offset += static_cast<std::uint64_t>(x.size);
        },
        random_vector<T>(size), result_vector<T>(size));
}

void permutation(std::int64_t size) {
    operand_row(
        vector<std::int32_t>("random_permutation", size, 0), "heddle", cold,
        [generator = philox{}](auto y) mutable {
            random_permutation(y, generator, stream());
            ++generator.offset;
        },
        result_vector<std::int32_t>(size));
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
    host_operand_row(
        vector<float>("random_uniform", medium, 0), "host",
        [](auto y) {
            host::random_uniform<float>(y, 0, 1, {});
            benchmark::DoNotOptimize(y.data);
        },
        result_vector<float>(medium));
}

}  // namespace heddle::bench
