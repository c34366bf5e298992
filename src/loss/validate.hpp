#pragma once

#include "src/elementwise/validate.hpp"
#include <heddle/loss.hpp>

#include <cmath>
#include <cstdint>

namespace heddle::detail {

/// Checks a vector with one element per row.
template <class T>
void validate_of_rows(const char* operation, const char* name, const vector_view<T>& v, std::int64_t rows,
                      const char* rows_name) {
    require(v.size == rows, operation, {name, "size"}, v.size, "{} ({})", rows, rows_name);
    validate(operation, name, v);
}

inline void validate_scale(const char* operation, float scale) {
    require(std::isfinite(scale), operation, {"options", "scale"}, scale, "a finite number");
}

template <class T>
void validate_logits(const char* operation, const matrix_view<const T>& logits,
                     const matrix_view<T>& gradient, bool have_elements = true) {
    validate(operation, "logits", logits, have_elements);
    if (!is_given(gradient)) return;
    const operand operands[] = {operand_of("logits", logits), operand_of("gradient", gradient)};
    validate_elementwise(operation, operands, sizeof(T), zero_strides::refused, have_elements);
}

/// Checks the arguments of cross_entropy() on the GPU or the CPU.
template <class T>
void validate_cross_entropy(const char* operation, const matrix_view<const T>& logits,
                            const vector_view<const std::int32_t>& labels, const vector_view<float>& loss,
                            const matrix_view<T>& gradient, const cross_entropy_options& options) {
    validate_scale(operation, options.scale);
    require(options.label_smoothing >= 0 && options.label_smoothing <= 1, operation,
            {"options", "label_smoothing"}, options.label_smoothing, "0 to 1");
    validate_logits(operation, logits, gradient);
    validate_of_rows(operation, "labels", labels, logits.rows, "logits.rows");
    if (is_given(gradient)) validate_disjoint(operation, "gradient", gradient, "labels", labels);
    if (loss.size == 0) return;
    validate_of_rows(operation, "loss", loss, logits.rows, "logits.rows");
    validate_disjoint(operation, "loss", loss, "logits", logits);
    validate_disjoint(operation, "loss", loss, "labels", labels);
    validate_disjoint(operation, "loss", loss, "gradient", gradient);
}

template <class T>
void validate_prediction(const char* operation, const matrix_view<const T>& prediction,
                         const matrix_view<const T>& target, const matrix_view<T>& gradient,
                         bool have_elements = true) {
    validate(operation, "prediction", prediction, have_elements);
    validate(operation, "target", target, have_elements);
    require(target.rows == prediction.rows, operation, {"target", "rows"}, target.rows,
            "{} (prediction.rows)", prediction.rows);
    require(target.cols == prediction.cols, operation, {"target", "cols"}, target.cols,
            "{} (prediction.cols)", prediction.cols);
    if (!is_given(gradient)) return;
    const operand operands[] = {operand_of("prediction", prediction), operand_of("target", target),
                                operand_of("gradient", gradient)};
    validate_elementwise(operation, operands, sizeof(T), zero_strides::refused, have_elements);
}

/// Checks the arguments of mean_squared_error() on the GPU or the CPU.
template <class T>
void validate_mean_squared_error(const char* operation, const matrix_view<const T>& prediction,
                                 const matrix_view<const T>& target, const vector_view<float>& loss,
                                 const matrix_view<T>& gradient, const mean_squared_error_options& options) {
    validate_scale(operation, options.scale);
    validate_prediction(operation, prediction, target, gradient);
    if (loss.size == 0) return;
    validate_of_rows(operation, "loss", loss, prediction.rows, "prediction.rows");
    validate_disjoint(operation, "loss", loss, "prediction", prediction);
    validate_disjoint(operation, "loss", loss, "target", target);
    validate_disjoint(operation, "loss", loss, "gradient", gradient);
}

/// Checks the arguments of label_hits() on the GPU or the CPU.
template <class T>
void validate_label_hits(const char* operation, const matrix_view<const T>& scores,
                         const vector_view<const std::int32_t>& labels,
                         const vector_view<std::int32_t>& hits) {
    validate(operation, "scores", scores);
    validate_of_rows(operation, "labels", labels, scores.rows, "scores.rows");
    validate_of_rows(operation, "hits", hits, scores.rows, "scores.rows");
    validate_disjoint(operation, "hits", hits, "scores", scores);
    validate_disjoint(operation, "hits", hits, "labels", labels);
}

}  // namespace heddle::detail
