#include "benchmarks/ladders/ladder.hpp"

namespace heddle::bench {

// The files of operations in benchmarks/ define the first, and those in benchmarks/ladders the second.
using add_rows_function = void(std::string_view type, const extents& shape);
using check_function = accuracy(std::string_view type, const extents& shape, std::string_view rung);
add_rows_function add_gaussian_blur_rows, add_matmul_rows, add_sigmoid_rows, add_softmax_rows, add_sum_rows,
    add_transpose_rows;
check_function check_gaussian_blur, check_matmul, check_sigmoid, check_softmax, check_sum, check_transpose;

std::span<const ladder> ladders() {
    static const ladder table[] = {
        {"matmul", "MxNxK", {0, 0, 0}, {"f32", "tf32", "bf16", "f16"}, add_matmul_rows, check_matmul},
        {"sum", "N", {0}, {"f32", "f64", "f16", "bf16"}, add_sum_rows, check_sum},
        {"sigmoid", "N", {0}, {"f32", "f64", "f16", "bf16"}, add_sigmoid_rows, check_sigmoid},
        {"softmax", "ROWSxCOLS", {0, 0}, {"f32", "f16", "bf16"}, add_softmax_rows, check_softmax},
        {"transpose", "ROWSxCOLS", {0, 0}, {"f32", "f64", "f16", "u8"}, add_transpose_rows, check_transpose},
        {"gaussian_blur",
         "WIDTHxHEIGHT-rRADIUS",
         {0, 0, 5},
         {"f32c1", "f32c3", "f32c4", "u8c1", "u8c3", "u8c4"},
         add_gaussian_blur_rows,
         check_gaussian_blur},
    };
    return table;
}

}  // namespace heddle::bench
