#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/provoked.hpp"
#include "tests/support/random.hpp"
#include "tests/support/rows.hpp"
#include "tests/support/softmax.hpp"
#include "tests/support/softmax_gradient.hpp"
#include <heddle/error.hpp>
#include <heddle/graph.hpp>
#include <heddle/host.hpp>
#include <heddle/softmax.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle {
namespace {

using algorithm = softmax_gradient_algorithm;
using reference = test::expected_softmax_gradient;
using test::guarded;
using test::invalid_argument_of;
using test::random_elements;
using test::row_layout;

const cuda::stream_ref no_stream{cudaStream_t{}};

std::vector<algorithm> every_algorithm() {
    std::vector<algorithm> all(softmax_gradient_algorithms().begin(), softmax_gradient_algorithms().end());
    all.push_back(algorithm::automatic);
    return all;
}

struct layouts {
    row_layout y{};
    row_layout dy{};
    row_layout dx{};
};

template <class T>
class softmax_gradients : public test::gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream.emplace();
    }

    static bool takes(algorithm a, const matrix_view<T>& y, const matrix_view<T>& dy,
                      const matrix_view<T>& dx) {
        const softmax_gradient_problem problem{
            .rows = y.rows,
            .cols = y.cols,
            .unit_stride = y.cols == 1 || (y.col_stride == 1 && dy.col_stride == 1 && dx.col_stride == 1),
            .element_bytes = sizeof(T)};
        return y.rows == 0 || y.cols == 0 || why_not(a, problem, traits_of(current_device())).empty();
    }

    /// Both operations with every algorithm: it is right, or refused where why_not() says so.
    void check(const std::vector<T>& ys, const std::vector<T>& dys, std::int64_t rows, std::int64_t cols,
               const layouts& l, const std::vector<algorithm>& algorithms) {
        guarded<T> y = test::make_rows<T>(rows, cols, l.y), dy = test::make_rows<T>(rows, cols, l.dy);
        y.upload(ys);
        dy.upload(dys);
        for (const algorithm a : algorithms) {
            SCOPED_TRACE(to_string(a));
            guarded<T> dx = test::make_rows<T>(rows, cols, l.dx),
                       log_dx = test::make_rows<T>(rows, cols, l.dx);
            const auto run = [&] {
                softmax_gradient<T>(y.matrix(), dy.matrix(), dx.matrix(), *stream, {.algorithm = a});
            };
            const auto run_log = [&] {
                log_softmax_gradient<T>(y.matrix(), dy.matrix(), log_dx.matrix(), *stream, {.algorithm = a});
            };
            if (!takes(a, y.matrix(), dy.matrix(), dx.matrix())) {
                ASSERT_THROW(run(), unsupported);
                ASSERT_THROW(run_log(), unsupported);
                continue;
            }
            run();
            run_log();
            stream->synchronize();
            const reference expected(ys, dys, cols, test::softmax_gradient_depth(a, cols));
            ASSERT_TRUE(test::are_within(dx.download(), expected.softmax, expected.bounds));
            ASSERT_TRUE(test::are_within(log_dx.download(), expected.log_softmax, expected.log_bounds))
                << "log";
            ASSERT_TRUE(dx.canaries_alive() && log_dx.canaries_alive());
        }
        ASSERT_TRUE(y.untouched() && dy.untouched());
    }
    void check(std::int64_t rows, std::int64_t cols, const layouts& l = {},
               const std::vector<algorithm>& algorithms = every_algorithm()) {
        // Sums of long rows stay within half's range where dy has mean 0.
        const double least = std::is_same_v<T, half> ? -1 : -2;
        check(random_elements<T>(rows * cols, -4, 1), random_elements<T>(rows * cols, least, 1), rows, cols,
              l, algorithms);
    }

    std::optional<heddle::stream> stream;
};
TYPED_TEST_SUITE(softmax_gradients, test::row_types, test::type_names);

