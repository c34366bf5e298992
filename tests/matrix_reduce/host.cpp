#include "tests/matrix_reduce/matrix_reduce_test.hpp"
#include <heddle/host.hpp>

#include <cmath>
#include <cstdint>

namespace heddle {
namespace {

using shape = test::matrix_shape;
using test::along;
using test::guarded;
using test::number;
using test::random_elements;
using test::references;
using test::to_double;

template <class T>
void compute_on_host(along direction, matrix_view<const T> x, test::matrix_results<T>& y) {
    if (direction == along::rows) {
        host::row_sum<T>(x, y.sum.vector());
        host::row_mean<T>(x, y.mean.vector());
        host::row_min<T>(x, y.min.vector());
        host::row_max<T>(x, y.max.vector());
        host::row_argmax<T>(x, y.argmax.vector());
        host::row_variance<T>(x, y.variance.vector());
        host::row_variance<T>(x, y.unbiased.vector(), {.correction = 1});
    } else {
        host::column_sum<T>(x, y.sum.vector());
        host::column_mean<T>(x, y.mean.vector());
        host::column_min<T>(x, y.min.vector());
        host::column_max<T>(x, y.max.vector());
        host::column_argmax<T>(x, y.argmax.vector());
        host::column_variance<T>(x, y.variance.vector());
        host::column_variance<T>(x, y.unbiased.vector(), {.correction = 1});
    }
}

template <class T>
class host_matrix_reduce : public testing::Test {};
TYPED_TEST_SUITE(host_matrix_reduce, test::row_types, test::type_names);

TYPED_TEST(host_matrix_reduce, takes_every_shape) {
    for (const shape& s : {shape{0, 0},
                           {0, 5},
                           {5, 0},
                           {1, 1},
                           {1, 300},
                           {300, 1},
                           {33, 65},
                           {255, 3},
                           {257, 3},
                           {3, 600},
                           {1000, 100, 101},
                           {33, 65, 140, 1, 2},
                           {301, 40, 2, 0, 700}}) {
        SCOPED_TRACE(s);
        const auto elements = random_elements<TypeParam>(s.rows * s.cols);
        guarded<TypeParam> x(s.rows, s.cols, s.row_stride, s.offset, s.col_stride,
                             guarded<TypeParam>::memory::host);
        x.upload(elements);
        for (const along direction : {along::rows, along::columns}) {
            const auto expected = references(elements, s.rows, s.cols, direction);
            const auto size = static_cast<std::int64_t>(expected.size());
            test::matrix_results<TypeParam> y(size, 1 + size % 2, true);
            compute_on_host<TypeParam>(direction, x.matrix(), y);
            ASSERT_NO_FATAL_FAILURE(y.are_of(expected, 1));  // computed in double, rounded once
        }
        ASSERT_TRUE(x.untouched());
    }
}

TYPED_TEST(host_matrix_reduce, passes_nan_and_infinity_on) {
    const TypeParam nan = number<TypeParam>(NAN), infinity = number<TypeParam>(HUGE_VAL);
    const TypeParam x[] = {number<TypeParam>(1), nan, infinity, nan};
    TypeParam smallest{}, largest{};
    std::int64_t place = 0;
    const matrix_view<const TypeParam> row{x, 1, 4};
    host::row_min<TypeParam>(row, {&smallest, 1});
    host::row_max<TypeParam>(row, {&largest, 1});
    host::row_argmax<TypeParam>(row, {&place, 1});
    EXPECT_TRUE(std::isnan(to_double(smallest)));
    EXPECT_TRUE(std::isnan(to_double(largest)));
    EXPECT_EQ(place, 1);
}

}  // namespace
}  // namespace heddle
