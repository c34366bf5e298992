#include "tests/support/softmax.hpp"

#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/provoked.hpp"
#include "tests/support/random.hpp"
#include "tests/support/rows.hpp"
#include <heddle/graph.hpp>
#include <heddle/host.hpp>
#include <heddle/softmax.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {
namespace {

using reference = test::expected_softmax;
using test::guarded;
using test::infinity;
using test::invalid_argument_of;
using test::not_a_number;
using test::random_elements;
using test::row_layout;

std::vector<softmax_algorithm> every_algorithm() {
    std::vector<softmax_algorithm> all(softmax_algorithms().begin(), softmax_algorithms().end());
    all.push_back(softmax_algorithm::automatic);
    return all;
}

template <class T>
class softmax_rows : public test::gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream.emplace();
    }

    /// Both operations with every algorithm that takes the layouts, each into an output of its own.
    void check(const std::vector<T>& xs, std::int64_t rows, std::int64_t cols, const row_layout& lx = {},
               const row_layout& ly = {},
               const std::vector<softmax_algorithm>& algorithms = every_algorithm()) {
        guarded<T> x = test::make_rows<T>(rows, cols, lx);
        x.upload(xs);
        for (const softmax_algorithm algorithm : algorithms) {
            if (algorithm == softmax_algorithm::vectorized && cols > 1 &&
                !(lx.has_rows_side_by_side() && ly.has_rows_side_by_side()))
                continue;
            SCOPED_TRACE(to_string(algorithm));
            const reference expected(xs, cols, test::softmax_steps_of(algorithm, cols));
            guarded<T> y = test::make_rows<T>(rows, cols, ly), log_y = test::make_rows<T>(rows, cols, ly);
            softmax<T>(x.matrix(), y.matrix(), *stream, {.algorithm = algorithm});
            log_softmax<T>(x.matrix(), log_y.matrix(), *stream, {.algorithm = algorithm});
            stream->synchronize();
            ASSERT_TRUE(test::are_within(y.download(), expected.softmax, expected.bounds));
            ASSERT_TRUE(test::are_within(log_y.download(), expected.log_softmax, expected.log_bounds));
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

TYPED_TEST_SUITE(softmax_rows, test::row_types, test::type_names);

TYPED_TEST(softmax_rows, takes_every_shape) {
    for (const auto& [rows, cols] : test::row_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols));
    }
}

TYPED_TEST(softmax_rows, takes_long_rows) {
    for (const auto& [rows, cols] : test::long_row_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(
            this->check(rows, cols, {}, {}, {softmax_algorithm::online, softmax_algorithm::vectorized}));
    }
}

TYPED_TEST(softmax_rows, takes_every_alignment_and_padding) {
    for (const std::int64_t cols : {5, 32, 128, 1000, 1024, 4096, 10000, 140000})
        for (const row_layout& l :
             {row_layout{.offset = 1}, {.padding = 1}, {.padding = 8}, {.offset = 3, .padding = 5}}) {
            SCOPED_TRACE(testing::Message()
                         << cols << " columns, offset " << l.offset << ", padding " << l.padding);
            const std::vector<softmax_algorithm> algorithms = {softmax_algorithm::vectorized};
            ASSERT_NO_FATAL_FAILURE(this->check(3, cols, l, {}, algorithms));
            ASSERT_NO_FATAL_FAILURE(this->check(3, cols, {}, l, algorithms));
            ASSERT_NO_FATAL_FAILURE(this->check(3, cols, l, l, algorithms));
        }
}

TYPED_TEST(softmax_rows, takes_spaced_and_transposed_matrices) {
    for (const auto& [rows, cols] : {std::pair{7, 100}, {20000, 5}, {300, 1}, {1, 3000}}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.step = 2}, {.padding = 1, .step = 3}));
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.column_major = true}, {}));
        ASSERT_NO_FATAL_FAILURE(
            this->check(rows, cols, {.padding = 2, .column_major = true}, {.column_major = true}));
    }
}

TYPED_TEST(softmax_rows, works_in_place) {
    for (const std::int64_t cols : {3, 128, 1024, 5000, 40000, 140001})
        for (const softmax_algorithm algorithm : every_algorithm()) {
            SCOPED_TRACE(testing::Message() << cols << " columns, " << to_string(algorithm));
            const auto xs = random_elements<TypeParam>(2 * cols, -5, 5);
            const reference expected(xs, cols, test::softmax_steps_of(algorithm, cols));
            guarded<TypeParam> x(2, cols, cols + 4);
            x.upload(xs);
            softmax<TypeParam>(x.matrix(), x.matrix(), *this->stream, {.algorithm = algorithm});
            this->stream->synchronize();
            ASSERT_TRUE(test::are_within(x.download(), expected.softmax, expected.bounds));
            x.upload(xs);
            log_softmax<TypeParam>(x.matrix(), x.matrix(), *this->stream, {.algorithm = algorithm});
            this->stream->synchronize();
            ASSERT_TRUE(test::are_within(x.download(), expected.log_softmax, expected.log_bounds));
            ASSERT_TRUE(x.canaries_alive());
        }
}

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

