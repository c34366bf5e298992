#pragma once

#pragma GCC visibility push(default)

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

namespace heddle {

using half = __half;
using bfloat16 = __nv_bfloat16;

/// Lists of types, by which templates are instantiated. They pass further arguments on.
/// TYPE(T, ...) for each element type that most operations have.
#define HEDDLE_ELEMENT_TYPES(TYPE, ...)    \
    TYPE(float __VA_OPT__(, ) __VA_ARGS__) \
    TYPE(half __VA_OPT__(, ) __VA_ARGS__)  \
    TYPE(bfloat16 __VA_OPT__(, ) __VA_ARGS__)

/// TYPE(T, ...) for each floating-point type, and for each type that reductions of vectors take.
#define HEDDLE_FLOATING_TYPES(TYPE, ...)    \
    TYPE(double __VA_OPT__(, ) __VA_ARGS__) \
    HEDDLE_ELEMENT_TYPES(TYPE __VA_OPT__(, ) __VA_ARGS__)
#define HEDDLE_NUMBER_TYPES(TYPE, ...)                     \
    HEDDLE_FLOATING_TYPES(TYPE __VA_OPT__(, ) __VA_ARGS__) \
    TYPE(std::int32_t __VA_OPT__(, ) __VA_ARGS__)          \
    TYPE(std::int64_t __VA_OPT__(, ) __VA_ARGS__)

/// TYPE(T, ...) for the types of 32 and 64 bits, which scans take.
#define HEDDLE_WIDE_TYPES(TYPE, ...)              \
    TYPE(double __VA_OPT__(, ) __VA_ARGS__)       \
    TYPE(float __VA_OPT__(, ) __VA_ARGS__)        \
    TYPE(std::int32_t __VA_OPT__(, ) __VA_ARGS__) \
    TYPE(std::int64_t __VA_OPT__(, ) __VA_ARGS__)

/// TYPE(T, ...) for an unsigned integer of each size. Functions that move bits alone take any type of these sizes.
#define HEDDLE_WORD_TYPES(TYPE, ...)               \
    TYPE(std::uint8_t __VA_OPT__(, ) __VA_ARGS__)  \
    TYPE(std::uint16_t __VA_OPT__(, ) __VA_ARGS__) \
    TYPE(std::uint32_t __VA_OPT__(, ) __VA_ARGS__) \
    TYPE(std::uint64_t __VA_OPT__(, ) __VA_ARGS__)

/// PAIR(T, U, ...) for half and bfloat16, each with itself and with float.
#define HEDDLE_PAIRS_OF_16_BITS(PAIR, ...)              \
    PAIR(half, half __VA_OPT__(, ) __VA_ARGS__)         \
    PAIR(half, float __VA_OPT__(, ) __VA_ARGS__)        \
    PAIR(bfloat16, bfloat16 __VA_OPT__(, ) __VA_ARGS__) \
    PAIR(bfloat16, float __VA_OPT__(, ) __VA_ARGS__)

/// PAIR(T, U, ...) for each element type with itself and with float. Products have operands T and results U; optimizers
/// have parameters T and gradients U.
#define HEDDLE_PAIRS_OF_TYPES(PAIR, ...)          \
    PAIR(float, float __VA_OPT__(, ) __VA_ARGS__) \
    HEDDLE_PAIRS_OF_16_BITS(PAIR __VA_OPT__(, ) __VA_ARGS__)

/// The type of a sum: float for the 16-bit types; int64 for int32, so that it cannot overflow; otherwise T itself.
template <class T>
using sum_type = std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float,
                                    std::conditional_t<std::is_same_v<T, std::int32_t>, std::int64_t, T>>;

/// The type of arithmetic on T: float for the 16-bit types.
template <class T>
using compute_type = std::conditional_t<std::is_same_v<T, double>, double, float>;

enum class element_type { f32, f64, f16, bf16 };

template <class T>
inline constexpr element_type element_type_of = [] {
    if constexpr (std::is_same_v<T, float>)
        return element_type::f32;
    else if constexpr (std::is_same_v<T, double>)
        return element_type::f64;
    else if constexpr (std::is_same_v<T, half>)
        return element_type::f16;
    else {
        static_assert(std::is_same_v<T, bfloat16>, "T is float, double, half or bfloat16");
        return element_type::bf16;
    }
}();

}  // namespace heddle

#pragma GCC visibility pop
