#pragma once

#include "src/rungs.hpp"

#include <span>
#include <string>
#include <string_view>

/// Defines what the header of an operation declares of its rungs: <operation>_algorithms(), to_string(), select() and why_not(). The
/// further arguments are the array of the rows that stand for all types. Where this is used, `rungs` is the table of these rows, and
/// valid_facts() checks a problem and computes its facts.
#define HEDDLE_RUNG_QUERIES(operation, ...)                                                             \
    std::span<const operation##_algorithm> operation##_algorithms() {                                   \
        return detail::ids_of<__VA_ARGS__>;                                                             \
    }                                                                                                   \
    std::string_view to_string(operation##_algorithm algorithm) {                                       \
        return rungs.name_of(algorithm);                                                                \
    }                                                                                                   \
    operation##_algorithm select(const operation##_problem& problem, const device_traits& device) {     \
        return rungs                                                                                    \
            .choose("select", operation##_algorithm::automatic, valid_facts("select", problem, device), \
                    device)                                                                             \
            .rung->id;                                                                                  \
    }                                                                                                   \
    std::string why_not(operation##_algorithm algorithm, const operation##_problem& problem,            \
                        const device_traits& device) {                                                  \
        rungs.require_known("why_not", "algorithm", algorithm);                                         \
        return rungs.why_not(#operation, algorithm, valid_facts("why_not", problem, device), device);   \
    }