TYPED_TEST(softmax_rows, are_defined_for_infinities_and_pass_on_nan) {
    for (const std::int64_t cols : {1, 2, 3, 32, 100, 1024, 1025, 4096, 9001, 20000, 140001}) {
        SCOPED_TRACE(cols);
        const auto xs = special_rows<TypeParam>(cols);
        // The reference's maximum skips NaN, which then is in its sum and so in all of the row.
        const auto algorithms = cols < 10000 ? every_algorithm() : std::vector{softmax_algorithm::vectorized};
        ASSERT_NO_FATAL_FAILURE(this->check(xs, std::ssize(xs) / cols, cols, {}, {}, algorithms));
    }
}

TYPED_TEST(softmax_rows, of_equal_infinities_are_shares) {
    const TypeParam low = -infinity<TypeParam>(), high = infinity<TypeParam>();
    const std::vector<TypeParam> xs = {low, low, low, low, high, TypeParam(1), high, low};
    for (const softmax_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<TypeParam> x(2, 4, 4), y(2, 4, 4);
        x.upload(xs);
        softmax<TypeParam>(x.matrix(), y.matrix(), *this->stream, {.algorithm = algorithm});
        this->stream->synchronize();
        const auto result = y.download();
        const std::vector<double> expected = {.25, .25, .25, .25, .5, 0, .5, 0};
        for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(test::to_double(result[i]), expected[i]) << i;
    }
}

TYPED_TEST(softmax_rows, give_the_same_bits_in_a_graph) {
    for (const auto& [rows, cols] : {std::pair{1000, 100}, {50, 5000}, {20, 50000}, {3, 200000}}) {
        const auto xs = random_elements<TypeParam>(std::int64_t{rows} * cols, -4, 4);
        guarded<TypeParam> x(rows, cols, cols), y(rows, cols, cols), again(rows, cols, cols);
        x.upload(xs);
        softmax<TypeParam>(x.matrix(), y.matrix(), *this->stream);
        const graph captured = graph::capture(
            *this->stream, [&] { softmax<TypeParam>(x.matrix(), again.matrix(), *this->stream); });
        for (int i = 0; i < 3; ++i) captured.launch(*this->stream);
        this->stream->synchronize();
        const auto first = y.download(), second = again.download();
        EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(TypeParam)), 0);
    }
}

// All below run everywhere: on the host, or checked before any device is asked for.

template <class T>
class host_softmax : public testing::Test {};
TYPED_TEST_SUITE(host_softmax, test::row_types, test::type_names);

TYPED_TEST(host_softmax, is_the_formula) {
    const auto check = [](const std::vector<TypeParam>& xs, std::int64_t rows, std::int64_t cols,
                          const row_layout& lx, const row_layout& ly) {
        constexpr auto host = guarded<TypeParam>::memory::host;
        const reference expected(xs, cols, test::softmax_steps_on_host);
        auto x = test::make_rows<TypeParam>(rows, cols, lx, host);
        auto y = test::make_rows<TypeParam>(rows, cols, ly, host);
        x.upload(xs);
        host::softmax<TypeParam>(x.matrix(), y.matrix());
        ASSERT_TRUE(test::are_within(y.download(), expected.softmax, expected.bounds));
        host::log_softmax<TypeParam>(x.matrix(), y.matrix());
        ASSERT_TRUE(test::are_within(y.download(), expected.log_softmax, expected.log_bounds));
        ASSERT_TRUE(y.canaries_alive());
        host::softmax<TypeParam>(x.matrix(), x.matrix());
        ASSERT_TRUE(test::are_within(x.download(), expected.softmax, expected.bounds));
        ASSERT_TRUE(x.canaries_alive());
    };
    for (const auto& [rows, cols] : {std::pair{0, 3}, {3, 0}, {1, 1}, {5, 7}, {1001, 33}, {3, 40000}})
        for (const row_layout& l : {row_layout{}, {.padding = 3}, {.step = 2}, {.column_major = true}}) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols);
            const auto xs = random_elements<TypeParam>(std::int64_t{rows} * cols, -10, 10);
            ASSERT_NO_FATAL_FAILURE(check(xs, rows, cols, l, {}));
            ASSERT_NO_FATAL_FAILURE(check(xs, rows, cols, {.offset = 1}, l));
        }
    for (const std::int64_t cols : {1, 2, 100, 2000}) {
        const auto xs = special_rows<TypeParam>(cols);
        ASSERT_NO_FATAL_FAILURE(check(xs, std::ssize(xs) / cols, cols, {}, {}));
    }
}

