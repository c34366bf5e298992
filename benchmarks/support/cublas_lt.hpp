#pragma once

#include "benchmarks/support/headers.hpp"

#if HEDDLE_HAS_CUBLAS

#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/vendor_product.hpp"

#include <cublasLt.h>

namespace heddle::bench {

inline const loaded_library& lt_library() {
    static const loaded_library library("cuBLASLt", "libcublasLt.so." HEDDLE_STRING(CUBLAS_VER_MAJOR));
    return library;
}

HEDDLE_LOADED(lt_library, cublasLtCreate, cublasLtMatmul, cublasLtMatmulAlgoGetHeuristic,
              cublasLtMatmulDescCreate, cublasLtMatmulDescDestroy, cublasLtMatmulDescSetAttribute,
              cublasLtMatmulPreferenceCreate, cublasLtMatmulPreferenceDestroy,
              cublasLtMatmulPreferenceSetAttribute, cublasLtMatrixLayoutCreate, cublasLtMatrixLayoutDestroy,
              cublasLtMatrixLayoutSetAttribute);

inline constexpr std::size_t lt_workspace_bytes = std::size_t{64} << 20;

struct lt_state {
    cublasLtHandle_t handle = nullptr;
    void* workspace = nullptr;

    lt_state() {
        check(cublasLtCreate(&handle));
        check(cudaMalloc(&workspace, lt_workspace_bytes));
    }
};

inline const lt_state& lt() {
    static const lt_state created;
    return created;
}

template <const auto& destroy>
struct destroyer {
    template <class T>
    void operator()(T* object) const {
        destroy(object);
    }
};
using layout = std::unique_ptr<cublasLtMatrixLayoutOpaque_t, destroyer<cublasLtMatrixLayoutDestroy>>;
using description = std::unique_ptr<cublasLtMatmulDescOpaque_t, destroyer<cublasLtMatmulDescDestroy>>;
using preference =
    std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, destroyer<cublasLtMatmulPreferenceDestroy>>;

template <class T>
layout layout_of(const matrix_view<T>& m, std::int64_t batches, std::int64_t stride) {
    cublasLtMatrixLayout_t created = nullptr;
    check(cublasLtMatrixLayoutCreate(&created, cuda_type<std::remove_const_t<T>>,
                                     static_cast<std::uint64_t>(is_row_major(m) ? m.cols : m.rows),
                                     static_cast<std::uint64_t>(is_row_major(m) ? m.rows : m.cols),
                                     leading_dimension(m)));
    layout result(created);
    const auto count = static_cast<std::int32_t>(batches);
    check(
        cublasLtMatrixLayoutSetAttribute(created, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)));
    check(cublasLtMatrixLayoutSetAttribute(created, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                           sizeof(stride)));
    return result;
}

/// The largest power of two, up to 256, that an address is a multiple of.
inline std::uint32_t alignment_of(const void* data) {
    const int zeros = std::countr_zero(reinterpret_cast<std::uintptr_t>(data) | 256);
    return std::uint32_t{1} << zeros;
}

/// How many of the heuristic's algorithms are timed, and by how many calls back to back; long ones are called once.
struct lt_search {
    int candidates;
    int calls;
    float long_call_ms;
};

template <class Out, class In>
struct lt_product {
    vendor_product<Out, In> p;
    layout a, b, c, summand;
    description operation;

