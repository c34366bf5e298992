#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

class softmax_unsupported : public gpu_test {};

TEST_F(softmax_unsupported, vectorized_needs_rows_side_by_side) {
    guarded<float> x(4, 6, 13, 0, 2), y(4, 6, 6);
    EXPECT_THROW(
        softmax<float>(x.matrix(), y.matrix(), no_stream, {.algorithm = softmax_algorithm::vectorized}),
        unsupported);
    EXPECT_TRUE(y.untouched());
}

}  // namespace
}  // namespace heddle::test
