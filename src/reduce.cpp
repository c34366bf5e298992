#include "src/reduce.hpp"

#include "kernels/reduce/launch.hpp"
#include "src/workspace.hpp"
#include <heddle/error.hpp>
#include <heddle/reduce.hpp>
#include <heddle/workspace.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace heddle {
namespace {

namespace rungs = kernels::reduce;

constexpr std::array algorithms = {reduce_algorithm::interleaved,       reduce_algorithm::sequential,
                                   reduce_algorithm::first_add_on_load, reduce_algorithm::warp_shuffle,
                                   reduce_algorithm::vectorized,        reduce_algorithm::single_pass};

constexpr std::size_t max_element_bytes = 8;
constexpr std::int64_t max_partial_bytes = 8;

void require_known(const char* operation, reduce_algorithm algorithm) {
    const bool is_known = algorithm == reduce_algorithm::automatic ||
                          std::ranges::find(algorithms, algorithm) != algorithms.end();
    detail::require(is_known, operation, {"options", "algorithm"}, static_cast<int>(algorithm),
                    "an enumerator of reduce_algorithm");
}

void require_valid(const char* operation, const reduce_problem& problem) {
    detail::require(problem.size >= 0, operation, {"problem", "size"}, problem.size, "zero or more");
    detail::require(problem.element_bytes >= 1 && problem.element_bytes <= max_element_bytes, operation,
                    {"problem", "element_bytes"}, problem.element_bytes, "1 to {}", max_element_bytes);
}

rungs::plan plan_of(const reduce_problem& problem, const device_traits& device, reduce_algorithm algorithm) {
    switch (algorithm) {
        case reduce_algorithm::automatic:
            return plan_of(problem, device, select(problem, device));
        case reduce_algorithm::interleaved:
            return rungs::plan_interleaved(problem, device);
        case reduce_algorithm::sequential:
            return rungs::plan_sequential(problem, device);
        case reduce_algorithm::first_add_on_load:
            return rungs::plan_first_add_on_load(problem, device);
        case reduce_algorithm::warp_shuffle:
            return rungs::plan_warp_shuffle(problem, device);
        case reduce_algorithm::vectorized:
            return rungs::plan_vectorized(problem, device);
        case reduce_algorithm::single_pass:
            return rungs::plan_single_pass(problem, device);
    }
    return {};
}

template <class Operation, class T>
void launch(const rungs::arguments<Operation, T>& arguments, const device_traits& device, cudaStream_t stream,
            reduce_algorithm algorithm) {
    switch (algorithm) {
        case reduce_algorithm::automatic:
            break;  // select() never answers it
        case reduce_algorithm::interleaved:
            return rungs::launch_interleaved(arguments, device, stream);
        case reduce_algorithm::sequential:
            return rungs::launch_sequential(arguments, device, stream);
        case reduce_algorithm::first_add_on_load:
            return rungs::launch_first_add_on_load(arguments, device, stream);
        case reduce_algorithm::warp_shuffle:
            return rungs::launch_warp_shuffle(arguments, device, stream);
        case reduce_algorithm::vectorized:
            return rungs::launch_vectorized(arguments, device, stream);
        case reduce_algorithm::single_pass:
            return rungs::launch_single_pass(arguments, device, stream);
    }
}

template <class Operation, class T>
void run(const char* operation, vector_view<const T> x, rungs::result_type<Operation, T>* result,
         cuda::stream_ref stream, const reduce_options& options) {
    using result_type = rungs::result_type<Operation, T>;
    require_known(operation, options.algorithm);
    detail::validate(operation, "x", x);
    detail::validate_result(operation, result, x);
    const std::span<std::byte> given = options.workspace;
    detail::validate_workspace(
        operation, given,
        {{"x", detail::footprint_of(x)}, {"result", detail::footprint_of(result, sizeof(*result))}});

    if (x.size <= 1) x.stride = 1;
    if (options.algorithm == reduce_algorithm::vectorized && x.stride != 1)
        throw unsupported(fmt::format("{}: vectorized needs x.stride 1, not {}", operation, x.stride));

    const reduce_problem problem{x.size, x.stride, sizeof(T)};
    const device_traits& device = traits_of(current_device());
    const reduce_algorithm algorithm =
        options.algorithm == reduce_algorithm::automatic ? select(problem, device) : options.algorithm;
    const std::int64_t bytes = reduce_workspace_bytes(problem, device, algorithm);
    detail::validate_workspace_size(operation, given, bytes);

    workspace own(given.empty() ? bytes : 0, stream);
    rungs::arguments<Operation, T> arguments{.x = x, .result = result};
    if (bytes > 0) {
        std::byte* data = given.empty() ? own.data() : given.data();
        arguments.ticket = reinterpret_cast<unsigned*>(data);
        arguments.partials = reinterpret_cast<result_type*>(data + detail::workspace_ticket_bytes);
    }
    launch(arguments, device, stream.get(), algorithm);
}

}  // namespace

