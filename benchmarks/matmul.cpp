#include "benchmarks/support/ceilings.hpp"
#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/host.hpp>
#include <heddle/matmul.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
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

problem product(const shape& s) {
    const auto [m, n, k] = s;
    return {fmt::format("matmul/f32/{}x{}x{}", m, n, k),
            sizeof(float) * static_cast<double>(m * k + k * n + m * n),
            2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k)};
}

/// `call` takes the matrices a, b and c.
template <class Call>
void row(const shape& s, std::string_view library, temperature temperature, Call call) {
    device_row(product(s), library, temperature, [s, call] {
        return [s, call, a = random_on_device<float>(s.m * s.k), b = random_on_device<float>(s.k * s.n),
                c = device_buffer<float>(s.m * s.n, stream())]() mutable {
            call(matrix_view{a.data(), s.m, s.k}, matrix_view{b.data(), s.k, s.n},
                 matrix_view{c.data(), s.m, s.n});
        };
    });
}

void heddle_row(const shape& s, temperature temperature,
                matmul_algorithm algorithm = matmul_algorithm::automatic) {
    row(s, implementation(algorithm), temperature,
        [algorithm](auto a, auto b, auto c) { matmul<float>(a, b, c, stream(), {.algorithm = algorithm}); });
}

void cublas_row([[maybe_unused]] const shape& s, [[maybe_unused]] temperature temperature) {
#if HEDDLE_HAS_CUBLAS
    row(s, "cublas", temperature, [](auto a, auto b, auto c) {
        const float alpha = 1;
        const float beta = 0;
        // Column-major for cuBLAS, hence the transposed product: C' = B' A'.
        check(cublasSgemm_64(cublas_handle(), CUBLAS_OP_N, CUBLAS_OP_N, c.cols, c.rows, a.cols, &alpha,
                             b.data, b.row_stride, a.data, a.row_stride, &beta, c.data, c.row_stride));
    });
#endif
}

/// `call` takes the matrices a, b and c.
template <class Call>
void cpu_row(const shape& s, std::string_view library, Call call) {
    host_row(product(s), library, [s, call] {
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

constexpr shape shapes[] = {
    cube(128),           cube(256),          cube(512),       cube(1024),        cube(2048),
    cube(4096),          cube(8192),         {1, 4096, 4096}, {16, 4096, 4096},  {64, 4096, 11008},
    {128, 8192, 4096},   {4096, 4096, 64},   cube(1000),      {8192, 128, 8192}, {64, 64, 65536},
    {16384, 1024, 4096}, {4097, 4099, 4101},
};

}  // namespace

void register_rows() {
    copy_ceiling();
    fma_ceiling();
    for (const auto temperature : {temperature::cold, temperature::hot})
        for (const shape& s : shapes) {
            heddle_row(s, temperature);
            cublas_row(s, temperature);
        }
    for (const shape& s : {cube(512), cube(4096)})
        for (const auto algorithm : matmul_algorithms(element_type::f32))
            heddle_row(s, temperature::cold, algorithm);
    host_rows(cube(512));
    host_rows(cube(1024));
}

}  // namespace heddle::bench
