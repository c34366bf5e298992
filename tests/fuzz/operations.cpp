#include "tests/fuzz/operations.hpp"

namespace heddle::fuzz {

std::span<const operation> operations() {
    static const std::vector<operation> table = {
        elementwise_cases(),   reduce_cases(),           scan_cases(),
        histogram_cases(),     transpose_cases(),        softmax_cases(),
        norm_cases(),          matrix_reduce_cases(),    cross_entropy_cases(),
        matmul_cases(),        linear_gradient_cases(),  conv_cases(),
        pool_cases(),          softmax_gradient_cases(), norm_gradient_cases(),
        squared_error_cases(), label_hits_cases(),       gaussian_blur_cases(),
        image_filter_cases(),  optimizer_cases(),        gradient_norm_cases(),
        random_cases(),        permutation_cases(),      batched_matmul_cases(),
        linear_cases(),        planes_cases(),           matmul_list_cases(),
    };
    return table;
}

}  // namespace heddle::fuzz
