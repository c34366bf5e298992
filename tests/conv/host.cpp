#include "tests/conv/operands.hpp"
#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

template <class Types>
class host_conv : public testing::Test {};
TYPED_TEST_SUITE(host_conv, every_conv_type, conv_type_names);

TYPED_TEST(host_conv, does_nothing_where_there_is_nothing) {
    using Out = TypeParam::Out;
    using In = TypeParam::In;
    const std::vector<In> filters(135);
    const tensor_view<const In> none{nullptr, 0, 4, 4, 3};
    EXPECT_NO_THROW(
        (host::conv<Out, In>(none, {filters.data(), 5, 3, 3, 3}, tensor_view<Out>{nullptr, 0, 2, 2, 5})));
    EXPECT_NO_THROW(
        (host::conv<Out, In>(none, {nullptr, 0, 3, 3, 3}, tensor_view<Out>{nullptr, 0, 2, 2, 0})));
}

}  // namespace
}  // namespace heddle::test
