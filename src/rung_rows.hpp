#pragma once

#include "src/facts.hpp"
#include <heddle/device.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

/// The rows of an operation's table of rungs, and what they are made of. docs/add-a-kernel.md adds one.
namespace heddle::detail {

/// A row: a kernel, or a rung that has one. Kernels of one rung stand together.
template <class Algorithm, class Problem, class Plan, class Arguments>
struct rung {
    using problem_type = Problem;
    using plan_type = Plan;

    Algorithm id;
    /// The rung's, and where it has several kernels, a space and the kernel's: "persistent 128x256".
    std::string_view name;
    /// What the rung needs and lacks, as an error says it after the rung's name; empty where it can run. Pure.
    std::string_view (*why_not)(const Problem&, const device_traits&);
    /// Whether `automatic` may take it where it can run. Pure.
    bool (*pays)(const Problem&, const device_traits&);
    /// How it does the problem: all that the launch needs to know beside the arguments. For a problem that it can run. Pure.
    Plan (*plan)(const Problem&, const device_traits&);
    void (*launch)(const Plan&, const Arguments&, cudaStream_t);
};

/// A row of a list such as HEDDLE_RANDOM_RUNGS, and one whose launch is a template of an element type T.
#define HEDDLE_ROW(name, pays, ...) \
    {name, #name, detail::needs<__VA_ARGS__>, pays, plan_##name, launch_##name},
#define HEDDLE_ROW_OF_TYPE(name, pays, ...) \
    {name, #name, detail::needs<__VA_ARGS__>, pays, plan_##name, launch_##name<T>},

/// One thing that rungs need of a problem, and how an error says that it lacks.
template <class Problem>
struct need {
    bool (*is_met)(const Problem&, const device_traits&);
    std::string_view text;

    constexpr std::string_view operator()(const Problem& problem, const device_traits& device) const {
        return is_met(problem, device) ? std::string_view() : text;
    }
};

/// A row's why_not where its rung needs all these, each a `need` or such a list itself: the first that is not met.
template <const auto&... all>
inline constexpr auto needs =
    []<class Problem>([[maybe_unused]] const Problem& problem, [[maybe_unused]] const device_traits& device) {
        static_assert(sizeof...(all) == 0 || has_facts<Problem>, "an error says what was given");
        std::string_view reason;
        static_cast<void>((... && (reason = all(problem, device)).empty()));
        return reason;
    };

/// For the kernels that are compiled for this architecture alone.
template <class Problem>
inline constexpr need<Problem> hopper{[](const Problem&, const device_traits& device) {
                                          return HEDDLE_COMPILED_FOR_90 != 0 &&
                                                 device.compute_capability_major == 9 &&
                                                 device.compute_capability_minor == 0;
                                      },
                                      "needs a device of compute capability 9.0, and heddle built for it"};

/// For instructions that Ampere brought.
template <class Problem>
inline constexpr need<Problem> ampere{
    [](const Problem&, const device_traits& device) { return device.has_compute_capability(8, 0); },
    "needs compute capability 8.0"};

/// For rungs that need the elements of each row side by side.
inline constexpr auto unit_stride = [](const auto& problem, const auto&) {
    return problem.unit_stride ? std::string_view() : "needs each row's elements side by side";
};

/// For rungs that are slow, and take no scratch memory.
inline constexpr auto without_scratch = [](const auto& problem, const auto&) { return !problem.has_scratch; };

/// For rungs that run any problem.
inline constexpr auto any_problem = needs<>;
inline constexpr auto always = [](const auto&, const auto&) { return true; };
inline constexpr auto never = [](const auto&, const auto&) { return false; };

/// The launch of a kernel that a build may lack, or that takes other arguments than the row's type. Where it cannot be called,
/// the row's why_not says so, and nothing comes here.
template <auto function, bool is_built>
inline constexpr auto launch_if = []<class Plan, class Arguments>([[maybe_unused]] const Plan& plan,
                                                                  [[maybe_unused]] const Arguments& arguments,
                                                                  [[maybe_unused]] cudaStream_t stream) {
    if constexpr (is_built &&
                  std::is_invocable_v<decltype(function), const Plan&, const Arguments&, cudaStream_t>)
        function(plan, arguments, stream);
    else
        throw std::logic_error("a kernel that is not compiled was chosen");
};

template <auto function>
inline constexpr auto launch_on_hopper = launch_if<function, HEDDLE_COMPILED_FOR_90 != 0>;

constexpr std::string_view name_of_kernel(std::string_view name) {
    return name;
}
constexpr std::string_view name_of_kernel(const auto& kernel) {
    return kernel.name;
}

/// The rows of a rung's kernels, in their order. `needs` is the why_not of all of them, or `needs.operator()<kernel>()` that of
/// each; `plan_kernel` takes the kernel's place as its last argument.
template <class Rung, const auto& kernels, auto plan_kernel>
constexpr auto rows_of(decltype(Rung::id) id, auto needs, decltype(Rung::pays) pays,
                       decltype(Rung::launch) launch) {
    using problem = Rung::problem_type;
    const auto why_not = [needs]<std::size_t kernel>() -> decltype(Rung::why_not) {
        if constexpr (std::is_convertible_v<decltype(needs), decltype(Rung::why_not)>)
            return needs;
        else
            return needs.template operator()<kernel>();
    };
    return [&]<std::size_t... kernel>(std::index_sequence<kernel...>) {
        return std::array{
            Rung{id, name_of_kernel(kernels[kernel]), why_not.template operator()<kernel>(), pays,
                 [](const problem& p, const device_traits& device) { return plan_kernel(p, device, kernel); },
                 launch}...};
    }
    (std::make_index_sequence<kernels.size()>());
}

/// Tables one after another.
template <class Row, std::size_t... sizes>
constexpr auto joined(const std::array<Row, sizes>&... tables) {
    std::array<Row, (sizes + ...)> all{};
    auto next = all.begin();
    ((next = std::ranges::copy(tables, next).out), ...);
    return all;
}

}  // namespace heddle::detail
