#include "benchmarks/support/cub_elementwise.cuh"

namespace heddle::bench {

template void cub_elementwise(elementwise_operation, const bfloat16* const (&)[3], bfloat16*, std::int64_t,
                              double, double);

}  // namespace heddle::bench
