#include "src/scan/rungs.hpp"
#include "src/scan/validate.hpp"
#include "src/workspace.hpp"
#include <heddle/scan.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

namespace heddle {
namespace {

/// The problem of a call, after all checks; without elements, after those of sizes and strides alone.
template <class T>
scan_problem validated(const char* operation, const vector_view<const T>& x, const vector_view<T>& y,
                       const scan_options& options, bool have_elements = true) {
    detail::validate_scan(operation, x, y, have_elements);
    return {layout_of(x), layout_of(y), detail::has_scratch(options)};
}

template <class T>
void run(const char* operation, kernels::scan::kind kind, vector_view<const T> x, vector_view<T> y,
         cuda::stream_ref stream, const scan_options& options) {
    const auto rungs = detail::scan_rungs<T>();
    rungs.require_known(operation, {"options", "algorithm"}, options.algorithm);
    kernels::scan::scan_facts facts(validated(operation, x, y, options));
    detail::validate_workspace(operation, options.workspace,
                               {{"x", detail::footprint_of(x)}, {"y", detail::footprint_of(y)}});
    if (x.size == 0) return;
    if (x.size == 1) x.stride = y.stride = 1;

    const detail::stream_device device(stream);
    const auto [chosen, workspace] =
        detail::plan_with_workspace(operation, options, stream, [&](bool has_scratch) {
            facts.has_scratch = has_scratch;
            return rungs.choose(operation, options.algorithm, facts, device.traits());
        });
    chosen.rung->launch(chosen.plan, {x, y, kind, workspace.tickets(), workspace.scratch()}, stream.get());
}

}  // namespace

template <class T>
scan_problem scan_problem_of(vector_view<const std::type_identity_t<T>> x, vector_view<T> y,
                             const scan_options& options) {
    constexpr bool have_elements = false;
    return validated<T>("scan_problem_of", x, y, options, have_elements);
}

template <class T>
void inclusive_scan(vector_view<const std::type_identity_t<T>> x, vector_view<T> y, cuda::stream_ref stream,
                    const scan_options& options) {
    run<T>("inclusive_scan", kernels::scan::kind::inclusive, x, y, stream, options);
}

template <class T>
void exclusive_scan(vector_view<const std::type_identity_t<T>> x, vector_view<T> y, cuda::stream_ref stream,
                    const scan_options& options) {
    run<T>("exclusive_scan", kernels::scan::kind::exclusive, x, y, stream, options);
}

#define INSTANTIATE(T)                                                                                   \
    template scan_problem scan_problem_of<T>(vector_view<const T>, vector_view<T>, const scan_options&); \
    template void inclusive_scan<T>(vector_view<const T>, vector_view<T>, cuda::stream_ref,              \
                                    const scan_options&);                                                \
    template void exclusive_scan<T>(vector_view<const T>, vector_view<T>, cuda::stream_ref,              \
                                    const scan_options&);
HEDDLE_WIDE_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle

#pragma GCC visibility pop
