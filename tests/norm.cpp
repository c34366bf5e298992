#include "tests/support/norm.hpp"

#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/provoked.hpp"
#include "tests/support/random.hpp"
#include "tests/support/rows.hpp"
#include <heddle/graph.hpp>
#include <heddle/host.hpp>
#include <heddle/norm.hpp>
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

using operation = test::norm_operation;
using reference = test::expected_norm;
using test::guarded;
using test::infinity;
using test::invalid_argument_of;
using test::not_a_number;
using test::random_elements;
using test::row_layout;

std::vector<norm_algorithm> every_algorithm() {
    std::vector<norm_algorithm> all(norm_algorithms().begin(), norm_algorithms().end());
    all.push_back(norm_algorithm::automatic);
    return all;
}

template <class T>
class norm_rows : public test::gpu_test {
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

    /// Both operations with every algorithm that takes the layouts.
    void check(const std::vector<T>& xs, std::int64_t rows, std::int64_t cols, const layouts& l,
               const std::vector<norm_algorithm>& algorithms, const norm_options& options = {}) {
        guarded<T> x = test::make_rows<T>(rows, cols, l.x);
        x.upload(xs);
        const std::int64_t parameters = l.has_parameters ? cols : 0;
        const auto gammas = random_elements<T>(parameters, -2, 2),
                   betas = random_elements<T>(parameters, -2, 2);
        guarded<T> gamma(1, parameters, 0, l.parameter_offset, l.parameter_stride),
            beta(1, parameters, 0, l.parameter_offset, l.parameter_stride);
        gamma.upload(gammas);
        beta.upload(betas);
        const bool is_side_by_side =
            l.x.has_rows_side_by_side() && l.y.has_rows_side_by_side() && l.parameter_stride == 1;
        for (const norm_algorithm algorithm : algorithms) {
            if (algorithm == norm_algorithm::vectorized && cols > 1 && !is_side_by_side) continue;
            SCOPED_TRACE(to_string(algorithm));
            norm_options chosen = options;
            chosen.algorithm = algorithm;
            guarded<T> y = test::make_rows<T>(rows, cols, l.y);
            layer_norm<T>(x.matrix(), gamma.vector(), beta.vector(), y.matrix(), *stream, chosen);
            stream->synchronize();
            expect(operation::layer_norm, y, xs, gammas, betas, cols, chosen);
            rms_norm<T>(x.matrix(), gamma.vector(), y.matrix(), *stream, chosen);
            stream->synchronize();
            expect(operation::rms_norm, y, xs, gammas, {}, cols, chosen);
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

    void expect(operation op, guarded<T>& y, const std::vector<T>& xs, const std::vector<T>& gammas,
                const std::vector<T>& betas, std::int64_t cols, const norm_options& options) {
        const reference expected(op, xs, gammas, betas, cols, options.epsilon,
                                 test::norm_depth(options.algorithm, cols));
        ASSERT_TRUE(test::are_within(y.download(), expected.values, expected.bounds))
            << (op == operation::layer_norm ? "layer_norm" : "rms_norm");
        ASSERT_TRUE(y.canaries_alive());
    }

    std::optional<heddle::stream> stream;
};

TYPED_TEST_SUITE(norm_rows, test::row_types, test::type_names);

TYPED_TEST(norm_rows, take_every_shape) {
    for (const auto& [rows, cols] : test::row_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols));
    }
}

TYPED_TEST(norm_rows, take_long_rows) {
    for (const auto& [rows, cols] : test::long_row_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(
            this->check(rows, cols, {}, {norm_algorithm::block_per_row, norm_algorithm::vectorized}));
    }
}

TYPED_TEST(norm_rows, take_no_parameters) {
    for (const std::int64_t cols : {1, 17, 128, 1024, 5000, 140001}) {
        SCOPED_TRACE(cols);
        ASSERT_NO_FATAL_FAILURE(this->check(3, cols, {.has_parameters = false},
                                            {norm_algorithm::block_per_row, norm_algorithm::vectorized}));
    }
}

