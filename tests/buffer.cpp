#include "tests/support/gate.hpp"
#include "tests/support/headers.hpp"

#include <ranges>

namespace heddle::test {
namespace {

template <class Buffer>
constexpr bool is_well_made =
    !std::is_copy_constructible_v<Buffer> && !std::is_copy_assignable_v<Buffer> &&
    std::is_nothrow_default_constructible_v<Buffer> && std::is_nothrow_move_constructible_v<Buffer> &&
    std::is_nothrow_move_assignable_v<Buffer> && std::is_nothrow_destructible_v<Buffer> &&
    std::is_convertible_v<Buffer&, vector_view<float>> &&
    std::is_convertible_v<Buffer&, vector_view<const float>> &&
    std::is_convertible_v<const Buffer&, vector_view<const float>> &&
    !std::is_convertible_v<const Buffer&, vector_view<float>>;

static_assert(is_well_made<device_buffer<float>>);
static_assert(is_well_made<pinned_buffer<float>>);
static_assert(is_well_made<managed_buffer<float>>);

static_assert(std::ranges::contiguous_range<pinned_buffer<float>>);
static_assert(std::ranges::contiguous_range<const managed_buffer<float>>);
static_assert(!std::ranges::range<device_buffer<float>>, "the host must not read device memory");
static_assert(!std::is_constructible_v<device_buffer<float>, std::int64_t>, "a device buffer needs a stream");

template <class Buffer>
Buffer make(std::int64_t size, cuda::stream_ref stream) {
    if constexpr (std::is_constructible_v<Buffer, std::int64_t, cuda::stream_ref>)
        return Buffer(size, stream);
    else
        return Buffer(size);
}

using kinds = testing::Types<device_buffer<int>, pinned_buffer<int>, managed_buffer<int>>;

/// Checks for any machine, with or without a GPU.
template <class Buffer>
class buffer_bookkeeping : public testing::Test {};
TYPED_TEST_SUITE(buffer_bookkeeping, kinds);

TYPED_TEST(buffer_bookkeeping, default_is_empty) {
    const TypeParam buffer;
    EXPECT_TRUE(buffer.empty());
    EXPECT_EQ(buffer.size(), 0U);
    EXPECT_EQ(buffer.data(), nullptr);
}

TYPED_TEST(buffer_bookkeeping, zero_elements_allocate_nothing) {
    auto buffer = make<TypeParam>(0, no_stream);
    EXPECT_EQ(buffer.size(), 0U);
    EXPECT_EQ(buffer.data(), nullptr);
    const vector_view<int> view = buffer;
    EXPECT_EQ(view.data, nullptr);
    EXPECT_EQ(view.size, 0);

    TypeParam moved(std::move(buffer));
    TypeParam& alias = moved;
    moved = std::move(alias);
    EXPECT_TRUE(moved.empty());
}

TYPED_TEST(buffer_bookkeeping, negative_size_is_refused) {
    expect_error("buffer: size is -1, expected 0 to 2305843009213693951",
                 [] { make<TypeParam>(-1, no_stream); });
}

TYPED_TEST(buffer_bookkeeping, size_whose_bytes_cannot_be_counted_is_refused) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    EXPECT_THROW(make<TypeParam>(most, no_stream), invalid_argument);
    EXPECT_THROW(make<TypeParam>(most / std::int64_t{sizeof(int)} + 1, no_stream), invalid_argument);
}

/// Pairs each kind of buffer with a stream and a way to read its elements.
template <class Buffer>
class buffer_test : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (is_set_up()) s.emplace();
    }

    Buffer make_filled(std::int64_t size, int first) {
        std::vector<int> values(static_cast<std::size_t>(size));
        std::iota(values.begin(), values.end(), first);
        auto buffer = make<Buffer>(size, *s);
        copy_and_wait(values, buffer, *s);
        return buffer;
    }

    bool holds(const Buffer& buffer, std::int64_t size, int first) {
        std::vector<int> expected(static_cast<std::size_t>(size));
        std::iota(expected.begin(), expected.end(), first);
        std::vector<int> values(expected.size());
        copy_and_wait(buffer, values, *s);
        return values == expected;
    }

    std::optional<stream> s;
};
TYPED_TEST_SUITE(buffer_test, kinds);

