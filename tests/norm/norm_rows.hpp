#pragma once

#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/norm.hpp"
#include "tests/support/random.hpp"
#include "tests/support/rows.hpp"
#include <heddle/error.hpp>
#include <heddle/norm.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::test {

inline std::vector<norm_algorithm> every_algorithm() {
    std::vector<norm_algorithm> all(norm_algorithms().begin(), norm_algorithms().end());
    all.push_back(norm_algorithm::automatic);
    return all;
}

template <class T>
class norm_rows : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream.emplace();
    }

    struct layouts {
        row_layout x{};
        row_layout y{};
        std::int64_t parameter_offset = 0;
        std::int64_t parameter_stride = 1;
        bool has_parameters = true;
    };

    /// Both operations with every algorithm: it is right, or refused where why_not() says so.
    void check(const std::vector<T>& xs, std::int64_t rows, std::int64_t cols, const layouts& l,
               const std::vector<norm_algorithm>& algorithms, const norm_options& options = {}) {
        guarded<T> x = make_rows<T>(rows, cols, l.x);
        x.upload(xs);
        const std::int64_t parameters = l.has_parameters ? cols : 0;
        const auto gammas = random_elements<T>(parameters, -2, 2),
                   betas = random_elements<T>(parameters, -2, 2);
        guarded<T> gamma(1, parameters, 0, l.parameter_offset, l.parameter_stride),
            beta(1, parameters, 0, l.parameter_offset, l.parameter_stride);
        gamma.upload(gammas);
        beta.upload(betas);
        for (const norm_algorithm algorithm : algorithms) {
            SCOPED_TRACE(to_string(algorithm));
            norm_options chosen = options;
            chosen.algorithm = algorithm;
            guarded<T> y = make_rows<T>(rows, cols, l.y);
            const auto call_layer_norm = [&] {
                layer_norm<T>(x.matrix(), gamma.vector(), beta.vector(), y.matrix(), *stream, chosen);
            };
            const auto call_rms_norm = [&] {
                rms_norm<T>(x.matrix(), gamma.vector(), y.matrix(), *stream, chosen);
            };
            if (!takes(algorithm, x.matrix(), gamma.vector(), beta.vector(), y.matrix())) {
                ASSERT_THROW(call_layer_norm(), unsupported);
                ASSERT_THROW(call_rms_norm(), unsupported);
                continue;
            }
            call_layer_norm();
            stream->synchronize();
            expect(norm_operation::layer_norm, y, xs, gammas, betas, cols, chosen);
            call_rms_norm();
            stream->synchronize();
            expect(norm_operation::rms_norm, y, xs, gammas, {}, cols, chosen);
            if (this->HasFatalFailure()) return;
        }
        ASSERT_TRUE(x.untouched());
        ASSERT_TRUE(gamma.untouched());
        ASSERT_TRUE(beta.untouched());
    }
    void check(std::int64_t rows, std::int64_t cols, const layouts& l = {},
               const std::vector<norm_algorithm>& algorithms = every_algorithm()) {
        check(random_elements<T>(rows * cols, -1, 3), rows, cols, l, algorithms);
    }

    void expect(norm_operation op, guarded<T>& y, const std::vector<T>& xs, const std::vector<T>& gammas,
                const std::vector<T>& betas, std::int64_t cols, const norm_options& options) {
        const expected_norm expected(op, xs, gammas, betas, cols, options.epsilon,
                                     norm_depth(options.algorithm, cols));
        ASSERT_TRUE(are_within(y.download(), expected.values, expected.bounds))
            << (op == norm_operation::layer_norm ? "layer_norm" : "rms_norm");
        ASSERT_TRUE(y.canaries_alive());
    }

    std::optional<heddle::stream> stream;
};

/// half holds nothing whose square float does not.
using wide_types = testing::Types<float, bfloat16>;

inline constexpr std::int64_t rows_beyond_float = 6;

/// Rows whose sums float cannot hold, beside two that it can: layer_norm and rms_norm, which call the functions of that name on
/// the views, do what their comments say, wherever they run.
template <class T, class LayerNorm, class RmsNorm>
void check_beyond_float(std::int64_t cols, double depth, typename guarded<T>::memory where,
                        LayerNorm layer_norm, RmsNorm rms_norm) {
    constexpr std::int64_t rows = rows_beyond_float;
    enum row { ordinary, large, overflowing_squares, one_overflowing_square, overflowing_sum, negative_sum };
    std::vector<T> xs = random_elements<T>(rows * cols, 1, 2);
    for (std::int64_t i = 0; i < rows * cols; ++i) {
        T& x = xs[static_cast<std::size_t>(i)];
        const float sign = i % 2 == 0 ? 1 : -1;
        const float scales[rows] = {1, sign * 1e15f, sign * 1e20f, 1, 1.5e38f, -1.5e38f};
        x = static_cast<T>(static_cast<float>(x) * scales[i / cols]);
    }
    xs[static_cast<std::size_t>(one_overflowing_square * cols + cols / 3)] = static_cast<T>(2e19f);

    const auto gammas = random_elements<T>(cols, 1, 2), betas = random_elements<T>(cols, 1, 2);
    guarded<T> x(rows, cols, cols, 0, 1, where), y(rows, cols, cols, 0, 1, where);
    guarded<T> gamma(cols, 0, where), beta(cols, 0, where);
    x.upload(xs);
    gamma.upload(gammas);
    beta.upload(betas);
    const std::vector<T> in_range(xs.begin(), xs.begin() + overflowing_squares * cols);

    layer_norm(x.matrix(), gamma.vector(), beta.vector(), y.matrix());
    std::vector<T> ys = y.download();
    for (std::int64_t i = overflowing_squares * cols; i < rows * cols; ++i) {
        const double actual = to_double(ys[static_cast<std::size_t>(i)]);
        const double shift = to_double(betas[static_cast<std::size_t>(i % cols)]);
        ASSERT_TRUE(i / cols >= overflowing_sum ? std::isnan(actual) : actual == shift)
            << "layer_norm, row " << i / cols << ": " << actual;
    }
    ys.resize(in_range.size());
    const expected_norm layer(norm_operation::layer_norm, in_range, gammas, betas, cols, 1e-5f, depth);
    ASSERT_TRUE(are_within(ys, layer.values, layer.bounds));

    rms_norm(x.matrix(), gamma.vector(), y.matrix());
    ys = y.download();
    for (std::int64_t i = overflowing_squares * cols; i < rows * cols; ++i)
        ASSERT_EQ(to_double(ys[static_cast<std::size_t>(i)]), 0) << "rms_norm, row " << i / cols;
    ys.resize(in_range.size());
    const expected_norm rms(norm_operation::rms_norm, in_range, gammas, {}, cols, 1e-5f, depth);
    ASSERT_TRUE(are_within(ys, rms.values, rms.bounds));
}

}  // namespace heddle::test
