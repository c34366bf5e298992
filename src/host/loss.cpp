#include "src/host/parallel.hpp"
#include "src/host/row_of.hpp"
#include "src/loss/validate.hpp"
#include <heddle/host.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#pragma GCC visibility push(default)

namespace heddle::host {
namespace {

/// x - y, but 0 instead of NaN for equal infinities.
double difference(double x, double y) {
    return x == y ? 0 : x - y;
}

/// Returns the loss of a row, and writes its gradient to y if y has data.
template <class T>
float row_cross_entropy(const row_of<const T>& x, std::int64_t cols, std::int64_t label, const row_of<T>& y,
                        const cross_entropy_options& options) {
    const auto fill = [&](float value) {
        for (std::int64_t col = 0; y.data != nullptr && col < cols; ++col) y[col] = static_cast<T>(value);
        return value;
    };
    if (options.ignore_label && label == *options.ignore_label) return fill(0);
    if (label < 0 || label >= cols) return fill(std::numeric_limits<float>::quiet_NaN());

    const auto element = [&](std::int64_t col) { return static_cast<double>(static_cast<float>(x[col])); };
    const double logit = element(label);
    const double smoothing = static_cast<double>(options.label_smoothing);
    double largest = -std::numeric_limits<double>::infinity(), sum = 0, distances = 0;
    for (std::int64_t col = 0; col < cols; ++col) largest = std::max(largest, element(col));
    for (std::int64_t col = 0; col < cols; ++col) {
        sum += std::exp(difference(element(col), largest));
        distances += difference(logit, element(col));
    }
    const double share_of_others = smoothing / static_cast<double>(cols);
    for (std::int64_t col = 0; y.data != nullptr && col < cols; ++col) {
        const double share = std::exp(difference(element(col), largest)) / sum;
        const double wanted = col == label ? 1 - smoothing + share_of_others : share_of_others;
        y[col] = static_cast<T>(static_cast<float>((share - wanted) * static_cast<double>(options.scale)));
    }
    const double distance = difference(largest, logit);
    const double loss = std::log(sum) + distance;
    return static_cast<float>(smoothing > 0 && !std::isinf(distance) ? loss + share_of_others * distances
                                                                     : loss);
}

template <class T>
float row_squared_error(const row_of<const T>& x, const row_of<const T>& target, std::int64_t cols,
                        const row_of<T>& y, float scale) {
    const double factor = 2 * static_cast<double>(scale) / static_cast<double>(cols);
    double sum = 0;
    for (std::int64_t col = 0; col < cols; ++col) {
        const double distance = static_cast<double>(static_cast<float>(x[col])) -
                                static_cast<double>(static_cast<float>(target[col]));
        sum += distance * distance;
        if (y.data != nullptr) y[col] = static_cast<T>(static_cast<float>(distance * factor));
    }
    return static_cast<float>(sum / static_cast<double>(cols));
}

/// The column of the first NaN, or without NaN of the first largest element.
template <class T>
std::int64_t argmax(const row_of<const T>& x, std::int64_t cols) {
    std::int64_t found = 0;
    for (std::int64_t col = 0; col < cols; ++col) {
        const auto value = static_cast<float>(x[col]);
        if (std::isnan(value)) return col;
        if (value > static_cast<float>(x[found])) found = col;
    }
    return found;
}

/// Calls result(row) for each row, and stores the values in `results` if it has elements.
template <class T, class Result>
void each_row(std::int64_t rows, std::int64_t cols, const vector_view<T>& results, Result result) {
    if (cols == 0) return;
#pragma omp parallel for schedule(static) if (rows * cols > elements_to_share)
    for (std::int64_t row = 0; row < rows; ++row) {
        const T value = result(row);
        if (results.size > 0) results.data[row * results.stride] = value;
    }
}

}  // namespace

template <class T>
void cross_entropy(matrix_view<const std::type_identity_t<T>> logits, vector_view<const std::int32_t> labels,
                   vector_view<float> loss, matrix_view<T> gradient, const cross_entropy_options& options) {
    detail::validate_cross_entropy("host::cross_entropy", logits, labels, loss, gradient, options);
    each_row(logits.rows, logits.cols, loss, [&](std::int64_t row) {
        return row_cross_entropy<T>({logits, row}, logits.cols, labels.data[row * labels.stride],
                                    {gradient, row}, options);
    });
}

template <class T>
void mean_squared_error(matrix_view<const std::type_identity_t<T>> prediction,
                        matrix_view<const std::type_identity_t<T>> target, vector_view<float> loss,
                        matrix_view<T> gradient, const mean_squared_error_options& options) {
    detail::validate_mean_squared_error("host::mean_squared_error", prediction, target, loss, gradient,
                                        options);
    each_row(prediction.rows, prediction.cols, loss, [&](std::int64_t row) {
        return row_squared_error<T>({prediction, row}, {target, row}, prediction.cols, {gradient, row},
                                    options.scale);
    });
}

template <class T>
void label_hits(matrix_view<const T> scores, vector_view<const std::int32_t> labels,
                vector_view<std::int32_t> hits) {
    detail::validate_label_hits("host::label_hits", scores, labels, hits);
    each_row(scores.rows, scores.cols, hits, [&](std::int64_t row) {
        return argmax<T>({scores, row}, scores.cols) == labels.data[row * labels.stride] ? 1 : 0;
    });
}

#define INSTANTIATE(T)                                                                                  \
    template void cross_entropy<T>(matrix_view<const T>, vector_view<const std::int32_t>,               \
                                   vector_view<float>, matrix_view<T>, const cross_entropy_options&);   \
    template void mean_squared_error<T>(matrix_view<const T>, matrix_view<const T>, vector_view<float>, \
                                        matrix_view<T>, const mean_squared_error_options&);             \
    template void label_hits<T>(matrix_view<const T>, vector_view<const std::int32_t>,                  \
                                vector_view<std::int32_t>);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle::host

#pragma GCC visibility pop
