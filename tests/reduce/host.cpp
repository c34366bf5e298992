#include "tests/reduce/other_reductions.hpp"
#include <heddle/host.hpp>

#include <omp.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace heddle {
namespace {

using test::elements;
using test::guarded;
using test::infinity;
using test::is_integer;
using test::is_value;
using test::nan;
using test::other_reference;
using test::random_elements;
using test::reduce_reference;
using test::same_bits;

template <class T>
class host_reduce : public testing::Test {
  protected:
    using operand = guarded<T>;

    /// Chunks of 4096, 32 accumulators in each, and pairs of chunks.
    static std::int64_t depth(std::int64_t size) {
        std::int64_t levels = 0;
        while ((std::int64_t{4096} << levels) < size) ++levels;
        return 4096 / 32 + 5 + levels;
    }

    void check(std::int64_t size, std::int64_t offset, std::int64_t stride) {
        const auto xs = elements<T>(size);
        const reduce_reference<T> expected(xs);
        operand x(1, size, 0, offset, stride, operand::memory::host);
        x.upload(xs);
        ASSERT_TRUE(expected.is_sum(host::sum<T>(x.vector()), depth(size)));
        ASSERT_TRUE(is_value(host::min<T>(x.vector()), expected.smallest));
        ASSERT_TRUE(is_value(host::max<T>(x.vector()), expected.largest));
        ASSERT_TRUE(x.untouched());
        check_others(xs, elements<T>(size), offset, stride);
        std::vector<T> few;
        for (const std::int64_t value : random_elements<std::int64_t>(size, -2, 2))
            few.push_back(static_cast<T>(static_cast<float>(value)));
        check_others(few, xs, offset, stride);
    }

