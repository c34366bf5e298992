#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operations.hpp"
#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/device.hpp>
#include <heddle/host.hpp>
#include <heddle/matmul.hpp>
#include <heddle/workspace.hpp>

#include <fmt/format.h>
#include <heddle_baselines.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#if HEDDLE_HAS_OPENBLAS
#include <cblas.h>
#endif

namespace heddle::bench {
namespace {

struct shape {
    std::int64_t m;
    std::int64_t n;
    std::int64_t k;
};

constexpr shape cube(std::int64_t size) {
    return {size, size, size};
}

constexpr std::string_view f32 = "f32", tf32 = "tf32";

/// `type`: of which the elements have the digits. All rungs of f32 have one limit, whatever their precision: that of the one
/// with the least arithmetic, fp16x3, or of FMAs where the device does those faster.
problem product(const shape& s, std::string_view type) {
    const auto [m, n, k] = s;
    problem result{.name = fmt::format("matmul/{}/{}x{}x{}", type, m, n, k),
                   .bytes_read = sizeof(float) * static_cast<double>(m * k + k * n),
                   .bytes_written = sizeof(float) * static_cast<double>(m * n),
                   .operations = 2.0 * static_cast<double>(m * n * k),
                   .unit = unit::tensor_tf32};
    if (type == f32) {
        result.unit = unit::tensor_f16;
        result.products = 3;
    }
    return result;
}

/// `prepare` takes the matrices a, b and c, and returns the call.
template <class Prepare>
void row(const shape& s, std::string_view type, std::string_view library, temperature temperature,
         Prepare prepare) {
    device_row(product(s, type), library, temperature, [s, prepare] {
        auto a = random_on_device<float>(s.m * s.k);
        auto b = random_on_device<float>(s.k * s.n);
        device_buffer<float> c(s.m * s.n, stream());
        auto call =
            prepare(matrix_view<const float>{a.data(), s.m, s.k},
                    matrix_view<const float>{b.data(), s.k, s.n}, matrix_view<float>{c.data(), s.m, s.n});
        return [a = std::move(a), b = std::move(b), c = std::move(c), call = std::move(call)] { call(); };
    });
}

/// With the workspace that the product asks for.
void heddle_row(const shape& s, temperature temperature, std::string_view name,
                const matmul_options& options = {}) {
    row(s, options.precision == precision::tf32 ? tf32 : f32, name, temperature,
        [s, options](auto a, auto b, auto c) {
            const auto scratch = std::make_shared<workspace>(
                matmul_workspace_bytes<float>(a, b, c, stream(), options), stream());
            return [=] {
                matmul_options with = options;
                with.workspace = *scratch;
                matmul<float>(a, b, c, stream(), with);
            };
        });
}

void cublas_row([[maybe_unused]] const shape& s, [[maybe_unused]] std::string_view type,
                [[maybe_unused]] temperature temperature) {
#if HEDDLE_HAS_CUBLAS
    row(s, type, "cublas", temperature, [type](auto a, auto b, auto c) {
        return [=] {
            const float alpha = 1;
            const float beta = 0;
            // Column-major for cuBLAS, hence the transposed product: C' = B' A'.
            if (type == tf32)
                check(cublasGemmEx_64(cublas_handle(), CUBLAS_OP_N, CUBLAS_OP_N, c.cols, c.rows, a.cols,
                                      &alpha, b.data, CUDA_R_32F, b.row_stride, a.data, CUDA_R_32F,
                                      a.row_stride, &beta, c.data, CUDA_R_32F, c.row_stride,
                                      CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT));
            else
                check(cublasSgemm_64(cublas_handle(), CUBLAS_OP_N, CUBLAS_OP_N, c.cols, c.rows, a.cols,
                                     &alpha, b.data, b.row_stride, a.data, a.row_stride, &beta, c.data,
                                     c.row_stride));
        };
    });
#endif
}

/// `call` takes the matrices a, b and c.
template <class Call>
void cpu_row(const shape& s, std::string_view library, Call call) {
    host_row(product(s, f32), library, [s, call] {
        return [s, call, a = random_on_host<float>(s.m * s.k), b = random_on_host<float>(s.k * s.n),
                c = std::vector<float>(static_cast<std::size_t>(s.m * s.n))]() mutable {
            call(matrix_view{a.data(), s.m, s.k}, matrix_view{b.data(), s.k, s.n},
                 matrix_view{c.data(), s.m, s.n});
        };
    });
}

void host_rows(const shape& s) {
    cpu_row(s, "host", [](auto a, auto b, auto c) { host::matmul<float>(a, b, c); });
#if HEDDLE_HAS_OPENBLAS
    cpu_row(s, "openblas", [](auto a, auto b, auto c) {
        const auto narrow = [](std::int64_t extent) { return static_cast<blasint>(extent); };
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, narrow(c.rows), narrow(c.cols), narrow(a.cols),
                    1, a.data, narrow(a.row_stride), b.data, narrow(b.row_stride), 0, c.data,
                    narrow(c.row_stride));
    });
#endif
}

void rows(const shape& s, temperature temperature) {
    heddle_row(s, temperature, "heddle");
    cublas_row(s, f32, temperature);
    heddle_row(s, temperature, "heddle", {.precision = precision::tf32});
    cublas_row(s, tf32, temperature);
}

constexpr shape cold_shapes[] = {
    cube(128),         cube(256),       cube(512),          cube(1024),        cube(4096),
    cube(8192),        {1, 4096, 4096}, {16, 4096, 4096},   {64, 4096, 11008}, {4096, 4096, 64},
    {8192, 128, 8192}, {64, 64, 65536}, {4097, 4099, 4101},
};
constexpr shape hot_shapes[] = {cube(128), cube(4096), cube(8192), {1, 4096, 4096}, {64, 64, 65536}};

}  // namespace

