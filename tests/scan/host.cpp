#include "tests/scan/scan_test.hpp"
#include <heddle/host.hpp>

#include <omp.h>

#include <utility>

namespace heddle {
namespace {

using test::are_sums;
using test::elements;
using test::guarded;
using test::same_bits;
using test::scan_kind;

template <class T>
class host_scan : public testing::Test {
  protected:
    using operand = guarded<T>;

    /// Through a chunk of 1024 twice, and one addition for each chunk.
    static std::int64_t depth(std::int64_t size) { return 2 * 1024 + size / 1024; }

    static void check(std::int64_t size, std::int64_t x_stride, std::int64_t y_stride) {
        const auto xs = elements<T>(size);
        operand x(1, size, 0, 1, x_stride, operand::memory::host);
        x.upload(xs);
        for (const scan_kind kind : test::scan_kinds) {
            operand y(1, size, 0, 0, y_stride, operand::memory::host);
            if (kind == scan_kind::inclusive)
                host::inclusive_scan<T>(x.vector(), y.vector());
            else
                host::exclusive_scan<T>(x.vector(), y.vector());
            ASSERT_TRUE(are_sums(y.download(), xs, kind, depth(size)));
            ASSERT_TRUE(y.canaries_alive());
        }
        ASSERT_TRUE(x.untouched());
        host::inclusive_scan<T>(x.vector(), x.vector());
        ASSERT_TRUE(are_sums(x.download(), xs, scan_kind::inclusive, depth(size)));
        x.upload(xs);
        host::exclusive_scan<T>(x.vector(), x.vector());
        ASSERT_TRUE(are_sums(x.download(), xs, scan_kind::exclusive, depth(size)));
    }
};

TYPED_TEST_SUITE(host_scan, test::scan_types, test::type_names);

TYPED_TEST(host_scan, takes_every_size_and_stride) {
    for (const std::int64_t size : {0, 1, 2, 31, 1023, 1024, 1025, 2049, 65535, 65537, 100003})
        for (const auto& [x_stride, y_stride] : {std::pair{1, 1}, {2, 1}, {1, 7}}) {
            SCOPED_TRACE(testing::Message() << size << " elements, strides " << x_stride << ", " << y_stride);
            ASSERT_NO_FATAL_FAILURE(this->check(size, x_stride, y_stride));
        }
}

TYPED_TEST(host_scan, does_not_depend_on_the_number_of_threads) {
    const auto xs = elements<TypeParam>(1000003);
    const auto scan_with = [&](int count) {
        omp_set_num_threads(count);
        std::vector<TypeParam> ys(xs.size());
        host::inclusive_scan<TypeParam>(vector_view{xs.data(), std::ssize(xs)},
                                        vector_view{ys.data(), std::ssize(ys)});
        return ys;
    };
    const int threads = omp_get_max_threads();
    const auto expected = scan_with(1);
    for (const int count : {2, 3, 7})
        EXPECT_TRUE(same_bits(scan_with(count), expected)) << count << " threads";
    omp_set_num_threads(threads);
}

}  // namespace
}  // namespace heddle
