#include "examples/fashion_mnist/gpu.hpp"
#include "examples/fashion_mnist/test_training.hpp"

#include <cstdlib>
#include <vector>

namespace fashion_mnist {
namespace {

template <class T>
class gpu_training : public testing::Test {
  protected:
    void SetUp() override {
        if (heddle::device_count() > 0) return;
        if (std::getenv("HEDDLE_REQUIRE_GPU") != nullptr)
            FAIL() << "HEDDLE_REQUIRE_GPU is set, and there is no CUDA device";
        GTEST_SKIP() << "no CUDA device";
    }
};
using types = testing::Types<float, heddle::bfloat16>;
TYPED_TEST_SUITE(gpu_training, types);

TYPED_TEST(gpu_training, learns) {
    gpu device;
    expect_that_it_learns<gpu, TypeParam>(device);
}

TYPED_TEST(gpu_training, has_the_same_bits_each_time) {
    gpu device;
    expect_the_same_bits_each_time<gpu, TypeParam>(device);
}

TYPED_TEST(gpu_training, resumes_to_the_bit) {
    gpu device;
    expect_that_it_resumes_to_the_bit<gpu, TypeParam>(device);
}

TYPED_TEST(gpu_training, has_the_bits_of_plain_calls_in_a_graph) {
    gpu replayed, called(false);
    EXPECT_EQ((trained_state<gpu, TypeParam>(replayed, 2)), (trained_state<gpu, TypeParam>(called, 2)));
}

/// Batch 2 of 3, of pictures of 5 bytes in an order that leaves some out. Every byte and label is in its place.
TYPED_TEST(gpu_training, gathers_the_batch_of_the_step) {
    gpu device;
    std::vector<std::uint8_t> bytes;
    for (int i = 0; i < 256 / 5 * 5; ++i) bytes.push_back(static_cast<std::uint8_t>(i));
    std::vector<std::int32_t> labels;
    for (int i = 0; i < 256 / 5; ++i) labels.push_back(1000 + i);
    const std::vector<std::int32_t> order = {0, 1, 2, 3, 50, 7, 49, 8, 4, 5, 6, 9};
    const auto pictures = device.upload(bytes);
    const auto all_labels = device.upload(labels), all_order = device.upload(order);
    const auto step = device.upload(std::vector<std::int64_t>{3 + 2});
    auto x = device.template allocate<TypeParam>(4 * 5);
    auto y = device.template allocate<std::int32_t>(4);
    device.gather(batch_gather<TypeParam>{{pictures.data(), 51, 5},
                                          all_labels.data(),
                                          all_order.data(),
                                          step.data(),
                                          3,
                                          {x.data(), 4, 5},
                                          y.data()});
    std::vector<TypeParam> gathered(4 * 5);
    std::vector<std::int32_t> gathered_labels(4);
    device.copy(x, gathered);
    device.copy(y, gathered_labels);
    device.wait();
    const std::vector<TypeParam> numbers = numbers_of<TypeParam>(bytes);
    for (std::size_t row = 0; row < 4; ++row) {
        const auto picture = static_cast<std::size_t>(order[4 + row]);
        EXPECT_EQ(gathered_labels[row], labels[picture]);
        for (std::size_t i = 0; i < 5; ++i)
            EXPECT_EQ(static_cast<float>(gathered[row * 5 + i]),
                      static_cast<float>(numbers[picture * 5 + i]));
    }
}

}  // namespace
}  // namespace fashion_mnist
