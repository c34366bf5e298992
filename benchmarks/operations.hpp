#pragma once

#include <span>
#include <string_view>

namespace heddle::bench {

/// The rows that are run and recorded together. A file benchmarks/<name>.cpp adds them. elementwise.cpp adds those of add and
/// sigmoid too, matmul.cpp those of matmul_16_bit, and ceilings/rows.cpp those of ceilings.
struct operation {
    std::string_view name;
    void (*register_rows)();
};

std::span<const operation> operations();

void register_ceilings();
void register_add();
void register_sigmoid();
void register_elementwise();
void register_reduce();
void register_scan();
void register_histogram();
void register_matrix_reduce();
void register_matmul();
void register_matmul_16_bit();
void register_batched_matmul();
void register_linear();
void register_gaussian_blur();
void register_image_filter();
void register_conv();
void register_pool();
void register_random();
void register_softmax();
void register_norm();
void register_optimizer();
void register_loss();
void register_transpose();
void register_call();

}  // namespace heddle::bench
