#pragma once

#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/random.hpp"
#include "tests/support/rows.hpp"
#include "tests/support/softmax.hpp"
#include "tests/support/special_rows.hpp"
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

}  // namespace heddle::test
