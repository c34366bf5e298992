#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operation.hpp"
#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/cudnn.hpp"
#include <heddle/elementwise.hpp>

namespace heddle::bench {
namespace {

template <class T>
problem vectors(std::int64_t size) {
    const double bytes = sizeof(T) * static_cast<double>(size);
    return {fmt::format("sigmoid/{}/{}", dtype<T>, size), bytes, bytes};
}

/// `prepare` takes the vectors x and y, and returns the call.
template <class T>
void row(std::int64_t size, std::string_view library, temperature temperature, auto prepare) {
    prepared_row(vectors<T>(size), library, temperature, prepare, random_vector<T>(size),
                 result_vector<T>(size));
}

template <class T>
void heddle_row(std::int64_t size, temperature temperature,
                elementwise_algorithm algorithm = elementwise_algorithm::automatic) {
    row<T>(size, implementation(algorithm), temperature, [algorithm](auto x, auto y) {
        return [=] { sigmoid<T>(x, y, stream(), {.algorithm = algorithm}); };
    });
}

template <class T>
void comparison(std::int64_t size, temperature temperature) {
    heddle_row<T>(size, temperature);
    row<T>(size, "cub", temperature,
           [](auto x, auto y) { return [=] { cub_sigmoid(x.data, y.data, x.size); }; });
#if HEDDLE_HAS_CUDNN
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, half>)
        row<T>(size, "cudnn", temperature, [](auto x, auto y) {
            return [x, y, sigmoid = cudnn_elementwise<T>(CUDNN_ACTIVATION_SIGMOID, x.size)]() mutable {
                sigmoid(x.data, y.data);
            };
        });
#endif
}

}  // namespace

void register_sigmoid() {
    for (const int exponent : {10, 14, 20, 24, 28}) comparison<float>(std::int64_t{1} << exponent, cold);
    for (const int exponent : {20, 22}) comparison<float>(std::int64_t{1} << exponent, hot);

    constexpr std::int64_t medium = 1 << 20, large = 1 << 28;
    comparison<double>(large, cold);
    comparison<half>(large, cold);
    comparison<bfloat16>(large, cold);

    for (const std::int64_t size : {medium, large})
        for (const auto algorithm : elementwise_algorithms()) heddle_row<float>(size, cold, algorithm);

    host_operand_row(
        vectors<float>(medium), "host", [](auto x, auto y) { host::sigmoid<float>(x, y); },
        random_vector<float>(medium), result_vector<float>(medium));
}

void add_sigmoid_rows(std::string_view type, const extents& shape) {
    with_type_named<double, half, bfloat16, float>(type, [size = shape[0]]<class T>() {
        for (const auto algorithm : elementwise_algorithms()) heddle_row<T>(size, cold, algorithm);
        comparison<T>(size, cold);
    });
}

}  // namespace heddle::bench
