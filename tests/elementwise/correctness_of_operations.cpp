#include "tests/elementwise/operation_calls.hpp"
#include "tests/support/elementwise.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include <heddle/stream.hpp>

namespace heddle {
namespace {

using test::guarded;

template <class T>
class elementwise_on_device : public test::gpu_test {};
TYPED_TEST_SUITE(elementwise_on_device, test::element_types, test::type_names);

TYPED_TEST(elementwise_on_device, gives_every_operation_within_its_bound) {
    using T = TypeParam;
    const stream s;
    // Packets alone, edges, addresses that no packet fits, rows with gaps.
    struct shape {
        std::int64_t rows, cols, row_stride, offset;
    };
    for (const shape& each : {shape{1, 4096, 4096, 0}, shape{1, 8209, 8209, 0}, shape{1, 5003, 5003, 1},
                              shape{37, 130, 144, 0}, shape{300, 3, 5, 1}}) {
        const std::int64_t size = each.rows * each.cols;
        const std::array<std::vector<T>, 3> in{test::inputs<T>(size), test::partners<T>(size),
                                               test::partners<T>(size)};
        const auto make = [&] { return guarded<T>(each.rows, each.cols, each.row_stride, each.offset); };
        guarded<T> x = make(), y = make(), z = make();
        x.upload(in[0]);
        y.upload(in[1]);
        z.upload(in[2]);
        for (const elementwise_algorithm algorithm : elementwise_algorithms())
            for (const elementwise_operation operation : elementwise_operations()) {
                SCOPED_TRACE(to_string(algorithm));
                guarded<T> out = make();
                if (operation == elementwise_operation::axpy) out.upload(in[1]);
                const elementwise_options options{.algorithm = algorithm};
                test::call_on_device<T>(operation, {x.matrix(), y.matrix(), z.matrix()}, out.matrix(), s,
                                        options);
                s.synchronize();
                ASSERT_NO_FATAL_FAILURE(test::expect_right(operation, out.download(), in, sizeof(T) == 2));
                ASSERT_TRUE(out.canaries_alive()) << to_string(operation);
            }
        ASSERT_TRUE(x.untouched() && y.untouched() && z.untouched());
    }
}

TYPED_TEST(elementwise_on_device, gives_tiny_results_within_their_bounds) {
    using T = TypeParam;
    const stream s;
    constexpr std::int64_t size = 20000;
    const std::array<std::vector<T>, 3> in{test::tails<T>(size), test::partners<T>(size),
                                           test::partners<T>(size)};
    guarded<T> x(size), y(size), z(size);
    x.upload(in[0]);
    y.upload(in[1]);
    z.upload(in[2]);
    for (const elementwise_operation operation : elementwise_operations()) {
        guarded<T> out(size);
        if (operation == elementwise_operation::axpy) out.upload(in[1]);
        test::call_on_device<T>(operation, {x.matrix(), y.matrix(), z.matrix()}, out.matrix(), s,
                                elementwise_options{});
        s.synchronize();
        ASSERT_NO_FATAL_FAILURE(test::expect_right(operation, out.download(), in, sizeof(T) == 2));
    }
}

}  // namespace
}  // namespace heddle
