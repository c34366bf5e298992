#include "tests/image_filter/filters.hpp"

namespace heddle::test {
namespace {

template <class T>
class host_image_filter : public testing::Test {};
using element_types = testing::Types<float, half, std::uint16_t, std::uint8_t>;

TYPED_TEST_SUITE(host_image_filter, element_types, type_names);

TYPED_TEST(host_image_filter, takes_stencils_of_every_shape) {
    check_stencils_everywhere<TypeParam>({});
}
TYPED_TEST(host_image_filter, takes_means_of_every_shape) {
    check_boxes_everywhere<TypeParam>({});
}
TEST(host_separable_convolution, is_right_at_every_shape) {
    check_convolutions_everywhere({});
}
TEST(host_separable_convolution, takes_the_most_taps) {
    check_the_most_taps({});
}
TEST(host_separable_convolution, turns_no_window_round) {
    check_that_no_window_is_turned_round({});
}
TEST(host_filters, keep_nan_and_infinity_in_their_windows) {
    check_nan_and_infinity({});
}

}  // namespace
}  // namespace heddle::test
