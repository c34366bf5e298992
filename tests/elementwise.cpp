#include <heddle/elementwise.hpp>

#include <gtest/gtest.h>

namespace heddle {
namespace {

TEST(elementwise_select, vectorises_where_every_operand_is_side_by_side) {
    const device_traits device{};
    EXPECT_EQ(select({.rows = 1, .cols = 1000, .unit_stride = true}, device),
              elementwise_algorithm::vectorized);
    EXPECT_EQ(select({.rows = 1000, .cols = 1000, .unit_stride = false}, device),
              elementwise_algorithm::grid_stride);
}

}  // namespace
}  // namespace heddle