TYPED_TEST(buffer_test, keeps_what_is_copied_in) {
    for (const std::int64_t size : {1, 2, 31, 1000003}) {
        const auto buffer = this->make_filled(size, 5);
        EXPECT_EQ(buffer.size(), static_cast<std::size_t>(size));
        EXPECT_TRUE(this->holds(buffer, size, 5));
    }
}

TYPED_TEST(buffer_test, moves_without_copying) {
    auto first = this->make_filled(100, 1);
    const int* const data = first.data();

    TypeParam second(std::move(first));
    EXPECT_EQ(second.data(), data);
    EXPECT_EQ(first.data(), nullptr);
    EXPECT_EQ(first.size(), 0U);
    EXPECT_TRUE(this->holds(second, 100, 1));

    auto third = this->make_filled(7, 50);
    third = std::move(second);
    EXPECT_EQ(third.data(), data);
    EXPECT_EQ(second.data(), nullptr);
    EXPECT_EQ(second.size(), 0U);
    EXPECT_TRUE(this->holds(third, 100, 1));

    second = this->make_filled(3, 2);  // a moved-from buffer can be used again
    EXPECT_TRUE(this->holds(second, 3, 2));
}

TYPED_TEST(buffer_test, survives_a_move_to_itself) {
    auto buffer = this->make_filled(100, 1);
    const int* const data = buffer.data();
    TypeParam& alias = buffer;
    buffer = std::move(alias);
    EXPECT_EQ(buffer.data(), data);
    EXPECT_TRUE(this->holds(buffer, 100, 1));
}

TYPED_TEST(buffer_test, swaps) {
    auto a = this->make_filled(10, 1);
    auto b = this->make_filled(20, 100);
    std::swap(a, b);
    EXPECT_TRUE(this->holds(a, 20, 100));
    EXPECT_TRUE(this->holds(b, 10, 1));
}

TYPED_TEST(buffer_test, is_unharmed_by_an_exception_beside_it) {
    const auto survivor = this->make_filled(1000, 3);
    try {
        const auto released = this->make_filled(500, 9);
        make<TypeParam>(-1, *this->s);
    } catch (const invalid_argument&) {
    }
    EXPECT_TRUE(this->holds(survivor, 1000, 3));
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

template <class Buffer>
class buffer_error : public provoked_error_test {};
TYPED_TEST_SUITE(buffer_error, kinds);

TYPED_TEST(buffer_error, out_of_memory_leaves_the_device_usable) {
    constexpr std::int64_t beyond_any_machine = std::int64_t{1} << 57;
    const stream s;
    auto survivor = make<TypeParam>(1, s);
    copy_and_wait(std::vector{42}, survivor, s);

    const cuda_error error = cuda_error_of([&] { make<TypeParam>(beyond_any_machine, s); });
    EXPECT_EQ(error.status(), cudaErrorMemoryAllocation) << error.what();
    EXPECT_FALSE(error.is_sticky());
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);

    const auto another = make<TypeParam>(1000, s);
    EXPECT_NE(another.data(), nullptr);
    std::vector<int> value(1);
    copy_and_wait(survivor, value, s);
    EXPECT_EQ(value.front(), 42);
}

template <class Buffer>
class host_buffer_test : public gpu_test {};
using host_kinds = testing::Types<pinned_buffer<int>, managed_buffer<int>>;
TYPED_TEST_SUITE(host_buffer_test, host_kinds);

TYPED_TEST(host_buffer_test, is_a_range_for_the_host) {
    TypeParam buffer(100);
    std::iota(buffer.begin(), buffer.end(), 0);
    buffer[7] = -7;
    const TypeParam& read = buffer;
    EXPECT_EQ(read[7], -7);
    EXPECT_EQ(std::accumulate(read.begin(), read.end(), 0), 99 * 100 / 2 - 14);
    EXPECT_EQ(std::ranges::size(read), 100U);
}

