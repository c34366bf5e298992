#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operations.hpp"
#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/cudnn.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/elementwise.hpp>
#include <heddle/host.hpp>

#include <fmt/format.h>
#include <heddle_baselines.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heddle::bench {
namespace {

template <class T>
problem vectors(std::int64_t size) {
    const double bytes = sizeof(T) * static_cast<double>(size);
    return {fmt::format("sigmoid/{}/{}", dtype<T>, size), bytes, bytes};
}

/// `call` takes the buffers x and y.
template <class T, class Call>
void row(std::int64_t size, std::string_view library, temperature temperature, Call call) {
    device_row(vectors<T>(size), library, temperature, [size, call] {
        return [call, x = random_on_device<T>(size), y = device_buffer<T>(size, stream())]() mutable {
            call(x, y);
        };
    });
}

template <class T>
void heddle_row(std::int64_t size, temperature temperature,
                elementwise_algorithm algorithm = elementwise_algorithm::automatic) {
    row<T>(size, implementation(algorithm), temperature,
           [algorithm](auto& x, auto& y) { sigmoid<T>(x, y, stream(), {.algorithm = algorithm}); });
}

template <class T>
void cub_row(std::int64_t size, temperature temperature) {
    row<T>(size, "cub", temperature,
           [](auto& x, auto& y) { cub_sigmoid(x.data(), y.data(), static_cast<std::int64_t>(x.size())); });
}

#if HEDDLE_HAS_CUDNN
template <class T>
void cudnn_row(std::int64_t size, temperature temperature) {
    device_row(vectors<T>(size), "cudnn", temperature, [size] {
        return [x = random_on_device<T>(size), y = device_buffer<T>(size, stream()),
                sigmoid = cudnn_elementwise<T>(CUDNN_ACTIVATION_SIGMOID, size)]() mutable {
            sigmoid(x.data(), y.data());
        };
    });
}
#endif

template <class T>
void comparison(std::int64_t size, temperature temperature) {
    heddle_row<T>(size, temperature);
    cub_row<T>(size, temperature);
#if HEDDLE_HAS_CUDNN
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, half>) cudnn_row<T>(size, temperature);
#endif
}

void host(std::int64_t size) {
    host_row(vectors<float>(size), "host", [size] {
        return [x = random_on_host<float>(size), y = std::vector<float>(static_cast<std::size_t>(size)),
                size]() mutable {
            host::sigmoid<float>(vector_view{x.data(), size}, vector_view{y.data(), size});
        };
    });
}

}  // namespace

void register_sigmoid() {
    for (const int exponent : {10, 14, 20, 24, 28})
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

void add_sigmoid_rows(std::string_view type, const extents& shape) {
    const auto add = [size = shape[0]]<class T>(T) {
        for (const auto algorithm : elementwise_algorithms())
            heddle_row<T>(size, temperature::cold, algorithm);
        comparison<T>(size, temperature::cold);
    };
    if (type == "f64") return add(double{});
    if (type == "f16") return add(half{});
    if (type == "bf16") return add(bfloat16{});
    add(float{});
}

}  // namespace heddle::bench