TYPED_TEST(norm_rows, take_every_alignment_and_padding) {
    for (const std::int64_t cols : {5, 32, 128, 1000, 1024, 4096, 10000, 140000})
        for (const row_layout& l :
             {row_layout{.offset = 1}, {.padding = 1}, {.padding = 8}, {.offset = 3, .padding = 5}}) {
            SCOPED_TRACE(testing::Message()
                         << cols << " columns, offset " << l.offset << ", padding " << l.padding);
            const std::vector<norm_algorithm> algorithms = {norm_algorithm::vectorized};
            ASSERT_NO_FATAL_FAILURE(this->check(3, cols, {.x = l}, algorithms));
            ASSERT_NO_FATAL_FAILURE(this->check(3, cols, {.y = l}, algorithms));
            ASSERT_NO_FATAL_FAILURE(
                this->check(3, cols, {.x = l, .y = l, .parameter_offset = 1}, algorithms));
        }
}

TYPED_TEST(norm_rows, take_spaced_and_transposed_matrices) {
    for (const auto& [rows, cols] : {std::pair{7, 100}, {20000, 5}, {300, 1}, {1, 3000}}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(
            rows, cols, {.x = {.step = 2}, .y = {.padding = 1, .step = 3}, .parameter_stride = 2}));
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.parameter_stride = 3}));
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.x = {.column_major = true}}));
        ASSERT_NO_FATAL_FAILURE(this->check(
            rows, cols, {.x = {.padding = 2, .column_major = true}, .y = {.column_major = true}}));
    }
}

TYPED_TEST(norm_rows, are_accurate_far_from_zero) {
    // A difference of squares would lose the variance of these altogether.
    for (const double center : {100.0, -1000.0})
        for (const std::int64_t cols : {7, 128, 1024, 4097, 30000, 150000}) {
            SCOPED_TRACE(testing::Message() << cols << " columns about " << center);
            const auto xs = random_elements<TypeParam>(2 * cols, center - 5, center + 5);
            ASSERT_NO_FATAL_FAILURE(
                this->check(xs, 2, cols, {}, {norm_algorithm::block_per_row, norm_algorithm::vectorized}));
        }
}

TYPED_TEST(norm_rows, take_equal_elements_and_any_epsilon) {
    for (const float epsilon : {1e-12f, 1e-5f, 0.5f})
        for (const std::int64_t cols : {1, 33, 1024, 3000}) {
            SCOPED_TRACE(testing::Message() << cols << " columns, epsilon " << epsilon);
            const std::vector<TypeParam> xs(static_cast<std::size_t>(2 * cols),
                                            static_cast<TypeParam>(0.375f));
            ASSERT_NO_FATAL_FAILURE(this->check(xs, 2, cols, {}, every_algorithm(), {.epsilon = epsilon}));
        }
}

TYPED_TEST(norm_rows, keep_nan_and_infinity_to_their_row) {
    for (const std::int64_t cols : {1, 31, 128, 1000, 5000, 40000, 140001}) {
        SCOPED_TRACE(cols);
        for (const TypeParam odd :
             {not_a_number<TypeParam>(), infinity<TypeParam>(), -infinity<TypeParam>()}) {
            auto xs = random_elements<TypeParam>(3 * cols, -1, 1);
            xs[static_cast<std::size_t>(cols + cols / 2)] = odd;
            guarded<TypeParam> x(3, cols, cols), y(3, cols, cols);
            x.upload(xs);
            for (const norm_algorithm algorithm : every_algorithm()) {
                SCOPED_TRACE(to_string(algorithm));
                layer_norm<TypeParam>(x.matrix(), {}, {}, y.matrix(), *this->stream,
                                      {.algorithm = algorithm});
                this->stream->synchronize();
                const auto ys = y.download();
                for (std::int64_t i = 0; i < 3 * cols; ++i)
                    ASSERT_EQ(std::isnan(test::to_double(ys[static_cast<std::size_t>(i)])), i / cols == 1)
                        << i;
            }
        }
    }
}

TYPED_TEST(norm_rows, work_in_place) {
    for (const std::int64_t cols : {3, 128, 1024, 5000, 40000, 140001})
        for (const norm_algorithm algorithm : every_algorithm()) {
            SCOPED_TRACE(testing::Message() << cols << " columns, " << to_string(algorithm));
            const auto xs = random_elements<TypeParam>(2 * cols, -5, 5);
            const norm_options options{.algorithm = algorithm};
            guarded<TypeParam> x(2, cols, cols + 4);
            x.upload(xs);
            layer_norm<TypeParam>(x.matrix(), {}, {}, x.matrix(), *this->stream, options);
            this->stream->synchronize();
            ASSERT_NO_FATAL_FAILURE(this->expect(operation::layer_norm, x, xs, {}, {}, cols, options));
            x.upload(xs);
            rms_norm<TypeParam>(x.matrix(), {}, x.matrix(), *this->stream, options);
            this->stream->synchronize();
            ASSERT_NO_FATAL_FAILURE(this->expect(operation::rms_norm, x, xs, {}, {}, cols, options));
        }
}