TYPED_TEST(softmax_gradients, take_every_shape) {
    for (const auto& [rows, cols] : test::row_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols));
    }
}

TYPED_TEST(softmax_gradients, take_long_rows) {
    for (const auto& [rows, cols] : test::long_row_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(
            this->check(rows, cols, {}, {algorithm::block_per_row, algorithm::vectorized}));
    }
}

TYPED_TEST(softmax_gradients, of_drawn_problems_take_every_plan) {
    constexpr int draws = 70;  // of each type
    test::drawing draw;
    for (int i = 0; i < draws; ++i) {
        const auto [rows, cols] = test::draw_row_shape(draw);
        SCOPED_TRACE(testing::Message() << "draw " << i << ": " << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols,
                                            {.y = test::draw_row_layout(draw),
                                             .dy = test::draw_row_layout(draw),
                                             .dx = test::draw_row_layout(draw)}));
    }
}

TYPED_TEST(softmax_gradients, take_every_alignment_and_padding) {
    for (const std::int64_t cols : {5, 32, 128, 512, 1000, 1024, 4096, 10000, 140000})
        for (const row_layout& l :
             {row_layout{.offset = 1}, {.padding = 1}, {.padding = 8}, {.offset = 3, .padding = 5}}) {
            SCOPED_TRACE(testing::Message()
                         << cols << " columns, offset " << l.offset << ", padding " << l.padding);
            const std::vector<algorithm> algorithms = {algorithm::vectorized};
            ASSERT_NO_FATAL_FAILURE(this->check(3, cols, {.y = l}, algorithms));
            ASSERT_NO_FATAL_FAILURE(this->check(3, cols, {.dy = l}, algorithms));
            ASSERT_NO_FATAL_FAILURE(this->check(3, cols, {.dx = l}, algorithms));
            ASSERT_NO_FATAL_FAILURE(this->check(3, cols, {l, l, l}, algorithms));
        }
}

TYPED_TEST(softmax_gradients, take_spaced_and_transposed_matrices) {
    for (const auto& [rows, cols] : test::strided_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.y = {.step = 2}, .dx = {.padding = 1, .step = 3}}));
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.dy = {.column_major = true}}));
        ASSERT_NO_FATAL_FAILURE(this->check(
            rows, cols, {.y = {.padding = 2, .column_major = true}, .dx = {.column_major = true}}));
    }
}

TYPED_TEST(softmax_gradients, work_in_place) {
    for (const std::int64_t cols : {3, 128, 1024, 5000, 40000, 140001})
        for (const algorithm a : every_algorithm())
            for (const bool is_of_y : {true, false}) {
                SCOPED_TRACE(testing::Message() << cols << " columns, " << to_string(a));
                guarded<TypeParam> y(2, cols, cols + 8), dy(2, cols, cols + 8);
                const auto ys = random_elements<TypeParam>(2 * cols, -4, 1),
                           dys = random_elements<TypeParam>(2 * cols);
                const reference expected(ys, dys, cols, test::softmax_gradient_depth(a, cols));
                guarded<TypeParam>& dx = is_of_y ? y : dy;
                y.upload(ys);
                dy.upload(dys);
                softmax_gradient<TypeParam>(y.matrix(), dy.matrix(), dx.matrix(), *this->stream,
                                            {.algorithm = a});
                this->stream->synchronize();
                ASSERT_TRUE(test::are_within(dx.download(), expected.softmax, expected.bounds));
                ASSERT_TRUE(dx.canaries_alive());
            }
}

