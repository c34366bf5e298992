#include "benchmarks/support/cublas_lt.hpp"

#if HEDDLE_HAS_CUBLAS

#include "benchmarks/support/cublas_lt_product.hpp"

namespace heddle::bench {

template <class In, class Out>
std::function<void()> best_cublas_lt_matmul(matrix_view<const In> a, matrix_view<const In> b,
                                            matrix_view<Out> c, const Out* bias, lt_activation activation) {
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

template std::function<void()> best_cublas_lt_matmul(matrix_view<const float>, matrix_view<const float>,
                                                     matrix_view<float>, const float*, lt_activation);
template std::function<void()> best_cublas_lt_matmul(matrix_view<const bfloat16>, matrix_view<const bfloat16>,
                                                     matrix_view<bfloat16>, const bfloat16*, lt_activation);
template std::function<void()> best_cublas_lt_matmul(matrix_view<const bfloat16>, matrix_view<const bfloat16>,
                                                     matrix_view<float>, const float*, lt_activation);
template std::function<void()> best_cublas_lt_matmul(matrix_view<const half>, matrix_view<const half>,
                                                     matrix_view<half>, const half*, lt_activation);

}  // namespace heddle::bench

#endif
