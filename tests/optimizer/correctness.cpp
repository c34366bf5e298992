#include "tests/optimizer/optimizer_test.hpp"
#include "tests/support/guarded_workspace.hpp"
#include <heddle/graph.hpp>

#include <cmath>

namespace heddle {
namespace {

using bounds::approximate;
using test::guarded;
using test::guarded_list;
using test::optimizer_call;
using test::parameter_layout;

template <class Types>
using optimizers = test::optimizer_test<Types>;
TYPED_TEST_SUITE(optimizers, test::all_optimizer_types, test::optimizer_type_names);

TYPED_TEST(optimizers, take_parameters_of_every_size) {
    this->check(test::mixed_parameters());
}

TYPED_TEST(optimizers, take_no_parameters) {
    this->check({});
    this->check({parameter_layout::alike(0)});
}

TYPED_TEST(optimizers, take_lists_longer_than_a_launch_has) {
    for (const std::int64_t size : {64, 65, 512, 513}) {
        SCOPED_TRACE(size);
        std::vector<parameter_layout> layouts;
        for (std::int64_t i = 0; i < size; ++i)
            layouts.push_back(parameter_layout::alike(1 + i * i % 11, i % 3));
        guarded_list<typename TypeParam::value, typename TypeParam::gradient> list(layouts);
        const optimizer_call call{"adamw", test::optimizer_kind::adamw, {}, {.weight_decay = 0.01}};
        for (const optimizer_algorithm algorithm : test::every_optimizer_algorithm()) {
            SCOPED_TRACE(to_string(algorithm));
            optimizer_call of_rung = call;
            of_rung.adam.algorithm = algorithm;
            list.restart();
            list.expect_step(call, 1, 1.0);
            test::enqueue<typename TypeParam::value, typename TypeParam::gradient>(of_rung, list.views(),
                                                                                   *this->stream);
            this->stream->synchronize();
            ASSERT_TRUE(list.is_as_expected(2));
        }
    }
}

TYPED_TEST(optimizers, of_drawn_lists_are_right) {
    constexpr int draws = 10;
    test::drawing draw;
    for (int i = 0; i < draws; ++i) {
        SCOPED_TRACE(testing::Message() << "draw " << i);
        std::vector<parameter_layout> layouts;
        for (std::int64_t k = draw(1, 12); k > 0; --k) {
            const std::int64_t count = draw(0, std::int64_t{1} << draw(0, 14));
            parameter_layout l = parameter_layout::alike(count, draw(0, 7));
            if (draw(0, 2) == 0) l = {count, draw(0, 7), draw(0, 7), draw(0, 7), draw(0, 7), draw(0, 7)};
            layouts.push_back(l);
        }
        ASSERT_NO_FATAL_FAILURE(this->check(layouts));
    }
}

/// The bounds are those of all steps: each step's error goes through those that follow.
TYPED_TEST(optimizers, stay_within_their_bounds_for_a_thousand_steps) {
    using T = typename TypeParam::value;
    using G = typename TypeParam::gradient;
    constexpr int steps = 1000;
    constexpr std::size_t sets = 3;
    guarded_list<T, G> list(
        {parameter_layout::alike(1), parameter_layout::alike(63, 1), {130, 0, 1, 2, 3, 0}}, sets);
    for (optimizer_call call : test::optimizer_calls()) {
        SCOPED_TRACE(call.name);
        list.restart(true);
        for (int step = 1; step <= steps; ++step) {
            const double scale = 1 + std::sin(step);  // never the same gradients
            call.adam.step = step;
            call.with_options([&](auto& options) { options.gradient_scale = scale; });
            const std::size_t set = static_cast<std::size_t>(step) % sets;
            list.expect_step(call, step, bounds::rounded(scale), set);
            test::enqueue<T, G>(call, list.views(set), *this->stream);
            if (step > 1 && step < steps) continue;  // the first one's bounds are the tightest
            this->stream->synchronize();
            ASSERT_TRUE(list.is_as_expected(call.moments()));
        }
    }
}

TYPED_TEST(optimizers, clip_by_a_norm_on_the_device) {
    using T = typename TypeParam::value;
    using G = typename TypeParam::gradient;
    guarded_list<T, G> list(test::mixed_parameters());
    for (const double max_norm : {0.0, 0.5, 1e6})
        for (optimizer_call call : test::optimizer_calls()) {
            SCOPED_TRACE(testing::Message() << call.name << " to " << max_norm);
            constexpr double scale = 0.125;
            guarded<float> norm(1);
            list.restart();
            call.with_options([&](auto& options) {
                options.gradient_scale = scale;
                options.max_norm = max_norm;
                options.clip_norm_of = norm.data();
            });
            gradient_norm<T, G>(list.views(), norm.data(), *this->stream);
            test::enqueue<T, G>(call, list.views(), *this->stream);
            this->stream->synchronize();
            const double measured = test::to_double(norm.download()[0]);
            list.expect_step(call, 1, bounds::gradient_factor(scale, max_norm, measured));
            ASSERT_TRUE(list.is_as_expected(call.moments()));
            ASSERT_TRUE(norm.canaries_alive());
        }
}

TYPED_TEST(optimizers, of_a_replayed_graph_are_those_of_plain_calls) {
    using T = typename TypeParam::value;
    using G = typename TypeParam::gradient;
    constexpr int steps = 5;
    guarded_list<T, G> list(test::mixed_parameters());
    guarded<std::int64_t> counter(1);
    guarded<float> rate(1), norm(1);
    test::guarded_workspace workspace(
        gradient_norm_workspace_bytes({18, 1 << 20}, traits_of(current_device())));
    const auto rate_of = [](int step) { return 0.01f / static_cast<float>(step); };
    for (optimizer_call call : test::optimizer_calls()) {
        SCOPED_TRACE(call.name);
        call.with_options([&](auto& options) {
            options.clip_norm_of = norm.data();
            options.max_norm = 2;
        });
        const auto step_with = [&](const optimizer_call& wanted) {
            gradient_norm<T, G>(list.views(), norm.data(), *this->stream, {.workspace = workspace});
            test::enqueue<T, G>(wanted, list.views(), *this->stream);
        };
        list.restart(true);
        for (int step = 1; step <= steps; ++step) {
            optimizer_call plain = call;
            plain.adam.step = step;
            plain.with_options([&](auto& options) { options.learning_rate = rate_of(step); });
            step_with(plain);
        }
        this->stream->synchronize();
        const std::vector<float> expected = list.state();

        optimizer_call on_device = call;
        on_device.adam.device_step = counter.data();
        on_device.with_options([&](auto& options) { options.device_learning_rate = rate.data(); });
        list.restart(true);
        counter.upload({0});
        const graph captured = graph::capture(*this->stream, [&] {
            advance(counter.data(), *this->stream);
            step_with(on_device);
        });
        for (int step = 1; step <= steps; ++step) {
            rate.upload({rate_of(step)});
            captured.launch(*this->stream);
            this->stream->synchronize();
        }
        ASSERT_TRUE(this->are_same_bits(expected, list.state()));
        ASSERT_EQ(counter.download()[0], steps);
        ASSERT_TRUE(counter.canaries_alive() && rate.canaries_alive() && workspace.is_intact());
    }
}

/// Additions in double leave the rounding of the result to float.
TYPED_TEST(optimizers, have_the_norm_of_all_gradients) {
    using T = typename TypeParam::value;
    using G = typename TypeParam::gradient;
    std::vector<parameter_layout> few = test::mixed_parameters(), many(600, parameter_layout::alike(9, 1));
    many.push_back(parameter_layout::alike(100000, 3));
    const std::vector<parameter_layout> large{parameter_layout::alike(3, 1),
                                              parameter_layout::alike(1000001, 2)};
    for (const auto& layouts :
         {std::vector<parameter_layout>{}, {parameter_layout::alike(1)}, few, many, large}) {
        SCOPED_TRACE(layouts.size());
        guarded_list<T, G> list(layouts);
        guarded<float> result(1), again(1), alone(1);
        gradient_norm<T, G>(list.views(), result.data(), *this->stream);
        gradient_norm<T, G>(list.views(), again.data(), *this->stream);
        if (layouts.size() <= 512)
            gradient_norm<T, G>(list.views(), alone.data(), *this->stream, {.scratch = scratch::none});
        this->stream->synchronize();
        const double expected = list.norm(), bound = expected * 0x1.001p-24;
        EXPECT_TRUE(test::is_within(test::to_double(result.download()[0]), expected, bound));
        EXPECT_EQ(result.download()[0], again.download()[0]);
        if (layouts.size() <= 512) {
            EXPECT_TRUE(test::is_within(test::to_double(alone.download()[0]), expected, bound));
        }
        EXPECT_TRUE(result.canaries_alive());
    }
}

}  // namespace
}  // namespace heddle
