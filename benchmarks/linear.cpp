#include "benchmarks/operation.hpp"
#include "benchmarks/support/cublas_lt.hpp"
#include "benchmarks/support/cudnn.hpp"

namespace heddle::bench {
namespace {

/// Products of float are in TF32.
template <class T>
constexpr std::string_view type_name = std::is_same_v<T, float> ? "tf32" : dtype<T>;

/// A product of two matrices of size x size, plus a bias for each column, and an activation.
template <class T>
problem layer(std::string_view activation, std::int64_t size) {
    const auto n = static_cast<double>(size);
    return {fmt::format("linear_{}/{}/{}x{}x{}", activation, type_name<T>, size, size, size),
            sizeof(T) * (2 * n * n + n), sizeof(T) * n * n, 2 * n * n * n,
            std::is_same_v<T, float> ? unit::tensor_tf32 : tensor_unit<T>};
}

/// `prepare` takes the matrices a, b and c and the bias, and returns the call.
template <class T>
void row(std::string_view activation, std::int64_t size, std::string_view library, temperature temperature,
         auto prepare) {
    const auto factor = random_matrix<T>(size, size);
    prepared_row(
        layer<T>(activation, size), library, temperature,
        [prepare](auto a, auto b, auto bias, auto c) { return prepare(a, b, c, bias); }, factor, factor,
        random_vector<T>(size), result_matrix<T>(size, size));
}

template <class T>
void heddle_row(std::string_view name, std::int64_t size, temperature temperature,
                matmul_activation activation) {
    row<T>(name, size, "heddle", temperature, [activation](auto a, auto b, auto c, auto bias) {
        return [=] {
            matmul<T>(a, b, c, matmul_epilogue<T>{activation, bias}, stream(),
                      {.precision = precision::tf32});
        };
    });
}

template <class T>
void relu_and_gelu_rows(std::int64_t size, temperature temperature) {
    heddle_row<T>("relu", size, temperature, matmul_activation::relu);
    heddle_row<T>("gelu_tanh", size, temperature, matmul_activation::gelu_tanh);
#if HEDDLE_HAS_CUBLAS
    row<T>("relu", size, "cublaslt", temperature, [](auto a, auto b, auto c, auto bias) {
        return best_cublas_lt_matmul<T, T>(a, b, c, bias.data, lt_activation::relu);
    });
    row<T>("gelu_tanh", size, "cublaslt", temperature, [](auto a, auto b, auto c, auto bias) {
        return best_cublas_lt_matmul<T, T>(a, b, c, bias.data, lt_activation::gelu_tanh);
    });
#endif
}

void sigmoid_rows(std::int64_t size, temperature temperature) {
    heddle_row<half>("sigmoid", size, temperature, matmul_activation::sigmoid);
#if HEDDLE_HAS_CUBLAS && HEDDLE_HAS_CUDNN
    row<half>("sigmoid", size, "cublaslt+cudnn", temperature, [size](auto a, auto b, auto c, auto bias) {
        return [product = best_cublas_lt_matmul<half, half>(a, b, c, bias.data), c,
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

/// All three gradients of a layer whose input x is a result of relu.
template <class T>
problem gradients(const gradient_shape& s) {
    const auto batch = static_cast<double>(s.batch), in = static_cast<double>(s.in),
               out = static_cast<double>(s.out);
    return {fmt::format("linear_gradient/{}/{}x{}x{}", type_name<T>, s.batch, s.in, s.out),
            sizeof(T) * (batch * in + out * in + batch * out),
            sizeof(T) * batch * in + sizeof(float) * (out * in + out), 4 * batch * in * out,
            std::is_same_v<T, float> ? unit::tensor_tf32 : tensor_unit<T>};
}

/// `prepare` takes x, weights, gradient, dx, dweights and dbias, and returns the call.
template <class T>
void gradient_row(const gradient_shape& s, std::string_view library, auto prepare) {
    prepared_row(gradients<T>(s), library, cold, prepare, random_matrix<T>(s.batch, s.in),
                 random_matrix<T>(s.out, s.in), random_matrix<T>(s.batch, s.out),
                 result_matrix<T>(s.batch, s.in), result_matrix<float>(s.out, s.in),
                 result_vector<float>(s.out));
}

template <class T>
void heddle_gradient_row(const gradient_shape& s, linear_gradient_algorithm algorithm) {
    const linear_gradient_options options{
        .algorithm = algorithm, .activation_of_x = matmul_activation::relu, .precision = precision::tf32};
    gradient_row<T>(s, implementation(algorithm), [options](auto... operands) {
        return [=] { linear_gradient<T>(operands..., stream(), options); };
    });
}

/// cublasLt's row has the two products alone, without the derivative and the bias's gradient.
template <class T>
void gradient_rows(const gradient_shape& s) {
    heddle_gradient_row<T>(s, linear_gradient_algorithm::automatic);
#if HEDDLE_HAS_CUBLAS
    gradient_row<T>(
        s, "cublaslt_products", [](auto x, auto weights, auto gradient, auto dx, auto dweights, auto) {
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
