#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

static_assert(!std::is_copy_constructible_v<workspace>);
static_assert(std::is_nothrow_move_constructible_v<workspace> &&
              std::is_nothrow_move_assignable_v<workspace>);
static_assert(std::is_convertible_v<workspace&, std::span<std::byte>>);

TEST(workspace, may_be_empty) {
    workspace scratch(0, cuda::stream_ref{cudaStream_t{}});
    const std::span<std::byte> span = scratch;
    EXPECT_TRUE(span.empty());
    EXPECT_EQ(scratch.data(), nullptr);
}

TEST(workspace, negative_size_is_refused) {
    EXPECT_THROW(workspace(-1, cuda::stream_ref{cudaStream_t{}}), invalid_argument);
}

class workspace_test : public gpu_test {};

TEST_F(workspace_test, is_zero_even_where_the_memory_was_used_before) {
    constexpr std::int64_t bytes = 1000003;
    const stream s;
    {
        device_buffer<std::byte> used(bytes, s);
        fill_bytes(used, std::byte{0xa5}, s);
    }
    workspace scratch(bytes, s);
    const std::span<std::byte> span = scratch;
    EXPECT_EQ(span.data(), scratch.data());
    EXPECT_EQ(span.size(), scratch.bytes());

    std::vector<std::byte> contents(bytes, std::byte{1});
    copy_and_wait(span, contents, s);
    EXPECT_TRUE(std::ranges::all_of(contents, [](std::byte each) { return each == std::byte{0}; }));
}

TEST_F(workspace_test, moves) {
    const stream s;
    workspace first(100, s);
    const std::byte* const data = first.data();
    workspace second(std::move(first));
    EXPECT_EQ(second.data(), data);
    EXPECT_EQ(second.bytes(), 100U);
    EXPECT_EQ(first.bytes(), 0U);
}

}  // namespace
}  // namespace heddle::test
