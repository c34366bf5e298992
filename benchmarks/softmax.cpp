#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operation.hpp"
#include "benchmarks/support/cudnn.hpp"

namespace heddle::bench {
namespace {

using shape = matrix_shape;

/// A softmax of x in y, or its logarithm.
template <class T>
auto softmax_of(const shape& s, bool is_logarithm = false) {
    return row_case(s.name<T>(is_logarithm ? "log_softmax" : "softmax"), random_matrix<T>(s),
                    result_matrix<T>(s));
}

template <class T>
void heddle_row(const shape& s, temperature temperature,
                softmax_algorithm algorithm = softmax_algorithm::automatic) {
    softmax_of<T>(s).row(implementation(algorithm), temperature, [algorithm](auto x, auto y) {
        softmax<T>(x, y, stream(), {.algorithm = algorithm});
    });
}

template <class T>
void peer_row([[maybe_unused]] const shape& s, [[maybe_unused]] temperature temperature,
              [[maybe_unused]] bool is_logarithm) {
#if HEDDLE_HAS_CUDNN
    softmax_of<T>(s, is_logarithm).prepared_row("cudnn", temperature, [is_logarithm](auto x, auto y) {
        return [x, y, softmax = cudnn_softmax<T>(x, y, is_logarithm)] { softmax(x.data, y.data); };
    });
#endif
}

template <class T>
void comparison(const shape& s, temperature temperature) {
    heddle_row<T>(s, temperature);
    peer_row<T>(s, temperature, false);
}

/// The gradients of softmax and of its logarithm read y and dy.
template <class T>
void gradient_row(std::string_view op, const shape& s,
                  softmax_gradient_algorithm algorithm = softmax_gradient_algorithm::automatic) {
    const auto gradient = op == "softmax_gradient" ? softmax_gradient<T> : log_softmax_gradient<T>;
    row_case(s.name<T>(op), random_matrix<T>(s), random_matrix<T>(s), result_matrix<T>(s))
        .row(implementation(algorithm), cold,
             [=](auto... y_dy_dx) { gradient(y_dy_dx..., stream(), {.algorithm = algorithm}); });
}

}  // namespace

void register_softmax() {
    constexpr shape square{4096, 4096};
    constexpr shape shapes[] = {square,       {512, 65536},  {16384, 128}, {1 << 20, 32},
                                {4095, 4097}, {64, 1 << 20}, {64, 128}};
    for (const shape& s : shapes) comparison<float>(s, cold);
    for (const shape& s : {square, {512, 65536}, {4095, 4097}, {64, 128}}) comparison<half>(s, cold);
    comparison<bfloat16>(square, cold);
    for (const shape& s : {square, {16384, 128}}) {
        comparison<float>(s, hot);
        softmax_of<float>(s, true).row("heddle", cold,
                                       [](auto x, auto y) { log_softmax<float>(x, y, stream()); });
        peer_row<float>(s, cold, true);
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

    softmax_of<float>({1024, 1024}).host_row("host", [](auto x, auto y) { host::softmax<float>(x, y); });
}

void add_softmax_rows(std::string_view type, const extents& shape) {
    with_type_named<half, bfloat16, float>(type, [s = matrix_shape{shape[0], shape[1]}]<class T>() {
        for (const auto algorithm : softmax_algorithms()) heddle_row<T>(s, cold, algorithm);
        comparison<T>(s, cold);
    });
}

}  // namespace heddle::bench
