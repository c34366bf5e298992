#include "benchmarks/operations.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/host.hpp>
#include <heddle/norm.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::bench {
namespace {

struct shape {
    std::int64_t rows;
    std::int64_t cols;

    [[nodiscard]] std::int64_t size() const { return rows * cols; }
};

/// `parameters` vectors of a row's length are read beside x.
template <class T>
problem matrices(std::string_view op, shape shape, int parameters) {
    return {fmt::format("{}/{}/{}x{}", op, dtype<T>, shape.rows, shape.cols),
            sizeof(T) * static_cast<double>(shape.size() + parameters * shape.cols),
            sizeof(T) * static_cast<double>(shape.size())};
}

/// With gamma and beta.
template <class T>
void layer_norm_row(shape shape, temperature temperature,
                    norm_algorithm algorithm = norm_algorithm::automatic) {
    device_row(
        matrices<T>("layer_norm", shape, 2), implementation(algorithm), temperature, [shape, algorithm] {
            return [shape, algorithm, x = random_on_device<T>(shape.size()),
                    gamma = random_on_device<T>(shape.cols), beta = random_on_device<T>(shape.cols),
                    y = device_buffer<T>(shape.size(), stream())]() mutable {
                layer_norm<T>({x.data(), shape.rows, shape.cols}, {gamma.data(), shape.cols},
                              {beta.data(), shape.cols}, matrix_view<T>{y.data(), shape.rows, shape.cols},
                              stream(), {.algorithm = algorithm});
            };
        });
}

/// With gamma.
template <class T>
void rms_norm_row(shape shape, norm_algorithm algorithm = norm_algorithm::automatic) {
    device_row(matrices<T>("rms_norm", shape, 1), implementation(algorithm), temperature::cold,
               [shape, algorithm] {
                   return [shape, algorithm, x = random_on_device<T>(shape.size()),
                           gamma = random_on_device<T>(shape.cols),
                           y = device_buffer<T>(shape.size(), stream())]() mutable {
                       rms_norm<T>({x.data(), shape.rows, shape.cols}, {gamma.data(), shape.cols},
                                   matrix_view<T>{y.data(), shape.rows, shape.cols}, stream(),
                                   {.algorithm = algorithm});
                   };
               });
}

/// Without gamma and beta.
template <class T>
void plain_row(shape shape) {
    device_row(matrices<T>("layer_norm_plain", shape, 0), "heddle", temperature::cold, [shape] {
        return [shape, x = random_on_device<T>(shape.size()),
                y = device_buffer<T>(shape.size(), stream())]() mutable {
            layer_norm<T>({x.data(), shape.rows, shape.cols}, {}, {},
                          matrix_view<T>{y.data(), shape.rows, shape.cols}, stream());
        };
    });
}

/// With gamma, of layer_norm with beta: dx, dgamma and, of layer_norm, dbeta.
template <class T>
void gradient_row(std::string_view op, shape shape,
                  norm_gradient_algorithm algorithm = norm_gradient_algorithm::automatic) {
    const bool is_centred = op == "layer_norm_gradient";
    const auto size = static_cast<double>(shape.size()), cols = static_cast<double>(shape.cols);
    const problem of{fmt::format("{}/{}/{}x{}", op, dtype<T>, shape.rows, shape.cols),
                     sizeof(T) * (2 * size + cols), sizeof(T) * (size + (is_centred ? 2 : 1) * cols)};
    device_row(of, implementation(algorithm), temperature::cold, [shape, algorithm, is_centred] {
        return [shape, is_centred, options = norm_gradient_options{.algorithm = algorithm},
                x = random_on_device<T>(shape.size()), dy = random_on_device<T>(shape.size()),
                gamma = random_on_device<T>(shape.cols), dx = device_buffer<T>(shape.size(), stream()),
                dgamma = device_buffer<T>(shape.cols, stream()),
                dbeta = device_buffer<T>(shape.cols, stream())]() mutable {
            const matrix_view<const T> of_x{x.data(), shape.rows, shape.cols},
                of_dy{dy.data(), shape.rows, shape.cols};
            const matrix_view<T> of_dx{dx.data(), shape.rows, shape.cols};
            const vector_view<const T> factors{gamma.data(), shape.cols};
            const vector_view<T> of_gamma{dgamma.data(), shape.cols}, of_beta{dbeta.data(), shape.cols};
            if (is_centred)
                layer_norm_gradient<T>(of_x, factors, of_dy, of_dx, of_gamma, of_beta, stream(), options);
            else
                rms_norm_gradient<T>(of_x, factors, of_dy, of_dx, of_gamma, stream(), options);
        };
    });
}

void host(shape shape) {
    host_row(matrices<float>("layer_norm", shape, 0), "host", [shape] {
        return [shape, x = random_on_host<float>(shape.size()),
                y = std::vector<float>(static_cast<std::size_t>(shape.size()))]() mutable {
            host::layer_norm<float>({x.data(), shape.rows, shape.cols}, {}, {},
                                    matrix_view<float>{y.data(), shape.rows, shape.cols});
        };
    });
}

}  // namespace

void register_norm() {
    constexpr shape square{4096, 4096};
    constexpr shape shapes[] = {square,       {65536, 1024}, {512, 65536}, {16384, 128},
                                {4095, 4097}, {64, 1 << 20}, {64, 128}};
    for (const shape& shape : shapes) {
        layer_norm_row<float>(shape, temperature::cold);
        rms_norm_row<float>(shape);
    }
    for (const shape& shape : {square, {512, 65536}, {64, 128}}) {
        layer_norm_row<half>(shape, temperature::cold);
        rms_norm_row<half>(shape);
        plain_row<float>(shape);
    }
    layer_norm_row<bfloat16>(square, temperature::cold);
    layer_norm_row<float>(square, temperature::hot);

    for (const shape& shape : {square, {16384, 128}, {512, 65536}})
        for (const auto algorithm : norm_algorithms())
            layer_norm_row<float>(shape, temperature::cold, algorithm);

    constexpr shape gradients[] = {{8192, 4096}, {32768, 1024}, {4096, 8192},
                                   {65536, 128}, {4095, 4097},  {1024, 16384}};
    for (const shape& shape : gradients) {
        gradient_row<float>("layer_norm_gradient", shape);
        gradient_row<bfloat16>("layer_norm_gradient", shape);
    }
    for (const shape& shape : {shape{8192, 4096}, {1024, 16384}})
        gradient_row<bfloat16>("rms_norm_gradient", shape);
    for (const auto algorithm : norm_gradient_algorithms())
        gradient_row<bfloat16>("layer_norm_gradient", {8192, 4096}, algorithm);

    host({1024, 1024});
}

}  // namespace heddle::bench
