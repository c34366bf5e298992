#include "tests/matrix_reduce/matrix_reduce_test.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace heddle {
namespace {

using shape = test::matrix_shape;
using test::along;
using test::enqueue;
using test::every_algorithm;
using test::guarded;
using test::number;
using test::random_elements;
using test::references;
using test::to_double;

template <class T>
using matrix_reduce_edges = test::reduced_matrix<T>;
TYPED_TEST_SUITE(matrix_reduce_edges, test::row_types, test::type_names);

TYPED_TEST(matrix_reduce_edges, takes_every_alignment_and_padding) {
    for (const std::int64_t offset : {0, 1, 2, 3, 7})
        for (const shape& s : {shape{67, 61, 64},
                               {67, 61, 61},
                               {130, 1001, 1008},
                               {5, 1001, 1003},
                               {2000, 9, 9},
                               {2000, 9, 16},
                               {2, 40009, 40011},
                               {1, 17, 17},
                               {9, 8, 8},
                               {700, 264, 264}})
            ASSERT_NO_FATAL_FAILURE(this->check({s.rows, s.cols, s.row_stride, offset}));
}

TYPED_TEST(matrix_reduce_edges, takes_gaps_between_elements) {
    for (const shape& s : {shape{1, 1000, 0, 0, 3},
                           {33, 65, 140, 1, 2},
                           {1000, 1, 5, 0, 1},
                           {301, 40, 2, 0, 700},
                           {5, 5000, 15001, 1, 3}})
        ASSERT_NO_FATAL_FAILURE(this->check(s));
}

/// The mean's square is far larger than the variance, which a difference of sums would lose.
TYPED_TEST(matrix_reduce_edges, keeps_the_variance_of_large_means) {
    for (const shape& s : {shape{9, 1000}, {100, 70}, {2, 40000}})
        ASSERT_NO_FATAL_FAILURE(this->check(s, 1000, 1010));
}

TYPED_TEST(matrix_reduce_edges, takes_denormals) {
    const double smallest = test::smallest<TypeParam>();
    ASSERT_NO_FATAL_FAILURE(this->check(shape{33, 129}, -9 * smallest, 9 * smallest));
}

TYPED_TEST(matrix_reduce_edges, passes_nan_and_infinity_on) {
    const std::int64_t rows = 40, cols = 517;
    auto elements = random_elements<TypeParam>(rows * cols);
    const auto at = [&](std::int64_t i, std::int64_t j) -> TypeParam& {
        return elements[static_cast<std::size_t>(i * cols + j)];
    };
    const TypeParam infinity = number<TypeParam>(HUGE_VAL), nan = number<TypeParam>(NAN);
    at(3, 400) = at(3, 77) = at(3, 516) = nan;
    at(5, 0) = nan;
    at(6, 100) = infinity;
    at(6, 300) = nan;
    at(7, 20) = at(7, 510) = infinity;
    at(8, 511) = -infinity;
    at(20, 77) = nan;
    guarded<TypeParam> x(rows, cols, cols);
    x.upload(elements);
    for (const along direction : {along::rows, along::columns}) {
        const auto expected = references(elements, rows, cols, direction);
        for (const matrix_reduce_algorithm algorithm : every_algorithm()) {
            SCOPED_TRACE(to_string(algorithm));
            test::matrix_results<TypeParam> y(std::ssize(expected), 1);
            enqueue<TypeParam>(direction, x.matrix(), y, *this->stream, {.algorithm = algorithm});
            this->stream->synchronize();
            const auto sums = y.sum.download(), variances = y.variance.download();
            const auto mins = y.min.download(), maxs = y.max.download();
            const auto argmaxs = y.argmax.download();
            for (std::size_t i = 0; i < expected.size(); ++i) {
                SCOPED_TRACE(i);
                EXPECT_TRUE(test::is_within(to_double(mins[i]), expected[i].smallest, 0));
                EXPECT_TRUE(test::is_within(to_double(maxs[i]), expected[i].largest, 0));
                EXPECT_EQ(argmaxs[i], expected[i].argmax);
                if (!std::isfinite(expected[i].sum)) {
                    EXPECT_TRUE(test::is_within(sums[i], expected[i].sum, 0));
                    EXPECT_TRUE(std::isnan(variances[i]));
                }
            }
        }
    }
}

TYPED_TEST(matrix_reduce_edges, finds_the_first_of_equals) {
    const std::int64_t rows = 50, cols = 3000;
    auto elements = random_elements<TypeParam>(rows * cols, 0, 3);
    for (TypeParam& e : elements) e = number<TypeParam>(std::floor(to_double(e)));
    for (std::int64_t j = 0; j < cols; ++j) {
        const auto place = static_cast<std::size_t>(j);
        elements[place] = number<TypeParam>(-HUGE_VAL);                                 // row 0: all -Inf
        elements[place + 1 * static_cast<std::size_t>(cols)] = number<TypeParam>(NAN);  // row 1: all NaN
        elements[place + 2 * static_cast<std::size_t>(cols)] = number<TypeParam>(j % 2 == 0 ? -0.0 : 0.0);
    }
    guarded<TypeParam> x(rows, cols, cols);
    x.upload(elements);
    for (const along direction : {along::rows, along::columns}) {
        const auto expected = references(elements, rows, cols, direction);
        for (const matrix_reduce_algorithm algorithm : every_algorithm()) {
            SCOPED_TRACE(to_string(algorithm));
            guarded<std::int64_t> y(std::ssize(expected));
            const matrix_reduce_options options{.algorithm = algorithm};
            if (direction == along::rows)
                row_argmax<TypeParam>(x.matrix(), y.vector(), *this->stream, options);
            else
                column_argmax<TypeParam>(x.matrix(), y.vector(), *this->stream, options);
            const auto found = y.download();
            for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(found[i], expected[i].argmax) << i;
        }
    }
}

}  // namespace
}  // namespace heddle
