#include "benchmarks/support/cub_elementwise.cuh"

namespace heddle::bench {

template void cub_elementwise(elementwise_operation, const double* const (&)[3], double*, std::int64_t,
                              double, double);

}  // namespace heddle::bench
