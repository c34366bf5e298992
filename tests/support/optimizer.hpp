#pragma once

#include "tests/bounds/optimizer.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"
#include <heddle/optimizer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace heddle::test {

enum class optimizer_kind { sgd, adam, adamw };

struct optimizer_call {
    std::string name;
    optimizer_kind kind;
    sgd_options sgd = {};
    adam_options adam = {};

    int moments() const { return kind != optimizer_kind::sgd ? 2 : sgd.momentum != 0 ? 1 : 0; }

    /// change(options), of whichever they are.
    template <class Change>
    void with_options(Change change) {
        if (kind == optimizer_kind::sgd)
            change(sgd);
        else
            change(adam);
    }
};

/// What distinguishes the formulas, each from the others and each of their parts.
inline std::vector<optimizer_call> optimizer_calls() {
    using enum optimizer_kind;
    return {{"sgd", sgd, {.learning_rate = 0.01}},
            {"sgd_with_decay", sgd, {.learning_rate = 0.01, .weight_decay = 0.1, .gradient_scale = 0.7}},
            {"momentum", sgd, {.learning_rate = 0.003, .momentum = 0.9, .weight_decay = 0.01}},
            {"nesterov", sgd, {.learning_rate = 0.003, .momentum = 0.8, .nesterov = true}},
            {"adam", adam, {}, {.gradient_scale = 3}},
            {"adam_with_decay", adam, {}, {.beta1 = 0.8, .beta2 = 0.99, .epsilon = 0.2, .weight_decay = 0.1}},
            {"adamw", adamw, {}, {.weight_decay = 0.01}},
            {"adamw_with_epsilon",
             adamw,
             {},
             {.learning_rate = 0.01, .beta1 = 0, .beta2 = 0.95, .epsilon = 0.1, .weight_decay = 0.3}}};
}

template <class T, class Gradient>
void enqueue(const optimizer_call& call, std::span<const parameter<T, Gradient>> parameters,
             cuda::stream_ref stream) {
    if (call.kind == optimizer_kind::sgd)
        sgd<T, Gradient>(parameters, stream, call.sgd);
    else if (call.kind == optimizer_kind::adam)
        adam<T, Gradient>(parameters, stream, call.adam);
    else
        adamw<T, Gradient>(parameters, stream, call.adam);
}

struct expected_element : bounds::weight_and_moments {
    /// factor: what the gradient is multiplied by.
    void step(const optimizer_call& call, double gradient, const bounds::approximate& factor,
              std::int64_t step) {
        const bounds::approximate g = rounded(factor * gradient);
        adam_options of_step = call.adam;
        of_step.step = step;
        if (call.kind == optimizer_kind::sgd)
            weight_and_moments::step(call.sgd, g);
        else
            weight_and_moments::step(of_step, call.kind == optimizer_kind::adamw, g);
    }
};

/// Elements, and how far each array begins behind a multiple of 16 bytes, in elements.
struct parameter_layout {
    std::int64_t count = 0;
    std::int64_t master = 0, value = 0, gradient = 0, first = 0, second = 0;

    static parameter_layout alike(std::int64_t count, std::int64_t offset = 0) {
        return {count, offset, offset, offset, offset, offset};
    }
};

/// A parameter in guarded memory.
template <class T, class Gradient>
struct guarded_parameter {
    using memory = guarded<float>::memory;

    guarded_parameter(const parameter_layout& l, int gradient_sets, memory where)
        : count(l.count),
          weights(random_elements<float>(count)),
          firsts(random_elements<float>(count)),
          seconds(random_elements<float>(count, 0.1, 1)),
          master(count, l.master, where),
          value(count, l.value, static_cast<typename guarded<T>::memory>(where)),
          first(count, l.first, where),
          second(count, l.second, where) {
        for (int set = 0; set < gradient_sets; ++set) {
            gradients.push_back(random_elements<Gradient>(count));
            gradient.emplace_back(count, l.gradient, static_cast<typename guarded<Gradient>::memory>(where));
            gradient.back().upload(gradients.back());
        }
    }

    void upload() {
        master.upload(weights);
        first.upload(firsts);
        second.upload(seconds);
    }

    parameter<T, Gradient> view(std::size_t set = 0) {
        return {master.data(), value.data(), gradient[set].data(), first.data(), second.data(), count};
    }

    std::int64_t count;
    std::vector<float> weights, firsts, seconds;
    std::vector<std::vector<Gradient>> gradients;
    guarded<float> master;
    guarded<T> value;
    guarded<float> first, second;
    std::deque<guarded<Gradient>> gradient;
};

/// A list of parameters, and what is expected of it.
template <class T, class Gradient>
class guarded_list {
  public:
    using memory = guarded<float>::memory;

