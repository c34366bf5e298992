#include "tests/loss/loss_rows.hpp"
#include "tests/support/special_rows.hpp"
#include <heddle/host.hpp>

#include <cmath>
#include <utility>

namespace heddle {
namespace {

using test::guarded;
using test::random_elements;
using test::random_labels;
using test::row_layout;

template <class T>
class host_loss : public testing::Test {};
TYPED_TEST_SUITE(host_loss, test::row_types, test::type_names);

TYPED_TEST(host_loss, is_the_formula) {
    using T = TypeParam;
    const auto check = [](const std::vector<T>& xs, const std::vector<std::int32_t>& labels,
                          std::int64_t cols, const row_layout& lx, const row_layout& ly,
                          const cross_entropy_options& options) {
        const std::int64_t rows = std::ssize(labels);
        const test::expected_cross_entropy expected(xs, labels, cols, options, test::softmax_steps_on_host);
        auto x = test::make_rows<T>(rows, cols, lx, guarded<T>::memory::host);
        auto y = test::make_rows<T>(rows, cols, ly, guarded<T>::memory::host);
        auto label = test::make_spaced<std::int32_t>(rows, guarded<std::int32_t>::memory::host);
        auto loss = test::make_spaced<float>(rows, guarded<float>::memory::host);
        x.upload(xs);
        label.upload(labels);
        host::cross_entropy<T>(x.matrix(), label.vector(), loss.vector(), y.matrix(), options);
        ASSERT_TRUE(test::are_within(loss.download(), expected.loss, expected.loss_bounds));
        ASSERT_TRUE(test::are_within(y.download(), expected.gradient, expected.bounds));
        ASSERT_TRUE(y.canaries_alive() && loss.canaries_alive() && x.untouched());
        host::cross_entropy<T>(x.matrix(), label.vector(), {}, x.matrix(), options);
        ASSERT_TRUE(test::are_within(x.download(), expected.gradient, expected.bounds));
        ASSERT_TRUE(x.canaries_alive());
    };
    for (const auto& [rows, cols] : {std::pair{0, 3}, {1, 1}, {5, 7}, {1001, 33}, {3, 40000}})
        for (const row_layout& l : {row_layout{}, {.padding = 3}, {.step = 2}, {.column_major = true}})
            for (const float smoothing : {0.0f, 0.1f, 1.0f}) {
                SCOPED_TRACE(testing::Message() << rows << " x " << cols << ", smoothing " << smoothing);
                const auto xs = random_elements<T>(std::int64_t{rows} * cols, -10, 10);
                const auto labels = random_labels(rows, cols);
                const cross_entropy_options options{
                    .scale = 0.5f, .ignore_label = -100, .label_smoothing = smoothing};
                ASSERT_NO_FATAL_FAILURE(check(xs, labels, cols, l, {}, options));
                ASSERT_NO_FATAL_FAILURE(check(xs, labels, cols, {.offset = 1}, l, options));
            }
    for (const std::int64_t cols : {1, 2, 100, 2000})
        for (const float smoothing : {0.0f, 0.25f}) {
            const auto xs = test::special_rows<T>(cols);
            const std::vector<std::int32_t> labels(xs.size() / static_cast<std::size_t>(cols),
                                                   static_cast<std::int32_t>(cols / 2));
            ASSERT_NO_FATAL_FAILURE(check(xs, labels, cols, {}, {}, {.label_smoothing = smoothing}));
        }
}

TYPED_TEST(host_loss, is_the_mean_of_squares) {
    using T = TypeParam;
    for (const auto& [rows, cols] : {std::pair{0, 3}, {3, 0}, {1, 1}, {1001, 33}, {3, 40000}})
        for (const row_layout& l : {row_layout{}, {.padding = 3}, {.step = 2}, {.column_major = true}}) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols);
            const std::int64_t size = std::int64_t{rows} * cols;
            const auto xs = random_elements<T>(size, -3, 3), ts = random_elements<T>(size, -3, 3);
            constexpr auto host = guarded<T>::memory::host;
            auto x = test::make_rows<T>(rows, cols, l, host), t = test::make_rows<T>(rows, cols, {}, host),
                 y = test::make_rows<T>(rows, cols, l, host);
            x.upload(xs);
            t.upload(ts);
            guarded<float> loss(rows, 0, guarded<float>::memory::host);
            host::mean_squared_error<T>(x.matrix(), t.matrix(), loss.vector(), y.matrix(), {.scale = -2});
            if (cols == 0) {
                ASSERT_TRUE(loss.untouched());
                continue;
            }
            const test::expected_squared_error expected(xs, ts, cols, -2, test::softmax_steps_on_host);
            ASSERT_TRUE(test::are_within(loss.download(), expected.loss, expected.loss_bounds));
            ASSERT_TRUE(test::are_within(y.download(), expected.gradient, expected.bounds));
            ASSERT_TRUE(y.canaries_alive());
            host::mean_squared_error<T>(x.matrix(), t.matrix(), {}, t.matrix(), {.scale = -2});
            ASSERT_TRUE(test::are_within(t.download(), expected.gradient, expected.bounds));
        }
}

// The loss's own differences, in double, of which the third derivative is below 1.
TEST(host_cross_entropy, has_the_gradient_of_its_loss) {
    constexpr std::int64_t cols = 7;
    constexpr double step = 1e-4, bound = step * step + 4 * 0x1p-24;
    for (const float smoothing : {0.0f, 0.3f, 1.0f}) {
        const auto xs = random_elements<float>(cols, -3, 3);
        const std::int32_t label = 4;
        std::vector<float> gradient(cols);
        float loss = 0;
        host::cross_entropy<float>({xs.data(), 1, cols}, {&label, 1}, {&loss, 1},
                                   matrix_view{gradient.data(), 1, cols}, {.label_smoothing = smoothing});
        const std::vector<double> at(xs.begin(), xs.end());
        const auto loss_at = [&](std::size_t j, double by) {
            auto moved = at;
            moved[j] += by;
            return test::expected_cross_entropy::loss_of(moved, label, static_cast<double>(smoothing));
        };
        EXPECT_NEAR(loss, loss_at(0, 0), 1e-6);
        for (std::size_t j = 0; j < at.size(); ++j)
            EXPECT_NEAR(gradient[j], (loss_at(j, step) - loss_at(j, -step)) / (2 * step), bound) << j;
    }
}

TEST(host_label_hits, are_where_the_label_is_the_argmax) {
    const float nan = test::not_a_number<float>();
    const std::vector<float> xs = {1, 3, 3, 1, 3, 3, 1, nan, nan, 1, nan, 2, 0, 0, 0};
    const std::vector<std::int32_t> labels = {1, 2, 1, 2, 3};
    std::vector<std::int32_t> hits(5, 9);
    host::label_hits<float>({xs.data(), 5, 3}, {labels.data(), 5}, {hits.data(), 5});
    EXPECT_EQ(hits, (std::vector<std::int32_t>{1, 0, 1, 0, 0}));
}

}  // namespace
}  // namespace heddle