TYPED_TEST(norm_rows, give_the_same_bits_in_a_graph) {
    for (const auto& [rows, cols] : {std::pair{1000, 100}, {50, 5000}, {20, 50000}, {3, 200000}}) {
        const auto xs = random_elements<TypeParam>(std::int64_t{rows} * cols, -4, 4);
        guarded<TypeParam> x(rows, cols, cols), y(rows, cols, cols), again(rows, cols, cols);
        x.upload(xs);
        layer_norm<TypeParam>(x.matrix(), {}, {}, y.matrix(), *this->stream);
        const graph captured = graph::capture(
            *this->stream, [&] { layer_norm<TypeParam>(x.matrix(), {}, {}, again.matrix(), *this->stream); });
        for (int i = 0; i < 3; ++i) captured.launch(*this->stream);
        this->stream->synchronize();
        const auto first = y.download(), second = again.download();
        EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(TypeParam)), 0);
    }
}

/// half holds nothing whose square float does not.
using wide_types = testing::Types<float, bfloat16>;

/// Rows whose sums float cannot hold, beside two that it can: layer_norm and rms_norm, which call the functions of that name on
/// the views, do what their comments say, wherever they run.
template <class T, class LayerNorm, class RmsNorm>
void check_beyond_float(std::int64_t cols, double depth, typename guarded<T>::memory where,
                        LayerNorm layer_norm, RmsNorm rms_norm) {
    constexpr std::int64_t rows = 6;
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
        const double actual = test::to_double(ys[static_cast<std::size_t>(i)]);
        const double shift = test::to_double(betas[static_cast<std::size_t>(i % cols)]);
        ASSERT_TRUE(i / cols >= overflowing_sum ? std::isnan(actual) : actual == shift)
            << "layer_norm, row " << i / cols << ": " << actual;
    }
    ys.resize(in_range.size());
    const reference layer(operation::layer_norm, in_range, gammas, betas, cols, 1e-5f, depth);
    ASSERT_TRUE(test::are_within(ys, layer.values, layer.bounds));

    rms_norm(x.matrix(), gamma.vector(), y.matrix());
    ys = y.download();
    for (std::int64_t i = overflowing_squares * cols; i < rows * cols; ++i)
        ASSERT_EQ(test::to_double(ys[static_cast<std::size_t>(i)]), 0) << "rms_norm, row " << i / cols;
    ys.resize(in_range.size());
    const reference rms(operation::rms_norm, in_range, gammas, {}, cols, 1e-5f, depth);
    ASSERT_TRUE(test::are_within(ys, rms.values, rms.bounds));
}

template <class T>
class norm_beyond_float : public test::gpu_test {};
TYPED_TEST_SUITE(norm_beyond_float, wide_types, test::type_names);

TYPED_TEST(norm_beyond_float, is_what_the_comments_say) {
    using matrix = matrix_view<TypeParam>;
    using vector = vector_view<TypeParam>;
    const heddle::stream stream;
    for (const std::int64_t cols : {32, 100, 1000, 5000, 40000, 140001})
        for (const norm_algorithm algorithm : every_algorithm()) {
            SCOPED_TRACE(testing::Message() << cols << " columns, " << to_string(algorithm));
            ASSERT_NO_FATAL_FAILURE(check_beyond_float<TypeParam>(
                cols, test::norm_depth(algorithm, cols), guarded<TypeParam>::memory::device,
                [&](matrix x, vector gamma, vector beta, matrix y) {
                    layer_norm<TypeParam>(x, gamma, beta, y, stream, {.algorithm = algorithm});
                },
                [&](matrix x, vector gamma, matrix y) {
                    rms_norm<TypeParam>(x, gamma, y, stream, {.algorithm = algorithm});
                }));
        }
}

// All below run everywhere: on the host, or checked before any device is asked for.

template <class T>
class host_norm_beyond_float : public testing::Test {};
TYPED_TEST_SUITE(host_norm_beyond_float, wide_types, test::type_names);

