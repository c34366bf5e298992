#include "tests/support/optimizer.hpp"
#include <heddle/host.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace heddle {
namespace {

using test::guarded_list;
using test::optimizer_call;
using test::parameter_layout;

template <class Types>
class host_optimizers : public testing::Test {};
TYPED_TEST_SUITE(host_optimizers, test::all_optimizer_types, test::optimizer_type_names);

TYPED_TEST(host_optimizers, are_the_formulas) {
    using T = typename TypeParam::value;
    using G = typename TypeParam::gradient;
    using list_type = guarded_list<T, G>;
    constexpr int steps = 1000;
    constexpr std::size_t sets = 3;
    list_type list({parameter_layout::alike(0), parameter_layout::alike(1), parameter_layout::alike(63, 1)},
                   sets, list_type::memory::host);
    for (optimizer_call call : test::optimizer_calls()) {
        SCOPED_TRACE(call.name);
        list.restart(true);
        for (int step = 1; step <= steps; ++step) {
            const double scale = 1 + std::sin(step);
            call.adam.step = step;
            call.with_options([&](auto& options) { options.gradient_scale = scale; });
            const std::size_t set = static_cast<std::size_t>(step) % sets;
            list.expect_step(call, step, bounds::rounded(scale), set);
            const auto views = list.views(set);
            if (call.kind == test::optimizer_kind::sgd)
                host::sgd<T, G>(views, call.sgd);
            else if (call.kind == test::optimizer_kind::adam)
                host::adam<T, G>(views, call.adam);
            else
                host::adamw<T, G>(views, call.adam);
            if (step > 1 && step < steps) continue;  // the first one's bounds are the tightest
            ASSERT_TRUE(list.is_as_expected(call.moments()));
        }
    }
}

TYPED_TEST(host_optimizers, clip_and_read_what_is_in_memory) {
    using T = typename TypeParam::value;
    using G = typename TypeParam::gradient;
    using list_type = guarded_list<T, G>;
    list_type list({parameter_layout::alike(20000, 1), parameter_layout::alike(7)}, 1,
                   list_type::memory::host);
    float norm = 0;
    host::gradient_norm<T, G>(list.views(), &norm);
    EXPECT_TRUE(test::is_within(test::to_double(norm), list.norm(), list.norm() * 0x1.001p-24));

    const std::int64_t step = 4;
    const float rate = 0.02f;
    optimizer_call call{"adamw",
                        test::optimizer_kind::adamw,
                        {},
                        {.weight_decay = 0.1, .gradient_scale = 0.5, .max_norm = 3}};
    call.adam.learning_rate = test::to_double(rate);
    list.expect_step(call, step, bounds::gradient_factor(0.5, 3, test::to_double(norm)));
    call.adam.learning_rate = 0;
    call.adam.clip_norm_of = &norm;
    call.adam.device_learning_rate = &rate;
    call.adam.device_step = &step;
    host::adamw<T, G>(list.views(), call.adam);
    EXPECT_TRUE(list.is_as_expected(2));
}

}  // namespace
}  // namespace heddle