TYPED_TEST(softmax_gradients, keep_nan_to_its_row) {
    for (const std::int64_t cols : {1, 31, 128, 1000, 5000, 40000})
        for (const bool is_of_y : {true, false})
            for (const algorithm a : every_algorithm()) {
                SCOPED_TRACE(testing::Message() << cols << " columns, " << to_string(a));
                auto ys = random_elements<TypeParam>(3 * cols), dys = random_elements<TypeParam>(3 * cols);
                (is_of_y ? ys : dys)[static_cast<std::size_t>(cols + cols / 2)] =
                    test::not_a_number<TypeParam>();
                guarded<TypeParam> y(3, cols, cols), dy(3, cols, cols), dx(3, cols, cols);
                y.upload(ys);
                dy.upload(dys);
                softmax_gradient<TypeParam>(y.matrix(), dy.matrix(), dx.matrix(), *this->stream,
                                            {.algorithm = a});
                this->stream->synchronize();
                const auto results = dx.download();
                for (std::int64_t i = 0; i < 3 * cols; ++i)
                    ASSERT_EQ(std::isnan(test::to_double(results[static_cast<std::size_t>(i)])),
                              i / cols == 1)
                        << i;
            }
}

TYPED_TEST(softmax_gradients, give_the_same_bits_in_a_graph) {
    for (const auto& [rows, cols] : {std::pair{1000, 100}, {50, 5000}, {20, 50000}, {3, 200000}}) {
        const auto ys = random_elements<TypeParam>(std::int64_t{rows} * cols),
                   dys = random_elements<TypeParam>(std::int64_t{rows} * cols);
        guarded<TypeParam> y(rows, cols, cols), dy(rows, cols, cols), dx(rows, cols, cols),
            again(rows, cols, cols);
        y.upload(ys);
        dy.upload(dys);
        softmax_gradient<TypeParam>(y.matrix(), dy.matrix(), dx.matrix(), *this->stream);
        const graph captured = graph::capture(*this->stream, [&] {
            softmax_gradient<TypeParam>(y.matrix(), dy.matrix(), again.matrix(), *this->stream);
        });
        for (int i = 0; i < 3; ++i) captured.launch(*this->stream);
        this->stream->synchronize();
        const auto first = dx.download(), second = again.download();
        EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(TypeParam)), 0);
    }
}

/// What the tests of all rungs compare with is itself the derivative of what those of softmax compare with.
TEST(softmax_gradient_reference, agrees_with_finite_differences) {
    constexpr std::int64_t rows = 2, cols = 9;
    constexpr double step = 1e-5;
    auto x = random_elements<double>(rows * cols, -2, 2);
    const auto dy = random_elements<double>(rows * cols);
    const test::expected_softmax y(x, cols, test::softmax_steps_on_host);
    const reference of_softmax(y.softmax, dy, cols, 1), of_log(y.log_softmax, dy, cols, 1);
    const auto losses = [&] {
        const test::expected_softmax at(x, cols, test::softmax_steps_on_host);
        std::pair<double, double> sums{0, 0};
        for (std::size_t i = 0; i < dy.size(); ++i) {
            sums.first += dy[i] * at.softmax[i];
            sums.second += dy[i] * at.log_softmax[i];
        }
        return sums;
    };
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double at = x[i];
        x[i] = at + step;
        const auto above = losses();
        x[i] = at - step;
        const auto below = losses();
        x[i] = at;
        EXPECT_NEAR((above.first - below.first) / (2 * step), of_softmax.softmax[i], 1e-7);
        EXPECT_NEAR((above.second - below.second) / (2 * step), of_log.log_softmax[i], 1e-7);
    }
}

template <class T>
class host_softmax_gradient : public testing::Test {};
TYPED_TEST_SUITE(host_softmax_gradient, test::row_types, test::type_names);

