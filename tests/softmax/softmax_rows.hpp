#pragma once

#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/random.hpp"
#include "tests/support/rows.hpp"
#include "tests/support/softmax.hpp"
#include <heddle/error.hpp>
#include <heddle/softmax.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::test {

inline std::vector<softmax_algorithm> every_algorithm() {
    std::vector<softmax_algorithm> all(softmax_algorithms().begin(), softmax_algorithms().end());
    all.push_back(softmax_algorithm::automatic);
    return all;
}

template <class T>
class softmax_rows : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream.emplace();
    }

    /// Both operations with every algorithm, each into an output of its own: it is right, or refused where why_not() says so.
    void check(const std::vector<T>& xs, std::int64_t rows, std::int64_t cols, const row_layout& lx = {},
               const row_layout& ly = {},
               const std::vector<softmax_algorithm>& algorithms = every_algorithm()) {
        guarded<T> x = make_rows<T>(rows, cols, lx);
        x.upload(xs);
        for (const softmax_algorithm algorithm : algorithms) {
            SCOPED_TRACE(to_string(algorithm));
            guarded<T> y = make_rows<T>(rows, cols, ly), log_y = make_rows<T>(rows, cols, ly);
            const auto call = [&] { softmax<T>(x.matrix(), y.matrix(), *stream, {.algorithm = algorithm}); };
            const auto log_call = [&] {
                log_softmax<T>(x.matrix(), log_y.matrix(), *stream, {.algorithm = algorithm});
            };
            if (!takes(algorithm, x.matrix(), y.matrix())) {
                ASSERT_THROW(call(), unsupported);
                ASSERT_THROW(log_call(), unsupported);
                continue;
            }
            const expected_softmax expected(xs, cols, softmax_steps_of(algorithm, cols));
            call();
            log_call();
            stream->synchronize();
            ASSERT_TRUE(are_within(y.download(), expected.softmax, expected.bounds));
            ASSERT_TRUE(are_within(log_y.download(), expected.log_softmax, expected.log_bounds));
            ASSERT_TRUE(y.canaries_alive());
            ASSERT_TRUE(log_y.canaries_alive());
        }
        ASSERT_TRUE(x.untouched());
    }
    void check(std::int64_t rows, std::int64_t cols, const row_layout& lx = {}, const row_layout& ly = {},
               const std::vector<softmax_algorithm>& algorithms = every_algorithm()) {
        check(random_elements<T>(rows * cols, -10, 10), rows, cols, lx, ly, algorithms);
    }

    std::optional<heddle::stream> stream;
};

/// Rows of every kind, in one matrix: what one row holds must not reach another.
template <class T>
std::vector<T> special_rows(std::int64_t cols) {
    const T low = -infinity<T>(), high = infinity<T>();
    const auto size = static_cast<std::size_t>(cols);
    const auto random = [&] { return random_elements<T>(cols, -3, 3); };
    std::vector<std::vector<T>> rows(14, std::vector<T>(size, low));
    rows[0] = random();
    // rows[1] is all -Inf
    rows[2] = random();
    rows[2][size / 2] = not_a_number<T>();
    rows[3][size - 1] = static_cast<T>(2.5f);  // all but one -Inf
    rows[4] = random();
    rows[4][0] = rows[4][size - 1] = high;
    rows[5].assign(size, high);
    rows[6] = random();
    for (std::size_t i = 0; i < size; i += 3) rows[6][i] = low;
    rows[7].assign(size, static_cast<T>(30000.0f));
    rows[8].assign(size, static_cast<T>(-30000.0f));
    rows[8][size / 3] = static_cast<T>(30000.0f);
    rows[9].assign(size, static_cast<T>(1e-7f));  // a denormal half
    for (std::size_t i = 0; i < size; ++i)
        rows[10][i] = static_cast<T>(-0.1f * static_cast<float>(i % 1200));  // down to results that underflow
    rows[11][0] = not_a_number<T>();
    rows[12].assign(size, not_a_number<T>());
    rows[13] = random();
    rows[13][size / 2] = high;
    rows[13][0] = low;

    std::vector<T> all;
    for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
    return all;
}

}  // namespace heddle::test
