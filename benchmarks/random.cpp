#include "benchmarks/operation.hpp"

#include <benchmark/benchmark.h>

namespace heddle::bench {
namespace {

constexpr std::int64_t medium = 1 << 20, large = 1 << 28;
constexpr double p = 0.1;

/// `call` takes the views, a generator, the stream and options. Each call draws other numbers.
template <class T>
void row(std::string_view op, std::int64_t size, random_algorithm algorithm, auto call, auto... operands) {
    row_case(fmt::format("{}/{}/{}", op, dtype<T>, size), operands..., result_vector<T>(size))
        .row(implementation(algorithm), cold, [=, generator = philox{}](auto... views) mutable {
            call(views..., generator, stream(), random_options{algorithm});
            generator.offset += static_cast<std::uint64_t>(size);
        });
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
    row<T>(
        "dropout", size, algorithm,
        [](auto x, auto y, const auto&... others) { dropout<T>(x, y, p, others...); },
        random_vector<T>(size));
}

void permutation(std::int64_t size) {
    row_case(fmt::format("random_permutation/i32/{}", size), result_vector<std::int32_t>(size))
        .row("heddle", cold, [generator = philox{}](auto y) mutable {
            random_permutation(y, generator, stream());
            ++generator.offset;
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
    row_case(fmt::format("random_uniform/f32/{}", medium), result_vector<float>(medium))
        .host_row("host", [](auto y) {
            host::random_uniform<float>(y, 0, 1, {});
            benchmark::DoNotOptimize(y.data);
        });
}

}  // namespace heddle::bench
