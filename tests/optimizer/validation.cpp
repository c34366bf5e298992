#include "tests/optimizer/parameters.hpp"

namespace heddle::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A list of two parameters; a test makes the second one invalid.
class optimizer_arguments : public testing::Test {
  protected:
    using list_type = guarded_list<half, float>;
    using parameters = std::vector<parameter<half, float>>;

    list_type list{{3, 5}, list_type::memory::host};

    template <class Spoil>
    std::string message(Spoil spoil, const adam_options& options = {}) {
        parameters views = list.views();
        const std::vector<float> before = list.state();
        spoil(views[1]);
        const auto text = invalid_argument_of([&] { adamw<half, float>(views, no_stream, options); });
        expect_error("host::" + text, [&] { host::adamw<half, float>(views, options); });
        const std::vector<float> after = list.state();
        EXPECT_EQ(std::memcmp(before.data(), after.data(), before.size() * sizeof(float)), 0);
        return text;
    }
    template <class Spoil>
    void refuses(const std::string& text, Spoil spoil) {
        EXPECT_EQ(message(spoil), "adamw: " + text);
    }
    void refuses(const std::string& text, const adam_options& options) {
        EXPECT_EQ(message([](auto&) {}, options), "adamw: " + text);
    }
    void refuses(const std::string& text, const sgd_options& options) {
        expect_error("sgd: " + text, [&] { sgd<half, float>(list.views(), no_stream, options); });
    }
};

TEST_F(optimizer_arguments, name_what_is_wrong_with_a_parameter) {
    refuses("parameters.count is -1, expected zero or more", [](auto& p) { p.count = -1; });
    refuses("parameters.master is null, expected a pointer to 5 elements",
            [](auto& p) { p.master = nullptr; });
    refuses("parameters.gradient is null, expected a pointer to 5 elements",
            [](auto& p) { p.gradient = nullptr; });
    refuses("parameters.first_moment is null, expected a pointer to 5 elements",
            [](auto& p) { p.first_moment = nullptr; });
    refuses("parameters.second_moment is null, expected a pointer to 5 elements",
            [](auto& p) { p.second_moment = nullptr; });
    refuses(
        "parameters.second_moment is an array that overlaps another, expected memory apart from "
        "first_moment",
        [](auto& p) { p.second_moment = p.first_moment + 4; });
    refuses("parameters.value is an array that overlaps another, expected memory apart from master",
            [](auto& p) { p.value = reinterpret_cast<half*>(p.master); });
    refuses("parameters.gradient is an array that overlaps another, expected memory apart from master",
            [](auto& p) { p.gradient = p.master - 1; });
    const auto misaligned =
        message([](auto& p) { p.master = reinterpret_cast<float*>(reinterpret_cast<char*>(p.master) + 2); });
    EXPECT_NE(misaligned.find("expected a multiple of 4 bytes"), std::string::npos) << misaligned;
}

TEST_F(optimizer_arguments, name_what_is_wrong_with_an_option) {
    refuses("options.learning_rate is inf, expected finite, zero or more",
            adam_options{.learning_rate = infinity});
    refuses("options.beta1 is 1, expected 0 or more, and less than 1", adam_options{.beta1 = 1});
    refuses("options.beta2 is -0.5, expected 0 or more, and less than 1", adam_options{.beta2 = -0.5});
    refuses("options.epsilon is -1, expected finite, zero or more", adam_options{.epsilon = -1});
    refuses("options.weight_decay is -1, expected finite, zero or more", adam_options{.weight_decay = -1});
    refuses("options.step is 0, expected one or more", adam_options{.step = 0});
    refuses("options.gradient_scale is nan, expected finite, zero or more",
            adam_options{.gradient_scale = std::numeric_limits<double>::quiet_NaN()});
    refuses("options.max_norm is -1, expected finite, zero or more", adam_options{.max_norm = -1});
    refuses("options.momentum is -1, expected finite, zero or more", sgd_options{.momentum = -1});
    refuses("options.nesterov is true, expected false without momentum", sgd_options{.nesterov = true});
    refuses("options.algorithm is 99, expected an enumerator of optimizer_algorithm",
            sgd_options{.algorithm = static_cast<optimizer_algorithm>(99)});
}

TEST_F(optimizer_arguments, of_gradient_norm_and_advance_are_checked) {
    float result = 7;
    auto views = list.views();
    const auto message_of_norm = [&](float* to, gradient_norm_options options = {}) {
        return invalid_argument_of([&] { gradient_norm<half, float>(views, to, no_stream, options); });
    };
    EXPECT_EQ(message_of_norm(nullptr), "gradient_norm: result is null, expected a pointer to a number");
    EXPECT_NE(message_of_norm(const_cast<float*>(views[1].gradient) + 4)
                  .find("expected memory apart from gradients"),
              std::string::npos);
    auto* in_gradients =
        reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(views[1].gradient) + 15) / 16 * 16);
    EXPECT_NE(message_of_norm(&result, {.workspace = {in_gradients, 16}}).find("options.workspace"),
              std::string::npos);
    views[0].count = -3;
    EXPECT_EQ(message_of_norm(&result), "gradient_norm: parameters.count is -3, expected zero or more");
    EXPECT_EQ(result, 7);
    expect_error("advance: step is null, expected a pointer to a number",
                 [] { advance(nullptr, no_stream); });
}

TEST(optimizer_lists, may_be_empty) {
    EXPECT_NO_THROW(adamw<float>({}, no_stream));
    const parameter<float> none[2];
    EXPECT_NO_THROW(sgd<float>(none, no_stream));
    EXPECT_NO_THROW(host::adam<float>(none));
}

}  // namespace
}  // namespace heddle::test