void register_matmul() {
    for (const shape& s : cold_shapes) rows(s, temperature::cold);
    for (const shape& s : hot_shapes) rows(s, temperature::hot);
    constexpr shape of_ladder = cube(4096);
    heddle_row(of_ladder, temperature::cold, "heddle:ieee", {.precision = precision::ieee});
    heddle_row(of_ladder, temperature::cold, "heddle:fp32_normwise", {.precision = precision::fp32_normwise});
    for (const auto algorithm : matmul_algorithms(element_type::f32))
        // skinny and vector do not take it, and tf32's, which automatic takes there, is above
        if (algorithm != matmul_algorithm::skinny && algorithm != matmul_algorithm::vector &&
            algorithm != matmul_algorithm::tf32) {
            heddle_row(of_ladder, temperature::cold, implementation(algorithm), {.algorithm = algorithm});
            for (const std::string_view way : ways_of(matmul_kernels(element_type::f32, algorithm)))
                heddle_row(of_ladder, temperature::cold, implementation(way), {.kernel = way});
        }
    host_rows(cube(1024));
}

void add_matmul_rows(std::string_view type, const extents& shape) {
    const bench::shape s{shape[0], shape[1], shape[2]};
    const bool is_tf32 = type == tf32;
    const precision precision = is_tf32 ? precision::tf32 : precision::fp32;
    for (const auto algorithm : matmul_algorithms(element_type::f32)) {
        if ((algorithm == matmul_algorithm::tf32) != is_tf32) continue;
        for (const std::string_view kernel : matmul_kernels(element_type::f32, algorithm))
            if (kernel != to_string(algorithm))
                heddle_row(s, temperature::cold, implementation(kernel),
                           {.precision = precision, .kernel = kernel});
        heddle_row(s, temperature::cold, implementation(algorithm),
                   {.algorithm = algorithm, .precision = precision});
    }
    heddle_row(s, temperature::cold, "heddle", {.precision = precision});
    cublas_row(s, is_tf32 ? tf32 : f32, temperature::cold);
}

}  // namespace heddle::bench
