#include "tests/support/headers.hpp"

// Cases that tests/fuzz does not draw, and arguments that are refused.
namespace heddle::test {
namespace {

/// Parameters in guarded memory, with these counts of elements. Arrays do not begin at multiples of 16 bytes.
template <class T, class Gradient>
class guarded_list {
  public:
    using memory = guarded<float>::memory;

    explicit guarded_list(const std::vector<std::int64_t>& sizes, memory where = memory::device) {
        std::int64_t offset = 0;
        for (const std::int64_t size : sizes) all_.emplace_back(size, offset++ % 5, where);
        restart();
    }

    std::vector<parameter<T, Gradient>> views() {
        std::vector<parameter<T, Gradient>> result;
        for (auto& p : all_)
            result.push_back({p.master.data(), p.value.data(), p.gradient.data(), p.first.data(),
                              p.second.data(), static_cast<std::int64_t>(p.weights.size())});
        return result;
    }

    /// Restores the drawn weights, and zero moments, as at the beginning of training.
    void restart() {
        for (auto& p : all_) {
            const std::vector<float> zeros(p.weights.size());
            p.master.upload(p.weights);
            p.first.upload(zeros);
            p.second.upload(zeros);
        }
    }

    /// All results of a step, of all parameters in turn.
    std::vector<float> state() {
        std::vector<float> all;
        for (auto& p : all_) {
            const auto add = [&](const auto& elements) {
                for (const auto e : elements) all.push_back(static_cast<float>(e));
            };
            add(p.master.download());
            add(p.value.download());
            add(p.first.download());
            add(p.second.download());
        }
        return all;
    }

  private:
    struct one {
        one(std::int64_t size, std::int64_t offset, memory where)
            : weights(random_elements<float>(size)),
              master(size, offset, where),
              value(size, offset, static_cast<typename guarded<T>::memory>(where)),
              gradient(size, offset, static_cast<typename guarded<Gradient>::memory>(where)),
              first(size, offset, where),
              second(size, offset, where) {
            gradient.upload(random_elements<Gradient>(size));
        }

        std::vector<float> weights;
        guarded<float> master;
        guarded<T> value;
        guarded<Gradient> gradient;
        guarded<float> first, second;
    };
    std::deque<one> all_;
};

struct optimizer_call {
    std::string name;
    bool is_decoupled = false;
    sgd_options sgd = {};
    adam_options adam = {};

    bool is_sgd() const { return sgd.momentum != 0; }
    /// Calls change(options) for either type of options.
    template <class Change>
    void with_options(Change change) {
        if (is_sgd())
            change(sgd);
        else
            change(adam);
    }
};

std::vector<optimizer_call> calls() {
    return {{"nesterov", false, {.momentum = 0.8, .nesterov = true, .weight_decay = 0.01}},
            {"adam", false, {}, {.weight_decay = 0.1, .gradient_scale = 3}},
            {"adamw", true, {}, {.weight_decay = 0.01}}};
}

void enqueue(const optimizer_call& call, std::span<const parameter<half, float>> parameters,
             const stream& s) {
    if (call.is_sgd())
        sgd<half, float>(parameters, s, call.sgd);
    else if (call.is_decoupled)
        adamw<half, float>(parameters, s, call.adam);
    else
        adam<half, float>(parameters, s, call.adam);
}

bool are_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Sizes around every border: of packets, blocks and chunks.
const std::vector<std::int64_t> sizes = {0,   1,   2,    3,    4,    5,    7,    0,    8,
                                         255, 256, 1023, 1025, 4095, 4096, 4097, 8191, 12345};

class optimizers : public gpu_test {};
class gradient_norms : public gpu_test {};

TEST_F(optimizers, of_every_rung_give_the_same_bits) {
    const stream s;
    guarded_list<half, float> list(sizes);
    for (optimizer_call call : calls()) {
        std::vector<float> first;
        for (const optimizer_algorithm algorithm : optimizer_algorithms()) {
            SCOPED_TRACE(testing::Message() << call.name << " by " << to_string(algorithm));
            call.sgd.algorithm = call.adam.algorithm = algorithm;
            list.restart();
            enqueue(call, list.views(), s);
            s.synchronize();
            if (first.empty())
                first = list.state();
            else
                EXPECT_TRUE(are_same_bits(first, list.state()));
        }
    }
}

TEST_F(optimizers, of_a_replayed_graph_are_those_of_plain_calls) {
    constexpr int steps = 5;
    const stream s;
    guarded_list<half, float> list(sizes);
    guarded<std::int64_t> counter(1);
    guarded<float> rate(1), norm(1);
    guarded_workspace workspace(gradient_norm_workspace_bytes({18, 1 << 20}, traits_of(current_device())));
    const auto rate_of = [](int step) { return 0.01f / static_cast<float>(step); };
    for (optimizer_call call : calls()) {
        SCOPED_TRACE(call.name);
        call.with_options([&](auto& options) {
            options.clip_norm_of = norm.data();
            options.max_norm = 2;
        });
        const auto step_with = [&](const optimizer_call& wanted) {
            gradient_norm<half, float>(list.views(), norm.data(), s, {.workspace = workspace});
            enqueue(wanted, list.views(), s);
        };
        list.restart();
        for (int step = 1; step <= steps; ++step) {
            optimizer_call plain = call;
            plain.adam.step = step;
            plain.with_options([&](auto& options) { options.learning_rate = rate_of(step); });
            step_with(plain);
        }
        s.synchronize();
        const std::vector<float> expected = list.state();

        optimizer_call on_device = call;
        on_device.adam.device_step = counter.data();
        on_device.with_options([&](auto& options) { options.device_learning_rate = rate.data(); });
        list.restart();
        counter.upload({0});
        const graph captured = graph::capture(s, [&] {
            advance(counter.data(), s);
            step_with(on_device);
        });
        for (int step = 1; step <= steps; ++step) {
            rate.upload({rate_of(step)});
            captured.launch(s);
            s.synchronize();
        }
        ASSERT_TRUE(are_same_bits(expected, list.state()));
        ASSERT_EQ(counter.download()[0], steps);
        ASSERT_TRUE(counter.canaries_alive() && rate.canaries_alive() && workspace.is_intact());
    }
}

TEST_F(gradient_norms, neither_overflow_nor_underflow) {
    const stream s;
    for (const float element : {1e30f, 1e-40f, 3e38f}) {
        guarded<float> g(5000), result(1);
        g.upload(std::vector<float>(5000, element));
        const parameter<float> p{.gradient = g.data(), .count = 5000};
        gradient_norm<float>(std::span(&p, 1), result.data(), s);
        s.synchronize();
        const double expected = std::sqrt(5000.0) * to_double(element);
        const bool is_finite = expected <= to_double(std::numeric_limits<float>::max());
        EXPECT_TRUE(is_within(to_double(result.download()[0]),
                              is_finite ? expected : std::numeric_limits<double>::infinity(),
                              expected * 0x1.001p-24 + smallest<float>()));
    }
}

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