TYPED_TEST(host_softmax_gradient, is_the_formula) {
    constexpr auto host = guarded<TypeParam>::memory::host;
    for (const auto& [rows, cols] : {std::pair{0, 3}, {3, 0}, {1, 1}, {5, 7}, {1001, 33}, {3, 40000}})
        for (const row_layout& l : {row_layout{}, {.padding = 3}, {.step = 2}, {.column_major = true}}) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols);
            const auto ys = random_elements<TypeParam>(std::int64_t{rows} * cols, -4, 1),
                       dys = random_elements<TypeParam>(std::int64_t{rows} * cols);
            auto y = test::make_rows<TypeParam>(rows, cols, l, host),
                 dy = test::make_rows<TypeParam>(rows, cols, {.offset = 1}, host),
                 dx = test::make_rows<TypeParam>(rows, cols, {.padding = 1}, host);
            y.upload(ys);
            dy.upload(dys);
            const reference expected(ys, dys, cols, test::softmax_gradient_depth_on_host);
            host::softmax_gradient<TypeParam>(y.matrix(), dy.matrix(), dx.matrix());
            ASSERT_TRUE(test::are_within(dx.download(), expected.softmax, expected.bounds));
            host::log_softmax_gradient<TypeParam>(y.matrix(), dy.matrix(), dy.matrix());
            ASSERT_TRUE(test::are_within(dy.download(), expected.log_softmax, expected.log_bounds));
            ASSERT_TRUE(dx.canaries_alive() && dy.canaries_alive() && y.untouched());
        }
}

TEST(softmax_gradient_arguments, are_checked_before_anything_is_enqueued) {
    using memory = guarded<float>;
    constexpr auto host = memory::memory::host;
    memory y(4, 6, 6, 0, 1, host), dy(4, 6, 6, 0, 1, host), dx(4, 6, 6, 0, 1, host);
    EXPECT_EQ(invalid_argument_of([&] {
                  softmax_gradient<float>({y.data(), 3, 6}, dy.matrix(), dx.matrix(), no_stream);
              }),
              "softmax_gradient: y.rows is 3, expected 4 (dx.rows)");
    EXPECT_EQ(invalid_argument_of([&] {
                  softmax_gradient<float>({y.data(), 3, 6}, {dx.data() + 1, 3, 6},
                                          matrix_view<float>{dx.data(), 3, 6}, no_stream);
              }),
              "softmax_gradient: dx is a view that overlaps an input in part, expected exactly dy or apart "
              "from it");
    EXPECT_EQ(invalid_argument_of([&] {
                  log_softmax_gradient<float>(y.matrix(), dy.matrix(), dx.matrix(), no_stream,
                                              {.algorithm = static_cast<algorithm>(99)});
              }),
              "log_softmax_gradient: options.algorithm is 99, expected an enumerator of "
              "softmax_gradient_algorithm");
    EXPECT_EQ(invalid_argument_of([&] {
                  host::softmax_gradient<float>(y.matrix(), {dy.data(), 4, 5}, dx.matrix());
              }),
              "host::softmax_gradient: dy.cols is 5, expected 6 (dx.cols)");
    EXPECT_TRUE(y.untouched() && dy.untouched() && dx.untouched());
    const matrix_view<float> no_rows{nullptr, 0, 6};
    EXPECT_NO_THROW(softmax_gradient<float>(no_rows, no_rows, no_rows, no_stream));
}

TEST(softmax_gradient_select, vectorises_rows_that_lie_side_by_side) {
    const device_traits device{.sm_count = 132};
    const softmax_gradient_problem apart{.rows = 100, .cols = 9, .unit_stride = false};
    EXPECT_EQ(select(softmax_gradient_problem{.rows = 1, .cols = 9}, device), algorithm::vectorized);
    EXPECT_EQ(select(apart, device), algorithm::block_per_row);
    EXPECT_EQ(why_not(algorithm::vectorized, apart, device),
              "softmax_gradient: vectorized needs each row's elements side by side; given: rows 100, cols "
              "9, unit_stride false, element_bytes 4, compute capability 0.0");
    EXPECT_EQ(why_not(algorithm::naive, apart, device), "");
    std::set<std::string_view> names = {"automatic", "unknown"};
    for (const algorithm a : softmax_gradient_algorithms())
        EXPECT_TRUE(names.insert(to_string(a)).second) << to_string(a);
    EXPECT_EQ(to_string(static_cast<algorithm>(99)), "unknown");
}

}  // namespace
}  // namespace heddle
