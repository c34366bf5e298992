#include "tests/scan/scan_test.hpp"
#include <heddle/host.hpp>

#include <omp.h>

namespace heddle::test {
namespace {

template <class T>
class host_scan : public testing::Test {};
TYPED_TEST_SUITE(host_scan, scan_types, type_names);

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
}  // namespace heddle::test
