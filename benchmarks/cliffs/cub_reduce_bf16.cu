#include "benchmarks/cliffs/cub_reduce.cuh"

namespace heddle::bench::cliffs {

template void cub_reduce(reduce_operation, const bfloat16*, const bfloat16*, std::int64_t, void*,
                         std::span<std::byte>);

}  // namespace heddle::bench::cliffs
