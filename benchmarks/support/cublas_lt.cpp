#include "benchmarks/support/cublas_lt.hpp"

#if HEDDLE_HAS_CUBLAS

#include "benchmarks/support/cublas.hpp"
#include <heddle/stream.hpp>

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

namespace heddle::bench {
namespace {

const loaded_library& cublas_lt_library() {
    static const loaded_library library("cuBLASLt", "libcublasLt.so." HEDDLE_STRING(CUBLAS_VER_MAJOR));
    return library;
}

HEDDLE_LOADED(cublas_lt_library, cublasLtCreate);
HEDDLE_LOADED(cublas_lt_library, cublasLtMatmul);
HEDDLE_LOADED(cublas_lt_library, cublasLtMatmulAlgoGetHeuristic);
HEDDLE_LOADED(cublas_lt_library, cublasLtMatmulDescCreate);
HEDDLE_LOADED(cublas_lt_library, cublasLtMatmulDescDestroy);
HEDDLE_LOADED(cublas_lt_library, cublasLtMatmulDescSetAttribute);
HEDDLE_LOADED(cublas_lt_library, cublasLtMatmulPreferenceCreate);
HEDDLE_LOADED(cublas_lt_library, cublasLtMatmulPreferenceDestroy);
HEDDLE_LOADED(cublas_lt_library, cublasLtMatmulPreferenceSetAttribute);
HEDDLE_LOADED(cublas_lt_library, cublasLtMatrixLayoutCreate);
HEDDLE_LOADED(cublas_lt_library, cublasLtMatrixLayoutDestroy);

constexpr std::size_t workspace_bytes = std::size_t{64} << 20;
constexpr int most_candidates = 32;
constexpr int timed_calls = 10;

template <class T>
constexpr cudaDataType_t data_type = std::is_same_v<T, half>       ? CUDA_R_16F
                                     : std::is_same_v<T, bfloat16> ? CUDA_R_16BF
                                                                   : CUDA_R_32F;

struct library {
    cublasLtHandle_t handle = nullptr;
    void* workspace = nullptr;

