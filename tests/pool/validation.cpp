#include "tests/support/headers.hpp"

// Arguments are checked before anything is enqueued, so no device is needed.
namespace heddle::test {
namespace {

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

}  // namespace
}  // namespace heddle::test
