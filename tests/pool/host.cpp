#include "tests/pool/operands.hpp"
#include <heddle/host.hpp>

#include <limits>
#include <string>
#include <vector>

namespace heddle {
namespace {

using test::pool_shape;

template <class T>
class host_pool : public testing::Test {
  protected:
    static void check(test::pool_operands<T>& p) {
        for (const pool_mode mode : test::pool_modes) {
            SCOPED_TRACE(text(p.s) + ", mode " + std::to_string(static_cast<int>(mode)));
            p.poison_output();
            host::pool<T>(p.input.tensor(), p.output.tensor(), {.mode = mode, .geometry = p.s.geometry});
            ASSERT_NO_FATAL_FAILURE(p.expect_close(test::pool_reference(p.s, p.xs, mode)));
        }
    }
};
TYPED_TEST_SUITE(host_pool, test::every_pool_type, test::type_names);

TYPED_TEST(host_pool, is_right_for_every_shape) {
    for (const pool_shape& s : test::pool_shapes()) {
        test::pool_operands<TypeParam> p(s, {1, 2, 3, 1}, {0, 1, 2, 3}, true);
        ASSERT_NO_FATAL_FAILURE(this->check(p));
    }
}

TYPED_TEST(host_pool, is_right_for_drawn_geometries) {
    test::drawing draw;
    for (int i = 0; i < 60; ++i) {
        SCOPED_TRACE("draw " + std::to_string(i));
        test::pool_operands<TypeParam> p(test::draw_pool_shape(draw), {}, {}, true);
        ASSERT_NO_FATAL_FAILURE(this->check(p));
    }
}

/// A sum in float stands still at 2^24.
TYPED_TEST(host_pool, averages_25_million_ones) {
    const std::vector<TypeParam> ones(5000 * 5000, TypeParam(1.0f));
    TypeParam average{};
    host::pool<TypeParam>({ones.data(), 1, 5000, 5000, 1}, {&average, 1, 1, 1, 1},
                          {.mode = pool_mode::average, .geometry = {.window = {5000, 5000}}});
    EXPECT_EQ(static_cast<float>(average), 1);
}

TYPED_TEST(host_pool, has_the_nans_of_the_definition) {
    test::pool_operands<TypeParam> p({2, 9, 8, 5, {{3, 3}, {2, 2}, {1, 1, 1, 1}}}, {}, {}, true);
    p.xs[7] = TypeParam(std::numeric_limits<float>::quiet_NaN());
    p.xs.back() = TypeParam(-std::numeric_limits<float>::infinity());
    p.input.upload(p.xs);
    ASSERT_NO_FATAL_FAILURE(this->check(p));
}

}  // namespace
}  // namespace heddle
