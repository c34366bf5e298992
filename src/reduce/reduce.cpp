#include "src/reduce/rungs.hpp"
#include "src/reduce/validate.hpp"
#include "src/workspace.hpp"
#include <heddle/reduce.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {
namespace {

namespace kernel = kernels::reduce;

static_assert(kernel::ticket_bytes == detail::workspace_ticket_bytes);

template <class T>
reduce_problem described(const vector_view<const T>& x, const vector_view<const T>& y,
                         const reduce_options& options) {
    return {layout_of(x), y.size > 0 ? layout_of(y) : vector_layout{}, detail::has_scratch(options)};
}

/// Only dot has y; it is empty for other operations.
template <class Operation, class T>
void run(reduce_operation which, vector_view<const T> x, vector_view<const T> y,
         kernel::result_type<Operation, T>* result, cuda::stream_ref stream, const reduce_options& options) {
    const char* operation = to_string(which).data();
    detail::require_rung(which, options.algorithm);
    if constexpr (std::is_same_v<Operation, kernel::dot>)
        detail::validate_pair(operation, x, y);
    else
        detail::validate(operation, "x", x);
    detail::validate_result(operation, result, "x", x);
    if (y.size > 0) detail::validate_result(operation, result, "y", y);
    detail::validate_workspace(operation, options.workspace,
                               {{"x", detail::footprint_of(x)},
                                {"y", detail::footprint_of(y)},
                                {"result", detail::footprint_of(result, 1, {})}});
    if (x.size <= 1) x.stride = y.stride = 1;

    const detail::stream_device device(stream);
    const auto [chosen, workspace] =
        detail::plan_with_workspace(operation, options, stream, [&](bool has_scratch) {
            kernel::reduce_facts facts(described(x, y, options));
            facts.has_scratch = has_scratch;
            return detail::reduce_rungs<Operation, T>().choose(operation, options.algorithm, facts,
                                                               device.traits());
        });
    chosen.rung->launch(chosen.plan, {x, y, result, workspace.tickets(), workspace.scratch()}, stream.get());
}

}  // namespace

template <class T>
reduce_problem reduce_problem_of(vector_view<const T> x, const reduce_options& options) {
    constexpr bool have_elements = false;
    detail::validate("reduce_problem_of", "x", x, have_elements);
    return described<T>(x, {}, options);
}

template <class T>
reduce_problem reduce_problem_of(vector_view<const T> x, vector_view<const std::type_identity_t<T>> y,
                                 const reduce_options& options) {
    constexpr bool have_elements = false;
    detail::validate_pair("reduce_problem_of", x, y, have_elements);
    return described<T>(x, y, options);
}

template <class T>
void sum(vector_view<const T> x, std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream,
         const reduce_options& options) {
    run<kernel::sum, T>(reduce_operation::sum, x, {}, result, stream, options);
}

template <class T>
void mean(vector_view<const T> x, std::type_identity_t<mean_type<T>>* result, cuda::stream_ref stream,
          const reduce_options& options) {
    run<kernel::mean, T>(reduce_operation::mean, x, {}, result, stream, options);
}

template <class T>
void min(vector_view<const T> x, std::type_identity_t<T>* result, cuda::stream_ref stream,
         const reduce_options& options) {
    run<kernel::min, T>(reduce_operation::min, x, {}, result, stream, options);
}

template <class T>
void max(vector_view<const T> x, std::type_identity_t<T>* result, cuda::stream_ref stream,
         const reduce_options& options) {
    run<kernel::max, T>(reduce_operation::max, x, {}, result, stream, options);
}

template <class T>
void argmin(vector_view<const T> x, std::int64_t* result, cuda::stream_ref stream,
            const reduce_options& options) {
    run<kernel::argmin, T>(reduce_operation::argmin, x, {}, result, stream, options);
}

template <class T>
void argmax(vector_view<const T> x, std::int64_t* result, cuda::stream_ref stream,
            const reduce_options& options) {
    run<kernel::argmax, T>(reduce_operation::argmax, x, {}, result, stream, options);
}

template <class T>
void norm1(vector_view<const T> x, std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream,
           const reduce_options& options) {
    run<kernel::norm1, T>(reduce_operation::norm1, x, {}, result, stream, options);
}

template <class T>
void norm2(vector_view<const T> x, std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream,
           const reduce_options& options) {
    run<kernel::norm2, T>(reduce_operation::norm2, x, {}, result, stream, options);
}

template <class T>
void count_nonzero(vector_view<const T> x, std::int64_t* result, cuda::stream_ref stream,
                   const reduce_options& options) {
    run<kernel::count_nonzero, T>(reduce_operation::count_nonzero, x, {}, result, stream, options);
}

template <class T>
void dot(vector_view<const T> x, vector_view<const std::type_identity_t<T>> y,
         std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream, const reduce_options& options) {
    run<kernel::dot, T>(reduce_operation::dot, x, y, result, stream, options);
}

#define INSTANTIATE(T)                                                                                     \
    template reduce_problem reduce_problem_of(vector_view<const T>, const reduce_options&);                \
    template reduce_problem reduce_problem_of<T>(vector_view<const T>, vector_view<const T>,               \
                                                 const reduce_options&);                                   \
    template void sum<T>(vector_view<const T>, sum_type<T>*, cuda::stream_ref, const reduce_options&);     \
    template void mean<T>(vector_view<const T>, mean_type<T>*, cuda::stream_ref, const reduce_options&);   \
    template void min<T>(vector_view<const T>, T*, cuda::stream_ref, const reduce_options&);               \
    template void max<T>(vector_view<const T>, T*, cuda::stream_ref, const reduce_options&);               \
    template void argmin<T>(vector_view<const T>, std::int64_t*, cuda::stream_ref, const reduce_options&); \
    template void argmax<T>(vector_view<const T>, std::int64_t*, cuda::stream_ref, const reduce_options&); \
    template void dot<T>(vector_view<const T>, vector_view<const T>, sum_type<T>*, cuda::stream_ref,       \
                         const reduce_options&);                                                           \
    template void norm1<T>(vector_view<const T>, sum_type<T>*, cuda::stream_ref, const reduce_options&);   \
    template void count_nonzero<T>(vector_view<const T>, std::int64_t*, cuda::stream_ref,                  \
                                   const reduce_options&);
HEDDLE_NUMBER_TYPES(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE_NORM2(T) \
    template void norm2<T>(vector_view<const T>, sum_type<T>*, cuda::stream_ref, const reduce_options&);
HEDDLE_FLOATING_TYPES(INSTANTIATE_NORM2)
#undef INSTANTIATE_NORM2

}  // namespace heddle

#pragma GCC visibility pop
