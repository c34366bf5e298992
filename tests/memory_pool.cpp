#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

static_assert(std::is_trivially_copyable_v<memory_pool>);

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::int64_t buffer_bytes = 64 * std::int64_t{mebibyte};

class memory_pool_test : public gpu_test {};

TEST_F(memory_pool_test, is_the_devices_default_one) {
    cudaMemPool_t expected = nullptr;
    check(cudaDeviceGetDefaultMemPool(&expected, current_device()));
    EXPECT_EQ(memory_pool::of_device(current_device()).get(), expected);
}

TEST_F(memory_pool_test, counts_what_buffers_use) {
    const stream s;
    memory_pool pool = memory_pool::of_device(current_device());
    pool.trim();
    pool.reset_peaks();
    const std::size_t before = pool.bytes_in_use();
    {
        const device_buffer<std::byte> buffer(buffer_bytes, s);
        EXPECT_GE(pool.bytes_in_use(), before + buffer.size());
        EXPECT_GE(pool.bytes_reserved(), pool.bytes_in_use());
    }
    s.synchronize();
    EXPECT_EQ(pool.bytes_in_use(), before);
    EXPECT_GE(pool.peak_bytes_in_use(), before + buffer_bytes);
    EXPECT_GE(pool.peak_bytes_reserved(), pool.peak_bytes_in_use());

    pool.reset_peaks();
    EXPECT_LT(pool.peak_bytes_in_use(), before + buffer_bytes);
}

TEST_F(memory_pool_test, keeps_what_the_threshold_allows_and_trims) {
    const stream s;
    memory_pool pool = memory_pool::of_device(current_device());
    const std::size_t former = pool.release_threshold();
    pool.set_release_threshold(std::numeric_limits<std::size_t>::max());
    EXPECT_EQ(pool.release_threshold(), std::numeric_limits<std::size_t>::max());

    { const device_buffer<std::byte> buffer(buffer_bytes, s); }
    s.synchronize();
    const std::size_t kept = pool.bytes_reserved();
    EXPECT_GE(kept, std::size_t{buffer_bytes});
    pool.trim();
    EXPECT_LT(pool.bytes_reserved(), kept);

    pool.set_release_threshold(former);
    EXPECT_EQ(pool.release_threshold(), former);
}

TEST_F(memory_pool_test, of_scratch_memory_is_one_of_its_own_that_keeps_what_it_has) {
    const memory_pool pool = memory_pool::scratch_of(current_device());
    EXPECT_NE(pool.get(), memory_pool::of_device(current_device()).get());
    EXPECT_EQ(pool.get(), memory_pool::scratch_of(current_device()).get());
    EXPECT_EQ(pool.release_threshold(), std::numeric_limits<std::size_t>::max());
}

class memory_pool_error : public provoked_error_test {};

TEST_F(memory_pool_error, there_is_none_of_a_device_that_is_not_there) {
    EXPECT_THROW((void)memory_pool::of_device(device_count()), cuda_error);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

}  // namespace
}  // namespace heddle::test