class device_buffer_test : public gpu_test {};

TEST_F(device_buffer_test, is_given_back_when_an_exception_passes) {
    const stream s;
    const memory_pool pool = memory_pool::of_device(current_device());
    const std::size_t before = pool.bytes_in_use();
    EXPECT_THROW(
        {
            device_buffer<int> a(1 << 20, s);
            device_buffer<int> b(1 << 20, s);
            a = std::move(b);
            throw std::runtime_error("passing");
        },
        std::runtime_error);
    s.synchronize();
    EXPECT_EQ(pool.bytes_in_use(), before);
}

TEST_F(device_buffer_test, is_given_back_after_the_work_of_its_stream) {
    constexpr std::int64_t size = 1 << 20;
    const stream owner;
    const stream other;
    pinned_buffer<int> result(size);
    std::ranges::fill(result, 0);
    gate gate;
    {
        const device_buffer<int> buffer(size, owner);
        fill_bytes(vector_view<int>{const_cast<int*>(buffer.data()), size}, std::byte{1}, owner);
        gate.hold(owner);
        copy(buffer, result, owner);
    }
    // If the memory were freed at once, this would take and overwrite it before it is copied.
    device_buffer<int> next(size, other);
    fill_bytes(next, std::byte{2}, other);
    other.synchronize();
    gate.open();
    owner.synchronize();
    EXPECT_TRUE(std::ranges::all_of(result, [](int each) { return each == 0x01010101; }));
}

TEST_F(device_buffer_test, is_given_back_on_the_stream_that_was_set) {
    constexpr std::int64_t size = 1 << 20;
    const stream first;
    stream last;
    event filled;
    pinned_buffer<int> result(size);
    std::ranges::fill(result, 0);
    gate gate;
    {
        device_buffer<int> buffer(size, first);
        EXPECT_EQ(buffer.stream().get(), first.get());
        fill_bytes(buffer, std::byte{1}, first);
        filled.record(first);
        last.wait(filled);
        gate.hold(last);
        copy(buffer, result, last);
        buffer.set_stream(last);
        EXPECT_EQ(buffer.stream().get(), last.get());
    }
    // On `first` the pool would reuse the same memory at once.
    device_buffer<int> next(size, first);
    fill_bytes(next, std::byte{2}, first);
    first.synchronize();
    gate.open();
    last.synchronize();
    EXPECT_TRUE(std::ranges::all_of(result, [](int each) { return each == 0x01010101; }));
}

TEST_F(device_buffer_test, move_takes_the_stream_along) {
    const stream a;
    const stream b;
    device_buffer<int> on_a(10, a);
    device_buffer<int> on_b(10, b);
    on_b = std::move(on_a);
    EXPECT_EQ(on_b.stream().get(), a.get());
}

TEST_F(device_buffer_test, lives_on_its_streams_device) {
    for (int device = 0; device < device_count(); ++device) {
        const device_guard guard(device);
        const stream s;
        const device_buffer<int> buffer(10, s);
        cudaPointerAttributes attributes{};
        check(cudaPointerGetAttributes(&attributes, buffer.data()));
        EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
        EXPECT_EQ(attributes.device, device);
    }
}

static_assert(!std::is_copy_constructible_v<workspace>);
static_assert(std::is_nothrow_move_constructible_v<workspace> &&
              std::is_nothrow_move_assignable_v<workspace>);
static_assert(std::is_convertible_v<workspace&, std::span<std::byte>>);

TEST(workspace, may_be_empty) {
    workspace scratch(0, no_stream);
    const std::span<std::byte> span = scratch;
    EXPECT_TRUE(span.empty());
    EXPECT_EQ(scratch.data(), nullptr);
}

TEST(workspace, negative_size_is_refused) {
    EXPECT_THROW(workspace(-1, no_stream), invalid_argument);
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
