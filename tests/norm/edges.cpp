#include "tests/norm/norm_rows.hpp"

#include <cmath>
#include <utility>

namespace heddle {
namespace {

using test::every_algorithm;
using test::guarded;
using test::infinity;
using test::not_a_number;
using test::random_elements;
using test::row_layout;

template <class T>
using norm_edges = test::norm_rows<T>;
TYPED_TEST_SUITE(norm_edges, test::row_types, test::type_names);

TYPED_TEST(norm_edges, take_every_alignment_and_padding) {
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

TYPED_TEST(norm_edges, take_spaced_and_transposed_matrices) {
    for (const auto& [rows, cols] : test::strided_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(
            rows, cols, {.x = {.step = 2}, .y = {.padding = 1, .step = 3}, .parameter_stride = 2}));
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.parameter_stride = 3}));
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.x = {.column_major = true}}));
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.x = {.offset = 1}, .y = {.column_major = true}}));
        ASSERT_NO_FATAL_FAILURE(this->check(
            rows, cols, {.x = {.padding = 2, .column_major = true}, .y = {.column_major = true}}));
    }
}

TYPED_TEST(norm_edges, take_equal_elements_and_any_epsilon) {
    for (const float epsilon : {1e-12f, 1e-5f, 0.5f})
        for (const std::int64_t cols : {1, 33, 1024, 3000}) {
            SCOPED_TRACE(testing::Message() << cols << " columns, epsilon " << epsilon);
            const std::vector<TypeParam> xs(static_cast<std::size_t>(2 * cols),
                                            static_cast<TypeParam>(0.375f));
            ASSERT_NO_FATAL_FAILURE(this->check(xs, 2, cols, {}, every_algorithm(), {.epsilon = epsilon}));
        }
}

TYPED_TEST(norm_edges, keep_nan_and_infinity_to_their_row) {
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
                if (!test::takes(algorithm, x.matrix(), {}, {}, y.matrix())) continue;
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

template <class T>
class norm_beyond_float : public test::gpu_test {};
TYPED_TEST_SUITE(norm_beyond_float, test::wide_types, test::type_names);

TYPED_TEST(norm_beyond_float, is_what_the_comments_say) {
    using matrix = matrix_view<TypeParam>;
    using vector = vector_view<TypeParam>;
    const heddle::stream stream;
    for (const std::int64_t cols : {32, 100, 1000, 5000, 40000, 140001})
        for (const norm_algorithm algorithm : every_algorithm()) {
            SCOPED_TRACE(testing::Message() << cols << " columns, " << to_string(algorithm));
            const matrix shape{nullptr, test::rows_beyond_float, cols};
            const vector parameters{nullptr, cols};
            if (!test::takes(algorithm, shape, parameters, parameters, shape)) continue;
            ASSERT_NO_FATAL_FAILURE(test::check_beyond_float<TypeParam>(
                cols, test::norm_depth(algorithm, cols), guarded<TypeParam>::memory::device,
                [&](matrix x, vector gamma, vector beta, matrix y) {
                    layer_norm<TypeParam>(x, gamma, beta, y, stream, {.algorithm = algorithm});
                },
                [&](matrix x, vector gamma, matrix y) {
                    rms_norm<TypeParam>(x, gamma, y, stream, {.algorithm = algorithm});
                }));
        }
}

}  // namespace
}  // namespace heddle
