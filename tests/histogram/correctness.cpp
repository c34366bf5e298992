#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

class histogram_of_bytes : public gpu_test {};

TEST_F(histogram_of_bytes, counts_beyond_32_bits) {
    constexpr std::int64_t size = (std::int64_t{1} << 32) + 77;
    if (!has_free_memory(5 * (std::size_t{1} << 30))) GTEST_SKIP() << "needs 5 GiB of device memory";
    const stream s;
    device_buffer<std::uint8_t> x(size, s);
    fill_bytes(x, std::byte{9}, s);
    for (const histogram_algorithm algorithm :
         {histogram_algorithm::shared_memory, histogram_algorithm::vectorized}) {
        guarded<std::int64_t> result(256);
        histogram(x, result.vector(), s, {.algorithm = algorithm});
        s.synchronize();
        std::vector<std::int64_t> expected(256);
        expected[9] = size;
        EXPECT_EQ(result.download(), expected) << to_string(algorithm);
    }
}

}  // namespace
}  // namespace heddle::test
