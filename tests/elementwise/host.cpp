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

}  // namespace
}  // namespace heddle