TYPED_TEST(host_norm_beyond_float, is_what_the_comments_say) {
    using matrix = matrix_view<TypeParam>;
    using vector = vector_view<TypeParam>;
    for (const std::int64_t cols : {32, 1000, 40000}) {
        SCOPED_TRACE(testing::Message() << cols << " columns");
        ASSERT_NO_FATAL_FAILURE(check_beyond_float<TypeParam>(
            cols, test::norm_depth_on_host, guarded<TypeParam>::memory::host,
            [](matrix x, vector gamma, vector beta, matrix y) {
                host::layer_norm<TypeParam>(x, gamma, beta, y);
            },
            [](matrix x, vector gamma, matrix y) { host::rms_norm<TypeParam>(x, gamma, y); }));
    }
}

template <class T>
class host_norm : public testing::Test {};
TYPED_TEST_SUITE(host_norm, test::row_types, test::type_names);

TYPED_TEST(host_norm, is_the_formula) {
    using matrix = guarded<TypeParam>;
    constexpr auto host = matrix::memory::host;
    for (const auto& [rows, cols] : {std::pair{0, 3}, {3, 0}, {1, 1}, {5, 7}, {1001, 33}, {3, 40000}})
        for (const row_layout& l : {row_layout{}, {.padding = 3}, {.step = 2}, {.column_major = true}})
            for (const std::int64_t parameters : {0, cols}) {
                SCOPED_TRACE(testing::Message() << rows << " x " << cols);
                const auto xs = random_elements<TypeParam>(std::int64_t{rows} * cols, 90, 110);
                const auto gammas = random_elements<TypeParam>(parameters),
                           betas = random_elements<TypeParam>(parameters);
                auto x = test::make_rows<TypeParam>(rows, cols, l, host);
                auto y = test::make_rows<TypeParam>(rows, cols, {.padding = 1}, host);
                matrix gamma(1, parameters, 0, 0, 2, host), beta(1, parameters, 0, 0, 3, host);
                x.upload(xs);
                gamma.upload(gammas);
                beta.upload(betas);
                host::layer_norm<TypeParam>(x.matrix(), gamma.vector(), beta.vector(), y.matrix(), 0.01f);
                const reference layer(operation::layer_norm, xs, gammas, betas, cols, 0.01f,
                                      test::norm_depth_on_host);
                ASSERT_TRUE(test::are_within(y.download(), layer.values, layer.bounds));
                host::rms_norm<TypeParam>(x.matrix(), gamma.vector(), y.matrix());
                const reference rms(operation::rms_norm, xs, gammas, {}, cols, 1e-5f,
                                    test::norm_depth_on_host);
                ASSERT_TRUE(test::are_within(y.download(), rms.values, rms.bounds));
                ASSERT_TRUE(y.canaries_alive());
                host::layer_norm<TypeParam>(x.matrix(), gamma.vector(), beta.vector(), x.matrix(), 0.01f);
                ASSERT_TRUE(test::are_within(x.download(), layer.values, layer.bounds));
                ASSERT_TRUE(x.canaries_alive());
            }
}

const cuda::stream_ref no_stream{cudaStream_t{}};

