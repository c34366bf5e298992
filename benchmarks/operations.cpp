#include "benchmarks/operations.hpp"

namespace heddle::bench {

// The files of operations define these.
void register_ceilings(), register_add(), register_sigmoid(), register_elementwise(), register_reduce(),
    register_scan(), register_histogram(), register_matrix_reduce(), register_matmul(),
    register_matmul_16_bit(), register_batched_matmul(), register_linear(), register_gaussian_blur(),
    register_image_filter(), register_conv(), register_pool(), register_random(), register_softmax(),
    register_norm(), register_optimizer(), register_loss(), register_transpose(), register_call();

std::span<const operation> operations() {
    static constexpr operation table[] = {
        {"ceiling", register_ceilings},
        {"add", register_add},
        {"sigmoid", register_sigmoid},
        {"elementwise", register_elementwise},
        {"reduce", register_reduce},
        {"scan", register_scan},
        {"histogram", register_histogram},
        {"matrix_reduce", register_matrix_reduce},
        {"matmul", register_matmul},
        {"matmul_16_bit", register_matmul_16_bit},
        {"batched_matmul", register_batched_matmul},
        {"linear", register_linear},
        {"gaussian_blur", register_gaussian_blur},
        {"image_filter", register_image_filter},
        {"conv", register_conv},
        {"pool", register_pool},
        {"random", register_random},
        {"softmax", register_softmax},
        {"norm", register_norm},
        {"optimizer", register_optimizer},
        {"loss", register_loss},
        {"transpose", register_transpose},
        {"call", register_call},
    };
    return table;
}

}  // namespace heddle::bench
