#pragma once

#include "kernels/matmul/launch.hpp"
#include "src/matmul/rungs.hpp"
#include "src/matmul/validate.hpp"
#include "src/workspace.hpp"
#include <heddle/matmul.hpp>
#include <heddle/stream.hpp>

#include <optional>

/// The steps of a call: a product is described, planned and launched. Single products, batches and lists share them.
namespace heddle::detail {

using kernels::matmul::batch_strides, kernels::matmul::product;

static_assert(kernels::matmul::workspace_ticket_bytes == workspace_ticket_bytes);

template <class Out>
kernels::frame::epilogue<Out> described(const matmul_epilogue<Out>& e) {
    kernels::frame::epilogue<Out> result{e.activation, e.scale};
    if (e.row_bias.size > 0) {
        result.row_bias = e.row_bias.data;
        result.row_bias_stride = e.row_bias.stride;
    }
    if (e.column_bias.size > 0) {
        result.column_bias = e.column_bias.data;
        result.column_bias_stride = e.column_bias.stride;
    }
    if (is_given(e.residual)) {
        result.residual = e.residual.data;
        result.residual_row_stride = e.residual.row_stride;
        result.residual_col_stride = e.residual.col_stride;
    }
    result.is_identity = e.activation == matmul_activation::none && e.scale == 1 &&
                         result.row_bias == nullptr && result.column_bias == nullptr &&
                         result.residual == nullptr;
    return result;
}

/// Makes a batch one product of all rows, if its products share B and all rows of A and of C have one stride each.
template <class In, class Out>
product<In, Out> as_one_product(const product<In, Out>& p) {
    const batch_strides& batch = p.batch;
    const std::int64_t rows = p.c.rows, a_step = rows == 1 ? batch.a : p.a.row_stride,
                       c_step = rows == 1 ? batch.c : p.c.row_stride;
    const bool is_one = batch.b == 0 && batch.a == rows * a_step && batch.c == rows * c_step;
    const bool overlaps = a_step <= (p.a.cols - 1) * p.a.col_stride && p.a.col_stride < batch.count * batch.a;
    if (batch.count <= 1 || batch.a == 0 || !is_one || overlaps ||
        batch.count > kernels::max_tensor_extent / rows)
        return p;
    product<In, Out> result = p;
    result.a.rows = result.c.rows = batch.count * rows;
    result.a.row_stride = a_step;
    result.c.row_stride = c_step;
    result.batch = {};
    return result;
}

/// The product as kernels take it. Where alpha is 0, k becomes 0, so kernels read neither A nor B. Where k is 0, alpha
/// becomes 0, as an infinite one would make NaN.
template <class In, class Out>
product<In, Out> described(matrix_view<const In> a, matrix_view<const In> b, matrix_view<Out> c,
                           const matmul_epilogue<Out>& epilogue, const batch_strides& batch,
                           const matmul_options& options) {
    if (options.alpha == 0) a.cols = b.rows = 0;
    product<In, Out> result{a, b, c, a.cols == 0 ? 0 : options.alpha, options.beta};
    result.epilogue = described(epilogue);
    if (batch.count != 1) result.batch = batch;  // strides of a batch of one are ignored
    const product<In, Out> by_rows = is_row_major(c) ? result : transposed(result);
    const bool is_automatic = options.algorithm == matmul_algorithm::automatic && options.kernel.empty();
    return is_automatic ? as_one_product(by_rows) : by_rows;
}

template <class In, class Out>
matmul_problem problem_of(const product<In, Out>& p, const matmul_options& options) {
    return {.a = layout_of(p.a),
            .b = layout_of(p.b),
            .c = layout_of(p.c),
            .operands = element_type_of<In>,
            .result = element_type_of<Out>,
            .batches = p.batch.count,
            .a_stride = p.batch.a,
            .b_stride = p.batch.b,
            .c_stride = p.batch.c,
            .has_epilogue = !p.epilogue.is_identity,
            .adds_c = p.beta != 0,
            .has_scratch = has_scratch(options),
            .precision = options.precision};
}

/// The product of a call, after all checks that need no device. Empty if there is nothing to compute.
template <class In, class Out>
std::optional<product<In, Out>> checked(matrix_view<const In> a, matrix_view<const In> b, matrix_view<Out> c,
                                        const matmul_epilogue<Out>& epilogue, const batch_strides& batch,
                                        const matmul_options& options) {
    validate_matmul<In, Out>("matmul", a, b, c, batch.count > 0);
    validate_choice("matmul", options);
    validate_epilogue(epilogue, c);
    validate_workspace("matmul", options.workspace,
                       {{"a", footprint_of_batch(a, batch.a, batch.count)},
                        {"b", footprint_of_batch(b, batch.b, batch.count)},
                        {"c", footprint_of_batch(c, batch.c, batch.count)},
                        {"epilogue.row_bias", footprint_of(epilogue.row_bias)},
                        {"epilogue.column_bias", footprint_of(epilogue.column_bias)},
                        {"epilogue.residual", footprint_of(epilogue.residual)}});
    require_kernel(options.algorithm, element_type_of<In>, options.kernel);
    if (c.rows == 0 || c.cols == 0 || batch.count == 0) return {};
    return described<In, Out>(a, b, c, epilogue, batch, options);
}

/// The product that the rung's launch takes. If the plan says so, it reads copies of the operands or is transposed.
template <class In, class Out>
product<In, Out> arranged(const product<In, Out>& p, const kernels::matmul::plan& plan, cudaStream_t stream) {
    product<In, Out> result = p;
    if constexpr (HEDDLE_COMPILED_FOR_90 != 0)
        if (plan.copies != kernels::matmul::operand_copies{})
            result = kernels::matmul::launch_copies(plan, result, stream);
    return plan.is_turned ? transposed(result) : result;
}

template <class In, class Out>
void launch(const planned_matmul<In, Out>& planned, const product<In, Out>& p, cudaStream_t stream) {
    planned.rung->launch(planned.plan, arranged(p, planned.plan, stream), stream);
}

/// Plans and launches a valid product.
template <class In, class Out>
void run(product<In, Out> product, cuda::stream_ref stream, const matmul_options& options) {
    const stream_device device(stream);
    const auto [chosen, workspace] = plan_with_workspace("matmul", options, stream, [&](bool has_scratch) {
        matmul_problem problem = problem_of(product, options);
        problem.has_scratch = has_scratch;
        return plan_matmul<In, Out>(problem, device.traits(), options);
    });
    product.workspace = {workspace.tickets(), workspace.scratch()};
    launch(chosen, product, stream.get());
}

template <class In, class Out>
void run(matrix_view<const In> a, matrix_view<const In> b, matrix_view<Out> c,
         const matmul_epilogue<Out>& epilogue, const batch_strides& batch, cuda::stream_ref stream,
         const matmul_options& options) {
    if (const auto product = checked<In, Out>(a, b, c, epilogue, batch, options))
        run(*product, stream, options);
}

}  // namespace heddle::detail
