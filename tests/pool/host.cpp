#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

template <class T>
class host_pool : public testing::Test {};
using types = testing::Types<float, half, bfloat16>;
TYPED_TEST_SUITE(host_pool, types, type_names);

/// A sum in float would stop growing at 2^24.
TYPED_TEST(host_pool, averages_25_million_ones) {
    const std::vector<TypeParam> ones(5000 * 5000, TypeParam(1.0f));
    TypeParam average{};
    host::pool<TypeParam>({ones.data(), 1, 5000, 5000, 1}, {&average, 1, 1, 1, 1},
                          {.mode = pool_mode::average, .geometry = {.window = {5000, 5000}}});
    EXPECT_EQ(static_cast<float>(average), 1);
}

}  // namespace
}  // namespace heddle::test
