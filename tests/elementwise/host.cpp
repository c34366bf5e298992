#include "tests/elementwise/broadcasts.hpp"
#include "tests/elementwise/operation_calls.hpp"
#include "tests/support/elementwise.hpp"

namespace heddle {
namespace {

template <class T>
class elementwise_on_host : public testing::Test {};
TYPED_TEST_SUITE(elementwise_on_host, test::element_types, test::type_names);

TYPED_TEST(elementwise_on_host, gives_every_operation_within_its_bound) {
    using T = TypeParam;
    for (const std::int64_t size : {1, 23, 4099, 20000}) {
        const std::array<std::vector<T>, 3> in{size == 20000 ? test::tails<T>(size) : test::inputs<T>(size),
                                               test::partners<T>(size), test::partners<T>(size)};
        for (const elementwise_operation operation : elementwise_operations()) {
            auto memory = in;
            std::vector<T> out = test::contents_before(operation, in);
            out.resize(static_cast<std::size_t>(size));
            const auto view = [&](std::vector<T>& v) { return vector_view<T>{v.data(), size}; };
            test::call_on_host<T>(operation, {view(memory[0]), view(memory[1]), view(memory[2])}, view(out));
            ASSERT_NO_FATAL_FAILURE(test::expect_right(operation, out, in, false));
        }
    }
}

TYPED_TEST(elementwise_on_host, spreads_rows_columns_and_elements_of_drawn_shapes) {
    using T = TypeParam;
    constexpr int draws = 12;  // of each operation
    test::drawing draw;
    for (const elementwise_operation operation : elementwise_operations())
        for (int i = 0; i < draws; ++i) {
            SCOPED_TRACE(testing::Message() << "draw " << i);
            test::drawn_call<T> drawn(operation, draw, test::guarded<T>::memory::host);
            ASSERT_NO_FATAL_FAILURE(drawn.check(
                false, [&](const auto& in, const auto& out) { test::call_on_host<T>(operation, in, out); }));
        }
}

TYPED_TEST(elementwise_on_host, spreads_an_element_over_a_vector) {
    using T = TypeParam;
    for (const std::int64_t size : {1, 23, 20000}) {
        const auto x = test::random_elements<T>(size), y = test::random_elements<T>(1);
        std::vector<T> z(static_cast<std::size_t>(size));
        host::add<T>(vector_view<const T>{x.data(), size}, vector_view<const T>{y.data(), size, 0},
                     vector_view<T>{z.data(), size});
        std::vector<T> expected;
        for (const T element : x) expected.push_back(test::rounded_sum(element, y[0]));
        EXPECT_TRUE(test::are_same(z, expected));
    }
}

}  // namespace
}  // namespace heddle