std::span<const reduce_algorithm> reduce_algorithms() {
    return algorithms;
}

std::string_view to_string(reduce_algorithm algorithm) {
    switch (algorithm) {
        case reduce_algorithm::automatic:
            return "automatic";
        case reduce_algorithm::interleaved:
            return "interleaved";
        case reduce_algorithm::sequential:
            return "sequential";
        case reduce_algorithm::first_add_on_load:
            return "first_add_on_load";
        case reduce_algorithm::warp_shuffle:
            return "warp_shuffle";
        case reduce_algorithm::vectorized:
            return "vectorized";
        case reduce_algorithm::single_pass:
            return "single_pass";
    }
    return "unknown";
}

/// One launch beats two at every size, and any stride will do.
reduce_algorithm select(const reduce_problem&, const device_traits&) {
    return reduce_algorithm::single_pass;
}

std::int64_t reduce_workspace_bytes(const reduce_problem& problem, const device_traits& device,
                                    reduce_algorithm algorithm) {
    require_known("reduce_workspace_bytes", algorithm);
    require_valid("reduce_workspace_bytes", problem);
    const std::int64_t partials = plan_of(problem, device, algorithm).partials;
    return partials == 0 ? 0 : detail::workspace_ticket_bytes + partials * max_partial_bytes;
}

std::int64_t reduce_depth(const reduce_problem& problem, const device_traits& device,
                          reduce_algorithm algorithm) {
    require_known("reduce_depth", algorithm);
    require_valid("reduce_depth", problem);
    return plan_of(problem, device, algorithm).depth;
}

template <class T>
void sum(vector_view<const T> x, std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream,
         const reduce_options& options) {
    run<rungs::sum>("sum", x, result, stream, options);
}

template <class T>
void min(vector_view<const T> x, std::type_identity_t<T>* result, cuda::stream_ref stream,
         const reduce_options& options) {
    run<rungs::min>("min", x, result, stream, options);
}

template <class T>
void max(vector_view<const T> x, std::type_identity_t<T>* result, cuda::stream_ref stream,
         const reduce_options& options) {
    run<rungs::max>("max", x, result, stream, options);
}

template void sum<double>(vector_view<const double>, double*, cuda::stream_ref, const reduce_options&);
template void min<double>(vector_view<const double>, double*, cuda::stream_ref, const reduce_options&);
template void max<double>(vector_view<const double>, double*, cuda::stream_ref, const reduce_options&);
template void sum<float>(vector_view<const float>, float*, cuda::stream_ref, const reduce_options&);
template void min<float>(vector_view<const float>, float*, cuda::stream_ref, const reduce_options&);
template void max<float>(vector_view<const float>, float*, cuda::stream_ref, const reduce_options&);
template void sum<half>(vector_view<const half>, float*, cuda::stream_ref, const reduce_options&);
template void min<half>(vector_view<const half>, half*, cuda::stream_ref, const reduce_options&);
template void max<half>(vector_view<const half>, half*, cuda::stream_ref, const reduce_options&);
template void sum<bfloat16>(vector_view<const bfloat16>, float*, cuda::stream_ref, const reduce_options&);
template void min<bfloat16>(vector_view<const bfloat16>, bfloat16*, cuda::stream_ref, const reduce_options&);
template void max<bfloat16>(vector_view<const bfloat16>, bfloat16*, cuda::stream_ref, const reduce_options&);
template void sum<std::int32_t>(vector_view<const std::int32_t>, std::int64_t*, cuda::stream_ref,
                                const reduce_options&);
template void min<std::int32_t>(vector_view<const std::int32_t>, std::int32_t*, cuda::stream_ref,
                                const reduce_options&);
template void max<std::int32_t>(vector_view<const std::int32_t>, std::int32_t*, cuda::stream_ref,
                                const reduce_options&);
template void sum<std::int64_t>(vector_view<const std::int64_t>, std::int64_t*, cuda::stream_ref,
                                const reduce_options&);
template void min<std::int64_t>(vector_view<const std::int64_t>, std::int64_t*, cuda::stream_ref,
                                const reduce_options&);
template void max<std::int64_t>(vector_view<const std::int64_t>, std::int64_t*, cuda::stream_ref,
                                const reduce_options&);

}  // namespace heddle
