#include "tests/support/headers.hpp"
#include "tests/support/row_operations.hpp"

namespace heddle::test {
namespace {

template <class T>
class norm_rows : public gpu_test {};
TYPED_TEST_SUITE(norm_rows, row_types, type_names);

TYPED_TEST(norm_rows, give_the_same_bits_in_a_graph) {
    const heddle::stream stream;
    for (const norm_algorithm algorithm : norm_algorithms())
        for (const auto& [rows, cols] : {std::pair{1000, 100}, {50, 5000}, {20, 50000}, {3, 200000}}) {
            SCOPED_TRACE(testing::Message() << to_string(algorithm) << ", " << rows << " x " << cols);
            const auto xs = random_elements<TypeParam>(std::int64_t{rows} * cols, -4, 4);
            guarded<TypeParam> x(rows, cols, cols), y[2]{{rows, cols, cols}, {rows, cols, cols}};
            x.upload(xs);
            const auto run = [&](int i) {
                layer_norm<TypeParam>(x.matrix(), {}, {}, y[i].matrix(), stream, {.algorithm = algorithm});
            };
            expect_same_bits_in_a_graph(stream, run, y);
        }
}

/// The squares of all halves fit float.
using wide_types = testing::Types<float, bfloat16>;

/// Rows whose sums exceed float, beside two whose sums do not. layer_norm and rms_norm, which call those functions on
/// the views, behave as their comments say, on the GPU and the CPU.
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

template <class T>
class norm_beyond_float : public gpu_test {};
TYPED_TEST_SUITE(norm_beyond_float, wide_types, type_names);

TYPED_TEST(norm_beyond_float, is_what_the_comments_say) {
    using matrix = matrix_view<TypeParam>;
    using vector = vector_view<TypeParam>;
    const heddle::stream stream;
    for (const std::int64_t cols : {32, 100, 1000, 5000, 40000, 140001})
        for (const norm_algorithm algorithm : norm_algorithms()) {
            SCOPED_TRACE(testing::Message() << cols << " columns, " << to_string(algorithm));
            ASSERT_NO_FATAL_FAILURE(check_beyond_float<TypeParam>(
                cols, norm_depth(algorithm, cols), guarded<TypeParam>::memory::device,
                [&](matrix x, vector gamma, vector beta, matrix y) {
                    layer_norm<TypeParam>(x, gamma, beta, y, stream, {.algorithm = algorithm});
                },
                [&](matrix x, vector gamma, matrix y) {
                    rms_norm<TypeParam>(x, gamma, y, stream, {.algorithm = algorithm});
                }));
        }
}

template <class T>
class host_norm_beyond_float : public testing::Test {};
TYPED_TEST_SUITE(host_norm_beyond_float, wide_types, type_names);

TYPED_TEST(host_norm_beyond_float, is_what_the_comments_say) {
    using matrix = matrix_view<TypeParam>;
    using vector = vector_view<TypeParam>;
    for (const std::int64_t cols : {32, 1000, 40000}) {
        SCOPED_TRACE(testing::Message() << cols << " columns");
        ASSERT_NO_FATAL_FAILURE(check_beyond_float<TypeParam>(
            cols, norm_depth_on_host, guarded<TypeParam>::memory::host,
            [](matrix x, vector gamma, vector beta, matrix y) {
                host::layer_norm<TypeParam>(x, gamma, beta, y);
            },
            [](matrix x, vector gamma, matrix y) { host::rms_norm<TypeParam>(x, gamma, y); }));
    }
}

}  // namespace
}  // namespace heddle::test
