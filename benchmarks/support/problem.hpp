#pragma once

#include <string>
#include <string_view>

namespace heddle::bench {

/// What does a problem's operations, each kind with a ceiling of its own.
enum class unit {
    none,         ///< whatever does them, they cannot be the limit
    ffma,         ///< float32 FMAs
    fp64,         ///< float64 FMAs, not on tensor cores
    tensor_tf32,  ///< tensor cores, sums in float32, as those below
    tensor_f16,
    tensor_bf16
};

constexpr std::string_view to_string(unit unit) {
    constexpr std::string_view names[] = {"none", "ffma", "fp64", "tensor_tf32", "tensor_f16", "tensor_bf16"};
    return names[static_cast<int>(unit)];
}

/// One case of the report. All its rows do this work, whichever library computes it.
struct problem {
    std::string name;          ///< <op>/<dtype>/<shape>
    double bytes_read = 0;     ///< by one call, each element once
    double bytes_written = 0;  ///< the same
    double operations = 0;  ///< floating-point, of the cheapest algorithm; 0 where they cannot be the limit
    bench::unit unit = unit::none;
    /// As how many products of the unit's type a product is computed. Above 1 it is a float32 product on tensor cores, which
    /// FFMA may do too, as one: the faster of the two is the limit.
    int products = 1;
    /// The memory that a call touches, where it is less than it reads and writes: where results replace operands.
    double footprint = 0;

    /// The tensor cores do products of this type, bf16, f16, tf32 or f32, those of f32 as three of f16.
    void set_unit_of_products(std::string_view type) {
        unit = type == "bf16"   ? bench::unit::tensor_bf16
               : type == "tf32" ? bench::unit::tensor_tf32
                                : bench::unit::tensor_f16;
        if (type == "f32") products = 3;
    }
    /// What one call reads and writes.
    [[nodiscard]] double bytes() const { return bytes_read + bytes_written; }
};

enum class temperature {
    cold,  ///< the median of single calls, L2 flushed before each
    hot    ///< calls back to back, their time divided by their number; the row's name ends in /hot
};

}  // namespace heddle::bench
