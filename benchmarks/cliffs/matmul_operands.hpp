#pragma once

#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/support/vendor_product.hpp"

namespace heddle::bench::cliffs {

/// Calls macro(Out, In) for the types of products.
#define HEDDLE_EACH_PRODUCT(macro) \
    macro(float, float) macro(half, half) macro(bfloat16, bfloat16) macro(float, half) macro(float, bfloat16)

inline constexpr std::string_view activations[] = {"none", "relu",    "gelu", "gelu_tanh",
                                                   "silu", "sigmoid", "tanh"};

/// Most elements are positive. Sums do not cancel, so that a product that lacks a part of k is far off.
inline constexpr numbers product_elements{-0.5, 1, 0};

template <class Out, class In>
struct product_problem {
    std::int64_t m = 1, n = 1, k = 1, batches = 1;
    bool is_b_shared = false;  ///< by all products of a batch
    placement a, b, c;
    float alpha = 1, beta = 0;
    heddle::precision precision = precision::fp32;
    bool has_epilogue = false, has_row_bias = false, has_column_bias = false, has_residual = false;
    matmul_activation activation = matmul_activation::none;
    float scale = 1;
    std::uint64_t seed = 0;

    [[nodiscard]] matmul_options options() const {
        return {.alpha = alpha, .beta = beta, .precision = precision};
    }
};

/// Matrices of a batch, one after the other.
template <class T>
struct batch_operand {
    operand<T> all;
    matrix_view<T> first;
    std::int64_t stride;

    batch_operand(std::int64_t rows, std::int64_t cols, std::int64_t count, const placement& lie,
                  std::uint64_t seed)
        : all(lie.column_major ? rows : count * rows, lie.column_major ? count * cols : cols, lie, seed,
              product_elements),
          first(all.view()),
          stride(lie.column_major ? cols * first.col_stride : rows * first.row_stride) {
        first.rows = rows;
        first.cols = cols;
    }
};

template <class Out, class In>
struct product_operands {
    batch_operand<In> a, b;
    batch_operand<Out> c;
    std::optional<operand<Out>> row_bias, column_bias, residual;

    explicit product_operands(const product_problem<Out, In>& p)
        : a(p.m, p.k, p.batches, p.a, p.seed),
          b(p.k, p.n, p.is_b_shared ? 1 : p.batches, p.b, p.seed + 1),
          c(p.m, p.n, p.batches, p.c, p.seed + 2) {
        if (p.is_b_shared) b.stride = 0;
        if (p.has_row_bias) row_bias.emplace(1, p.n, placement{}, p.seed + 3);
        if (p.has_column_bias) column_bias.emplace(1, p.m, placement{}, p.seed + 4);
        if (p.has_residual) residual.emplace(p.m, p.n, p.c, p.seed + 5);
    }

    matmul_epilogue<Out> epilogue(const product_problem<Out, In>& p) {
        matmul_epilogue<Out> e{.activation = p.activation, .scale = p.scale};
        if (row_bias) e.row_bias = row_bias->vector();
        if (column_bias) e.column_bias = column_bias->vector();
        if (residual) e.residual = residual->view();
        return e;
    }
    batch_view<const In> a_batch(const product_problem<Out, In>& p) { return {a.first, p.batches, a.stride}; }
    batch_view<const In> b_batch(const product_problem<Out, In>& p) { return {b.first, p.batches, b.stride}; }
    batch_view<Out> c_batch(const product_problem<Out, In>& p) { return {c.first, p.batches, c.stride}; }
};

/// Returns trial::wrong, which compares places of C with float64. Call it while the operands are as they were drawn.
template <class Out, class In>
std::function<std::string(double slack)> check_of(const product_problem<Out, In>& p,
                                                  const std::shared_ptr<product_operands<Out, In>>& o);

/// Adds the vendors' calls, also those that do only a part of the epilogue.
template <class Out, class In>
void add_product_peers(trial& t, const product_problem<Out, In>& p,
                       const std::shared_ptr<product_operands<Out, In>>& o);

/// Adds the vendors' products: cublasGemmEx, the best of cublasLt's candidates, and where C is a row or a column gemv and dot.
/// `then` follows each of them if it is not empty. `what` is added to their names.
template <class Out, class In>
void add_vendor_products(trial& t, vendor_product<Out, In> p, const std::function<void()>& then,
                         const std::string& what, bool is_checked);

/// The bound of the error of a sum of k products in float. `magnitudes` is the sum of the products' magnitudes, `norms` the
/// product of the norms of the row and the column.
template <class In>
double product_bound(precision precision, double k, double magnitudes, double norms);

}  // namespace heddle::bench::cliffs
