#include "benchmarks/operation.hpp"

namespace heddle::bench {
namespace {

using shape = matrix_shape;

/// With gamma and beta.
template <class T>
void layer_norm_row(const shape& s, temperature temperature,
                    norm_algorithm algorithm = norm_algorithm::automatic) {
    row_case(s.name<T>("layer_norm"), random_matrix<T>(s), random_vector<T>(s.cols), random_vector<T>(s.cols),
             result_matrix<T>(s))
        .row(implementation(algorithm), temperature, [algorithm](auto x, auto gamma, auto beta, auto y) {
            layer_norm<T>(x, gamma, beta, y, stream(), {.algorithm = algorithm});
        });
}

/// With gamma.
template <class T>
void rms_norm_row(const shape& s) {
    row_case(s.name<T>("rms_norm"), random_matrix<T>(s), random_vector<T>(s.cols), result_matrix<T>(s))
        .row("heddle", cold, [](auto x, auto gamma, auto y) { rms_norm<T>(x, gamma, y, stream()); });
}

/// Without gamma and beta.
auto plain(std::string_view op, const shape& s) {
    return row_case(s.name<float>(op), random_matrix<float>(s), result_matrix<float>(s));
}

/// Computes dx and dgamma, and of layer_norm dbeta too.
template <class T>
void layer_norm_gradient_row(const shape& s,
                             norm_gradient_algorithm algorithm = norm_gradient_algorithm::automatic) {
    row_case(s.name<T>("layer_norm_gradient"), random_matrix<T>(s), random_matrix<T>(s),
             random_vector<T>(s.cols), result_matrix<T>(s), result_vector<T>(s.cols),
             result_vector<T>(s.cols))
        .row(implementation(algorithm), cold, [algorithm](auto x, auto dy, auto gamma, auto... results) {
            layer_norm_gradient<T>(x, gamma, dy, results..., stream(), {.algorithm = algorithm});
        });
}

template <class T>
void rms_norm_gradient_row(const shape& s) {
    row_case(s.name<T>("rms_norm_gradient"), random_matrix<T>(s), random_matrix<T>(s),
             random_vector<T>(s.cols), result_matrix<T>(s), result_vector<T>(s.cols))
        .row("heddle", cold, [](auto x, auto dy, auto gamma, auto... results) {
            rms_norm_gradient<T>(x, gamma, dy, results..., stream());
        });
}

}  // namespace

void register_norm() {
    constexpr shape square{4096, 4096};
    constexpr shape shapes[] = {square,       {65536, 1024}, {512, 65536}, {16384, 128},
                                {4095, 4097}, {64, 1 << 20}, {64, 128}};
    for (const shape& s : shapes) {
        layer_norm_row<float>(s, cold);
        rms_norm_row<float>(s);
    }
    for (const shape& s : {square, {512, 65536}, {64, 128}}) {
        layer_norm_row<half>(s, cold);
        rms_norm_row<half>(s);
        plain("layer_norm_plain", s).row("heddle", cold, [](auto x, auto y) {
            layer_norm<float>(x, {}, {}, y, stream());
        });
    }
    layer_norm_row<bfloat16>(square, cold);
    layer_norm_row<float>(square, hot);

    for (const shape& s : {square, {16384, 128}, {512, 65536}})
        for (const auto algorithm : norm_algorithms()) layer_norm_row<float>(s, cold, algorithm);

    constexpr shape gradients[] = {{8192, 4096}, {32768, 1024}, {4096, 8192},
                                   {65536, 128}, {4095, 4097},  {1024, 16384}};
    for (const shape& s : gradients) {
        layer_norm_gradient_row<float>(s);
        layer_norm_gradient_row<bfloat16>(s);
    }
    for (const shape& s : {shape{8192, 4096}, {1024, 16384}}) rms_norm_gradient_row<bfloat16>(s);
    for (const auto algorithm : norm_gradient_algorithms())
        layer_norm_gradient_row<bfloat16>({8192, 4096}, algorithm);

    plain("layer_norm", {1024, 1024}).host_row("host", [](auto x, auto y) {
        host::layer_norm<float>(x, {}, {}, y);
    });
}

}  // namespace heddle::bench
