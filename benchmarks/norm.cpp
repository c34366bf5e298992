#include "benchmarks/operation.hpp"

namespace heddle::bench {
namespace {

using shape = matrix_shape;

/// Beside x, a call reads `parameters` vectors as long as a row.
template <class T>
problem matrices(std::string_view op, const shape& s, int parameters) {
    return {fmt::format("{}/{}/{}x{}", op, dtype<T>, s.rows, s.cols),
            sizeof(T) * static_cast<double>(s.size() + parameters * s.cols),
            sizeof(T) * static_cast<double>(s.size())};
}

/// With gamma and beta.
template <class T>
void layer_norm_row(const shape& s, temperature temperature,
                    norm_algorithm algorithm = norm_algorithm::automatic) {
    operand_row(
        matrices<T>("layer_norm", s, 2), implementation(algorithm), temperature,
        [algorithm](auto x, auto gamma, auto beta, auto y) {
            layer_norm<T>(x, gamma, beta, y, stream(), {.algorithm = algorithm});
        },
        random_matrix<T>(s), random_vector<T>(s.cols), random_vector<T>(s.cols), result_matrix<T>(s));
}

/// With gamma.
template <class T>
void rms_norm_row(const shape& s) {
    operand_row(
        matrices<T>("rms_norm", s, 1), "heddle", cold,
        [](auto x, auto gamma, auto y) { rms_norm<T>(x, gamma, y, stream()); }, random_matrix<T>(s),
        random_vector<T>(s.cols), result_matrix<T>(s));
}

/// Without gamma and beta.
void plain_row(const shape& s) {
    operand_row(
        matrices<float>("layer_norm_plain", s, 0), "heddle", cold,
        [](auto x, auto y) { layer_norm<float>(x, {}, {}, y, stream()); }, random_matrix<float>(s),
        result_matrix<float>(s));
}

/// Computes dx and dgamma, and of layer_norm dbeta too.
template <class T>
void gradient_row(std::string_view op, const shape& s,
                  norm_gradient_algorithm algorithm = norm_gradient_algorithm::automatic) {
    const bool is_centred = op == "layer_norm_gradient";
    problem of = matrices<T>(op, s, 0);
    const double vector = sizeof(T) * static_cast<double>(s.cols);
    of.bytes_read = 2 * of.bytes_read + vector;
    of.bytes_written += (is_centred ? 2 : 1) * vector;
    operand_row(
        of, implementation(algorithm), cold,
        [=](auto x, auto dy, auto gamma, auto dx, auto dgamma, auto dbeta) {
            const norm_gradient_options options{.algorithm = algorithm};
            if (is_centred)
                layer_norm_gradient<T>(x, gamma, dy, dx, dgamma, dbeta, stream(), options);
            else
                rms_norm_gradient<T>(x, gamma, dy, dx, dgamma, stream(), options);
        },
        random_matrix<T>(s), random_matrix<T>(s), random_vector<T>(s.cols), result_matrix<T>(s),
        result_vector<T>(s.cols), result_vector<T>(s.cols));
}

}  // namespace

void register_norm() {
    constexpr shape square{4096, 4096}, host_square{1024, 1024};
    constexpr shape shapes[] = {square,       {65536, 1024}, {512, 65536}, {16384, 128},
                                {4095, 4097}, {64, 1 << 20}, {64, 128}};
    for (const shape& s : shapes) {
        layer_norm_row<float>(s, cold);
        rms_norm_row<float>(s);
    }
    for (const shape& s : {square, {512, 65536}, {64, 128}}) {
        layer_norm_row<half>(s, cold);
        rms_norm_row<half>(s);
        plain_row(s);
    }
    layer_norm_row<bfloat16>(square, cold);
    layer_norm_row<float>(square, hot);

    for (const shape& s : {square, {16384, 128}, {512, 65536}})
        for (const auto algorithm : norm_algorithms()) layer_norm_row<float>(s, cold, algorithm);

    constexpr shape gradients[] = {{8192, 4096}, {32768, 1024}, {4096, 8192},
                                   {65536, 128}, {4095, 4097},  {1024, 16384}};
    for (const shape& s : gradients) {
        gradient_row<float>("layer_norm_gradient", s);
        gradient_row<bfloat16>("layer_norm_gradient", s);
    }
    for (const shape& s : {shape{8192, 4096}, {1024, 16384}}) gradient_row<bfloat16>("rms_norm_gradient", s);
    for (const auto algorithm : norm_gradient_algorithms())
        gradient_row<bfloat16>("layer_norm_gradient", {8192, 4096}, algorithm);

    host_operand_row(
        matrices<float>("layer_norm", host_square, 0), "host",
        [](auto x, auto y) { host::layer_norm<float>(x, {}, {}, y); }, random_matrix<float>(host_square),
        result_matrix<float>(host_square));
}

}  // namespace heddle::bench
