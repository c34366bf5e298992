#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

static_assert(std::is_aggregate_v<device_traits>);
static_assert(!std::is_copy_constructible_v<device_guard>);

TEST(device_traits, can_be_made_by_hand) {
    const device_traits h200{.name = "H200", .compute_capability_major = 9, .sm_count = 132};
    EXPECT_EQ(h200.sm_count, 132);
    EXPECT_EQ(h200.l2_bytes, 0U);
}

TEST(device_traits, compares_compute_capabilities) {
    const device_traits ada{.compute_capability_major = 8, .compute_capability_minor = 9};
    EXPECT_TRUE(ada.has_compute_capability(7, 5));
    EXPECT_TRUE(ada.has_compute_capability(8, 0));
    EXPECT_TRUE(ada.has_compute_capability(8, 9));
    EXPECT_FALSE(ada.has_compute_capability(9, 0));
    const device_traits ampere{.compute_capability_major = 8, .compute_capability_minor = 0};
    EXPECT_FALSE(ampere.has_compute_capability(8, 9));
}

TEST(device_death_test, none_is_counted_where_none_is_visible) {
    without_devices([] {
        EXPECT_EQ(device_count(), 0);
        EXPECT_THROW((void)traits_of(0), cuda_error);
        EXPECT_THROW((void)traits_of(0), cuda_error);  // and again: the failure is not stored
        EXPECT_THROW(device_guard(0), cuda_error);
    });
}

class device : public gpu_test {};

TEST_F(device, traits_are_the_drivers) {
    for (int index = 0; index < device_count(); ++index) {
        const device_traits& traits = traits_of(index);
        const auto attribute = [&](cudaDeviceAttr name) {
            int value = 0;
            check(cudaDeviceGetAttribute(&value, name, index));
            return value;
        };
        const auto bytes = [&](cudaDeviceAttr name) { return static_cast<std::size_t>(attribute(name)); };
        EXPECT_EQ(traits.device, index);
        EXPECT_FALSE(traits.name.empty());
        EXPECT_EQ(traits.compute_capability_major, attribute(cudaDevAttrComputeCapabilityMajor));
        EXPECT_EQ(traits.compute_capability_minor, attribute(cudaDevAttrComputeCapabilityMinor));
        EXPECT_EQ(traits.sm_count, attribute(cudaDevAttrMultiProcessorCount));
        EXPECT_EQ(traits.max_threads_per_sm, attribute(cudaDevAttrMaxThreadsPerMultiProcessor));
        EXPECT_EQ(traits.registers_per_sm, attribute(cudaDevAttrMaxRegistersPerMultiprocessor));
        EXPECT_EQ(traits.shared_memory_per_sm, bytes(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
        EXPECT_EQ(traits.shared_memory_per_block, bytes(cudaDevAttrMaxSharedMemoryPerBlock));
        EXPECT_EQ(traits.shared_memory_per_block_optin, bytes(cudaDevAttrMaxSharedMemoryPerBlockOptin));
        EXPECT_EQ(traits.l2_bytes, bytes(cudaDevAttrL2CacheSize));
        EXPECT_GT(traits.global_memory_bytes, traits.l2_bytes);
    }
}

TEST_F(device, traits_are_kept) {
    EXPECT_EQ(&traits_of(0), &traits_of(0));
}

TEST_F(device, traits_are_one_for_all_threads) {
    std::vector<const device_traits*> seen(8);
    std::vector<std::thread> threads;
    for (auto& mine : seen) threads.emplace_back([&mine] { mine = &traits_of(0); });
    for (auto& thread : threads) thread.join();
    for (const auto* mine : seen) EXPECT_EQ(mine, &traits_of(0));
}

TEST_F(device, outside_the_range_is_named) {
    const int count = device_count();
    EXPECT_THROW((void)traits_of(-1), invalid_argument);
    expect_error(
        "traits_of: device is " + std::to_string(count) + ", expected 0 to " + std::to_string(count - 1),
        [&] { (void)traits_of(count); });
}

TEST_F(device, guard_restores_the_former_one) {
    const int former = current_device();
    for (int index = 0; index < device_count(); ++index) {
        {
            const device_guard guard(index);
            EXPECT_EQ(current_device(), index);
        }
        EXPECT_EQ(current_device(), former);
    }
}

TEST_F(device, guard_restores_when_an_exception_passes) {
    const int former = current_device();
    try {
        const device_guard guard(device_count() - 1);
        throw std::runtime_error("passing");
    } catch (const std::runtime_error&) {
    }
    EXPECT_EQ(current_device(), former);
}

class device_error : public provoked_error_test {};

TEST_F(device_error, guard_refuses_a_device_that_is_not_there) {
    const int former = current_device();
    EXPECT_THROW(device_guard{device_count()}, cuda_error);
    EXPECT_EQ(current_device(), former);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST(version, is_the_headers) {
    EXPECT_EQ(version(),
              fmt::format("{}.{}.{}", HEDDLE_VERSION_MAJOR, HEDDLE_VERSION_MINOR, HEDDLE_VERSION_PATCH));
}

}  // namespace
}  // namespace heddle::test
