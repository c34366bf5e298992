#include "tests/support/headers.hpp"

#include <source_location>

namespace heddle::test {
namespace {

static_assert(std::is_nothrow_destructible_v<cuda_error>);
static_assert(std::is_base_of_v<std::runtime_error, cuda_error>);
static_assert(std::is_base_of_v<std::invalid_argument, invalid_argument>);
static_assert(std::is_base_of_v<std::runtime_error, unsupported>);

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(check, lets_success_pass) {
    EXPECT_NO_THROW(check(cudaSuccess));
}

TEST(check, names_the_status_and_the_caller) {
    const auto here = std::source_location::current();
    const cuda_error error = cuda_error_of([] { check(cudaErrorMemoryAllocation); });
    const std::string text = error.what();

    EXPECT_EQ(error.status(), cudaErrorMemoryAllocation);
    EXPECT_STREQ(error.name(), "cudaErrorMemoryAllocation");
    EXPECT_STREQ(error.where().file_name(), here.file_name());
    EXPECT_EQ(error.where().line(), here.line() + 1);
    EXPECT_PRED2(contains, text, "cudaErrorMemoryAllocation");
    EXPECT_PRED2(contains, text, cudaGetErrorString(cudaErrorMemoryAllocation));
    EXPECT_PRED2(contains, text, here.file_name() + (":" + std::to_string(here.line() + 1)));
    EXPECT_PRED2(contains, error.where().function_name(), "names_the_status_and_the_caller");
    EXPECT_PRED2(contains, text, error.where().function_name());
}

TEST(check, takes_another_place) {
    const auto elsewhere = std::source_location::current();
    const cuda_error error = cuda_error_of([&] { check(cudaErrorInvalidValue, elsewhere); });
    EXPECT_EQ(error.where().line(), elsewhere.line());
}

TEST(cuda_error, says_whether_the_context_is_lost) {
    const auto expect = [](bool is_sticky, std::initializer_list<cudaError_t> all) {
        for (const cudaError_t status : all) {
            const cuda_error error(status);
            EXPECT_EQ(error.is_sticky(), is_sticky) << error.what();
            EXPECT_EQ(contains(error.what(), "the context is lost"), is_sticky) << error.what();
        }
    };
    expect(true, {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorLaunchTimeout,
                  cudaErrorMisalignedAddress, cudaErrorIllegalInstruction, cudaErrorECCUncorrectable,
                  cudaErrorAssert});
    expect(false,
           {cudaErrorMemoryAllocation, cudaErrorInvalidValue, cudaErrorNoDevice, cudaErrorInsufficientDriver,
            cudaErrorNotReady, cudaErrorInvalidConfiguration, cudaErrorStreamCaptureInvalidated});
}

TEST(cuda_error, explains_a_missing_device) {
    EXPECT_PRED2(contains, cuda_error(cudaErrorNoDevice).what(), "no CUDA device is visible");
}

TEST(cuda_error, explains_which_driver_is_needed) {
    const std::string text = cuda_error(cudaErrorInsufficientDriver).what();
    EXPECT_PRED2(contains, text, "CUDA 13.0 needs R580 or newer");
}

TEST(cuda_error_death_test, is_clear_where_there_is_no_device) {
    without_devices([] {
        const cuda_error error = cuda_error_of([] { stream{}; });
        EXPECT_TRUE(error.status() == cudaErrorNoDevice || error.status() == cudaErrorInsufficientDriver)
            << error.what();
        EXPECT_FALSE(error.is_sticky());
    });
}

TEST(invalid_argument, names_argument_value_and_expectation) {
    const invalid_argument error("matmul", "b.rows", "5", "4 (a.cols)");
    EXPECT_STREQ(error.what(), "matmul: b.rows is 5, expected 4 (a.cols)");
    EXPECT_EQ(error.operation(), "matmul");
    EXPECT_EQ(error.argument(), "b.rows");
    EXPECT_EQ(error.value(), "5");
    EXPECT_EQ(error.expected(), "4 (a.cols)");
}

TEST(unsupported, keeps_its_reason) {
    EXPECT_STREQ(unsupported("needs compute capability 9.0").what(), "needs compute capability 9.0");
}

class errors_on_a_device : public provoked_error_test {};

TEST_F(errors_on_a_device, are_cleared_when_thrown) {
    void* data = nullptr;
    const cuda_error error = cuda_error_of([&] { check(cudaMalloc(&data, std::size_t{1} << 60)); });
    EXPECT_EQ(error.status(), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_NO_THROW(stream{}.synchronize());
}

// A kernel that traps loses the context, so this runs in a process of its own.
void trap_and_report() {
    constexpr char trapping_kernel[] = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry stop() { trap; }
)";
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    check(cudaLibraryLoadData(&library, trapping_kernel, nullptr, nullptr, 0, nullptr, nullptr, 0));
    check(cudaLibraryGetKernel(&kernel, library, "stop"));
    const stream s;
    check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), nullptr, 0, s.get()));

    const cuda_error error = cuda_error_of([&] { s.synchronize(); });
    EXPECT_TRUE(error.is_sticky()) << error.what();
    const cuda_error later = cuda_error_of([&] { s.synchronize(); });
    EXPECT_EQ(later.status(), error.status());
    std::_Exit(testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS);
}

using errors_on_a_device_death_test = errors_on_a_device;

TEST_F(errors_on_a_device_death_test, stay_when_the_context_is_lost) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(trap_and_report(), testing::ExitedWithCode(EXIT_SUCCESS), "");
}

}  // namespace
}  // namespace heddle::test
