#include "tests/norm/norm_rows.hpp"
#include <heddle/host.hpp>

#include <utility>

namespace heddle {
namespace {

using operation = test::norm_operation;
using reference = test::expected_norm;
using test::guarded;
using test::random_elements;
using test::row_layout;

template <class T>
class host_norm : public testing::Test {};
TYPED_TEST_SUITE(host_norm, test::row_types, test::type_names);

TYPED_TEST(host_norm, is_the_formula) {
    using matrix = guarded<TypeParam>;
    constexpr auto host = matrix::memory::host;
    for (const auto& [rows, cols] : {std::pair{0, 3}, {3, 0}, {1, 1}, {5, 7}, {1001, 33}, {3, 40000}})
        for (const row_layout& l : {row_layout{}, {.padding = 3}, {.step = 2}, {.column_major = true}})
            for (const std::int64_t parameters : {0, cols}) {
                SCOPED_TRACE(testing::Message() << rows << " x " << cols);
                const auto xs = random_elements<TypeParam>(std::int64_t{rows} * cols, 90, 110);
                const auto gammas = random_elements<TypeParam>(parameters),
                           betas = random_elements<TypeParam>(parameters);
                auto x = test::make_rows<TypeParam>(rows, cols, l, host);
                auto y = test::make_rows<TypeParam>(rows, cols, {.padding = 1}, host);
                matrix gamma(1, parameters, 0, 0, 2, host), beta(1, parameters, 0, 0, 3, host);
                x.upload(xs);
                gamma.upload(gammas);
                beta.upload(betas);
                host::layer_norm<TypeParam>(x.matrix(), gamma.vector(), beta.vector(), y.matrix(), 0.01f);
                const reference layer(operation::layer_norm, xs, gammas, betas, cols, 0.01f,
                                      test::norm_depth_on_host);
                ASSERT_TRUE(test::are_within(y.download(), layer.values, layer.bounds));
                host::rms_norm<TypeParam>(x.matrix(), gamma.vector(), y.matrix());
                const reference rms(operation::rms_norm, xs, gammas, {}, cols, 1e-5f,
                                    test::norm_depth_on_host);
                ASSERT_TRUE(test::are_within(y.download(), rms.values, rms.bounds));
                ASSERT_TRUE(y.canaries_alive());
                host::layer_norm<TypeParam>(x.matrix(), gamma.vector(), beta.vector(), x.matrix(), 0.01f);
                ASSERT_TRUE(test::are_within(x.download(), layer.values, layer.bounds));
                ASSERT_TRUE(x.canaries_alive());
            }
}

template <class T>
class host_norm_beyond_float : public testing::Test {};
TYPED_TEST_SUITE(host_norm_beyond_float, test::wide_types, test::type_names);

TYPED_TEST(host_norm_beyond_float, is_what_the_comments_say) {
    using matrix = matrix_view<TypeParam>;
    using vector = vector_view<TypeParam>;
    for (const std::int64_t cols : {32, 1000, 40000}) {
        SCOPED_TRACE(testing::Message() << cols << " columns");
        ASSERT_NO_FATAL_FAILURE(test::check_beyond_float<TypeParam>(
            cols, test::norm_depth_on_host, guarded<TypeParam>::memory::host,
            [](matrix x, vector gamma, vector beta, matrix y) {
                host::layer_norm<TypeParam>(x, gamma, beta, y);
            },
            [](matrix x, vector gamma, matrix y) { host::rms_norm<TypeParam>(x, gamma, y); }));
    }
}

}  // namespace
}  // namespace heddle
