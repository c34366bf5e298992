#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

TEST(version, is_the_headers) {
    EXPECT_EQ(version(),
              fmt::format("{}.{}.{}", HEDDLE_VERSION_MAJOR, HEDDLE_VERSION_MINOR, HEDDLE_VERSION_PATCH));
}

}  // namespace
}  // namespace heddle::test
