#include "tests/scan/scan_test.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace heddle {
namespace {

using test::every_algorithm;
using test::guarded;
using test::random_elements;
using test::scan_kind;
using test::scan_test;

template <class T>
using scan_edges = test::scanned_vectors<T>;
TYPED_TEST_SUITE(scan_edges, test::scan_types, test::type_names);

TYPED_TEST(scan_edges, takes_every_alignment) {
    for (const std::int64_t size : {1, 3, 17, 2047, 8191, 8192, 8193, 40009})
        for (const std::int64_t x_offset : {0, 1, 3})
            for (const std::int64_t y_offset : {0, 1, 2, 3}) {
                SCOPED_TRACE(testing::Message()
                             << size << " elements, offsets " << x_offset << ", " << y_offset);
                ASSERT_NO_FATAL_FAILURE(this->check(size, x_offset, y_offset));
            }
}

TYPED_TEST(scan_edges, takes_every_stride) {
    for (const auto& [x_stride, y_stride] : {std::pair{2, 1}, {1, 3}, {7, 7}})
        for (const std::int64_t size : {0, 1, 2, 33, 2047, 2048, 2049, 4097, 100003}) {
            SCOPED_TRACE(testing::Message() << size << " elements, strides " << x_stride << ", " << y_stride);
            ASSERT_NO_FATAL_FAILURE(this->check(size, 1, 0, x_stride, y_stride));
        }
}

template <class T>
class scan_floating : public scan_test {};
using floating_types = testing::Types<double, float>;
TYPED_TEST_SUITE(scan_floating, floating_types, test::type_names);

TYPED_TEST(scan_floating, passes_nan_and_infinity_to_later_sums_only) {
    using limits = std::numeric_limits<TypeParam>;
    for (const std::int64_t size : {1, 9001, 300007})
        for (const std::int64_t at : {std::int64_t{0}, size / 2, size - 1})
            for (const TypeParam special : {limits::quiet_NaN(), limits::infinity(), -limits::infinity()}) {
                auto xs = random_elements<TypeParam>(size);
                xs[static_cast<std::size_t>(at)] = special;
                guarded<TypeParam> x(size, 1);
                x.upload(xs);
                for (const scan_algorithm algorithm : every_algorithm())
                    for (const scan_kind kind : test::scan_kinds) {
                        SCOPED_TRACE(testing::Message() << size << " elements, " << special << " at " << at
                                                        << ", " << to_string(algorithm));
                        const auto ys = this->scan_of(kind, vector_view<const TypeParam>(x.vector()),
                                                      {.algorithm = algorithm});
                        const std::int64_t first = kind == scan_kind::inclusive ? at : at + 1;
                        for (std::int64_t i = 0; i < size; ++i) {
                            const TypeParam y = ys[static_cast<std::size_t>(i)];
                            if (i < first)
                                ASSERT_TRUE(std::isfinite(y)) << i;
                            else if (std::isnan(special))
                                ASSERT_TRUE(std::isnan(y)) << i;
                            else
                                ASSERT_EQ(y, special) << i;
                        }
                    }
            }
}

TYPED_TEST(scan_floating, keeps_denormals_and_gives_positive_zeros) {
    const std::int64_t size = 10007;
    const TypeParam denormal = std::numeric_limits<TypeParam>::denorm_min();
    guarded<TypeParam> x(size);
    for (const scan_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        const vector_view<const TypeParam> view = x.vector();
        // Multiples of one denormal add up without rounding.
        x.upload(std::vector<TypeParam>(size, denormal));
        const auto sums = this->scan_of(scan_kind::inclusive, view, {.algorithm = algorithm});
        for (std::size_t i = 0; i < sums.size(); ++i)
            ASSERT_EQ(sums[i], denormal * static_cast<TypeParam>(i + 1)) << i;
        x.upload(std::vector<TypeParam>(size, TypeParam{-0.0}));
        for (const TypeParam y : this->scan_of(scan_kind::inclusive, view, {.algorithm = algorithm})) {
            ASSERT_EQ(y, 0);
            ASSERT_FALSE(std::signbit(y));
        }
    }
}

}  // namespace
}  // namespace heddle