TEST(norm_arguments, are_checked_before_anything_is_enqueued) {
    using host_memory = guarded<float>;
    host_memory x{4, 6, 6, 0, 1, host_memory::memory::host}, y{4, 6, 6, 0, 1, host_memory::memory::host};
    host_memory gamma(6, 0, host_memory::memory::host);
    using vector = vector_view<const float>;
    const matrix_view<float> in = x.matrix(), out = y.matrix();
    const vector factors = gamma.vector();
    const auto message = [&](matrix_view<float> vx, const vector& g, const vector& b, matrix_view<float> vy,
                             norm_options options = {}) {
        const auto text = invalid_argument_of([&] { layer_norm<float>(vx, g, b, vy, no_stream, options); });
        EXPECT_TRUE(x.untouched() && y.untouched() && gamma.untouched());
        return text;
    };
    EXPECT_EQ(message({x.data(), 3, 6}, {}, {}, out), "layer_norm: x.rows is 3, expected 4 (y.rows)");
    EXPECT_EQ(message(in, {gamma.data(), 5}, {}, out),
              "layer_norm: gamma.size is 5, expected 0 or 6 (y.cols)");
    EXPECT_EQ(message(in, factors, {gamma.data(), 7}, out),
              "layer_norm: beta.size is 7, expected 0 or 6 (y.cols)");
    EXPECT_EQ(message(in, {nullptr, 6}, {}, out),
              "layer_norm: gamma.data is null, expected a pointer to its elements");
    EXPECT_EQ(message(in, {gamma.data(), 6, 0}, {}, out),
              "layer_norm: gamma.stride is 0, expected one or more");
    EXPECT_EQ(message(in, {}, {y.data(), 6}, out),
              "layer_norm: y is a view that overlaps a parameter, expected memory apart from beta");
    EXPECT_EQ(message({y.data() + 1, 3, 6}, {}, {}, {y.data(), 3, 6}),
              "layer_norm: y is a view that overlaps an input in part, expected exactly x or apart from it");
    EXPECT_EQ(message(in, {}, {}, out, {.epsilon = -1}),
              "layer_norm: options.epsilon is -1, expected zero or more");
    EXPECT_EQ(message(in, {}, {}, out, {.epsilon = std::numeric_limits<float>::quiet_NaN()}),
              "layer_norm: options.epsilon is nan, expected zero or more");
    EXPECT_EQ(message(in, {}, {}, out, {.algorithm = static_cast<norm_algorithm>(99)}),
              "layer_norm: options.algorithm is 99, expected an enumerator of norm_algorithm");
    EXPECT_EQ(invalid_argument_of([&] {
                  rms_norm<float>(in, {gamma.data(), 5}, out, no_stream);
              }),
              "rms_norm: gamma.size is 5, expected 0 or 6 (y.cols)");
    EXPECT_EQ(invalid_argument_of([&] {
                  host::rms_norm<float>(in, {gamma.data(), 5}, out);
              }),
              "host::rms_norm: gamma.size is 5, expected 0 or 6 (y.cols)");
    EXPECT_TRUE(x.untouched() && y.untouched());
}

TEST(norm_arguments, may_be_empty) {
    const matrix_view<float> no_rows{nullptr, 0, 6}, no_cols{nullptr, 6, 0};
    EXPECT_NO_THROW(layer_norm<float>(no_rows, {}, {}, no_rows, no_stream));
    EXPECT_NO_THROW(rms_norm<float>(no_cols, {}, no_cols, no_stream));
    EXPECT_NO_THROW(host::layer_norm<float>(no_cols, {}, {}, no_cols));
}

class norm_unsupported : public test::gpu_test {};

TEST_F(norm_unsupported, vectorized_needs_everything_side_by_side) {
    guarded<float> x(4, 6, 13, 0, 2), y(4, 6, 6), gamma(1, 6, 0, 0, 2);
    const norm_options vectorized{.algorithm = norm_algorithm::vectorized};
    EXPECT_THROW(rms_norm<float>(x.matrix(), {}, y.matrix(), no_stream, vectorized), unsupported);
    guarded<float> dense(4, 6, 6);
    EXPECT_THROW(rms_norm<float>(dense.matrix(), gamma.vector(), y.matrix(), no_stream, vectorized),
                 unsupported);
    EXPECT_TRUE(y.untouched());
}

TEST(norm_select, vectorises_rows_that_lie_side_by_side) {
    const device_traits device{.sm_count = 132, .max_threads_per_sm = 2048};
    EXPECT_EQ(select(norm_problem{.rows = 1, .cols = 9}, device), norm_algorithm::vectorized);
    EXPECT_EQ(select(norm_problem{.rows = 100, .cols = 9, .unit_stride = false}, device),
              norm_algorithm::block_per_row);
    EXPECT_EQ(select(norm_problem{.rows = 1 << 20, .cols = 9, .unit_stride = false}, device),
              norm_algorithm::naive);
}

TEST(norm_algorithms, have_names_of_their_own) {
    std::set<std::string_view> names = {"automatic", "unknown"};
    for (const norm_algorithm algorithm : norm_algorithms()) {
        EXPECT_NE(algorithm, norm_algorithm::automatic);
        EXPECT_TRUE(names.insert(to_string(algorithm)).second) << to_string(algorithm);
    }
    EXPECT_EQ(to_string(norm_algorithm::automatic), "automatic");
    EXPECT_EQ(to_string(static_cast<norm_algorithm>(99)), "unknown");
}

}  // namespace
}  // namespace heddle
