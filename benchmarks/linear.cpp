#include "benchmarks/operation.hpp"
#include "benchmarks/support/cublas_lt.hpp"
#include "benchmarks/support/cudnn.hpp"

namespace heddle::bench {
namespace {

/// Products of float are in TF32.
template <class T>
constexpr std::string_view type_name = std::is_same_v<T, float> ? "tf32" : dtype<T>;

/// A product of two matrices of size x size, plus a bias for each column, and an activation: A, B, C and the bias.
template <class T>
auto layer_of(std::string_view activation, std::int64_t size) {
    const auto factor = random_matrix<T>({size, size});
    row_case of(fmt::format("linear_{}/{}/{}x{}x{}", activation, type_name<T>, size, size, size), factor,
                factor, result_matrix<T>({size, size}), random_vector<T>(size));
    of.problem.operations = 2 * static_cast<double>(size) * static_cast<double>(size * size);
    of.problem.set_unit_of_products(type_name<T>);
    return of;
}

template <class T>
void heddle_row(std::string_view name, std::int64_t size, temperature temperature,
                matmul_activation activation) {
    layer_of<T>(name, size).row("heddle", temperature, [activation](auto a, auto b, auto c, auto bias) {
        matmul<T>(a, b, c, matmul_epilogue<T>{activation, bias}, stream(), {.precision = precision::tf32});
    });
}

template <class T>
void relu_and_gelu_rows(std::int64_t size, temperature temperature) {
    using enum matmul_activation;
    for (const auto& [name, activation] : {std::pair{"relu", relu}, {"gelu_tanh", gelu_tanh}}) {
        heddle_row<T>(name, size, temperature, activation);
#if HEDDLE_HAS_CUBLAS
        layer_of<T>(name, size)
            .prepared_row("cublaslt", temperature, [activation](auto a, auto b, auto c, auto bias) {
                return best_cublas_lt_matmul<T, T>(a, b, c, bias.data, activation);
            });
#endif
    }
}

void sigmoid_rows(std::int64_t size, temperature temperature) {
    heddle_row<half>("sigmoid", size, temperature, matmul_activation::sigmoid);
#if HEDDLE_HAS_CUBLAS && HEDDLE_HAS_CUDNN
    layer_of<half>("sigmoid", size)
        .prepared_row("cublaslt+cudnn", temperature, [size](auto a, auto b, auto c, auto bias) {
            return
                [product = best_cublas_lt_matmul<half, half>(a, b, c, bias.data), c,
                 sigmoid = std::make_shared<cudnn_elementwise<half>>(CUDNN_ACTIVATION_SIGMOID, size * size)] {
                    product();
                    (*sigmoid)(c.data, c.data);
                };
        });
#endif
}

struct gradient_shape {
    std::int64_t batch;
    std::int64_t in;
    std::int64_t out;
};

/// All three gradients of a layer whose input x is a result of relu: x, weights, gradient, dx, dweights and dbias.
template <class T>
auto gradients_of(const gradient_shape& s) {
    row_case of(fmt::format("linear_gradient/{}/{}x{}x{}", type_name<T>, s.batch, s.in, s.out),
                random_matrix<T>({s.batch, s.in}), random_matrix<T>({s.out, s.in}),
                random_matrix<T>({s.batch, s.out}), result_matrix<T>({s.batch, s.in}),
                result_matrix<float>({s.out, s.in}), result_vector<float>(s.out));
    of.problem.operations = 4 * static_cast<double>(s.batch * s.in) * static_cast<double>(s.out);
    of.problem.set_unit_of_products(type_name<T>);
    return of;
}

template <class T>
void heddle_gradient_row(const gradient_shape& s, linear_gradient_algorithm algorithm) {
    const linear_gradient_options options{
        .algorithm = algorithm, .activation_of_x = matmul_activation::relu, .precision = precision::tf32};
    gradients_of<T>(s).row(implementation(algorithm), cold, [options](auto... operands) {
        linear_gradient<T>(operands..., stream(), options);
    });
}

/// cublasLt's row has the two products alone, without the derivative and the bias's gradient.
template <class T>
void gradient_rows(const gradient_shape& s) {
    heddle_gradient_row<T>(s, linear_gradient_algorithm::automatic);
#if HEDDLE_HAS_CUBLAS
    gradients_of<T>(s).prepared_row(
        "cublaslt_products", cold, [](auto x, auto weights, auto gradient, auto dx, auto dweights, auto) {
            return [of_x = best_cublas_lt_matmul<T, T>(gradient, weights, dx),
                    of_weights = best_cublas_lt_matmul<T, float>(transposed(gradient), x, dweights)] {
                of_x();
                of_weights();
            };
        });
#endif
}

}  // namespace

void register_linear() {
    for (const std::int64_t size : {2048, 4096, 8192}) {
        sigmoid_rows(size, cold);
        relu_and_gelu_rows<bfloat16>(size, cold);
        relu_and_gelu_rows<float>(size, cold);
    }
    sigmoid_rows(8192, hot);
    relu_and_gelu_rows<bfloat16>(4096, hot);
    relu_and_gelu_rows<float>(8192, hot);

    for (const gradient_shape& s :
         {gradient_shape{64, 784, 128}, {1024, 1024, 1024}, {4096, 4096, 4096}, {8192, 2048, 8192}}) {
        gradient_rows<float>(s);
        gradient_rows<bfloat16>(s);
        for (const auto algorithm : linear_gradient_algorithms()) heddle_gradient_row<bfloat16>(s, algorithm);
    }
}

}  // namespace heddle::bench
