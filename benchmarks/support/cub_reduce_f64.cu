#include "benchmarks/support/cub_reduce.cuh"

namespace heddle::bench {

template void cub_reduce(reduce_operation, const double*, const double*, std::int64_t, void*,
                         std::span<std::byte>);

}  // namespace heddle::bench
