#pragma once

#include <heddle/elementwise.hpp>

#include <cstdint>

namespace heddle::bench::cliffs {

/// z[i] = operation(x[0][i], ...) by CUB on stream(), of dense vectors: each function as one writes it, in float for the 16-bit
/// types. p and q are the operation's scalars. T is float, double, half or bfloat16.
template <class T>
void cub_elementwise(elementwise_operation operation, const T* const (&x)[3], T* z, std::int64_t size,
                     double p, double q);

}  // namespace heddle::bench::cliffs
