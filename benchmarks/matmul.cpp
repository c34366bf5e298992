#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operation.hpp"
#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/cublas_lt.hpp"

namespace heddle::bench {
namespace {

struct shape {
    std::int64_t m;
    std::int64_t n;
    std::int64_t k;
    bool b_transposed = false;

    /// Makes the view of B.
    template <class T>
    [[nodiscard]] auto as_b() const {
        return [s = *this](T* data) {
            return s.b_transposed ? transposed(matrix_view<T>{data, s.n, s.k})
                                  : matrix_view<T>{data, s.k, s.n};
        };
    }
};

constexpr shape cube(std::int64_t size, bool b_transposed = false) {
    return {size, size, size, b_transposed};
}

constexpr std::string_view tf32 = "tf32";

/// A, B and C. `type` names the precision of the elements. All rungs of f32 have the same limit: three products of f16, the
/// least arithmetic of a rung, or FMAs if the device does those faster.
template <class T>
auto product_of(const shape& s, std::string_view type) {
    const auto [m, n, k, b_transposed] = s;
    row_case of(fmt::format("matmul/{}/{}x{}x{}{}", type, m, n, k, b_transposed ? "-bt" : ""),
                random_matrix<T>({m, k}), random_elements<T>(k * n, s.as_b<T>()), result_matrix<T>({m, n}));
    of.problem.operations = 2.0 * static_cast<double>(m * n * k);
    of.problem.set_unit_of_products(type);
    return of;
}

/// The product gets the workspace that it asks for.
template <class T>
void heddle_row(const shape& s, temperature temperature, std::string_view name,
                const matmul_options& options = {}) {
    product_of<T>(s, options.precision == precision::tf32 ? tf32 : dtype<T>)
        .prepared_row(name, temperature, [options](auto a, auto b, auto c) {
            const std::int64_t bytes = matmul_workspace_bytes<T>(a, b, c, stream(), options);
            return [=, memory = workspace(bytes, stream())]() mutable {
                matmul_options with = options;
                with.workspace = memory;
                matmul<T>(a, b, c, stream(), with);
            };
        });
}

template <class T>
void vendor_rows([[maybe_unused]] const shape& s, [[maybe_unused]] std::string_view type,
                 [[maybe_unused]] temperature temperature) {
#if HEDDLE_HAS_CUBLAS
    product_of<T>(s, type).prepared_row("cublas", temperature, [type](auto a, auto b, auto c) {
        return [=] {
            if constexpr (std::is_same_v<T, float>)
                if (type != tf32) {
                    const float alpha = 1, beta = 0;
                    // cuBLAS's matrices are column-major, so that it computes C' = B' A'.
                    return check(cublasSgemm_64(cublas_handle(), CUBLAS_OP_N, CUBLAS_OP_N, c.cols, c.rows,
                                                a.cols, &alpha, b.data, b.row_stride, a.data, a.row_stride,
                                                &beta, c.data, c.row_stride));
                }
            gemm(vendor_product<T, T>{.a = a, .b = b, .c = c, .is_tf32 = type == tf32});
        };
    });
    if constexpr (!std::is_same_v<T, float>)
        product_of<T>(s, type).prepared_row("cublaslt", temperature, [](auto a, auto b, auto c) {
            return best_cublas_lt_matmul<T, T>(a, b, c);
        });
#endif
}

template <class T>
void rows(const shape& s, temperature temperature) {
    heddle_row<T>(s, temperature, "heddle");
    vendor_rows<T>(s, dtype<T>, temperature);
    if constexpr (std::is_same_v<T, float>) {
        heddle_row<T>(s, temperature, "heddle", {.precision = precision::tf32});
        vendor_rows<T>(s, tf32, temperature);
    }
}

void host_rows(const shape& s) {
    const auto of = product_of<float>(s, dtype<float>);
    of.host_row("host", [](auto a, auto b, auto c) { host::matmul<float>(a, b, c); });
#if HEDDLE_HAS_OPENBLAS
    of.host_row("openblas", [](auto a, auto b, auto c) {
        const auto narrow = [](std::int64_t extent) { return static_cast<blasint>(extent); };
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, narrow(c.rows), narrow(c.cols), narrow(a.cols),
                    1, a.data, narrow(a.row_stride), b.data, narrow(b.row_stride), 0, c.data,
                    narrow(c.row_stride));
    });
#endif
}

/// The shapes of products of float, and of 16-bit types.
constexpr shape cold_shapes[] = {
    cube(128),         cube(256),       cube(512),          cube(1024),        cube(4096),
    cube(8192),        {1, 4096, 4096}, {16, 4096, 4096},   {64, 4096, 11008}, {4096, 4096, 64},
    {8192, 128, 8192}, {64, 64, 65536}, {4097, 4099, 4101},
};
constexpr shape hot_shapes[] = {cube(128), cube(4096), cube(8192), {1, 4096, 4096}, {64, 64, 65536}};
constexpr shape cold_16_bit_shapes[] = {
    cube(256),       cube(512),          cube(1024),       cube(1536),       cube(2048),
    cube(4096),      cube(8192),         cube(16384),      cube(1024, true), cube(4096, true),
    cube(1000),      {1, 4096, 4096},    {16, 4096, 4096}, {64, 4096, 4096}, {4096, 4096, 64},
    {64, 64, 65536}, {4097, 4099, 4101},
};
constexpr shape hot_16_bit_shapes[] = {cube(1536), cube(4096), {1, 4096, 4096}, {64, 4096, 4096}};

/// Adds each rung after its kernels, the plain call, and the peers.
template <class T>
void add_rows(std::string_view type, const extents& extents) {
    const shape s{extents[0], extents[1], extents[2]};
    const bool is_tf32 = type == tf32;
    const precision precision = is_tf32 ? precision::tf32 : precision::fp32;
    for (const auto algorithm : matmul_algorithms(element_type_of<T>)) {
        if ((algorithm == matmul_algorithm::tf32) != is_tf32) continue;
        for (const std::string_view kernel : matmul_kernels(element_type_of<T>, algorithm))
            if (kernel != to_string(algorithm))
                heddle_row<T>(s, cold, implementation(kernel), {.precision = precision, .kernel = kernel});
        heddle_row<T>(s, cold, implementation(algorithm), {.algorithm = algorithm, .precision = precision});
    }
    heddle_row<T>(s, cold, "heddle", {.precision = precision});
    vendor_rows<T>(s, is_tf32 ? tf32 : dtype<T>, cold);
}

}  // namespace

