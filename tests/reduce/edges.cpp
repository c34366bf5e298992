#include "tests/reduce/other_reductions.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace heddle {
namespace {

using test::algorithms_of;
using test::every_algorithm;
using test::guarded;
using test::infinity;
using test::is_integer;
using test::is_value;
using test::nan;
using test::random_elements;
using test::reduce_test;

template <class T>
using reduce_edges = test::reduced_vectors<T>;
TYPED_TEST_SUITE(reduce_edges, test::reduced_types, test::type_names);

TYPED_TEST(reduce_edges, takes_every_alignment) {
    for (const std::int64_t size : {1, 5, 17, 1009, 40009})
        for (const std::int64_t offset : {1, 2, 3, 7}) {
            SCOPED_TRACE(testing::Message() << size << " elements, offset " << offset);
            ASSERT_NO_FATAL_FAILURE(this->check(size, offset));
        }
}

TYPED_TEST(reduce_edges, takes_every_stride) {
    for (const std::int64_t stride : {2, 7})
        for (const std::int64_t size : {0, 1, 2, 33, 257, 1025, 4097, 10007, 300007}) {
            SCOPED_TRACE(testing::Message() << size << " elements, stride " << stride);
            ASSERT_NO_FATAL_FAILURE(this->check(size, 1, stride));
        }
}

TYPED_TEST(reduce_edges, of_nothing_is_the_identity) {
    constexpr bool integer = is_integer<TypeParam>;
    using limits = std::numeric_limits<TypeParam>;
    const vector_view<const TypeParam> nothing{};
    for (const reduce_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        const reduce_options options{.algorithm = algorithm};
        EXPECT_EQ(this->sum_of(nothing, options), 0);
        if constexpr (integer) {
            EXPECT_EQ(this->min_of(nothing, options), limits::max());
            EXPECT_EQ(this->max_of(nothing, options), limits::min());
        } else {
            EXPECT_EQ(test::to_double(this->min_of(nothing, options)), HUGE_VAL);
            EXPECT_EQ(test::to_double(this->max_of(nothing, options)), -HUGE_VAL);
        }
    }
}

template <class T>
class reduce_floating : public reduce_test {};
TYPED_TEST_SUITE(reduce_floating, test::floating_types, test::type_names);

TYPED_TEST(reduce_floating, passes_nan_and_infinity_on) {
    using element = TypeParam;
    for (const std::int64_t size : {1, 1030, 300007})
        for (const std::int64_t at : {std::int64_t{0}, size / 2, size - 1}) {
            SCOPED_TRACE(testing::Message() << size << " elements, at " << at);
            auto xs = random_elements<element>(size);
            guarded<element> x(size, 1);
            const auto with = [&](element special) {
                xs[static_cast<std::size_t>(at)] = special;
                x.upload(xs);
                return vector_view<const element>(x.vector());
            };
            for (const reduce_algorithm algorithm : every_algorithm()) {
                SCOPED_TRACE(to_string(algorithm));
                const reduce_options options{.algorithm = algorithm};
                auto view = with(nan<element>());
                ASSERT_TRUE(std::isnan(this->sum_of(view, options)));
                ASSERT_TRUE(is_value(this->min_of(view, options), nan<element>()));
                ASSERT_TRUE(is_value(this->max_of(view, options), nan<element>()));
                view = with(infinity<element>());
                ASSERT_EQ(this->sum_of(view, options), infinity<sum_type<element>>());
                ASSERT_TRUE(is_value(this->max_of(view, options), infinity<element>()));
                view = with(-infinity<element>());
                ASSERT_EQ(this->sum_of(view, options), -infinity<sum_type<element>>());
                ASSERT_TRUE(is_value(this->min_of(view, options), -infinity<element>()));
            }
        }
}

TYPED_TEST(reduce_floating, of_infinities_of_both_signs_is_nan) {
    std::vector<TypeParam> xs(70001, TypeParam(1.0f));
    xs.front() = infinity<TypeParam>();
    xs.back() = -infinity<TypeParam>();
    guarded<TypeParam> x(std::ssize(xs));
    x.upload(xs);
    for (const reduce_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        EXPECT_TRUE(
            std::isnan(this->sum_of(vector_view<const TypeParam>(x.vector()), {.algorithm = algorithm})));
    }
}

TYPED_TEST(reduce_floating, takes_negative_zeros_and_denormals) {
    const auto zero = static_cast<TypeParam>(-0.0f);
    guarded<TypeParam> x(10007);
    const vector_view<const TypeParam> view = x.vector();
    const double denormal = test::smallest<TypeParam>();
    for (const reduce_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        const reduce_options options{.algorithm = algorithm};
        x.upload(std::vector<TypeParam>(10007, zero));
        EXPECT_EQ(this->sum_of(view, options), 0);
        EXPECT_TRUE(std::signbit(test::to_double(this->min_of(view, options))));
        EXPECT_TRUE(std::signbit(test::to_double(this->max_of(view, options))));
        // Multiples of one denormal add up without rounding.
        x.upload(std::vector<TypeParam>(10007, static_cast<TypeParam>(denormal)));
        EXPECT_EQ(test::to_double(this->sum_of(view, options)), 10007 * denormal);
        EXPECT_EQ(test::to_double(this->min_of(view, options)), denormal);
        EXPECT_EQ(test::to_double(this->max_of(view, options)), denormal);
    }
}

// The operations beside sum, min and max.

template <class T>
using reduce_others_edges = test::other_reductions<T>;
TYPED_TEST_SUITE(reduce_others_edges, test::reduced_types, test::type_names);

TYPED_TEST(reduce_others_edges, take_every_alignment) {
    for (const std::int64_t size : {1, 5, 17, 1009, 40009})
        for (const std::int64_t offset : {0, 1, 3})
            for (const std::int64_t offset_of_y : {0, 1, 2, 7}) {
                SCOPED_TRACE(testing::Message()
                             << size << " elements, offsets " << offset << " and " << offset_of_y);
                ASSERT_NO_FATAL_FAILURE(this->check(size, {offset}, {offset_of_y}));
            }
}

TYPED_TEST(reduce_others_edges, take_every_stride) {
    for (const std::int64_t stride : {1, 2, 7})
        for (const std::int64_t stride_of_y : {1, 3})
            for (const std::int64_t size : {0, 1, 2, 33, 257, 4097, 100003}) {
                SCOPED_TRACE(testing::Message()
                             << size << " elements, strides " << stride << " and " << stride_of_y);
                ASSERT_NO_FATAL_FAILURE(this->check(size, {1, stride}, {2, stride_of_y}));
            }
}

TYPED_TEST(reduce_others_edges, of_nothing_are_what_they_say) {
    const vector_view<const TypeParam> nothing{};
    for (const reduce_algorithm algorithm : algorithms_of(reduce_operation::mean)) {
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

template <class T>
class reduce_others_floating : public test::other_reductions<T> {};
TYPED_TEST_SUITE(reduce_others_floating, test::floating_types, test::type_names);

TYPED_TEST(reduce_others_floating, pass_nan_and_infinity_on) {
    using element = TypeParam;
    for (const std::int64_t size : {1, 1030, 70001, 300007})
        for (const std::int64_t at : {std::int64_t{0}, size / 2, size - 1}) {
            SCOPED_TRACE(testing::Message() << size << " elements, at " << at);
            auto xs = random_elements<element>(size);
            const std::vector<element> ones(static_cast<std::size_t>(size), element(1.0f));
            guarded<element> x(size, 1), y(size);
            y.upload(ones);
            const auto with = [&](element special) {
                xs[static_cast<std::size_t>(at)] = special;
                x.upload(xs);
                return vector_view<const element>(x.vector());
            };
            for (const reduce_algorithm algorithm : algorithms_of(reduce_operation::dot)) {
                SCOPED_TRACE(to_string(algorithm));
                const reduce_options options{.algorithm = algorithm};
                auto view = with(nan<element>());
                ASSERT_TRUE(std::isnan(this->mean_of(view, options)));
                ASSERT_EQ(this->argmin_of(view, options), at);
                ASSERT_EQ(this->argmax_of(view, options), at);
                ASSERT_TRUE(std::isnan(this->dot_of(view, y.vector(), options)));
                ASSERT_TRUE(std::isnan(this->norm1_of(view, options)));
                ASSERT_TRUE(std::isnan(this->norm2_of(view, options)));
                ASSERT_EQ(this->count_nonzero_of({x.data() + at, 1}, options), 1);
                for (const element special : {infinity<element>(), -infinity<element>()}) {
                    view = with(special);
                    ASSERT_EQ(this->mean_of(view, options), static_cast<float>(special));
                    ASSERT_EQ(this->dot_of(view, y.vector(), options), static_cast<float>(special));
                    ASSERT_EQ(this->norm1_of(view, options), HUGE_VAL);
                    ASSERT_EQ(this->norm2_of(view, options), HUGE_VAL);
                }
                ASSERT_EQ(this->argmin_of(view, options), at);
            }
        }
}

TYPED_TEST(reduce_others_floating, prefer_the_first_nan) {
    using element = TypeParam;
    for (const std::int64_t size : {40, 70001, 300007})
        for (const std::int64_t at : {std::int64_t{3}, size / 2}) {
            auto xs = random_elements<element>(size);
            for (std::int64_t i = at; i < size; i += 11) xs[static_cast<std::size_t>(i)] = nan<element>();
            xs[0] = infinity<element>();
            xs[1] = -infinity<element>();
            guarded<element> x(size);
            x.upload(xs);
            for (const reduce_algorithm algorithm : algorithms_of(reduce_operation::argmax)) {
                SCOPED_TRACE(testing::Message() << size << ' ' << at << ' ' << to_string(algorithm));
                EXPECT_EQ(this->argmin_of(x.vector(), {.algorithm = algorithm}), at);
                EXPECT_EQ(this->argmax_of(x.vector(), {.algorithm = algorithm}), at);
            }
        }
}

TYPED_TEST(reduce_others_floating, take_zeros_of_both_signs_as_equal) {
    std::vector<TypeParam> xs(1000, TypeParam(-0.0f));
    xs[0] = xs[500] = TypeParam(0.0f);
    guarded<TypeParam> x(1000);
    x.upload(xs);
    for (const reduce_algorithm algorithm : algorithms_of(reduce_operation::argmax)) {
        EXPECT_EQ(this->argmin_of(x.vector(), {.algorithm = algorithm}), 0);
        EXPECT_EQ(this->argmax_of(x.vector(), {.algorithm = algorithm}), 0);
        EXPECT_EQ(this->count_nonzero_of(x.vector(), {.algorithm = algorithm}), 0);
    }
}

TYPED_TEST(reduce_others_floating, norm2_neither_overflows_nor_underflows) {
    for (const auto& xs : test::extreme_vectors<TypeParam>()) {
        guarded<TypeParam> x(std::ssize(xs));
        x.upload(xs);
        for (const reduce_algorithm algorithm : algorithms_of(reduce_operation::norm2))
            ASSERT_EQ(test::to_double(this->norm2_of(x.vector(), {.algorithm = algorithm})),
                      test::norm_of_extreme(xs))
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
                for (const auto algorithm : algorithms_of(reduce_operation::norm2)) {
                    guarded<double> result(1);
                    norm2<double>(x.vector(), result.data(), *stream, {.algorithm = algorithm});
                    const double expected = std::hypot(1.0, ratio) * largest;
                    // hypot's error is below an ulp; so is that of two squares, a sum, a root.
                    EXPECT_TRUE(test::is_within(result.download()[0], expected, 4 * 0x1p-53 * expected))
                        << largest << ' ' << ratio << ' ' << distance;
                }
            }
}

}  // namespace
}  // namespace heddle