    explicit guarded_list(const std::vector<parameter_layout>& layouts, int gradient_sets = 1,
                          memory where = memory::device) {
        for (const auto& l : layouts) parameters_.emplace_back(l, gradient_sets, where);
        restart();
    }

    /// The parameters, with one of the sets of gradients.
    std::vector<parameter<T, Gradient>> views(std::size_t set = 0) {
        std::vector<parameter<T, Gradient>> result;
        for (auto& p : parameters_) result.push_back(p.view(set));
        return result;
    }

    /// As drawn at first; with moments of zero, where training begins.
    void restart(bool at_zero = false) {
        expected_.clear();
        for (auto& p : parameters_) {
            if (at_zero) {
                std::ranges::fill(p.firsts, 0.0f);
                std::ranges::fill(p.seconds, 0.0f);
            }
            p.upload();
            auto& elements = expected_.emplace_back();
            for (std::size_t i = 0; i < p.weights.size(); ++i)
                elements.push_back(
                    {to_double(p.weights[i]), to_double(p.firsts[i]), to_double(p.seconds[i])});
        }
    }

    void expect_step(const optimizer_call& call, std::int64_t step, const bounds::approximate& factor,
                     std::size_t set = 0) {
        for (std::size_t k = 0; k < parameters_.size(); ++k)
            for (std::size_t i = 0; i < expected_[k].size(); ++i)
                expected_[k][i].step(call, to_double(parameters_[k].gradients[set][i]), factor, step);
    }

    /// The norm of a set of gradients.
    double norm(std::size_t set = 0) const {
        double squares = 0;
        for (const auto& p : parameters_)
            for (const Gradient g : p.gradients[set]) squares += to_double(g) * to_double(g);
        return std::sqrt(squares);
    }

    /// Whether all is as expected, and nothing else was written.
    testing::AssertionResult is_as_expected(int moments) {
        for (std::size_t k = 0; k < parameters_.size(); ++k) {
            auto& p = parameters_[k];
            const auto fails = [&](const char* array, std::size_t i, const testing::AssertionResult& why) {
                return testing::AssertionFailure() << "parameter " << k << " of " << p.count << ", " << array
                                                   << " " << i << ": " << why.message();
            };
            const auto [weights, weights_guarded] = p.master.inspect();
            const auto [values, values_guarded] = p.value.inspect();
            const auto [firsts, firsts_guarded] = p.first.inspect();
            const auto [seconds, seconds_guarded] = p.second.inspect();
            for (std::size_t i = 0; i < weights.size(); ++i) {
                const auto& [weight, first, second] = expected_[k][i];
                if (auto ok = is_within(to_double(weights[i]), weight.value, weight.bound); !ok)
                    return fails("weight", i, ok);
                if (moments > 0)
                    if (auto ok = is_within(to_double(firsts[i]), first.value, first.bound); !ok)
                        return fails("first moment", i, ok);
                if (moments > 1)
                    if (auto ok = is_within(to_double(seconds[i]), second.value, second.bound); !ok)
                        return fails("second moment", i, ok);
                // The value is the weight, rounded once.
                if (to_double(values[i]) != to_double(static_cast<T>(weights[i])))
                    return fails("value", i, testing::AssertionFailure() << "not the weight");
            }
            const bool moments_kept =
                (moments > 0 || p.first.untouched()) && (moments > 1 || p.second.untouched());
            bool gradients_kept = true;
            for (auto& g : p.gradient) gradients_kept = gradients_kept && g.untouched();
            if (!weights_guarded || !values_guarded || !firsts_guarded || !seconds_guarded || !moments_kept ||
                !gradients_kept)
                return testing::AssertionFailure() << "parameter " << k << ": written where it must not be";
        }
        return testing::AssertionSuccess();
    }

    /// All that a step writes, of all parameters in turn.
    std::vector<float> state() {
        std::vector<float> all;
        for (auto& p : parameters_) {
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

    guarded_parameter<T, Gradient>& operator[](std::size_t k) { return parameters_[k]; }

  private:
    std::deque<guarded_parameter<T, Gradient>> parameters_;
    std::vector<std::vector<expected_element>> expected_;
};

template <class T, class Gradient>
struct optimizer_types {
    using value = T;
    using gradient = Gradient;
};
using all_optimizer_types =
    testing::Types<optimizer_types<float, float>, optimizer_types<half, half>, optimizer_types<half, float>,
                   optimizer_types<bfloat16, bfloat16>, optimizer_types<bfloat16, float>>;
struct optimizer_type_names {
    template <class Types>
    static std::string GetName(int) {
        return std::string(type_name<typename Types::value>()) + "_" + type_name<typename Types::gradient>();
    }
};

}  // namespace heddle::test
