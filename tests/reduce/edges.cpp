#include "tests/reduce/reduce_test.hpp"

#include <omp.h>

namespace heddle::test {
namespace {

template <class T>
using reduce_edges = reductions<T>;
TYPED_TEST_SUITE(reduce_edges, reduced_types, type_names);

TYPED_TEST(reduce_edges, of_nothing_is_the_identity) {
    constexpr bool integer = is_integer<TypeParam>;
    using limits = std::numeric_limits<TypeParam>;
    const vector_view<const TypeParam> nothing{};
    for (const reduce_algorithm algorithm : with_automatic(reduce_algorithms())) {
        SCOPED_TRACE(to_string(algorithm));
        const reduce_options options{.algorithm = algorithm};
        EXPECT_EQ(this->sum_of(nothing, options), 0);
        if constexpr (integer) {
            EXPECT_EQ(this->min_of(nothing, options), limits::max());
            EXPECT_EQ(this->max_of(nothing, options), limits::min());
        } else {
            EXPECT_EQ(to_double(this->min_of(nothing, options)), HUGE_VAL);
            EXPECT_EQ(to_double(this->max_of(nothing, options)), -HUGE_VAL);
        }
    }
    for (const reduce_algorithm algorithm : with_automatic(reduce_algorithms(reduce_operation::mean))) {
        SCOPED_TRACE(to_string(algorithm));
        const reduce_options options{.algorithm = algorithm};
        EXPECT_TRUE(std::isnan(this->mean_of(nothing, options)));
        EXPECT_EQ(this->argmin_of(nothing, options), -1);
        EXPECT_EQ(this->argmax_of(nothing, options), -1);
        EXPECT_EQ(this->dot_of(nothing, nothing, options), 0);
        EXPECT_EQ(this->norm1_of(nothing, options), 0);
        if constexpr (!is_integer<TypeParam>) {
            EXPECT_EQ(this->norm2_of(nothing, options), 0);
        }
        EXPECT_EQ(this->count_nonzero_of(nothing, options), 0);
    }
}

TYPED_TEST(reduce_edges, writes_between_the_elements_of_x) {
    const std::int64_t size = 1000, stride = 3;
    const auto xs = elements<TypeParam>(size);
    guarded<TypeParam> x(1, size, 0, 0, stride);
    x.upload(xs);
    TypeParam* between = x.data() + 50 * stride + 1;
    max<TypeParam>(x.vector(), between, *this->stream);
    TypeParam result;
    check(cudaStreamSynchronize(this->stream->get()));
    check(cudaMemcpy(&result, between, sizeof(result), cudaMemcpyDefault));
    EXPECT_TRUE(is_value(result, reduce_reference<TypeParam>(xs).largest));
}

template <class T>
class reduce_floating : public reductions<T> {};
TYPED_TEST_SUITE(reduce_floating, floating_types, type_names);

TYPED_TEST(reduce_floating, norm2_neither_overflows_nor_underflows) {
    for (const auto& xs : extreme_vectors<TypeParam>()) {
        guarded<TypeParam> x(std::ssize(xs));
        x.upload(xs);
        for (const reduce_algorithm algorithm : with_automatic(reduce_algorithms(reduce_operation::norm2)))
            ASSERT_EQ(to_double(this->norm2_of(x.vector(), {.algorithm = algorithm})), norm_of_extreme(xs))
                << xs.size() << " elements, " << to_string(algorithm);
    }
}

class reduce_norm2_levels : public reduce_test {};

/// One element a level of norm2's scaling and beyond: the largest decides.
TEST_F(reduce_norm2_levels, are_merged) {
    for (const double largest : {0x1p1000, 0x1p481, 0x1p479, 0x1p0, 0x1p-399, 0x1p-401, 0x1p-1000})
        for (const double ratio : {1.0, 0x1p-10, 0x1p-26, 0x1p-200, 0x1p-1000})
            for (const std::size_t distance : {1u, 64u, 5000u, 200000u}) {
                std::vector<double> xs(300007);
                xs[77] = largest * ratio;
                xs[77 + distance] = largest;
                guarded<double> x(std::ssize(xs));
                x.upload(xs);
                for (const auto algorithm : with_automatic(reduce_algorithms(reduce_operation::norm2))) {
                    guarded<double> result(1);
                    norm2<double>(x.vector(), result.data(), *stream, {.algorithm = algorithm});
                    const double expected = std::hypot(1.0, ratio) * largest;
                    // hypot's error is below an ulp; so is that of two squares, a sum, a root.
                    EXPECT_TRUE(is_within(result.download()[0], expected, 4 * 0x1p-53 * expected))
                        << largest << ' ' << ratio << ' ' << distance;
                }
            }
}

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