void register_matmul() {
    for (const shape& s : cold_shapes) rows<float>(s, cold);
    for (const shape& s : hot_shapes) rows<float>(s, hot);
    constexpr shape of_ladder = cube(4096);
    heddle_row<float>(of_ladder, cold, "heddle:ieee", {.precision = precision::ieee});
    heddle_row<float>(of_ladder, cold, "heddle:fp32_normwise", {.precision = precision::fp32_normwise});
    for (const auto algorithm : matmul_algorithms(element_type::f32))
        // skinny, vector and stream cannot compute this shape; tf32 has a row already, as `automatic` chooses it.
        if (algorithm != matmul_algorithm::skinny && algorithm != matmul_algorithm::vector &&
            algorithm != matmul_algorithm::stream && algorithm != matmul_algorithm::tf32) {
            heddle_row<float>(of_ladder, cold, implementation(algorithm), {.algorithm = algorithm});
            for (const std::string_view way : ways_of(matmul_kernels(element_type::f32, algorithm)))
                heddle_row<float>(of_ladder, cold, implementation(way), {.kernel = way});
        }
    host_rows(cube(1024));
}

void register_matmul_16_bit() {
    for (const shape& s : cold_16_bit_shapes) rows<bfloat16>(s, cold);
    for (const shape& s : hot_16_bit_shapes) rows<bfloat16>(s, hot);
    for (const shape& s : {cube(512), cube(1024), cube(4096), cube(8192), {16, 4096, 4096}})
        rows<half>(s, cold);
    for (const auto algorithm : matmul_algorithms(element_type::bf16))
        heddle_row<bfloat16>(cube(4096), cold, implementation(algorithm), {.algorithm = algorithm});
}

void add_matmul_rows(std::string_view type, const extents& shape) {
    with_type_named<half, bfloat16, float>(type, [&]<class T>() { add_rows<T>(type, shape); });
}

}  // namespace heddle::bench
