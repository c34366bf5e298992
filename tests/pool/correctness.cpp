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
TYPED_TEST_SUITE(pool_correctness, row_types, type_names);

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

template <class T>
class host_pool : public testing::Test {};
TYPED_TEST_SUITE(host_pool, row_types, type_names);

/// A sum in float would stop growing at 2^24.
TYPED_TEST(host_pool, averages_25_million_ones) {
    const std::vector<TypeParam> ones(5000 * 5000, TypeParam(1.0f));
    TypeParam average{};
    host::pool<TypeParam>({ones.data(), 1, 5000, 5000, 1}, {&average, 1, 1, 1, 1},
                          {.mode = pool_mode::average, .geometry = {.window = {5000, 5000}}});
    EXPECT_EQ(static_cast<float>(average), 1);
}

class pool_arguments : public testing::Test {
  protected:
    using in_view = tensor_view<const float>;
    using out_view = tensor_view<float>;

    std::string message(const in_view& in, const out_view& out, const pool_options& options) {
        const std::string text = invalid_argument_of([&] { pool<float>(in, out, no_stream, options); });
        EXPECT_TRUE(std::ranges::all_of(memory_, [](float e) { return e == 0; }));
        return text;
    }
    std::string message(const in_view& in, const out_view& out) {
        return message(in, out, {.geometry = geometry});
    }
    std::string message(const pool_options& options) { return message(input, output, options); }
    std::string message(const pool_geometry& g) { return message(pool_options{.geometry = g}); }

    template <class... Changed>
    void refuses(const std::string& text, const Changed&... changed) {
        EXPECT_EQ(message(changed...), "pool: " + text);
    }

    std::vector<float> memory_ = std::vector<float>(2000);
    float* const p = memory_.data();
    const in_view input{p, 2, 6, 5, 4};
    const out_view output{p + 1000, 2, 3, 2, 4};
    const pool_geometry geometry{{3, 3}, {2, 2}, {1, 0, 0, 0}};
};

TEST_F(pool_arguments, agree_in_their_shapes) {
    refuses("output.count is 2, expected 3 (input.count)", in_view{p, 3, 6, 5, 4}, output);
    refuses("output.height is 3, expected 4 (pool_output_height())", in_view{p, 2, 8, 5, 4}, output);
    refuses("output.width is 2, expected 3 (pool_output_width())", in_view{p, 2, 6, 7, 4}, output);
    refuses("output.channels is 4, expected 3 (input.channels)", in_view{p, 2, 6, 5, 3}, output);
    refuses("input.count is -2, expected zero or more", in_view{p, -2, 6, 5, 4}, output);
}

TEST_F(pool_arguments, have_a_geometry) {
    refuses("options.geometry.window.y is 0, expected 1 to 2147483647", pool_geometry{.window = {0, 1}});
    refuses("options.geometry.stride.x is -1, expected 1 to 2147483647", pool_geometry{.stride = {1, -1}});
    refuses("options.geometry.padding.right is -1, expected 0 to 2147483647",
            pool_geometry{.padding = {.right = -1}});
    refuses("options.geometry.window.x is 6, expected a window that fits the 5 of the padded input",
            pool_geometry{.window = {2, 6}});
    refuses("options.mode is 3, expected an enumerator of pool_mode",
            pool_options{.mode = static_cast<pool_mode>(3), .geometry = geometry});
    refuses("options.algorithm is 99, expected an enumerator of pool_algorithm",
            pool_options{.geometry = geometry, .algorithm = static_cast<pool_algorithm>(99)});
    refuses("options.kernel is window, expected one of vectorized window, vectorized block",
            pool_options{.geometry = geometry, .algorithm = pool_algorithm::vectorized, .kernel = "window"});
}

TEST_F(pool_arguments, lie_apart) {
    refuses("input.data is null, expected a pointer to its elements", in_view{nullptr, 2, 6, 5, 4}, output);
    refuses("output.col_stride is 3, expected at least 4: what lies within it", input,
            out_view{p + 1000, 2, 3, 2, 4, 3});
    refuses("output is a view that overlaps input, expected one apart from it", input,
            out_view{p + 200, 2, 3, 2, 4});
}

TEST_F(pool_arguments, are_checked_by_the_other_functions_too) {
    expect_error("host::pool: output.count is 2, expected 3 (input.count)", [&] {
        host::pool<float>(in_view{p, 3, 6, 5, 4}, output, {.geometry = geometry});
    });
    expect_error("pool_problem_of: output.count is 2, expected 3 (input.count)", [&] {
        (void)pool_problem_of<float>(in_view{nullptr, 3, 6, 5, 4}, output, {.geometry = geometry});
    });
    expect_error("pool: options.geometry.window.y is 0, expected 1 to 2147483647", [&] {
        global_pool<float>(in_view{nullptr, 3, 0, 5, 4}, output, no_stream);
    });
}

TEST_F(pool_arguments, may_be_empty) {
    EXPECT_NO_THROW(pool<float>({nullptr, 0, 4, 4, 3}, out_view{nullptr, 0, 4, 4, 3}, no_stream));
    EXPECT_NO_THROW(pool<float>({nullptr, 2, 4, 4, 0}, out_view{nullptr, 2, 4, 4, 0}, no_stream));
}

}  // namespace
}  // namespace heddle::test
