#include "tests/softmax/softmax_rows.hpp"

#include <utility>

namespace heddle {
namespace {

using test::every_algorithm;
using test::guarded;
using test::infinity;
using test::row_layout;

template <class T>
using softmax_edges = test::softmax_rows<T>;
TYPED_TEST_SUITE(softmax_edges, test::row_types, test::type_names);

TYPED_TEST(softmax_edges, takes_every_alignment_and_padding) {
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

TYPED_TEST(softmax_edges, takes_spaced_and_transposed_matrices) {
    for (const auto& [rows, cols] : test::strided_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.step = 2}, {.padding = 1, .step = 3}));
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.column_major = true}, {}));
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.offset = 1}, {.column_major = true}));
        ASSERT_NO_FATAL_FAILURE(
            this->check(rows, cols, {.padding = 2, .column_major = true}, {.column_major = true}));
    }
}

TYPED_TEST(softmax_edges, are_defined_for_infinities_and_pass_on_nan) {
    for (const std::int64_t cols : {1, 2, 3, 32, 100, 1024, 1025, 4096, 9001, 20000, 140001}) {
        SCOPED_TRACE(cols);
        const auto xs = test::special_rows<TypeParam>(cols);
        // The reference's maximum skips NaN, which then is in its sum and so in all of the row.
        const auto algorithms = cols < 10000 ? every_algorithm() : std::vector{softmax_algorithm::vectorized};
        ASSERT_NO_FATAL_FAILURE(this->check(xs, std::ssize(xs) / cols, cols, {}, {}, algorithms));
    }
}

TYPED_TEST(softmax_edges, of_equal_infinities_are_shares) {
    const TypeParam low = -infinity<TypeParam>(), high = infinity<TypeParam>();
    const std::vector<TypeParam> xs = {low, low, low, low, high, TypeParam(1), high, low};
    for (const softmax_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<TypeParam> x(2, 4, 4), y(2, 4, 4);
        if (!test::takes(algorithm, x.matrix(), y.matrix())) continue;
        x.upload(xs);
        softmax<TypeParam>(x.matrix(), y.matrix(), *this->stream, {.algorithm = algorithm});
        this->stream->synchronize();
        const auto result = y.download();
        const std::vector<double> expected = {.25, .25, .25, .25, .5, 0, .5, 0};
        for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(test::to_double(result[i]), expected[i]) << i;
    }
}

}  // namespace
}  // namespace heddle
