#include "src/matrix_reduce.hpp"

#include "kernels/matrix_reduce/launch.hpp"
#include "src/format.hpp"
#include "src/workspace.hpp"
#include <heddle/error.hpp>
#include <heddle/matrix_reduce.hpp>
#include <heddle/stream.hpp>
#include <heddle/workspace.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <type_traits>

namespace heddle {
namespace {

namespace rungs = kernels::matrix_reduce;

constexpr std::array algorithms = {matrix_reduce_algorithm::naive, matrix_reduce_algorithm::coalesced,
                                   matrix_reduce_algorithm::vectorized};

void require_known(const char* operation, matrix_reduce_algorithm algorithm) {
    const bool is_known = algorithm == matrix_reduce_algorithm::automatic ||
                          std::ranges::find(algorithms, algorithm) != algorithms.end();
    detail::require(is_known, operation, {"options", "algorithm"}, static_cast<int>(algorithm),
                    "an enumerator of matrix_reduce_algorithm");
}

void require_valid(const char* operation, const matrix_reduce_problem& problem, const device_traits& device) {
    detail::validate_device(operation, device);
    detail::validate_extents(operation, {{"rows", problem.rows}, {"cols", problem.cols}});
    detail::require(problem.element_bytes == 2 || problem.element_bytes == 4, operation,
                    {"problem", "element_bytes"}, problem.element_bytes, "2 or 4");
}

/// Strides that nothing uses become those of a dense matrix. `shape` is a view or a problem.
template <class Shape>
Shape normalised(Shape shape) {
    if (shape.cols <= 1) shape.col_stride = 1;
    if (shape.rows <= 1) shape.row_stride = shape.col_stride == 1 ? shape.cols : 1;
    return shape;
}

rungs::plan plan_of(const matrix_reduce_problem& problem, const device_traits& device,
                    matrix_reduce_algorithm algorithm) {
    if (problem.rows == 0) return {};
    switch (algorithm) {
        case matrix_reduce_algorithm::automatic:
            return plan_of(problem, device, select(problem, device));
        case matrix_reduce_algorithm::naive:
            return rungs::plan_naive(problem, device);
        case matrix_reduce_algorithm::coalesced:
            return rungs::plan_coalesced(problem, device);
        case matrix_reduce_algorithm::vectorized:
            return rungs::is_across_rows(problem) ? rungs::plan_vectorized_columns(problem, device)
                                                  : rungs::plan_vectorized_rows(problem, device);
    }
    return {};
}

template <class Operation, class T>
void launch(const rungs::arguments<Operation, T>& arguments, const device_traits& device, cudaStream_t stream,
            matrix_reduce_algorithm algorithm) {
    switch (algorithm) {
        case matrix_reduce_algorithm::automatic:
            break;  // select() never answers it
        case matrix_reduce_algorithm::naive:
            return rungs::launch_naive(arguments, device, stream);
        case matrix_reduce_algorithm::coalesced:
            return rungs::launch_coalesced(arguments, device, stream);
        case matrix_reduce_algorithm::vectorized:
            return rungs::is_across_rows(arguments.x)
                       ? rungs::launch_vectorized_columns(arguments, device, stream)
                       : rungs::launch_vectorized_rows(arguments, device, stream);
    }
}

/// Reduces the rows of x; `given` names it in errors as the caller gave it.
template <class Operation, class T>
void run(const char* operation, const matrix_view<const T>& given, matrix_view<const T> x,
         const vector_view<rungs::result_type<Operation, T>>& y, std::int64_t divisor,
         cuda::stream_ref stream, const matrix_reduce_options& options) {
    require_known(operation, options.algorithm);
    detail::validate_matrix_reduction(operation, given, x, y);
    const std::span<std::byte> scratch = options.workspace;
    detail::validate_workspace(operation, scratch,
                               {{"x", detail::footprint_of(x)}, {"y", detail::footprint_of(y)}});

    x = normalised(x);
    const bool is_vectorized = options.algorithm == matrix_reduce_algorithm::vectorized;
    if (is_vectorized && x.row_stride != 1 && x.col_stride != 1)
        throw unsupported(
            detail::format("{}: vectorized needs a stride of 1, x.row_stride is {} and x.col_stride {}",
                           operation, given.row_stride, given.col_stride));
    if (x.rows == 0) return;

    const matrix_reduce_problem problem = row_problem(x);
    const detail::stream_device call_device(stream);
    const device_traits& device = call_device.traits();
    const matrix_reduce_algorithm algorithm =
        options.algorithm == matrix_reduce_algorithm::automatic ? select(problem, device) : options.algorithm;
    const std::int64_t bytes = matrix_reduce_workspace_bytes(problem, device, algorithm);
    detail::validate_workspace_size(operation, scratch, bytes);

    workspace own(scratch.empty() ? bytes : 0, stream);
    rungs::arguments<Operation, T> arguments{.x = x, .y = y, .divisor = static_cast<float>(divisor)};
    if (bytes > 0) {
        std::byte* data = scratch.empty() ? own.data() : scratch.data();
        arguments.tickets = reinterpret_cast<unsigned*>(data);
        arguments.partials = data + detail::workspace_ticket_bytes;
    }
    launch(arguments, device, stream.get(), algorithm);
}

static_assert(rungs::max_tickets * sizeof(unsigned) == detail::workspace_ticket_bytes);

std::int64_t variance_divisor(const char* operation, std::int64_t length, std::int64_t correction) {
    detail::require(correction >= 0, operation, {"options", "correction"}, correction, "zero or more");
    return std::max<std::int64_t>(length - correction, 0);
}

}  // namespace

std::span<const matrix_reduce_algorithm> matrix_reduce_algorithms() {
    return algorithms;
}

std::string_view to_string(matrix_reduce_algorithm algorithm) {
    switch (algorithm) {
        case matrix_reduce_algorithm::automatic:
            return "automatic";
        case matrix_reduce_algorithm::naive:
            return "naive";
        case matrix_reduce_algorithm::coalesced:
            return "coalesced";
        case matrix_reduce_algorithm::vectorized:
            return "vectorized";
    }
    return "unknown";
}

/// Packets need elements side by side, in a row or from row to row.
matrix_reduce_algorithm select(const matrix_reduce_problem& given, const device_traits& device) {
    require_valid("select", given, device);
    const matrix_reduce_problem problem = normalised(given);
    return problem.row_stride == 1 || problem.col_stride == 1 ? matrix_reduce_algorithm::vectorized
                                                              : matrix_reduce_algorithm::coalesced;
}

std::int64_t matrix_reduce_workspace_bytes(const matrix_reduce_problem& problem, const device_traits& device,
                                           matrix_reduce_algorithm algorithm) {
    require_known("matrix_reduce_workspace_bytes", algorithm);
    require_valid("matrix_reduce_workspace_bytes", problem, device);
    const std::int64_t partials = plan_of(normalised(problem), device, algorithm).partials;
    return partials == 0 ? 0 : detail::workspace_ticket_bytes + partials * rungs::max_state_bytes;
}

std::int64_t matrix_reduce_depth(const matrix_reduce_problem& problem, const device_traits& device,
                                 matrix_reduce_algorithm algorithm) {
    require_known("matrix_reduce_depth", algorithm);
    require_valid("matrix_reduce_depth", problem, device);
    return plan_of(normalised(problem), device, algorithm).depth;
}

template <class T>
void row_sum(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
             const matrix_reduce_options& options) {
    run<rungs::sum>("row_sum", x, x, y, 1, stream, options);
}

template <class T>
void row_mean(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
              const matrix_reduce_options& options) {
    run<rungs::sum>("row_mean", x, x, y, x.cols, stream, options);
}

template <class T>
void row_min(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y, cuda::stream_ref stream,
             const matrix_reduce_options& options) {
    run<rungs::min>("row_min", x, x, y, 1, stream, options);
}

template <class T>
void row_max(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y, cuda::stream_ref stream,
             const matrix_reduce_options& options) {
    run<rungs::max>("row_max", x, x, y, 1, stream, options);
}

template <class T>
void row_argmax(matrix_view<const T> x, vector_view<std::int64_t> y, cuda::stream_ref stream,
                const matrix_reduce_options& options) {
    run<rungs::argmax>("row_argmax", x, x, y, 1, stream, options);
}

template <class T>
void row_variance(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
                  const matrix_reduce_options& options) {
    run<rungs::variance>("row_variance", x, x, y,
                         variance_divisor("row_variance", x.cols, options.correction), stream, options);
}

template <class T>
void column_sum(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
                const matrix_reduce_options& options) {
    run<rungs::sum>("column_sum", x, transposed(x), y, 1, stream, options);
}

template <class T>
void column_mean(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
                 const matrix_reduce_options& options) {
    run<rungs::sum>("column_mean", x, transposed(x), y, x.rows, stream, options);
}

template <class T>
void column_min(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y, cuda::stream_ref stream,
                const matrix_reduce_options& options) {
    run<rungs::min>("column_min", x, transposed(x), y, 1, stream, options);
}

template <class T>
void column_max(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y, cuda::stream_ref stream,
                const matrix_reduce_options& options) {
    run<rungs::max>("column_max", x, transposed(x), y, 1, stream, options);
}

template <class T>
void column_argmax(matrix_view<const T> x, vector_view<std::int64_t> y, cuda::stream_ref stream,
                   const matrix_reduce_options& options) {
    run<rungs::argmax>("column_argmax", x, transposed(x), y, 1, stream, options);
}

template <class T>
void column_variance(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
                     const matrix_reduce_options& options) {
    run<rungs::variance>("column_variance", x, transposed(x), y,
                         variance_divisor("column_variance", x.rows, options.correction), stream, options);
}

template void row_sum<float>(matrix_view<const float>, vector_view<float>, cuda::stream_ref,
                             const matrix_reduce_options&);
template void row_mean<float>(matrix_view<const float>, vector_view<float>, cuda::stream_ref,
                              const matrix_reduce_options&);
template void row_min<float>(matrix_view<const float>, vector_view<float>, cuda::stream_ref,
                             const matrix_reduce_options&);
template void row_max<float>(matrix_view<const float>, vector_view<float>, cuda::stream_ref,
                             const matrix_reduce_options&);
template void row_argmax<float>(matrix_view<const float>, vector_view<std::int64_t>, cuda::stream_ref,
                                const matrix_reduce_options&);
template void row_variance<float>(matrix_view<const float>, vector_view<float>, cuda::stream_ref,
                                  const matrix_reduce_options&);
template void column_sum<float>(matrix_view<const float>, vector_view<float>, cuda::stream_ref,
                                const matrix_reduce_options&);
template void column_mean<float>(matrix_view<const float>, vector_view<float>, cuda::stream_ref,
                                 const matrix_reduce_options&);
template void column_min<float>(matrix_view<const float>, vector_view<float>, cuda::stream_ref,
                                const matrix_reduce_options&);
template void column_max<float>(matrix_view<const float>, vector_view<float>, cuda::stream_ref,
                                const matrix_reduce_options&);
template void column_argmax<float>(matrix_view<const float>, vector_view<std::int64_t>, cuda::stream_ref,
                                   const matrix_reduce_options&);
template void column_variance<float>(matrix_view<const float>, vector_view<float>, cuda::stream_ref,
                                     const matrix_reduce_options&);
template void row_sum<half>(matrix_view<const half>, vector_view<float>, cuda::stream_ref,
                            const matrix_reduce_options&);
template void row_mean<half>(matrix_view<const half>, vector_view<float>, cuda::stream_ref,
                             const matrix_reduce_options&);
template void row_min<half>(matrix_view<const half>, vector_view<half>, cuda::stream_ref,
                            const matrix_reduce_options&);
template void row_max<half>(matrix_view<const half>, vector_view<half>, cuda::stream_ref,
                            const matrix_reduce_options&);
template void row_argmax<half>(matrix_view<const half>, vector_view<std::int64_t>, cuda::stream_ref,
                               const matrix_reduce_options&);
template void row_variance<half>(matrix_view<const half>, vector_view<float>, cuda::stream_ref,
                                 const matrix_reduce_options&);
template void column_sum<half>(matrix_view<const half>, vector_view<float>, cuda::stream_ref,
                               const matrix_reduce_options&);
template void column_mean<half>(matrix_view<const half>, vector_view<float>, cuda::stream_ref,
                                const matrix_reduce_options&);
template void column_min<half>(matrix_view<const half>, vector_view<half>, cuda::stream_ref,
                               const matrix_reduce_options&);
template void column_max<half>(matrix_view<const half>, vector_view<half>, cuda::stream_ref,
                               const matrix_reduce_options&);
template void column_argmax<half>(matrix_view<const half>, vector_view<std::int64_t>, cuda::stream_ref,
                                  const matrix_reduce_options&);
template void column_variance<half>(matrix_view<const half>, vector_view<float>, cuda::stream_ref,
                                    const matrix_reduce_options&);
template void row_sum<bfloat16>(matrix_view<const bfloat16>, vector_view<float>, cuda::stream_ref,
                                const matrix_reduce_options&);
template void row_mean<bfloat16>(matrix_view<const bfloat16>, vector_view<float>, cuda::stream_ref,
                                 const matrix_reduce_options&);
template void row_min<bfloat16>(matrix_view<const bfloat16>, vector_view<bfloat16>, cuda::stream_ref,
                                const matrix_reduce_options&);
template void row_max<bfloat16>(matrix_view<const bfloat16>, vector_view<bfloat16>, cuda::stream_ref,
                                const matrix_reduce_options&);
template void row_argmax<bfloat16>(matrix_view<const bfloat16>, vector_view<std::int64_t>, cuda::stream_ref,
                                   const matrix_reduce_options&);
template void row_variance<bfloat16>(matrix_view<const bfloat16>, vector_view<float>, cuda::stream_ref,
                                     const matrix_reduce_options&);
template void column_sum<bfloat16>(matrix_view<const bfloat16>, vector_view<float>, cuda::stream_ref,
                                   const matrix_reduce_options&);
template void column_mean<bfloat16>(matrix_view<const bfloat16>, vector_view<float>, cuda::stream_ref,
                                    const matrix_reduce_options&);
template void column_min<bfloat16>(matrix_view<const bfloat16>, vector_view<bfloat16>, cuda::stream_ref,
                                   const matrix_reduce_options&);
template void column_max<bfloat16>(matrix_view<const bfloat16>, vector_view<bfloat16>, cuda::stream_ref,
                                   const matrix_reduce_options&);
template void column_argmax<bfloat16>(matrix_view<const bfloat16>, vector_view<std::int64_t>,
                                      cuda::stream_ref, const matrix_reduce_options&);
template void column_variance<bfloat16>(matrix_view<const bfloat16>, vector_view<float>, cuda::stream_ref,
                                        const matrix_reduce_options&);

}  // namespace heddle
