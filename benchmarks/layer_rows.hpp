#pragma once

#include "benchmarks/support/layers.hpp"
#include "benchmarks/support/problem.hpp"

#include <string_view>

namespace heddle::bench {

/// Each adds the row of heddle's plain call, of one of conv_types. Its problem is problem_of(shape, type).
void add_layer_row(const conv_shape& shape, std::string_view type, temperature temperature);
void add_layer_row(const pool_shape& shape, std::string_view type, temperature temperature);

}  // namespace heddle::bench
