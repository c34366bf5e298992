#pragma once

#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/guarded_workspace.hpp"
#include "tests/support/linear.hpp"
#include "tests/support/rows.hpp"
#include <heddle/device.hpp>
#include <heddle/error.hpp>
#include <heddle/linear.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::test {

inline std::vector<linear_gradient_algorithm> every_linear_gradient_algorithm() {
    std::vector<linear_gradient_algorithm> all(linear_gradient_algorithms().begin(),
                                               linear_gradient_algorithms().end());
    all.push_back(linear_gradient_algorithm::automatic);
    return all;
}

/// How a layer's operands lie, and which of its gradients are wanted.
struct layer_layouts {
    row_layout x{}, weights{}, gradient{};
    row_layout y{};  ///< and dx
    row_layout dweights{};
    std::int64_t bias_step = 1;  ///< and of dbias
    bool wants_dx = true;
    bool wants_dweights = true;
    bool wants_dbias = true;
    bool has_workspace = false;
};

/// Rows begin at multiples of 16 bytes, where matmul's fused wants them.
template <class T>
row_layout in_packets_of(std::int64_t cols) {
    constexpr std::int64_t packet = 16 / sizeof(T);
    return {.padding = (packet - cols % packet) % packet};
}
template <class T>
layer_layouts in_packets_of(const layer_elements<T>& e) {
    const row_layout of_in = in_packets_of<T>(e.in);
    return {.x = of_in, .weights = of_in, .gradient = in_packets_of<T>(e.out), .y = of_in};
}

template <class T>
class linear_layers : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream.emplace();
    }

    /// What sums of float may be off by.
    static error_bound of_sums(precision as) {
        return bound_of<float, T>(as == precision::tf32 ? matmul_algorithm::tf32 : matmul_algorithm::naive);
    }

    void check_linear(const layer_elements<T>& e, const layer_layouts& l, bool has_bias,
                      linear_options options) {
        auto x = make_rows<T>(e.batch, e.in, l.x), weights = make_rows<T>(e.out, e.in, l.weights),
             bias = make_rows<T>(1, e.out, {.step = l.bias_step}), y = make_rows<T>(e.batch, e.out, l.y);
        x.upload(e.x);
        weights.upload(e.weights);
        bias.upload(e.bias);
        const vector_view<T> given_bias = has_bias ? bias.vector() : vector_view<T>{};
        guarded_workspace workspace(l.has_workspace
                                        ? linear_workspace_bytes<T>(x.matrix(), weights.matrix(), given_bias,
                                                                    y.matrix(), *stream, options)
                                        : 0);
        if (l.has_workspace) options.workspace = workspace;
        linear<T>(x.matrix(), weights.matrix(), given_bias, y.matrix(), *stream, options);
        stream->synchronize();
        const expected_elements expected =
            expected_linear(e, has_bias, options.activation, of_sums(options.precision), 0x1p-16);
        ASSERT_TRUE(are_within(y.download(), expected.value, expected.bound));
        ASSERT_TRUE(y.canaries_alive() && x.untouched() && weights.untouched() && bias.untouched());
        ASSERT_TRUE(workspace.is_intact());
    }

    /// It is right, or refused where why_not() says so.
    void check_gradient(const layer_elements<T>& e, const layer_layouts& l, linear_gradient_options options) {
        SCOPED_TRACE(testing::Message() << to_string(options.algorithm) << ", activation of x "
                                        << static_cast<int>(options.activation_of_x));
        auto x = make_rows<T>(e.batch, e.in, l.x), weights = make_rows<T>(e.out, e.in, l.weights),
             gradient = make_rows<T>(e.batch, e.out, l.gradient);
        auto dx = make_rows<T>(l.wants_dx ? e.batch : 0, l.wants_dx ? e.in : 0, l.y);
        auto dweights =
                 make_rows<float>(l.wants_dweights ? e.out : 0, l.wants_dweights ? e.in : 0, l.dweights),
             dbias = make_rows<float>(1, l.wants_dbias ? e.out : 0, {.step = l.bias_step});
        x.upload(e.x);
        weights.upload(e.weights);
        gradient.upload(e.gradient);
        guarded_workspace workspace(l.has_workspace
                                        ? linear_gradient_workspace_bytes<T>(
                                              x.matrix(), weights.matrix(), gradient.matrix(), dx.matrix(),
                                              dweights.matrix(), dbias.vector(), *stream, options)
                                        : 0);
        if (l.has_workspace) options.workspace = workspace;
        const auto run = [&] {
            linear_gradient<T>(x.matrix(), weights.matrix(), gradient.matrix(), dx.matrix(),
                               dweights.matrix(), dbias.vector(), *stream, options);
        };
        const linear_gradient_problem problem = linear_gradient_problem_of<T>(
            x.matrix(), weights.matrix(), gradient.matrix(), dx.matrix(), options);
        const device_traits& device = traits_of(current_device());
        if (!why_not(options.algorithm, problem, device).empty()) {
            ASSERT_THROW(run(), unsupported);
            ASSERT_TRUE(dx.untouched() && dweights.untouched() && dbias.untouched());
            return;
        }
        run();
        stream->synchronize();
        const auto chosen = options.algorithm == linear_gradient_algorithm::automatic
                                ? select(problem, device)
                                : options.algorithm;
        const bool rounds_sums =
            sizeof(T) == 2 && problem.has_derivative && chosen == linear_gradient_algorithm::separate;
        const error_bound sums = of_sums(options.precision);
        if (l.wants_dx) {
            const auto expected = expected_dx(e, options.activation_of_x, sums, rounds_sums);
            ASSERT_TRUE(are_within(dx.download(), expected.value, expected.bound)) << "dx";
        }
        if (l.wants_dweights) {
            const auto expected = expected_dweights(e, sums);
            ASSERT_TRUE(are_within(dweights.download(), expected.value, expected.bound)) << "dweights";
        }
        if (l.wants_dbias) {
            const auto expected = expected_dbias(e);
            ASSERT_TRUE(are_within(dbias.download(), expected.value, expected.bound)) << "dbias";
        }
        ASSERT_TRUE(dx.canaries_alive() && dweights.canaries_alive() && dbias.canaries_alive());
        ASSERT_TRUE(x.untouched() && weights.untouched() && gradient.untouched());
        ASSERT_TRUE(workspace.is_intact());
    }

    std::optional<heddle::stream> stream;
};

}  // namespace heddle::test
