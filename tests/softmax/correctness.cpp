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

}  // namespace
}  // namespace heddle::test
