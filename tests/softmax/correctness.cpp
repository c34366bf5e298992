#include "tests/support/headers.hpp"
#include "tests/support/softmax.hpp"

namespace heddle::test {
namespace {

template <class T>
class softmax_rows : public gpu_test {};
TYPED_TEST_SUITE(softmax_rows, row_types, type_names);

/// Fuzz draws all other cases. This is for programs without it, such as that of tests/add_a_kernel.py.
TYPED_TEST(softmax_rows, are_right_by_every_rung) {
    const heddle::stream stream;
    for (const auto& [rows, cols] : {std::pair{70, 5}, {37, 257}, {3, 9001}})
        for (const softmax_algorithm algorithm : softmax_algorithms()) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols << ", " << to_string(algorithm));
            guarded<TypeParam> x(rows, cols, cols), y(rows, cols, cols + 1);
            if (!takes(algorithm, x.matrix(), y.matrix())) continue;
            const auto xs = random_elements<TypeParam>(std::int64_t{rows} * cols, -10, 10);
            x.upload(xs);
            softmax<TypeParam>(x.matrix(), y.matrix(), stream, {.algorithm = algorithm});
            stream.synchronize();
            const expected_softmax expected(xs, cols, softmax_steps_of(algorithm, cols));
            ASSERT_TRUE(are_within(y.download(), expected.softmax, expected.bounds));
            ASSERT_TRUE(y.canaries_alive());
        }
}

TYPED_TEST(softmax_rows, give_the_same_bits_in_a_graph) {
    const heddle::stream stream;
    for (const auto& [rows, cols] : {std::pair{1000, 100}, {50, 5000}, {20, 50000}, {3, 200000}}) {
        const auto xs = random_elements<TypeParam>(std::int64_t{rows} * cols, -4, 4);
        guarded<TypeParam> x(rows, cols, cols), y[2]{{rows, cols, cols}, {rows, cols, cols}};
        x.upload(xs);
        const auto run = [&](int i) { softmax<TypeParam>(x.matrix(), y[i].matrix(), stream); };
        expect_same_bits_in_a_graph(stream, run, y);
    }
}

TYPED_TEST(softmax_rows, of_equal_infinities_are_shares) {
    const heddle::stream stream;
    const TypeParam low = -infinity<TypeParam>(), high = infinity<TypeParam>();
    const std::vector<TypeParam> xs = {low, low, low, low, high, TypeParam(1), high, low};
    for (const softmax_algorithm algorithm : softmax_algorithms()) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<TypeParam> x(2, 4, 4), y(2, 4, 4);
        if (!takes(algorithm, x.matrix(), y.matrix())) continue;
        x.upload(xs);
        softmax<TypeParam>(x.matrix(), y.matrix(), stream, {.algorithm = algorithm});
        stream.synchronize();
        const auto result = y.download();
        const std::vector<double> expected = {.25, .25, .25, .25, .5, 0, .5, 0};
        for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(to_double(result[i]), expected[i]) << i;
    }
}

}  // namespace
}  // namespace heddle::test
