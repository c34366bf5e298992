#pragma once

#include "src/elementwise/validate.hpp"
#include "src/validate.hpp"
#include <heddle/random.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

/// Checks of the arguments of random numbers on the GPU and the CPU, and the values that both derive from scalars.
namespace heddle::detail {

inline std::size_t size_of(random_type type) {
    switch (type) {
        case random_type::f64:
            return 8;
        case random_type::f32:
        case random_type::u32:
            return 4;
        case random_type::f16:
        case random_type::bf16:
            return 2;
        case random_type::u8:
            return 1;
    }
    return 0;
}

/// Checks the generator's pointer. `output` must have passed validate().
template <class T>
void validate_generator(const char* operation, const philox& generator, const char* name,
                        const matrix_view<T>& output) {
    const auto* const at = generator.device_offset;
    if (at == nullptr) return;
    require(is_aligned(at, alignof(std::uint64_t)), operation, {"generator", "device_offset"}, address_of(at),
            "a multiple of {} bytes", alignof(std::uint64_t));
    const footprint offset = footprint_of(at, 1, {});
    require(!overlap(offset, footprint_of(output)), operation, {"generator", "device_offset"}, address_of(at),
            "memory apart from {}", name);
}

/// Checks all operands and the generator.
template <class T>
void validate_operands_as(const random_call& call) {
    validate_elementwise(call.name, call.operands, sizeof(T));
    const operand& y = call.operands.back();
    const auto& [data, rows, cols, row_stride, col_stride] = y.view;
    validate_generator(call.name, call.generator, y.name,
                       matrix_view<T>{static_cast<T*>(data), rows, cols, row_stride, col_stride});
}

/// The smallest number of type T that is at least `low`, and the largest that is less than `high`.
template <class T>
struct numbers_in {
    using compute = compute_type<T>;
    compute least, most;

    numbers_in(compute low, compute high) {
        if constexpr (sizeof(T) > 2) {
            least = low;
            most = std::nextafter(high, low);
        } else {
            const auto above = static_cast<T>(low), below = static_cast<T>(high);
            least = static_cast<compute>(static_cast<compute>(above) < low ? next(above, true) : above);
            most = static_cast<compute>(static_cast<compute>(below) < high ? below : next(below, false));
        }
    }

  private:
    /// The 16-bit number after a finite one, or before it.
    static T next(T x, bool is_up) {
        const auto bits = std::bit_cast<std::uint16_t>(x);
        constexpr std::uint16_t sign = 0x8000;
        if ((bits & ~sign) == 0) return std::bit_cast<T>(static_cast<std::uint16_t>(is_up ? 1 : sign | 1));
        const bool grows = is_up == ((bits & sign) == 0);
        return std::bit_cast<T>(static_cast<std::uint16_t>(grows ? bits + 1 : bits - 1));
    }
};

/// Draws are low + u * width with u in [0, 1), limited to [least, most].
struct uniform_range {
    double width, least, most;
};

template <class T>
uniform_range validated_range(const char* operation, double low, double high) {
    using compute = compute_type<T>;
    const auto largest = [] {
        if constexpr (sizeof(T) > 2)
            return std::numeric_limits<T>::max();
        else
            return std::bit_cast<T>(static_cast<std::uint16_t>(std::is_same_v<T, half> ? 0x7bff : 0x7f7f));
    }();
    const auto limit = static_cast<double>(static_cast<compute>(largest));
    require(std::abs(low) <= limit, operation, "low", low, "a number within {} of 0", limit);
    require(std::abs(high) <= limit, operation, "high", high, "a number within {} of 0", limit);
    require(high > low, operation, "high", high, "more than {} (low)", low);
    const compute width = static_cast<compute>(high) - static_cast<compute>(low);
    require(std::isfinite(width), operation, "high", high, "at most {} above low ({})",
            std::numeric_limits<compute>::max(), low);
    const numbers_in<T> range(static_cast<compute>(low), static_cast<compute>(high));
    require(range.least <= range.most, operation, "high", high,
            "a number of the element type from {} (low) to it", low);
    return {width, range.least, range.most};
}

inline void validate_normal(const char* operation, double mean, double deviation) {
    require(std::isfinite(mean), operation, "mean", mean, "a finite number");
    require(std::isfinite(deviation) && deviation >= 0, operation, "deviation", deviation,
            "a finite number, zero or more");
}

/// p * 2^32, rounded to an integer. A random word is below it with probability p.
inline std::uint64_t validated_threshold(const char* operation, double p) {
    require(p >= 0 && p <= 1, operation, "p", p, "0 to 1");
    return static_cast<std::uint64_t>(std::nearbyint(p * 0x1p32));
}

/// The factor of the elements that dropout keeps. For p = 1 it keeps none.
inline double dropout_scale(double p) {
    return p < 1 ? 1 / (1 - p) : 1;
}

inline void validate_permutation(const char* operation, const vector_view<std::int32_t>& y,
                                 const philox& generator) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    validate(operation, "y", y);
    require(y.size <= most, operation, {"y", "size"}, y.size, "at most {}", most);
    validate_generator(operation, generator, "y", matrix_view<std::int32_t>{y.data, y.size, 1, y.stride});
}

/// Calls visitor.operator()<T>(), where T is the type that `type` names.
template <class Visitor>
void visit_type(random_type type, Visitor visitor) {
    switch (type) {
        case random_type::f32:
            return visitor.template operator()<float>();
        case random_type::f64:
            return visitor.template operator()<double>();
        case random_type::f16:
            return visitor.template operator()<half>();
        case random_type::bf16:
            return visitor.template operator()<bfloat16>();
        case random_type::u8:
            return visitor.template operator()<std::uint8_t>();
        case random_type::u32:
            return visitor.template operator()<std::uint32_t>();
    }
}

}  // namespace heddle::detail
