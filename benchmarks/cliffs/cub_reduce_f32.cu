#include "benchmarks/cliffs/cub_reduce.cuh"

namespace heddle::bench::cliffs {

template void cub_reduce(reduce_operation, const float*, const float*, std::int64_t, void*,
                         std::span<std::byte>);

}  // namespace heddle::bench::cliffs
