#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operations.hpp"
#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/cublas_lt.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/buffer.hpp>
#include <heddle/device.hpp>
#include <heddle/matmul.hpp>
#include <heddle/workspace.hpp>

#include <fmt/format.h>
#include <heddle_baselines.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace heddle::bench {
namespace {

struct shape {
    std::int64_t m;
    std::int64_t n;
    std::int64_t k;
    bool b_transposed = false;
};

constexpr shape cube(std::int64_t size, bool b_transposed = false) {
    return {size, size, size, b_transposed};
}

template <class T>
problem product(const shape& s) {
    return {fmt::format("matmul/{}/{}x{}x{}{}", dtype<T>, s.m, s.n, s.k, s.b_transposed ? "-bt" : ""),
            sizeof(T) * static_cast<double>(s.m * s.k + s.k * s.n),
            sizeof(T) * static_cast<double>(s.m * s.n), 2.0 * static_cast<double>(s.m * s.n * s.k),
            tensor_unit<T>};
}

/// `prepare` takes the matrices a, b and c and gives the call.
template <class T, class Prepare>
void row(const shape& s, std::string_view library, temperature temperature, Prepare prepare) {
    device_row(product<T>(s), library, temperature, [s, prepare] {
        auto a = random_on_device<T>(s.m * s.k);
        auto b = random_on_device<T>(s.k * s.n);
        device_buffer<T> c(s.m * s.n, stream());
        const matrix_view<const T> b_rows{b.data(), s.b_transposed ? s.n : s.k, s.b_transposed ? s.k : s.n};
        auto call = prepare(matrix_view<const T>{a.data(), s.m, s.k},
                            s.b_transposed ? transposed(b_rows) : b_rows, matrix_view<T>{c.data(), s.m, s.n});
        return [a = std::move(a), b = std::move(b), c = std::move(c), call = std::move(call)] { call(); };
    });
}

template <class T>
void heddle_row(const shape& s, temperature temperature,
                matmul_algorithm algorithm = matmul_algorithm::automatic, std::string_view kernel = {}) {
    const std::string name = kernel.empty() ? implementation(algorithm) : implementation(kernel);
    row<T>(s, name, temperature, [algorithm, kernel](auto a, auto b, auto c) {
        matmul_options options{.algorithm = algorithm, .kernel = kernel};
        const auto scratch =
            std::make_shared<workspace>(matmul_workspace_bytes<T>(a, b, c, stream(), options), stream());
        options.workspace = *scratch;
        return [=] { matmul<T>(a, b, c, stream(), options); };
    });
}

template <class T>
void vendor_rows([[maybe_unused]] const shape& s, [[maybe_unused]] temperature temperature) {
#if HEDDLE_HAS_CUBLAS
    row<T>(s, "cublas", temperature, [](auto a, auto b, auto c) {
        return [=] {
            constexpr auto type = std::is_same_v<T, half> ? CUDA_R_16F : CUDA_R_16BF;
            const float one = 1;
            const float zero = 0;
            const bool is_transposed = b.col_stride != 1;
            // Column-major for cuBLAS, hence the transposed product: C' = B' A'.
            check(cublasGemmEx_64(
                cublas_handle(), is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, c.cols, c.rows,
                a.cols, &one, b.data, type, is_transposed ? b.col_stride : b.row_stride, a.data, type,
                a.row_stride, &zero, c.data, type, c.row_stride, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        };
    });
    row<T>(s, "cublaslt", temperature,
           [](auto a, auto b, auto c) { return best_cublas_lt_matmul<T, T>(a, b, c); });
#endif
}

constexpr shape cold_shapes[] = {
    cube(256),       cube(512),          cube(1024),       cube(1536),       cube(2048),
    cube(4096),      cube(8192),         cube(16384),      cube(1024, true), cube(4096, true),
    cube(1000),      {1, 4096, 4096},    {16, 4096, 4096}, {64, 4096, 4096}, {4096, 4096, 64},
    {64, 64, 65536}, {4097, 4099, 4101},
};
constexpr shape hot_shapes[] = {cube(1536), cube(4096), {1, 4096, 4096}, {64, 4096, 4096}};

template <class T>
void rows(const shape& s, temperature temperature) {
    heddle_row<T>(s, temperature);
    vendor_rows<T>(s, temperature);
}

}  // namespace

void register_matmul_16_bit() {
    for (const shape& s : cold_shapes) rows<bfloat16>(s, temperature::cold);
    for (const shape& s : hot_shapes) rows<bfloat16>(s, temperature::hot);
    for (const shape& s : {cube(512), cube(1024), cube(4096), cube(8192), {16, 4096, 4096}})
        rows<half>(s, temperature::cold);
    for (const auto algorithm : matmul_algorithms(element_type::bf16))
        heddle_row<bfloat16>(cube(4096), temperature::cold, algorithm);
}

void add_matmul_16_bit_rows(std::string_view type, const extents& shape) {
    const auto add = [s = bench::shape{shape[0], shape[1], shape[2]}]<class T>(T, element_type operands) {
        for (const auto algorithm : matmul_algorithms(operands)) {
            for (const std::string_view kernel : matmul_kernels(operands, algorithm))
                if (kernel != to_string(algorithm)) heddle_row<T>(s, temperature::cold, algorithm, kernel);
            heddle_row<T>(s, temperature::cold, algorithm);
        }
        heddle_row<T>(s, temperature::cold);
        vendor_rows<T>(s, temperature::cold);
    };
    type == "f16" ? add(half{}, element_type::f16) : add(bfloat16{}, element_type::bf16);
}

}  // namespace heddle::bench