const cuda::stream_ref no_stream{cudaStream_t{}};

TEST(softmax_arguments, are_checked_before_anything_is_enqueued) {
    using host_memory = guarded<float>;
    host_memory x{4, 6, 6, 0, 1, host_memory::memory::host}, y{4, 6, 6, 0, 1, host_memory::memory::host};
    const auto message = [&](matrix_view<float> vx, matrix_view<float> vy, softmax_options options = {}) {
        const auto text = invalid_argument_of([&] { softmax<float>(vx, vy, no_stream, options); });
        EXPECT_TRUE(x.untouched() && y.untouched());
        return text;
    };
    const matrix_view<float> in = x.matrix(), out = y.matrix();
    EXPECT_EQ(message({x.data(), 3, 6}, out), "softmax: x.rows is 3, expected 4 (y.rows)");
    EXPECT_EQ(message({x.data(), 4, 5}, out), "softmax: x.cols is 5, expected 6 (y.cols)");
    EXPECT_EQ(message(in, {y.data(), -4, 6}), "softmax: y.rows is -4, expected zero or more");
    EXPECT_EQ(message({nullptr, 4, 6}, out), "softmax: x.data is null, expected a pointer to its elements");
    EXPECT_EQ(
        message(in, {y.data(), 4, 6, 5}),
        "softmax: y.row_stride is 5, expected at least 6 (a row), or a col_stride of at least a column");
    EXPECT_EQ(message({y.data() + 1, 3, 6}, {y.data(), 3, 6}),
              "softmax: y is a view that overlaps an input in part, expected exactly x or apart from it");
    EXPECT_EQ(message(in, out, {.algorithm = static_cast<softmax_algorithm>(99)}),
              "softmax: options.algorithm is 99, expected an enumerator of softmax_algorithm");
    EXPECT_EQ(invalid_argument_of([&] {
                  log_softmax<float>({x.data(), 3, 6}, out, no_stream);
              }),
              "log_softmax: x.rows is 3, expected 4 (y.rows)");
    EXPECT_EQ(invalid_argument_of([&] {
                  host::softmax<float>({x.data(), 3, 6}, out);
              }),
              "host::softmax: x.rows is 3, expected 4 (y.rows)");
    EXPECT_TRUE(x.untouched() && y.untouched());
}

TEST(softmax_arguments, may_be_empty) {
    const matrix_view<float> no_rows{nullptr, 0, 6}, no_cols{nullptr, 6, 0};
    EXPECT_NO_THROW(softmax<float>(no_rows, no_rows, no_stream));
    EXPECT_NO_THROW(log_softmax<float>(no_cols, no_cols, no_stream));
    EXPECT_NO_THROW(host::softmax<float>(no_cols, no_cols));
}

class softmax_unsupported : public test::gpu_test {};

TEST_F(softmax_unsupported, vectorized_needs_rows_side_by_side) {
    guarded<float> x(4, 6, 13, 0, 2), y(4, 6, 6);
    EXPECT_THROW(
        softmax<float>(x.matrix(), y.matrix(), no_stream, {.algorithm = softmax_algorithm::vectorized}),
        unsupported);
    EXPECT_TRUE(y.untouched());
}

TEST(softmax_select, vectorises_rows_that_lie_side_by_side) {
    const device_traits device{.sm_count = 132, .max_threads_per_sm = 2048};
    EXPECT_EQ(select(softmax_problem{.rows = 1, .cols = 9}, device), softmax_algorithm::vectorized);
    EXPECT_EQ(select(softmax_problem{.rows = 100, .cols = 9, .unit_stride = false}, device),
              softmax_algorithm::online);
    EXPECT_EQ(select(softmax_problem{.rows = 1 << 20, .cols = 9, .unit_stride = false}, device),
              softmax_algorithm::naive);
}

TEST(softmax_algorithms, have_names_of_their_own) {
    std::set<std::string_view> names = {"automatic", "unknown"};
    for (const softmax_algorithm algorithm : softmax_algorithms()) {
        EXPECT_NE(algorithm, softmax_algorithm::automatic);
        EXPECT_TRUE(names.insert(to_string(algorithm)).second) << to_string(algorithm);
    }
    EXPECT_EQ(to_string(softmax_algorithm::automatic), "automatic");
    EXPECT_EQ(to_string(static_cast<softmax_algorithm>(99)), "unknown");
}

}  // namespace
}  // namespace heddle
