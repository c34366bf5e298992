#pragma once

#include "benchmarks/support/layers.hpp"

namespace heddle::bench {

/// The rows that are run and recorded together. A file benchmarks/<name>.cpp adds them. elementwise.cpp adds those of add and
/// sigmoid too, matmul.cpp those of matmul_16_bit, and ceilings/rows.cpp those of ceilings.
struct operation {
    std::string_view name;
    void (*register_rows)();
};

std::span<const operation> operations();

/// Each adds the row of heddle's plain call, of one of conv_types. Its problem is problem_of(shape, type).
void add_layer_row(const conv_shape& shape, std::string_view type, temperature temperature);
void add_layer_row(const pool_shape& shape, std::string_view type, temperature temperature);

}  // namespace heddle::bench
