#include <heddle/version.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace heddle {
namespace {

TEST(version, is_the_headers) {
    EXPECT_EQ(version(),
              fmt::format("{}.{}.{}", HEDDLE_VERSION_MAJOR, HEDDLE_VERSION_MINOR, HEDDLE_VERSION_PATCH));
}

}  // namespace
}  // namespace heddle
