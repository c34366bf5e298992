#include "benchmarks/operations.hpp"

namespace heddle::bench {

/// The operations, in the order of their rows. The files of operations define register_<name>().
#define HEDDLE_OPERATIONS(each)                                                                     \
    each(ceiling) each(add) each(sigmoid) each(elementwise) each(reduce) each(scan) each(histogram) \
        each(matrix_reduce) each(matmul) each(matmul_16_bit) each(batched_matmul) each(linear)      \
            each(gaussian_blur) each(image_filter) each(conv) each(pool) each(random) each(softmax) \
                each(norm) each(optimizer) each(loss) each(transpose) each(call)

#define HEDDLE_DECLARED(name) void register_##name();
HEDDLE_OPERATIONS(HEDDLE_DECLARED)
#undef HEDDLE_DECLARED

std::span<const operation> operations() {
#define HEDDLE_ROW(name) {#name, register_##name},
    static constexpr operation table[] = {HEDDLE_OPERATIONS(HEDDLE_ROW)};
#undef HEDDLE_ROW
    return table;
}

}  // namespace heddle::bench