    explicit lt_product(const vendor_product<Out, In>& given)
        : p(given),
          a(layout_of(p.a, p.batches, p.a_stride)),
          b(layout_of(p.b, p.batches, p.b_stride)),
          c(layout_of(p.c, p.batches, p.c_stride)) {
        if (p.residual.data != nullptr) {
            if (!is_row_major(p.residual)) throw unsupported("a residual that lies across");
            p.beta = 1;
        } else {
            p.residual = p.c;
        }
        summand = layout_of(p.residual, p.batches, p.c_stride);
        cublasLtMatmulDesc_t created = nullptr;
        check(cublasLtMatmulDescCreate(
            &created, p.is_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F));
        operation.reset(created);
        set(CUBLASLT_MATMUL_DESC_TRANSA, order_of(p.b));
        set(CUBLASLT_MATMUL_DESC_TRANSB, order_of(p.a));
        const bool has_bias = p.row_bias != nullptr;
        if (p.activation == matmul_activation::relu)
            set(CUBLASLT_MATMUL_DESC_EPILOGUE,
                has_bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU);
        else if (p.activation == matmul_activation::gelu_tanh)
            set(CUBLASLT_MATMUL_DESC_EPILOGUE,
                has_bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU);
        else if (has_bias)
            set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
        if (has_bias) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.row_bias);
    }

    template <class Value>
    void set(cublasLtMatmulDescAttributes_t which, const Value& value) {
        check(cublasLtMatmulDescSetAttribute(operation.get(), which, &value, sizeof(value)));
    }

    [[nodiscard]] cublasStatus_t run(const cublasLtMatmulAlgo_t& algorithm) const {
        return cublasLtMatmul(lt().handle, operation.get(), &p.alpha, p.b.data, b.get(), p.a.data, a.get(),
                              &p.beta, p.residual.data, summand.get(), p.c.data, c.get(), &algorithm,
                              lt().workspace, lt_workspace_bytes, stream().get());
    }

    [[nodiscard]] std::vector<cublasLtMatmulAlgo_t> candidates(int most) const {
        cublasLtMatmulPreference_t created = nullptr;
        check(cublasLtMatmulPreferenceCreate(&created));
        const preference limits(created);
        const auto limit = [&](cublasLtMatmulPreferenceAttributes_t which, const auto& value) {
            check(cublasLtMatmulPreferenceSetAttribute(created, which, &value, sizeof(value)));
        };
        limit(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, lt_workspace_bytes);
        limit(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(p.b.data));
        limit(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(p.a.data));
        limit(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(p.residual.data));
        limit(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(p.c.data));
        std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(most));
        int count = 0;
        check(cublasLtMatmulAlgoGetHeuristic(lt().handle, operation.get(), b.get(), a.get(), summand.get(),
                                             c.get(), created, most, found.data(), &count));
        std::vector<cublasLtMatmulAlgo_t> result;
        found.resize(static_cast<std::size_t>(count));
        for (const auto& each : found)
            if (each.state == CUBLAS_STATUS_SUCCESS) result.push_back(each.algo);
        return result;
    }

    /// The fastest first.
    [[nodiscard]] std::vector<cublasLtMatmulAlgo_t> fastest(const lt_search& search) const {
        std::vector<std::pair<float, cublasLtMatmulAlgo_t>> timed;
        event start, stop;
        for (const cublasLtMatmulAlgo_t& candidate : candidates(search.candidates)) {
            const auto time = [&](int calls) {
                start.record(stream());
                for (int i = 0; i < calls; ++i) check(run(candidate));
                stop.record(stream());
                stop.synchronize();
                return elapsed(start, stop).count() / static_cast<float>(calls);
            };
            if (run(candidate) != CUBLAS_STATUS_SUCCESS) continue;
            const float once = time(1);
            timed.emplace_back(once > search.long_call_ms ? once : time(search.calls), candidate);
        }
        std::ranges::sort(timed, {}, &std::pair<float, cublasLtMatmulAlgo_t>::first);
        std::vector<cublasLtMatmulAlgo_t> result;
        for (const auto& [time, candidate] : timed) result.push_back(candidate);
        return result;
    }
};

/// What is done to the sums, after `bias` of one element for each column of C is added: none, relu or gelu_tanh.
using lt_activation = matmul_activation;

/// C = A B, or activation(A B + bias), on stream(), by the fastest of cublasLt's heuristic candidates with 64 MiB of
/// workspace: they are timed when a problem is first met. In and Out are half or bfloat16, or Out is float, or both are: that
/// is multiplied as TF32.
template <class In, class Out>
std::function<void()> best_cublas_lt_matmul(matrix_view<const In> a, matrix_view<const In> b,
                                            matrix_view<Out> c, const Out* bias = nullptr,
                                            lt_activation activation = lt_activation::none) {
    constexpr lt_search search{
        .candidates = 32, .calls = 10, .long_call_ms = std::numeric_limits<float>::infinity()};
    using key = std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, bool, bool, lt_activation>;
    static std::map<key, cublasLtMatmulAlgo_t> known;
    const auto product =
        std::make_shared<lt_product<Out, In>>(vendor_product<Out, In>{.a = a,
                                                                      .b = b,
                                                                      .c = c,
                                                                      .is_tf32 = std::is_same_v<In, float>,
                                                                      .activation = activation,
                                                                      .row_bias = bias});
    const key problem{c.rows, c.cols, a.cols, is_row_major(a), is_row_major(b), bias != nullptr, activation};
    auto at = known.find(problem);
    if (at == known.end()) {
        const auto fastest = product->fastest(search);
        if (fastest.empty()) check(CUBLAS_STATUS_NOT_SUPPORTED);
        at = known.emplace(problem, fastest.front()).first;
    }
    return [product, algorithm = at->second] { check(product->run(algorithm)); };
}

}  // namespace heddle::bench

#endif
