#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operations.hpp"
#include "benchmarks/support/cudnn.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/host.hpp>
#include <heddle/softmax.hpp>

#include <fmt/format.h>
#include <heddle_baselines.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::bench {
namespace {

struct shape {
    std::int64_t rows;
    std::int64_t cols;

    [[nodiscard]] std::int64_t size() const { return rows * cols; }
};

template <class T>
problem matrices(std::string_view op, shape shape) {
    const double bytes = sizeof(T) * static_cast<double>(shape.size());
    return {fmt::format("{}/{}/{}x{}", op, dtype<T>, shape.rows, shape.cols), bytes, bytes};
}

/// `call` takes the views of x and y.
template <class T, class Call>
void row(std::string_view op, shape shape, std::string_view library, temperature temperature, Call call) {
    device_row(matrices<T>(op, shape), library, temperature, [shape, call] {
        return [shape, call, x = random_on_device<T>(shape.size()),
                y = device_buffer<T>(shape.size(), stream())]() mutable {
            call(matrix_view<const T>{x.data(), shape.rows, shape.cols},
                 matrix_view<T>{y.data(), shape.rows, shape.cols});
        };
    });
}

template <class T>
void heddle_row(shape shape, temperature temperature,
                softmax_algorithm algorithm = softmax_algorithm::automatic) {
    row<T>("softmax", shape, implementation(algorithm), temperature,
           [algorithm](auto x, auto y) { softmax<T>(x, y, stream(), {.algorithm = algorithm}); });
}

#if HEDDLE_HAS_CUDNN
template <class T>
constexpr cudnnDataType_t cudnn_type = std::is_same_v<T, float>  ? CUDNN_DATA_FLOAT
                                       : std::is_same_v<T, half> ? CUDNN_DATA_HALF
                                                                 : CUDNN_DATA_BFLOAT16;

template <class T>
void cudnn_row(std::string_view op, shape shape, temperature temperature, cudnnSoftmaxAlgorithm_t algorithm) {
    device_row(matrices<T>(op, shape), "cudnn", temperature, [shape, algorithm] {
        cudnn_tensor tensor;
        check(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, cudnn_type<T>,
                                         static_cast<int>(shape.rows), static_cast<int>(shape.cols), 1, 1));
        return [algorithm, x = random_on_device<T>(shape.size()),
                y = device_buffer<T>(shape.size(), stream()), tensor = std::move(tensor)]() mutable {
            const float alpha = 1;
            const float beta = 0;
            check(cudnnSoftmaxForward(cudnn_handle(), algorithm, CUDNN_SOFTMAX_MODE_INSTANCE, &alpha, tensor,
                                      x.data(), &beta, tensor, y.data()));
        };
    });
}
#endif

template <class T>
void comparison(shape shape, temperature temperature) {
    heddle_row<T>(shape, temperature);
#if HEDDLE_HAS_CUDNN
    cudnn_row<T>("softmax", shape, temperature, CUDNN_SOFTMAX_ACCURATE);
#endif
}

void log_comparison(shape shape) {
    row<float>("log_softmax", shape, "heddle", temperature::cold,
               [](auto x, auto y) { log_softmax<float>(x, y, stream()); });
#if HEDDLE_HAS_CUDNN
    cudnn_row<float>("log_softmax", shape, temperature::cold, CUDNN_SOFTMAX_LOG);
#endif
}

/// The gradient of softmax or of its logarithm reads y and dy.
template <class T>
void gradient_row(std::string_view op, shape shape,
                  softmax_gradient_algorithm algorithm = softmax_gradient_algorithm::automatic) {
    const double bytes = sizeof(T) * static_cast<double>(shape.size());
    const problem of{fmt::format("{}/{}/{}x{}", op, dtype<T>, shape.rows, shape.cols), 2 * bytes, bytes};
    const bool is_logarithm = op == "log_softmax_gradient";
    device_row(of, implementation(algorithm), temperature::cold, [shape, algorithm, is_logarithm] {
        return [shape, is_logarithm, options = softmax_gradient_options{.algorithm = algorithm},
                y = random_on_device<T>(shape.size()), dy = random_on_device<T>(shape.size()),
                dx = device_buffer<T>(shape.size(), stream())]() mutable {
            const matrix_view<const T> of_y{y.data(), shape.rows, shape.cols},
                of_dy{dy.data(), shape.rows, shape.cols};
            const matrix_view<T> of_dx{dx.data(), shape.rows, shape.cols};
            if (is_logarithm)
                log_softmax_gradient<T>(of_y, of_dy, of_dx, stream(), options);
            else
                softmax_gradient<T>(of_y, of_dy, of_dx, stream(), options);
        };
    });
}

void host(shape shape) {
    host_row(matrices<float>("softmax", shape), "host", [shape] {
        return [shape, x = random_on_host<float>(shape.size()),
                y = std::vector<float>(static_cast<std::size_t>(shape.size()))]() mutable {
            host::softmax<float>(matrix_view<const float>{x.data(), shape.rows, shape.cols},
                                 matrix_view<float>{y.data(), shape.rows, shape.cols});
        };
    });
}

}  // namespace

void register_softmax() {
    constexpr shape square{4096, 4096};
    constexpr shape shapes[] = {square,       {512, 65536},  {16384, 128}, {1 << 20, 32},
                                {4095, 4097}, {64, 1 << 20}, {64, 128}};
    for (const shape& shape : shapes) comparison<float>(shape, temperature::cold);
    for (const shape& shape : {square, {512, 65536}, {4095, 4097}, {64, 128}})
        comparison<half>(shape, temperature::cold);
    comparison<bfloat16>(square, temperature::cold);
    for (const shape& shape : {square, {16384, 128}}) {
        comparison<float>(shape, temperature::hot);
        log_comparison(shape);
    }

    for (const shape& shape : {square, {16384, 128}, {512, 65536}})
        for (const auto algorithm : softmax_algorithms())
            heddle_row<float>(shape, temperature::cold, algorithm);

    constexpr shape gradients[] = {{8192, 4096}, {32768, 1024}, {65536, 128}, {4095, 4097}, {512, 65536}};
    for (const shape& shape : gradients) {
        gradient_row<float>("softmax_gradient", shape);
        gradient_row<bfloat16>("softmax_gradient", shape);
    }
    for (const shape& shape : {shape{8192, 4096}, {512, 65536}})
        gradient_row<float>("log_softmax_gradient", shape);
    for (const auto algorithm : softmax_gradient_algorithms())
        gradient_row<bfloat16>("softmax_gradient", {8192, 4096}, algorithm);

    host({1024, 1024});
}

void add_softmax_rows(std::string_view type, const extents& shape) {
    const auto add = [s = bench::shape{shape[0], shape[1]}]<class T>(T) {
        for (const auto algorithm : softmax_algorithms()) heddle_row<T>(s, temperature::cold, algorithm);
        comparison<T>(s, temperature::cold);
    };
    if (type == "f16") return add(half{});
    if (type == "bf16") return add(bfloat16{});
    add(float{});
}

}  // namespace heddle::bench
