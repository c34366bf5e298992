#include "tests/optimizer/parameters.hpp"

// Cases that tests/fuzz does not draw.
namespace heddle::test {
namespace {

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

}  // namespace
}  // namespace heddle::test
