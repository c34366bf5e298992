#pragma once

#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/loss.hpp"
#include "tests/support/random.hpp"
#include "tests/support/rows.hpp"
#include <heddle/error.hpp>
#include <heddle/loss.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::test {

inline std::vector<loss_algorithm> every_loss_algorithm() {
    std::vector<loss_algorithm> all(loss_algorithms().begin(), loss_algorithms().end());
    all.push_back(loss_algorithm::automatic);
    return all;
}

/// Longer ones are checked in fewer ways, and without naive, which is slow.
inline constexpr std::int64_t short_row = 200000;
inline std::vector<loss_algorithm> loss_algorithms_for(std::int64_t cols) {
    if (cols <= short_row) return every_loss_algorithm();
    return {loss_algorithm::warp_per_row, loss_algorithm::vectorized};
}

/// Columns for the most part; some rows have the label -100, some one that is no column.
inline std::vector<std::int32_t> random_labels(std::int64_t rows, std::int64_t cols) {
    std::vector<std::int32_t> labels =
        random_elements<std::int32_t>(rows, 0, static_cast<double>(std::max<std::int64_t>(cols, 1) - 1));
    const std::int32_t others[] = {-100, static_cast<std::int32_t>(cols), -1,
                                   std::numeric_limits<std::int32_t>::max(),
                                   std::numeric_limits<std::int32_t>::min()};
    for (std::size_t i = 4, k = 0; i < labels.size(); i += 7, ++k) labels[i] = others[k % std::size(others)];
    if (rows > 1) labels.back() = static_cast<std::int32_t>(cols - 1);
    return labels;
}

/// A vector whose elements are two apart, the canaries between them.
template <class T>
guarded<T> make_spaced(std::int64_t size, typename guarded<T>::memory where = guarded<T>::memory::device) {
    return guarded<T>(1, size, 2 * size, 1, 2, where);
}

template <class T>
class loss_rows : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream.emplace();
    }

    /// Both outputs with every algorithm: they are right, or refused where why_not() says so.
    void check_cross_entropy(const std::vector<T>& xs, const std::vector<std::int32_t>& labels,
                             std::int64_t cols, const row_layout& lx = {}, const row_layout& ly = {},
                             cross_entropy_options options = {.scale = 0.25f, .ignore_label = -100},
                             const std::vector<loss_algorithm>& algorithms = every_loss_algorithm()) {
        const std::int64_t rows = std::ssize(labels);
        guarded<T> x = make_rows<T>(rows, cols, lx);
        auto label = make_spaced<std::int32_t>(rows);
        x.upload(xs);
        label.upload(labels);
        for (const loss_algorithm algorithm : algorithms) {
            SCOPED_TRACE(to_string(algorithm));
            guarded<T> y = make_rows<T>(rows, cols, ly);
            auto loss = make_spaced<float>(rows);
            options.algorithm = algorithm;
            const auto call = [&] {
                cross_entropy<T>(x.matrix(), label.vector(), loss.vector(), y.matrix(), *stream, options);
            };
            if (!takes(algorithm, x.matrix(), y.matrix())) {
                ASSERT_THROW(call(), unsupported);
                continue;
            }
            call();
            stream->synchronize();
            if (cols == 0) {
                ASSERT_TRUE(loss.untouched());
                continue;
            }
            const expected_cross_entropy expected(xs, labels, cols, options, loss_steps_of(algorithm, cols));
            ASSERT_TRUE(are_within(loss.download(), expected.loss, expected.loss_bounds)) << "loss";
            ASSERT_TRUE(are_within(y.download(), expected.gradient, expected.bounds));
            ASSERT_TRUE(loss.canaries_alive() && y.canaries_alive());
        }
        ASSERT_TRUE(x.untouched() && label.untouched());
    }

    void check_squared_error(std::int64_t rows, std::int64_t cols, const row_layout& lx = {},
                             const row_layout& lt = {}, const row_layout& ly = {},
                             const std::vector<loss_algorithm>& algorithms = every_loss_algorithm()) {
        const auto xs = random_elements<T>(rows * cols, -2, 2), ts = random_elements<T>(rows * cols, -2, 2);
        guarded<T> x = make_rows<T>(rows, cols, lx), t = make_rows<T>(rows, cols, lt);
        x.upload(xs);
        t.upload(ts);
        for (const loss_algorithm algorithm : algorithms) {
            SCOPED_TRACE(to_string(algorithm));
            guarded<T> y = make_rows<T>(rows, cols, ly);
            auto loss = make_spaced<float>(rows);
            const auto call = [&] {
                mean_squared_error<T>(x.matrix(), t.matrix(), loss.vector(), y.matrix(), *stream,
                                      {.algorithm = algorithm, .scale = 3});
            };
            if (!takes(algorithm, x.matrix(), y.matrix()) || !takes(algorithm, x.matrix(), t.matrix())) {
                ASSERT_THROW(call(), unsupported);
                continue;
            }
            call();
            stream->synchronize();
            if (cols == 0) {
                ASSERT_TRUE(loss.untouched());
                continue;
            }
            const expected_squared_error expected(xs, ts, cols, 3, loss_steps_of(algorithm, cols));
            ASSERT_TRUE(are_within(loss.download(), expected.loss, expected.loss_bounds)) << "loss";
            ASSERT_TRUE(are_within(y.download(), expected.gradient, expected.bounds));
            ASSERT_TRUE(loss.canaries_alive() && y.canaries_alive());
        }
        ASSERT_TRUE(x.untouched() && t.untouched());
    }

    /// Both operations.
    void check(std::int64_t rows, std::int64_t cols, const row_layout& lx = {}, const row_layout& ly = {},
               const std::vector<loss_algorithm>& algorithms = every_loss_algorithm()) {
        const auto labels = random_labels(rows, cols);
        ASSERT_NO_FATAL_FAILURE(check_cross_entropy(random_elements<T>(rows * cols, -10, 10), labels, cols,
                                                    lx, ly, {.scale = 0.25f, .ignore_label = -100},
                                                    algorithms));
        ASSERT_NO_FATAL_FAILURE(check_squared_error(rows, cols, lx, ly, ly, algorithms));
    }

    std::optional<heddle::stream> stream;
};

}  // namespace heddle::test
