#include "tests/reduce/reduce_test.hpp"

#include <omp.h>

namespace heddle::test {
namespace {

template <class T>
class host_reduce : public testing::Test {};
TYPED_TEST_SUITE(host_reduce, reduced_types, type_names);

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
TYPED_TEST_SUITE(host_reduce_floating, floating_types, type_names);

TYPED_TEST(host_reduce_floating, norm2_neither_overflows_nor_underflows) {
    for (const auto& xs : extreme_vectors<TypeParam>()) {
        const vector_view<const TypeParam> x{xs.data(), std::ssize(xs)};
        ASSERT_EQ(to_double(host::norm2(x)), norm_of_extreme(xs)) << xs.size() << " elements";
    }
}

TEST(host_reduce_of_half, widens_every_bit_pattern) {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const half element(__half_raw{static_cast<unsigned short>(bits)});
        const vector_view<const half> x{&element, 1};
        const float value = static_cast<float>(element);
        ASSERT_TRUE(is_value(host::sum(x), value)) << bits;
        ASSERT_TRUE(is_value(host::min(x), element)) << bits;
        ASSERT_EQ(std::signbit(to_double(host::max(x))), std::signbit(value)) << bits;
    }
}

TEST(host_reduce_of_nothing, is_the_identity) {
    EXPECT_EQ(host::sum<float>({}), 0);
    EXPECT_EQ(host::min<float>({}), HUGE_VALF);
    EXPECT_EQ(host::max<float>({}), -HUGE_VALF);
    EXPECT_EQ(to_double(host::min<half>({})), HUGE_VAL);
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
}  // namespace heddle::test
