#include "benchmarks/support/layers.hpp"

#include "tests/support/headers.hpp"

namespace heddle::bench {
namespace {

double operations_of(const std::vector<layer>& layers) {
    return std::accumulate(layers.begin(), layers.end(), 0.0, [](double sum, const layer& layer) {
        return sum + std::visit([](const auto& s) { return problem_of(s, "bf16").operations; }, layer.shape);
    });
}

std::size_t convolutions_in(const std::vector<layer>& layers) {
    return static_cast<std::size_t>(std::ranges::count_if(
        layers, [](const layer& layer) { return std::holds_alternative<conv_shape>(layer.shape); }));
}

const layer& named(const std::vector<layer>& layers, const std::string& name) {
    return *std::ranges::find(layers, name, &layer::name);
}

TEST(Layers, AConvolutionsWork) {
    const conv_shape s{2, 8, 6, 4, 16, 3, 3, {.padding = {1, 1, 1, 1}}};
    const problem p = problem_of(s, "bf16");
    EXPECT_EQ(p.name, "conv/bf16/2x8x6x4-k16-3x3-p1");
    EXPECT_EQ(p.bytes_read, 2.0 * (2 * 8 * 6 * 4 + 16 * 9 * 4 + 16));
    EXPECT_EQ(p.bytes_written, 2.0 * 2 * 8 * 6 * 16);
    EXPECT_EQ(p.operations, 2.0 * (2 * 8 * 6 * 16) * (9 * 4));
    EXPECT_EQ(p.unit, unit::tensor_bf16);
    EXPECT_EQ(problem_of(s, "f32").bytes(), 2 * p.bytes());
    EXPECT_EQ(problem_of(s, "f32").products, 3);
    EXPECT_EQ(problem_of(s, "tf32").unit, unit::tensor_tf32);
}

TEST(Layers, PixelsBetweenStepsAreNotRead) {
    const conv_shape s{1, 8, 9, 4, 4, 1, 1, {.stride = {2, 2}}};
    EXPECT_EQ(problem_of(s, "f32").bytes_read, 4.0 * (4 * 5 * 4 + 4 * 4 + 4));
    const conv_shape cut{1, 8, 8, 1, 1, 3, 3, {.stride = {4, 1}}};  // rows 0 to 2 and 4 to 6
    EXPECT_EQ(problem_of(cut, "f32").bytes_read, 4.0 * (6 * 8 + 9 + 1));
}

TEST(Layers, GroupsHaveFewerTaps) {
    const conv_shape s{1, 8, 8, 32, 64, 3, 3, {.padding = {1, 1, 1, 1}, .groups = 4}};
    EXPECT_EQ(problem_of(s, "f16").operations, 2.0 * (8 * 8 * 64) * (9 * 8));
    const conv_shape depthwise{1, 8, 8, 32, 32, 3, 3, {.padding = {1, 1, 1, 1}, .groups = 32}};
    EXPECT_EQ(problem_of(depthwise, "bf16").operations, 2.0 * (8 * 8 * 32) * 9);
    EXPECT_EQ(problem_of(depthwise, "bf16").unit, unit::none);
}

TEST(Layers, NamesSayWhatIsUnusual) {
    const conv_geometry g{.stride = {2, 1}, .padding = {0, 1, 2, 2}, .dilation = {3, 3}, .groups = 2};
    EXPECT_EQ(text(conv_shape{1, 9, 9, 4, 6, 1, 3, g}), "1x9x9x4-k6-1x3-s2x1-p0.1.2.2-d3-g2");
    EXPECT_EQ(problem_of(pool_shape{1, 7, 7, 8, pool_mode::average, {.window = {7, 7}}}, "f32").name,
              "global_average_pool/f32/1x7x7x8");
    EXPECT_EQ(
        problem_of(pool_shape{1, 8, 8, 8, pool_mode::max, {.window = {2, 2}, .stride = {2, 2}}}, "bf16").name,
        "max_pool/bf16/1x8x8x8-2x2-s2");
}

TEST(Networks, HaveThePublishedNumberOfOperations) {
    EXPECT_NEAR(operations_of(resnet50(1)), 2 * 4.087e9, 2e7);  // without the fully connected layer
    EXPECT_NEAR(operations_of(vgg16(1)), 2 * 15.347e9, 2e7);
    EXPECT_NEAR(operations_of(efficientnet_lite0(1)), 2 * 0.384e9, 1e7);
    EXPECT_EQ(operations_of(vgg16(3)), 3 * operations_of(vgg16(1)));
}

TEST(Networks, HaveTheirLayers) {
    EXPECT_EQ(convolutions_in(resnet50(1)), 53U);
    EXPECT_EQ(distinct_convolutions(resnet50(1)).size(), 23U);
    EXPECT_EQ(convolutions_in(vgg16(1)), 13U);
    EXPECT_EQ(distinct_convolutions(vgg16(1)).size(), 9U);
    EXPECT_EQ(convolutions_in(efficientnet_lite0(1)), 49U);
    const std::vector<layer> net = resnet50(1);
    const layer projection = named(net, "conv3_1p");
    EXPECT_EQ(net[static_cast<std::size_t>(projection.input)].name, "conv2_3c");
    EXPECT_EQ(text(std::get<conv_shape>(projection.shape)), "1x56x56x256-k512-1x1-s2");
    EXPECT_EQ(net[static_cast<std::size_t>(named(net, "conv3_2a").input)].name, "conv3_1c");
}

TEST(ReceptiveField, OfLayersThatArePublished) {
    const std::vector<layer> vgg = vgg16(1);
    const receptive_field of_vgg = receptive_fields_of(vgg).back().x;
    EXPECT_EQ(of_vgg.size, 212);
    EXPECT_EQ(of_vgg.jump, 32);
    const std::vector<layer> net = resnet50(1);
    const auto last = net.size() - 2;  // the layer before the average
    ASSERT_EQ(net[last].name, "conv5_3c");
    EXPECT_EQ(receptive_fields_of(net)[last].y.size, 427);  // the 3 x 3 has the stride
    EXPECT_EQ(receptive_fields_of(net)[last].y.jump, 32);
}

TEST(ReceptiveField, TheEffectiveOneGrowsAsTheRoot) {
    receptive_field field;
    for (int i = 0; i < 100; ++i) field = field.of_layer(3, 1, 1);
    EXPECT_EQ(field.size, 201);
    EXPECT_NEAR(field.variance, 100 * 8.0 / 12, 1e-9);
    EXPECT_NEAR(field.effective_size(), 4 * std::sqrt(100 * 8.0 / 12), 1e-9);
    EXPECT_EQ(receptive_field{}.of_layer(3, 1, 1).effective_size(), 3) << "no more than the whole";
    EXPECT_EQ(receptive_field{}.effective_size(), 0);
    const receptive_field dilated = receptive_field{}.of_layer(3, 1, 4),
                          strided = receptive_field{}.of_layer(1, 4, 1);
    EXPECT_EQ(dilated.size, 9);
    EXPECT_EQ(strided.of_layer(3, 1, 1).size, 9);
    EXPECT_EQ(strided.of_layer(3, 1, 1).variance, dilated.variance);
}

}  // namespace
}  // namespace heddle::bench