    library() {
        check(cublasLtCreate(&handle));
        check(cudaMalloc(&workspace, workspace_bytes));
    }
};

const library& cublas_lt() {
    static const library created;
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

/// The column-major matrix that is the transpose of the rows, or columns, of m.
template <class T>
layout layout_of(const matrix_view<T>& m) {
    const bool by_rows = m.col_stride == 1;
    cublasLtMatrixLayout_t created = nullptr;
    check(cublasLtMatrixLayoutCreate(
        &created, data_type<std::remove_const_t<T>>, static_cast<std::uint64_t>(by_rows ? m.cols : m.rows),
        static_cast<std::uint64_t>(by_rows ? m.rows : m.cols), by_rows ? m.row_stride : m.col_stride));
    return layout(created);
}

template <class In, class Out>
struct matmul_call {
    matrix_view<const In> a, b;
    matrix_view<Out> c;
    description operation;
    layout a_layout, b_layout, c_layout;
    cublasLtMatmulAlgo_t algorithm{};

    matmul_call(matrix_view<const In> a_, matrix_view<const In> b_, matrix_view<Out> c_, const Out* bias,
                lt_activation activation)
        : a(a_), b(b_), c(c_), a_layout(layout_of(a)), b_layout(layout_of(b)), c_layout(layout_of(c)) {
        cublasLtMatmulDesc_t created = nullptr;
        constexpr auto compute =
            std::is_same_v<In, float> ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
        check(cublasLtMatmulDescCreate(&created, compute, CUDA_R_32F));
        operation.reset(created);
        // Row-major C = A B is column-major C' = B' A'.
        set_transposition(CUBLASLT_MATMUL_DESC_TRANSA, b.col_stride != 1);
        set_transposition(CUBLASLT_MATMUL_DESC_TRANSB, a.col_stride != 1);
        if (bias == nullptr) return;
        const cublasLtEpilogue_t epilogue = activation == lt_activation::relu ? CUBLASLT_EPILOGUE_RELU_BIAS
                                            : activation == lt_activation::gelu_tanh
                                                ? CUBLASLT_EPILOGUE_GELU_BIAS
                                                : CUBLASLT_EPILOGUE_BIAS;
        check(cublasLtMatmulDescSetAttribute(created, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                             sizeof(epilogue)));
        check(
            cublasLtMatmulDescSetAttribute(created, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias)));
    }

    void set_transposition(cublasLtMatmulDescAttributes_t which, bool is_transposed) {
        const cublasOperation_t value = is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
        check(cublasLtMatmulDescSetAttribute(operation.get(), which, &value, sizeof(value)));
    }

    cublasStatus_t run() const {
        const float one = 1, zero = 0;
        return cublasLtMatmul(cublas_lt().handle, operation.get(), &one, b.data, b_layout.get(), a.data,
                              a_layout.get(), &zero, c.data, c_layout.get(), c.data, c_layout.get(),
                              &algorithm, cublas_lt().workspace, workspace_bytes, stream().get());
    }

    std::vector<cublasLtMatmulAlgo_t> candidates() const {
        cublasLtMatmulPreference_t created = nullptr;
        check(cublasLtMatmulPreferenceCreate(&created));
        const preference limits(created);
        check(cublasLtMatmulPreferenceSetAttribute(created, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                   &workspace_bytes, sizeof(workspace_bytes)));
        std::array<cublasLtMatmulHeuristicResult_t, most_candidates> found{};
        int count = 0;
        check(cublasLtMatmulAlgoGetHeuristic(cublas_lt().handle, operation.get(), b_layout.get(),
                                             a_layout.get(), c_layout.get(), c_layout.get(), created,
                                             most_candidates, found.data(), &count));
        std::vector<cublasLtMatmulAlgo_t> result;
        for (int i = 0; i < count; ++i)
            if (found[static_cast<std::size_t>(i)].state == CUBLAS_STATUS_SUCCESS)
                result.push_back(found[static_cast<std::size_t>(i)].algo);
        return result;
    }

    void choose_fastest() {
        float best = std::numeric_limits<float>::infinity();
        cublasLtMatmulAlgo_t fastest{};
        for (const cublasLtMatmulAlgo_t& candidate : candidates()) {
            algorithm = candidate;
            if (run() != CUBLAS_STATUS_SUCCESS) continue;
            event start, stop;
            start.record(stream());
            for (int i = 0; i < timed_calls; ++i) check(run());
            stop.record(stream());
            stop.synchronize();
            const float time = elapsed(start, stop).count();
            if (time < best) {
                best = time;
                fastest = candidate;
            }
        }
        algorithm = fastest;
    }
};

}  // namespace

template <class In, class Out>
std::function<void()> best_cublas_lt_matmul(matrix_view<const In> a, matrix_view<const In> b,
                                            matrix_view<Out> c, const Out* bias, lt_activation activation) {
    using key = std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, bool, bool, lt_activation>;
    static std::map<key, cublasLtMatmulAlgo_t> known;
    const auto call = std::make_shared<matmul_call<In, Out>>(a, b, c, bias, activation);
    const key problem{c.rows,          c.cols,    a.cols, a.col_stride == 1, b.col_stride == 1,
                      bias != nullptr, activation};
    if (const auto at = known.find(problem); at != known.end()) {
        call->algorithm = at->second;
    } else {
        call->choose_fastest();
        known.emplace(problem, call->algorithm);
    }
    return [call] { check(call->run()); };
}

template std::function<void()> best_cublas_lt_matmul(matrix_view<const float>, matrix_view<const float>,
                                                     matrix_view<float>, const float*, lt_activation);
template std::function<void()> best_cublas_lt_matmul(matrix_view<const bfloat16>, matrix_view<const bfloat16>,
                                                     matrix_view<bfloat16>, const bfloat16*, lt_activation);
template std::function<void()> best_cublas_lt_matmul(matrix_view<const half>, matrix_view<const half>,
                                                     matrix_view<half>, const half*, lt_activation);

}  // namespace heddle::bench

#endif
