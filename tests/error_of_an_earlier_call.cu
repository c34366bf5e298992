// An operation reports its own errors, and not one that an earlier call left in the thread.

#include "tests/support/provoked.hpp"
#include <heddle/elementwise.cuh>
#include <heddle/heddle.hpp>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>

namespace heddle {
namespace {

constexpr std::int64_t rows = 64, cols = 128, size = rows * cols;

/// Zeroed device memory for any of the calls.
struct operands {
    stream s;
    device_buffer<float> x{size, s}, y{size, s};
    device_buffer<std::uint8_t> bytes{size, s}, blurred{size, s};
    device_buffer<half> halves{size, s}, product{rows * rows, s};
    device_buffer<std::int64_t> counts{256, s};

    operands() {
        fill_zero(x, s);
        fill_zero(y, s);
        fill_zero(bytes, s);
        fill_zero(blurred, s);
        fill_zero(halves, s);
        fill_zero(counts, s);
        s.synchronize();
    }

    matrix_view<float> in() { return {x.data(), rows, cols}; }
    matrix_view<float> out() { return {y.data(), rows, cols}; }
    matrix_view<float> square() { return {y.data(), rows, rows}; }
    vector_view<float> of_rows() { return {y.data(), rows}; }
    vector_view<float> of_cols() { return {y.data(), cols}; }
    image_view<std::uint8_t> image() { return {bytes.data(), cols, rows, 1}; }
    image_view<std::uint8_t> image_out() { return {blurred.data(), cols, rows, 1}; }
};

struct twice {
    __device__ float operator()(float x) const { return 2 * x; }
};

struct operation {
    std::string name;
    void (*call)(operands&);
};

void PrintTo(const operation& operation, std::ostream* out) {
    *out << operation.name;
}

const operation operations[] = {
    {"sigmoid", [](operands& o) { sigmoid<float>(o.x, o.y, o.s); }},
    {"transform", [](operands& o) { transform<float>(twice{}, o.x, o.y, o.s); }},
    {"sum", [](operands& o) { sum<float>(o.x, o.y.data(), o.s); }},
    {"dot", [](operands& o) { dot<float>(o.x, o.x, o.y.data(), o.s); }},
    {"row_sum", [](operands& o) { row_sum<float>(o.in(), o.of_rows(), o.s); }},
    {"column_max", [](operands& o) { column_max<float>(o.in(), o.of_cols(), o.s); }},
    {"softmax", [](operands& o) { softmax<float>(o.in(), o.out(), o.s); }},
    {"layer_norm",
     [](operands& o) {
         const vector_view<float> ones{o.x.data(), cols};
         layer_norm<float>(o.in(), ones, ones, o.out(), o.s);
     }},
    {"sgd",
     [](operands& o) {
         const parameter<float> p{.master = o.y.data(), .gradient = o.x.data(), .count = rows};
         sgd<float>(std::span(&p, 1), o.s);
     }},
    {"transpose",
     [](operands& o) {
         transpose<float>(o.in(), {o.y.data(), cols, rows}, o.s);
     }},
    {"inclusive_scan", [](operands& o) { inclusive_scan<float>(o.x, o.y, o.s); }},
    {"histogram", [](operands& o) { histogram(o.bytes, o.counts, o.s); }},
    {"random_uniform", [](operands& o) { random_uniform<float>(o.y, 0, 1, {}, o.s); }},
    {"matmul", [](operands& o) { matmul<float>(o.in(), transposed(o.in()), o.square(), o.s); }},
    {"matmul_of_half",
     [](operands& o) {
         const matrix_view<half> a{o.halves.data(), rows, cols};
         matmul<float, half>(a, transposed(a), o.square(), o.s);
     }},
    {"batched_matmul",
     [](operands& o) {
         const matrix_view<half> a{o.halves.data(), rows, cols};
         const matmul_operands<half> products[] = {{a, transposed(a), {o.product.data(), rows, rows}}};
         batched_matmul<half>(products, o.s);
     }},
    {"gaussian_blur", [](operands& o) { gaussian_blur<std::uint8_t>(o.image(), o.image_out(), 2.0, o.s); }},
    {"gaussian_blur_of_float",
     [](operands& o) {
         const image_view<float> from{o.x.data(), cols, rows, 1}, to{o.y.data(), cols, rows, 1};
         gaussian_blur<float>(from, to, 2.0, o.s);
     }},
    {"box_blur", [](operands& o) { box_blur<std::uint8_t>(o.image(), o.image_out(), 2, o.s); }},
    {"sobel",
     [](operands& o) {
         const image_view<float> to{o.y.data(), cols, rows, 1};
         sobel<std::uint8_t>(o.image(), to, gradient::x, o.s);
     }},
};

class error_of_an_earlier_call : public test::provoked_error_test,
                                 public testing::WithParamInterface<operation> {};

TEST_P(error_of_an_earlier_call, is_not_blamed_on_this_one) {
    operands all;
    void* data = nullptr;
    ASSERT_EQ(cudaMalloc(&data, std::size_t{1} << 60), cudaErrorMemoryAllocation);
    ASSERT_EQ(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
    EXPECT_NO_THROW(GetParam().call(all));
    EXPECT_NO_THROW(all.s.synchronize());
    (void)cudaGetLastError();
}

INSTANTIATE_TEST_SUITE_P(heddle, error_of_an_earlier_call, testing::ValuesIn(operations),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace heddle
