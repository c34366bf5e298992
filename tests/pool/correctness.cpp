#include "tests/pool/device.hpp"
#include <heddle/graph.hpp>

#include <cstring>
#include <string>

namespace heddle {
namespace {

using test::pool_shape;

template <class T>
using pool_correctness = test::pool_device<T>;
TYPED_TEST_SUITE(pool_correctness, test::every_pool_type, test::type_names);

TYPED_TEST(pool_correctness, takes_every_shape) {
    for (const pool_shape& s : test::pool_shapes()) ASSERT_NO_FATAL_FAILURE(this->check(s));
}

TYPED_TEST(pool_correctness, takes_drawn_geometries) {
    constexpr int draws = 60;  // of each type
    test::drawing draw;
    const auto gaps = [&]() -> test::tensor_gaps {
        if (draw(0, 1) == 0) return {};
        return {draw(0, 1) * draw(0, 9), draw(0, 1) * draw(0, 9), draw(0, 1) * draw(0, 9),
                draw(0, 1) * draw(0, 8)};
    };
    for (int i = 0; i < draws; ++i) {
        const pool_shape s = test::draw_pool_shape(draw);
        const test::tensor_gaps of_input = gaps(), of_output = gaps();
        SCOPED_TRACE("draw " + std::to_string(i));
        ASSERT_NO_FATAL_FAILURE(this->check(s, of_input, of_output));
    }
}

TYPED_TEST(pool_correctness, gives_the_same_bits_in_a_graph) {
    for (const pool_shape& s :
         {pool_shape{2, 20, 19, 24, {{3, 3}, {2, 2}, {1, 1, 1, 1}}}, pool_shape{3, 30, 29, 40, {{30, 29}}}}) {
        test::pool_operands<TypeParam> p(s);
        const pool_options with{.mode = pool_mode::average, .geometry = s.geometry};
        test::for_every_pool_plan(with, [&](const pool_options& options) {
            const auto call = [&] {
                pool<TypeParam>(p.input.tensor(), p.output.tensor(), *this->stream, options);
            };
            call();
            const auto first = p.output.download();
            p.poison_output();
            const graph captured = graph::capture(*this->stream, call);
            for (int i = 0; i < 3; ++i) captured.launch(*this->stream);
            this->stream->synchronize();
            const auto again = p.output.download();
            ASSERT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(TypeParam)), 0);
        });
    }
}

TYPED_TEST(pool_correctness, of_whole_images_has_one_pixel) {
    test::pool_operands<TypeParam> p({3, 6, 9, 21, {{6, 9}}});
    for (const pool_mode mode : test::pool_modes) {
        p.poison_output();
        global_pool<TypeParam>(p.input.tensor(), p.output.tensor(), *this->stream, {.mode = mode});
        test::synchronize(*this->stream, "whole images");
        ASSERT_NO_FATAL_FAILURE(p.expect_close(test::pool_reference(p.s, p.xs, mode)));
    }
}

}  // namespace
}  // namespace heddle
