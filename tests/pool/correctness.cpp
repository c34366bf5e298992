#include "tests/support/guarded_tensor.hpp"
#include "tests/support/headers.hpp"
#include "tests/support/watchdog.hpp"

namespace heddle::test {
namespace {

template <class Check>
void for_every_pool_plan(const pool_options& options, Check check) {
    for_every_plan(
        pool_algorithms(), [](auto rung) { return pool_kernels(rung); }, options, check);
}

template <class T>
class pool_correctness : public stream_fixture {
  protected:
    /// Also checks that nothing around the output is written.
    static void expect_same_bits(const std::vector<T>& first, guarded_tensor<T>& output) {
        const auto [again, canaries_alive] = output.inspect();
        ASSERT_EQ(first.size(), again.size());
        EXPECT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(T)), 0);
        EXPECT_TRUE(canaries_alive);
    }
};
using types = testing::Types<float, half, bfloat16>;
TYPED_TEST_SUITE(pool_correctness, types, type_names);

/// A maximum of numbers agrees with the CPU's to the bit.
TYPED_TEST(pool_correctness, gives_the_same_bits_in_a_graph) {
    constexpr std::int64_t count = 2, height = 129, width = 257, channels = 8;
    const auto elements = random_elements<TypeParam>(count * height * width * channels);
    for (const pool_geometry& g :
         {pool_geometry{{3, 3}, {2, 2}, {1, 1, 1, 1}}, pool_geometry{{height, width}}})
        for (const pool_mode mode : {pool_mode::max, pool_mode::average}) {
            const std::int64_t rows = pool_output_height(height, g), cols = pool_output_width(width, g);
            guarded_tensor<TypeParam> input(count, height, width, channels),
                output(count, rows, cols, channels);
            input.upload(elements);
            std::vector<TypeParam> of_cpu(static_cast<std::size_t>(count * rows * cols * channels));
            host::pool<TypeParam>({elements.data(), count, height, width, channels},
                                  tensor_view<TypeParam>{of_cpu.data(), count, rows, cols, channels},
                                  {.mode = mode, .geometry = g});
            for_every_pool_plan({.mode = mode, .geometry = g}, [&](const pool_options& options) {
                const auto call = [&] {
                    pool<TypeParam>(input.tensor(), output.tensor(), *this->stream, options);
                };
                call();
                const auto first = output.download();
                if (mode == pool_mode::max) {
                    ASSERT_NO_FATAL_FAILURE(this->expect_same_bits(of_cpu, output));
                }
                output.upload(std::vector<TypeParam>(first.size(), TypeParam(1000)));
                const graph captured = graph::capture(*this->stream, call);
                for (int i = 0; i < 3; ++i) captured.launch(*this->stream);
                synchronize(*this->stream, "a graph");
                ASSERT_NO_FATAL_FAILURE(this->expect_same_bits(first, output));
            });
        }
}

TYPED_TEST(pool_correctness, of_whole_images_has_one_pixel) {
    guarded_tensor<TypeParam> input(3, 6, 9, 21), output(3, 1, 1, 21), by_window(3, 1, 1, 21);
    input.upload(random_elements<TypeParam>(std::int64_t{3} * 6 * 9 * 21));
    for (const pool_mode mode : {pool_mode::max, pool_mode::average, pool_mode::padded_average}) {
        global_pool<TypeParam>(input.tensor(), output.tensor(), *this->stream, {.mode = mode});
        pool<TypeParam>(input.tensor(), by_window.tensor(), *this->stream,
                        {.mode = mode, .geometry = {.window = {6, 9}}});
        synchronize(*this->stream, "whole images");
        ASSERT_NO_FATAL_FAILURE(this->expect_same_bits(by_window.download(), output));
    }
}

/// A sum in float would stop growing at 2^24.
TYPED_TEST(pool_correctness, averages_large_windows_of_ones) {
    constexpr std::int64_t side = 4608;
    guarded_tensor<TypeParam> input(1, side, side, 1), output(1, 1, 1, 1);
    input.upload(std::vector<TypeParam>(side * side, TypeParam(1.0f)));
    const pool_options average{.mode = pool_mode::average, .geometry = {.window = {side, side}}};
    for_every_pool_plan(average, [&](const pool_options& options) {
        pool<TypeParam>(input.tensor(), output.tensor(), *this->stream, options);
        synchronize(*this->stream, "ones");
        EXPECT_EQ(to_double(output.download()[0]), 1);
    });
}

TYPED_TEST(pool_correctness, does_nothing_where_there_is_nothing) {
    for_every_pool_plan({}, [&](const pool_options& options) {
        pool<TypeParam>({nullptr, 0, 4, 4, 3}, tensor_view<TypeParam>{nullptr, 0, 4, 4, 3}, *this->stream,
                        options);
        pool<TypeParam>({nullptr, 2, 4, 4, 0}, tensor_view<TypeParam>{nullptr, 2, 4, 4, 0}, *this->stream,
                        options);
    });
    synchronize(*this->stream, "nothing");
}

}  // namespace
}  // namespace heddle::test
