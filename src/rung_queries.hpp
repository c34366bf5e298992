#pragma once

#include "src/rungs.hpp"
#include <heddle/types.hpp>

#include <span>
#include <string>
#include <string_view>

/// Defines what the header of an operation declares of its rungs: <operation>_algorithms(), to_string(), select() and
/// why_not(). The further arguments are the array of the rows that stand for all types. `rungs` is the table of these
/// rows. valid_facts() checks a problem and computes its facts.
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

/// Defines detail::<operation>_rungs<T>(), the table of an element type T, for each type of the list TYPES. table<T> has
/// the rows, and `enumeration` is the name of the operation's enumeration.
#define HEDDLE_RUNG_TABLE(T, operation) template rung_table<operation##_rung<T>> operation##_rungs();
#define HEDDLE_RUNG_TABLES(operation, TYPES)              \
    namespace detail {                                    \
    template <class T>                                    \
    rung_table<operation##_rung<T>> operation##_rungs() { \
        return {table<T>, enumeration};                   \
    }                                                     \
    TYPES(HEDDLE_RUNG_TABLE, operation)                   \
    }

/// The same for element types, where a bool is the first template argument of the function and of `table`.
#define HEDDLE_RUNG_TABLES_OF_BOTH_FLAGS(T, operation)                      \
    template rung_table<operation##_rung<T>> operation##_rungs<false, T>(); \
    template rung_table<operation##_rung<T>> operation##_rungs<true, T>();
#define HEDDLE_RUNG_TABLES_OF_BOTH(operation)                         \
    namespace detail {                                                \
    template <bool flag, class T>                                     \
    rung_table<operation##_rung<T>> operation##_rungs() {             \
        return {table<flag, T>, enumeration};                         \
    }                                                                 \
    HEDDLE_ELEMENT_TYPES(HEDDLE_RUNG_TABLES_OF_BOTH_FLAGS, operation) \
    }
