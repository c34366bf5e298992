#include "tests/softmax/softmax_rows.hpp"
#include <heddle/host.hpp>

#include <utility>

namespace heddle {
namespace {

using reference = test::expected_softmax;
using test::guarded;
using test::random_elements;
using test::row_layout;

template <class T>
class host_softmax : public testing::Test {};
TYPED_TEST_SUITE(host_softmax, test::row_types, test::type_names);

TYPED_TEST(host_softmax, is_the_formula) {
    const auto check = [](const std::vector<TypeParam>& xs, std::int64_t rows, std::int64_t cols,
                          const row_layout& lx, const row_layout& ly) {
        constexpr auto host = guarded<TypeParam>::memory::host;
        const reference expected(xs, cols, test::softmax_steps_on_host);
        auto x = test::make_rows<TypeParam>(rows, cols, lx, host);
        auto y = test::make_rows<TypeParam>(rows, cols, ly, host);
        x.upload(xs);
        host::softmax<TypeParam>(x.matrix(), y.matrix());
        ASSERT_TRUE(test::are_within(y.download(), expected.softmax, expected.bounds));
        host::log_softmax<TypeParam>(x.matrix(), y.matrix());
        ASSERT_TRUE(test::are_within(y.download(), expected.log_softmax, expected.log_bounds));
        ASSERT_TRUE(y.canaries_alive());
        host::softmax<TypeParam>(x.matrix(), x.matrix());
        ASSERT_TRUE(test::are_within(x.download(), expected.softmax, expected.bounds));
        ASSERT_TRUE(x.canaries_alive());
    };
    for (const auto& [rows, cols] : {std::pair{0, 3}, {3, 0}, {1, 1}, {5, 7}, {1001, 33}, {3, 40000}})
        for (const row_layout& l : {row_layout{}, {.padding = 3}, {.step = 2}, {.column_major = true}}) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols);
            const auto xs = random_elements<TypeParam>(std::int64_t{rows} * cols, -10, 10);
            ASSERT_NO_FATAL_FAILURE(check(xs, rows, cols, l, {}));
            ASSERT_NO_FATAL_FAILURE(check(xs, rows, cols, {.offset = 1}, l));
        }
    for (const std::int64_t cols : {1, 2, 100, 2000}) {
        const auto xs = test::special_rows<TypeParam>(cols);
        ASSERT_NO_FATAL_FAILURE(check(xs, std::ssize(xs) / cols, cols, {}, {}));
    }
}

}  // namespace
}  // namespace heddle