    void check_others(const std::vector<T>& xs, const std::vector<T>& ys, std::int64_t offset,
                      std::int64_t stride) {
        const auto size = std::ssize(xs);
        const other_reference<T> expected(xs, ys);
        operand x(1, size, 0, offset, stride, operand::memory::host);
        operand y(1, size, 0, 0, stride == 2 ? 1 : stride, operand::memory::host);
        x.upload(xs);
        y.upload(ys);
        const vector_view<const T> view = x.vector();
        ASSERT_TRUE(expected.is_mean(host::mean<T>(view), depth(size)));
        ASSERT_EQ(host::argmin<T>(view), expected.argmin);
        ASSERT_EQ(host::argmax<T>(view), expected.argmax);
        ASSERT_TRUE(expected.is_dot(host::dot<T>(view, y.vector()), depth(size)));
        ASSERT_TRUE(expected.is_norm1(host::norm1<T>(view), depth(size)));
        if constexpr (!is_integer<T>) {
            ASSERT_TRUE(expected.is_norm2(host::norm2<T>(view), depth(size)));
        }
        ASSERT_EQ(host::count_nonzero<T>(view), expected.count);
    }
};

TYPED_TEST_SUITE(host_reduce, test::reduced_types, test::type_names);

TYPED_TEST(host_reduce, takes_every_size_alignment_and_stride) {
    for (const std::int64_t size : {0, 1, 2, 31, 32, 33, 63, 64, 65, 1009, 4095, 4096, 4097, 8193, 100003})
        for (const std::int64_t offset : {0, 1, 3})
            for (const std::int64_t stride : {1, 2, 7}) {
                SCOPED_TRACE(testing::Message()
                             << size << " elements, offset " << offset << ", stride " << stride);
                ASSERT_NO_FATAL_FAILURE(this->check(size, offset, stride));
            }
}

TYPED_TEST(host_reduce, does_not_depend_on_the_number_of_threads) {
    const auto xs = elements<TypeParam>(1000003);
    const vector_view<const TypeParam> x{xs.data(), std::ssize(xs)};
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    const auto expected = host::sum(x);
    for (const int count : {2, 3, 7}) {
        omp_set_num_threads(count);
        EXPECT_TRUE(same_bits(host::sum(x), expected)) << count << " threads";
    }
    omp_set_num_threads(threads);
}

template <class T>
class host_reduce_floating : public testing::Test {};
TYPED_TEST_SUITE(host_reduce_floating, test::floating_types, test::type_names);

TYPED_TEST(host_reduce_floating, passes_nan_and_infinity_on) {
    using element = TypeParam;
    for (const std::int64_t size : {1, 33, 5000})
        for (const std::int64_t at : {std::int64_t{0}, size / 2, size - 1}) {
            SCOPED_TRACE(testing::Message() << size << " elements, at " << at);
            auto xs = random_elements<element>(size);
            const vector_view<const element> x{xs.data(), size};
            element& special = xs[static_cast<std::size_t>(at)];
            special = nan<element>();
            EXPECT_TRUE(std::isnan(host::sum(x)));
            EXPECT_TRUE(is_value(host::min(x), special));
            EXPECT_TRUE(is_value(host::max(x), special));
            special = infinity<element>();
            EXPECT_EQ(host::sum(x), infinity<sum_type<element>>());
            EXPECT_TRUE(is_value(host::max(x), special));
            special = -infinity<element>();
            EXPECT_EQ(host::sum(x), -infinity<sum_type<element>>());
            EXPECT_TRUE(is_value(host::min(x), special));
            EXPECT_EQ(host::norm1(x), HUGE_VAL);
            EXPECT_EQ(host::norm2(x), HUGE_VAL);
            EXPECT_EQ(host::argmin(x), at);
            special = nan<element>();
            EXPECT_EQ(host::argmin(x), at);
            EXPECT_EQ(host::argmax(x), at);
            EXPECT_TRUE(std::isnan(host::mean(x)));
            EXPECT_TRUE(std::isnan(host::dot<element>(x, x)));
            EXPECT_TRUE(std::isnan(host::norm1(x)));
            EXPECT_TRUE(std::isnan(host::norm2(x)));
            EXPECT_EQ(host::count_nonzero<element>({&special, 1}), 1);
        }
}

TYPED_TEST(host_reduce_floating, norm2_neither_overflows_nor_underflows) {
    for (const auto& xs : test::extreme_vectors<TypeParam>()) {
        const vector_view<const TypeParam> x{xs.data(), std::ssize(xs)};
        ASSERT_EQ(test::to_double(host::norm2(x)), test::norm_of_extreme(xs)) << xs.size() << " elements";
    }
}

TEST(host_reduce_of_half, widens_every_bit_pattern) {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const half element(__half_raw{static_cast<unsigned short>(bits)});
        const vector_view<const half> x{&element, 1};
        const float value = static_cast<float>(element);
        ASSERT_TRUE(is_value(host::sum(x), value)) << bits;
        ASSERT_TRUE(is_value(host::min(x), element)) << bits;
        ASSERT_EQ(std::signbit(test::to_double(host::max(x))), std::signbit(value)) << bits;
    }
}

TEST(host_reduce_of_nothing, is_the_identity) {
    EXPECT_EQ(host::sum<float>({}), 0);
    EXPECT_EQ(host::min<float>({}), HUGE_VALF);
    EXPECT_EQ(host::max<float>({}), -HUGE_VALF);
    EXPECT_EQ(test::to_double(host::min<half>({})), HUGE_VAL);
    EXPECT_EQ(host::min<std::int32_t>({}), std::numeric_limits<std::int32_t>::max());
    EXPECT_EQ(host::max<std::int64_t>({}), std::numeric_limits<std::int64_t>::min());
    EXPECT_TRUE(std::isnan(host::mean<float>({})));
    EXPECT_TRUE(std::isnan(host::mean<std::int32_t>({})));
    EXPECT_EQ(host::argmin<float>({}), -1);
    EXPECT_EQ(host::argmax<std::int64_t>({}), -1);
    EXPECT_EQ(host::dot<float>({}, {}), 0);
    EXPECT_EQ(host::norm1<half>({}), 0);
    EXPECT_EQ(host::norm2<double>({}), 0);
    EXPECT_EQ(host::count_nonzero<float>({}), 0);
}

}  // namespace
}  // namespace heddle
