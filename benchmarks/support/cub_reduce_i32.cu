#include "benchmarks/support/cub_reduce.cuh"

namespace heddle::bench {

template void cub_reduce(reduce_operation, const std::int32_t*, const std::int32_t*, std::int64_t, void*,
                         std::span<std::byte>);

}  // namespace heddle::bench
