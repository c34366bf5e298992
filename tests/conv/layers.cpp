#include "tests/conv/shapes.hpp"
#include "tests/support/headers.hpp"

// Layers of networks, for which a reference in float64 would take the CPU long: `naive` is it.
namespace heddle::test {
namespace {

struct layer {
    const char* name;
    conv_shape shape;
};

const layer layers[] = {
    {"resnet50_3x3_of_64", {8, 56, 56, 64, 64, 3, 3, {.padding = around(1)}}},
    {"resnet50_3x3_of_256", {32, 14, 14, 256, 256, 3, 3, {.padding = around(1)}}},
    {"resnet50_3x3_of_512", {32, 7, 7, 512, 512, 3, 3, {.padding = around(1)}}},
    {"resnet50_1x1", {32, 7, 7, 2048, 512, 1, 1}},
    {"resnet50_1x1_of_every_second", {8, 28, 28, 512, 1024, 1, 1, {.stride = {2, 2}}}},
    {"stem_7x7", {4, 224, 224, 3, 64, 7, 7, {.stride = {2, 2}, .padding = around(3)}}},
    {"dilated", {1, 65, 65, 256, 256, 3, 3, {.padding = around(12), .dilation = {12, 12}}}},
    {"inception_1x7", {16, 17, 17, 192, 192, 1, 7, {.padding = {0, 0, 3, 3}}}},
    {"depthwise_5x5", {16, 28, 28, 240, 240, 5, 5, {.padding = around(2), .groups = 240}}},
    {"resnext50_groups_of_4", {4, 56, 56, 128, 128, 3, 3, {.padding = around(1), .groups = 32}}},
    {"odd_channels", {8, 35, 35, 97, 101, 3, 3, {.padding = around(1)}}},
    {"one_image", {1, 112, 112, 128, 128, 3, 3, {.padding = around(1)}}},
};

template <class T>
class conv_layers : public stream_fixture {
  protected:
    /// Every plan agrees with `naive`. allowed(options, value) is the allowed difference of an element.
    template <class Allowed>
    void compare(conv_operands<T, T>& p, const conv_options& options, Allowed allowed) {
        const auto result_of = [&](const conv_options& with) {
            p.prepare_output(0);
            conv<T>(p.input.tensor(), p.filters.filters(), p.output.tensor(), *stream, with);
            synchronize(*stream, std::string(to_string(with.algorithm)) + " " + text(p.s));
            EXPECT_TRUE(p.output.canaries_alive());
            return p.output.download();
        };
        const std::vector<T> expected =
            result_of({.geometry = p.s.geometry, .algorithm = conv_algorithm::naive});
        for_every_conv_plan(options, [&](const conv_options& with) {
            if (!why_not(with.algorithm, p.problem(with), traits_of(current_device()), with.kernel).empty())
                return;
            const std::vector<T> actual = result_of(with);
            for (std::size_t i = 0; i < actual.size(); ++i) {
                const double value = to_double(expected[i]);
                ASSERT_TRUE(is_within(to_double(actual[i]), value, allowed(with, value))) << "element " << i;
            }
        });
        p.expect_intact();
    }
};
TYPED_TEST_SUITE(conv_layers, row_types, type_names);

/// All terms are positive, so the result is the sum of magnitudes, and no bound is 1 % of it. Each side may be off by
/// its bound.
TYPED_TEST(conv_layers, agree_within_bounds) {
    for (const auto& [name, s] : layers) {
        SCOPED_TRACE(name);
        conv_operands<TypeParam, TypeParam> p(s);
        p.xs = random_elements<TypeParam>(s.inputs_all(), 0, 1);
        p.ws = random_elements<TypeParam>(s.filters_all(), 0, 1);
        p.upload();
        const auto allowed = [&](const conv_options& with, double expected) {
            const double value = 1.01 * expected;
            double sum = 0;
            for (const conv_options& each : {with, conv_options{.algorithm = conv_algorithm::naive}})
                sum += bounds::stored_as<TypeParam>(value, conv_sum_bound<TypeParam>(each, s, value));
            return sum;
        };
        for (const precision each : precisions<TypeParam>())
            ASSERT_NO_FATAL_FAILURE(this->compare(p, {.geometry = s.geometry, .precision = each}, allowed));
    }
}

/// The sums are exact, and rounded once, so that any missing term shows, for any bound.
TYPED_TEST(conv_layers, agree_to_the_bit_on_small_integers) {
    for (const auto& [name, s] : layers) {
        SCOPED_TRACE(name);
        conv_operands<TypeParam, TypeParam> p(s);
        for (std::vector<TypeParam>* all : {&p.xs, &p.ws})
            for (TypeParam& e : *all) e = TypeParam(std::round(2 * static_cast<float>(e)));
        p.upload();
        for (const precision each : precisions<TypeParam>())
            ASSERT_NO_FATAL_FAILURE(this->compare(p, {.geometry = s.geometry, .precision = each},
                                                  [](const conv_options&, double) { return 0.0; }));
    }
}

}  // namespace
}  // namespace heddle::test
