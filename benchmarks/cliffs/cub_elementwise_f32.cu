#include "benchmarks/cliffs/cub_elementwise.cuh"

namespace heddle::bench::cliffs {

template void cub_elementwise(elementwise_operation, const float* const (&)[3], float*, std::int64_t, double,
                              double);

}  // namespace heddle::bench::cliffs
