#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operation.hpp"
#include "benchmarks/support/cudnn.hpp"

namespace heddle::bench {
namespace {

using shape = matrix_shape;

template <class T>
problem matrices(std::string_view op, const shape& s, int inputs = 1) {
    const double bytes = sizeof(T) * static_cast<double>(s.size());
    return {fmt::format("{}/{}/{}x{}", op, dtype<T>, s.rows, s.cols), inputs * bytes, bytes};
}

/// `prepare` takes x and y, and returns the call.
template <class T>
void row(std::string_view op, const shape& s, std::string_view library, temperature temperature,
         auto prepare) {
    prepared_row(matrices<T>(op, s), library, temperature, prepare, random_matrix<T>(s), result_matrix<T>(s));
}

template <class T>
void heddle_row(const shape& s, temperature temperature,
                softmax_algorithm algorithm = softmax_algorithm::automatic) {
    row<T>("softmax", s, implementation(algorithm), temperature, [algorithm](auto x, auto y) {
        return [=] { softmax<T>(x, y, stream(), {.algorithm = algorithm}); };
    });
}

#if HEDDLE_HAS_CUDNN
template <class T>
void cudnn_row(std::string_view op, const shape& s, temperature temperature, bool is_logarithm) {
    row<T>(op, s, "cudnn", temperature, [is_logarithm](auto x, auto y) {
        return [x, y, softmax = cudnn_softmax<T>(x, y, is_logarithm)] { softmax(x.data, y.data); };
    });
}
#endif

template <class T>
void comparison(const shape& s, temperature temperature) {
    heddle_row<T>(s, temperature);
#if HEDDLE_HAS_CUDNN
    cudnn_row<T>("softmax", s, temperature, false);
#endif
}

void log_comparison(const shape& s) {
    row<float>("log_softmax", s, "heddle", cold,
               [](auto x, auto y) { return [=] { log_softmax<float>(x, y, stream()); }; });
#if HEDDLE_HAS_CUDNN
    cudnn_row<float>("log_softmax", s, cold, true);
#endif
}

/// The gradients of softmax and of its logarithm read y and dy.
template <class T>
void gradient_row(std::string_view op, const shape& s,
                  softmax_gradient_algorithm algorithm = softmax_gradient_algorithm::automatic) {
    const bool is_logarithm = op == "log_softmax_gradient";
    operand_row(
        matrices<T>(op, s, 2), implementation(algorithm), cold,
        [=](auto... y_dy_dx) {
            const softmax_gradient_options options{.algorithm = algorithm};
            is_logarithm ? log_softmax_gradient<T>(y_dy_dx..., stream(), options)
                         : softmax_gradient<T>(y_dy_dx..., stream(), options);
        },
        random_matrix<T>(s), random_matrix<T>(s), result_matrix<T>(s));
}

}  // namespace

void register_softmax() {
    constexpr shape square{4096, 4096}, host_square{1024, 1024};
    constexpr shape shapes[] = {square,       {512, 65536},  {16384, 128}, {1 << 20, 32},
                                {4095, 4097}, {64, 1 << 20}, {64, 128}};
    for (const shape& s : shapes) comparison<float>(s, cold);
    for (const shape& s : {square, {512, 65536}, {4095, 4097}, {64, 128}}) comparison<half>(s, cold);
    comparison<bfloat16>(square, cold);
    for (const shape& s : {square, {16384, 128}}) {
        comparison<float>(s, hot);
        log_comparison(s);
    }

    for (const shape& s : {square, {16384, 128}, {512, 65536}})
        for (const auto algorithm : softmax_algorithms()) heddle_row<float>(s, cold, algorithm);

    constexpr shape gradients[] = {{8192, 4096}, {32768, 1024}, {65536, 128}, {4095, 4097}, {512, 65536}};
    for (const shape& s : gradients) {
        gradient_row<float>("softmax_gradient", s);
        gradient_row<bfloat16>("softmax_gradient", s);
    }
    for (const shape& s : {shape{8192, 4096}, {512, 65536}}) gradient_row<float>("log_softmax_gradient", s);
    for (const auto algorithm : softmax_gradient_algorithms())
        gradient_row<bfloat16>("softmax_gradient", {8192, 4096}, algorithm);

    host_operand_row(
        matrices<float>("softmax", host_square), "host", [](auto x, auto y) { host::softmax<float>(x, y); },
        random_matrix<float>(host_square), result_matrix<float>(host_square));
}

void add_softmax_rows(std::string_view type, const extents& shape) {
    with_type_named<half, bfloat16, float>(type, [s = matrix_shape{shape[0], shape[1]}]<class T>() {
        for (const auto algorithm : softmax_algorithms()) heddle_row<T>(s, cold, algorithm);
        comparison<T>(s, cold);
    });
}

}  // namespace heddle::bench
