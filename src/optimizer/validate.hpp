#pragma once

#include "src/validate.hpp"
#include <heddle/optimizer.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

/// Checks of the arguments of optimizers, on the GPU and the CPU.
namespace heddle::detail {

/// One of a parameter's arrays. Without an array the name is null.
struct parameter_array {
    const char* name;
    footprint memory;
};

template <class T>
parameter_array checked_array(const char* operation, const char* name, T* data, std::int64_t count,
                              bool is_needed) {
    if (data == nullptr && !is_needed) return {nullptr, {}};
    require(data != nullptr, operation, {"parameters", name}, "null", "a pointer to {} elements", count);
    const void* const address = address_of(data);
    require(is_aligned(data, alignof(T)), operation, {"parameters", name}, address, "a multiple of {} bytes",
            alignof(T));
    return {name, footprint_of(data, count, {})};
}

/// Checks a parameter's count. Its bytes must fit 63 bits.
inline void validate_count(const char* operation, std::int64_t count) {
    require(count >= 0, operation, {"parameters", "count"}, count, "zero or more");
    require(count <= max_problem_elements, operation, {"parameters", "count"}, count, "at most {}",
            max_problem_elements);
}

template <class T, class Gradient>
void validate_parameters(const char* operation, std::span<const parameter<T, Gradient>> parameters,
                         int moments) {
    for (const auto& p : parameters) {
        validate_count(operation, p.count);
        if (p.count == 0) continue;
        const bool is_master = static_cast<const void*>(p.value) == p.master;
        const parameter_array arrays[] = {
            checked_array(operation, "master", p.master, p.count, true),
            checked_array(operation, "value", std::is_same_v<T, float> && is_master ? nullptr : p.value,
                          p.count, false),
            checked_array(operation, "first_moment", moments > 0 ? p.first_moment : nullptr, p.count,
                          moments > 0),
            checked_array(operation, "second_moment", moments > 1 ? p.second_moment : nullptr, p.count,
                          moments > 1),
            checked_array(operation, "gradient", p.gradient, p.count, true)};
        for (const auto& a : arrays)
            for (const auto* b = arrays; b != &a; ++b)
                require(a.name == nullptr || b->name == nullptr || !overlap(a.memory, b->memory), operation,
                        {"parameters", a.name}, "an array that overlaps another", "memory apart from {}",
                        b->name == nullptr ? "" : b->name);
    }
}

template <class T, class Gradient>
optimizer_problem problem_of(const char* operation, std::span<const parameter<T, Gradient>> parameters) {
    optimizer_problem problem;
    for (const auto& p : parameters) {
        if (p.count == 0) continue;
        ++problem.parameters;
        problem.elements += p.count;
        require(problem.elements <= max_problem_elements, operation, {"parameters", "count"}, p.count,
                "at most {} elements of all together", max_problem_elements);
    }
    return problem;
}

inline void validate_number(const char* operation, const char* name, double value) {
    require(value >= 0 && std::isfinite(value), operation, {"options", name}, value, "finite, zero or more");
}

template <class Number>
void validate_scalar_pointer(const char* operation, const char* name, const Number* data) {
    const void* const address = address_of(data);
    require(is_aligned(data, alignof(Number)), operation, {"options", name}, address,
            "a multiple of {} bytes", alignof(Number));
}

/// Checks the options that all optimizers share.
template <class Options>
void validate_options(const char* operation, const Options& options) {
    validate_number(operation, "learning_rate", options.learning_rate);
    validate_number(operation, "weight_decay", options.weight_decay);
    validate_number(operation, "gradient_scale", options.gradient_scale);
    validate_number(operation, "max_norm", options.max_norm);
    validate_scalar_pointer(operation, "clip_norm_of", options.clip_norm_of);
    validate_scalar_pointer(operation, "device_learning_rate", options.device_learning_rate);
}

inline void validate_sgd(const char* operation, const sgd_options& options) {
    validate_options(operation, options);
    validate_number(operation, "momentum", options.momentum);
    require(!options.nesterov || options.momentum > 0, operation, {"options", "nesterov"}, "true",
            "false without momentum");
}

inline void validate_adam(const char* operation, const adam_options& options) {
    validate_options(operation, options);
    const auto is_beta = [](double beta) { return beta >= 0 && beta < 1; };
    require(is_beta(options.beta1), operation, {"options", "beta1"}, options.beta1,
            "0 or more, and less than 1");
    require(is_beta(options.beta2), operation, {"options", "beta2"}, options.beta2,
            "0 or more, and less than 1");
    validate_number(operation, "epsilon", options.epsilon);
    validate_scalar_pointer(operation, "device_step", options.device_step);
    require(options.device_step != nullptr || options.step >= 1, operation, {"options", "step"}, options.step,
            "one or more");
}

/// Checks the pointer to a number that is written even without parameters.
template <class Number>
void validate_number_pointer(const char* operation, const char* name, const Number* data) {
    require(data != nullptr, operation, name, "null", "a pointer to a number");
    const void* const address = address_of(data);
    require(is_aligned(data, alignof(Number)), operation, name, address, "a multiple of {} bytes",
            alignof(Number));
}

template <class T, class Gradient>
void validate_gradients(const char* operation, std::span<const parameter<T, Gradient>> parameters,
                        const float* result) {
    validate_number_pointer(operation, "result", result);
    const footprint scalar = footprint_of(result, 1, {});
    for (const auto& p : parameters) {
        validate_count(operation, p.count);
        if (p.count == 0) continue;
        const auto array = checked_array(operation, "gradient", p.gradient, p.count, true);
        require(!overlap(array.memory, scalar), operation, "result", address_of(result),
                "memory apart from gradients");
    }
}

}  // namespace heddle::detail
