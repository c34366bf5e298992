#include "src/matrix_reduce/rungs.hpp"
#include "src/matrix_reduce/validate.hpp"
#include "src/workspace.hpp"
#include <heddle/matrix_reduce.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <cstdint>

#pragma GCC visibility push(default)

namespace heddle {
namespace {

using namespace kernels::matrix_reduce;

static_assert(max_tickets * sizeof(unsigned) == detail::workspace_ticket_bytes);

/// Reduces the rows of x, which is `given` or its transpose. Errors describe `given`, the caller's matrix.
template <class Operation, class T>
void run(const char* operation, const matrix_view<const T>& given, const matrix_view<const T>& x,
         const vector_view<result_type<Operation, T>>& y, std::int64_t divisor, cuda::stream_ref stream,
         const matrix_reduce_options& options) {
    const auto rungs = detail::matrix_reduce_rungs<Operation, T>();
    rungs.require_known(operation, {"options", "algorithm"}, options.algorithm);
    detail::validate_matrix_reduction(operation, given, x, y);
    detail::validate_workspace(operation, options.workspace,
                               {{"x", detail::footprint_of(x)}, {"y", detail::footprint_of(y)}});
    if (x.rows == 0) return;

    const matrix_view<const T> rows = normalised(x);
    const detail::stream_device device(stream);
    const auto [chosen, workspace] =
        detail::plan_with_workspace(operation, options, stream, [&](bool has_scratch) {
            matrix_facts facts(row_problem(x));
            facts.has_scratch = has_scratch;
            return rungs.choose(operation, options.algorithm, facts, device.traits());
        });
    chosen.rung->launch(chosen.plan,
                        {rows, y, static_cast<float>(divisor), workspace.tickets(), workspace.scratch()},
                        stream.get());
}

std::int64_t variance_divisor(const char* operation, std::int64_t length, std::int64_t correction) {
    detail::require(correction >= 0, operation, {"options", "correction"}, correction, "zero or more");
    return std::max<std::int64_t>(length - correction, 0);
}

}  // namespace

template <class T>
void row_sum(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
             const matrix_reduce_options& options) {
    run<sum>("row_sum", x, x, y, 1, stream, options);
}

template <class T>
void row_mean(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
              const matrix_reduce_options& options) {
    run<sum>("row_mean", x, x, y, x.cols, stream, options);
}

template <class T>
void row_min(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y, cuda::stream_ref stream,
             const matrix_reduce_options& options) {
    run<min>("row_min", x, x, y, 1, stream, options);
}

template <class T>
void row_max(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y, cuda::stream_ref stream,
             const matrix_reduce_options& options) {
    run<max>("row_max", x, x, y, 1, stream, options);
}

template <class T>
void row_argmax(matrix_view<const T> x, vector_view<std::int64_t> y, cuda::stream_ref stream,
                const matrix_reduce_options& options) {
    run<argmax>("row_argmax", x, x, y, 1, stream, options);
}

template <class T>
void row_variance(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
                  const matrix_reduce_options& options) {
    run<variance>("row_variance", x, x, y, variance_divisor("row_variance", x.cols, options.correction),
                  stream, options);
}

template <class T>
void column_sum(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
                const matrix_reduce_options& options) {
    run<sum>("column_sum", x, transposed(x), y, 1, stream, options);
}

template <class T>
void column_mean(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
                 const matrix_reduce_options& options) {
    run<sum>("column_mean", x, transposed(x), y, x.rows, stream, options);
}

template <class T>
void column_min(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y, cuda::stream_ref stream,
                const matrix_reduce_options& options) {
    run<min>("column_min", x, transposed(x), y, 1, stream, options);
}

template <class T>
void column_max(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y, cuda::stream_ref stream,
                const matrix_reduce_options& options) {
    run<max>("column_max", x, transposed(x), y, 1, stream, options);
}

template <class T>
void column_argmax(matrix_view<const T> x, vector_view<std::int64_t> y, cuda::stream_ref stream,
                   const matrix_reduce_options& options) {
    run<argmax>("column_argmax", x, transposed(x), y, 1, stream, options);
}

template <class T>
void column_variance(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
                     const matrix_reduce_options& options) {
    run<variance>("column_variance", x, transposed(x), y,
                  variance_divisor("column_variance", x.rows, options.correction), stream, options);
}

#define INSTANTIATE_ALONG(T, direction)                                                                    \
    template void direction##_sum<T>(matrix_view<const T>, vector_view<float>, cuda::stream_ref,           \
                                     const matrix_reduce_options&);                                        \
    template void direction##_mean<T>(matrix_view<const T>, vector_view<float>, cuda::stream_ref,          \
                                      const matrix_reduce_options&);                                       \
    template void direction##_min<T>(matrix_view<const T>, vector_view<T>, cuda::stream_ref,               \
                                     const matrix_reduce_options&);                                        \
    template void direction##_max<T>(matrix_view<const T>, vector_view<T>, cuda::stream_ref,               \
                                     const matrix_reduce_options&);                                        \
    template void direction##_argmax<T>(matrix_view<const T>, vector_view<std::int64_t>, cuda::stream_ref, \
                                        const matrix_reduce_options&);                                     \
    template void direction##_variance<T>(matrix_view<const T>, vector_view<float>, cuda::stream_ref,      \
                                          const matrix_reduce_options&);
HEDDLE_ELEMENT_TYPES(INSTANTIATE_ALONG, row)
HEDDLE_ELEMENT_TYPES(INSTANTIATE_ALONG, column)
#undef INSTANTIATE_ALONG

}  // namespace heddle

#pragma GCC visibility pop
