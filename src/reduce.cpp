#include "src/reduce.hpp"

#include "kernels/reduce/launch.hpp"
#include "src/format.hpp"
#include "src/workspace.hpp"
#include <heddle/error.hpp>
#include <heddle/reduce.hpp>
#include <heddle/stream.hpp>
#include <heddle/workspace.hpp>

#include <algorithm>
#include <array>
#include <iterator>

namespace heddle {
namespace {

namespace rungs = kernels::reduce;

constexpr std::array algorithms = {reduce_algorithm::interleaved,       reduce_algorithm::sequential,
                                   reduce_algorithm::first_add_on_load, reduce_algorithm::warp_shuffle,
                                   reduce_algorithm::vectorized,        reduce_algorithm::single_pass};

constexpr std::array algorithms_of_all = {reduce_algorithm::warp_shuffle, reduce_algorithm::single_pass};

struct description {
    reduce_operation value;
    const char* name;
};

constexpr std::array descriptions = {
    description{reduce_operation::sum, "sum"},
    description{reduce_operation::mean, "mean"},
    description{reduce_operation::min, "min"},
    description{reduce_operation::max, "max"},
    description{reduce_operation::argmin, "argmin"},
    description{reduce_operation::argmax, "argmax"},
    description{reduce_operation::dot, "dot"},
    description{reduce_operation::norm1, "norm1"},
    description{reduce_operation::norm2, "norm2"},
    description{reduce_operation::count_nonzero, "count_nonzero"},
};

constexpr auto operations = [] {
    std::array<reduce_operation, descriptions.size()> values{};
    std::ranges::transform(descriptions, values.begin(), &description::value);
    return values;
}();

constexpr std::size_t max_element_bytes = 8;

void require_known(const char* operation, reduce_algorithm algorithm) {
    const bool is_known = algorithm == reduce_algorithm::automatic ||
                          std::ranges::find(algorithms, algorithm) != algorithms.end();
    detail::require(is_known, operation, {"options", "algorithm"}, static_cast<int>(algorithm),
                    "an enumerator of reduce_algorithm");
}

void require_valid(const char* operation, const reduce_problem& problem, const device_traits& device) {
    detail::validate_device(operation, device);
    detail::validate_extents(operation, {{"size", problem.size}});
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
    if (algorithm == reduce_algorithm::single_pass)
        return rungs::launch_single_pass(arguments, device, stream);
    if (algorithm == reduce_algorithm::warp_shuffle)
        return rungs::launch_warp_shuffle(arguments, device, stream);
    if constexpr (rungs::is_on_all_rungs<Operation>) {
        if (algorithm == reduce_algorithm::interleaved)
            return rungs::launch_interleaved(arguments, device, stream);
        if (algorithm == reduce_algorithm::sequential)
            return rungs::launch_sequential(arguments, device, stream);
        if (algorithm == reduce_algorithm::first_add_on_load)
            return rungs::launch_first_add_on_load(arguments, device, stream);
        if (algorithm == reduce_algorithm::vectorized)
            return rungs::launch_vectorized(arguments, device, stream);
    }
}

void require_supported(reduce_operation operation, reduce_algorithm algorithm, std::int64_t stride) {
    if (algorithm == reduce_algorithm::automatic) return;
    const auto has = reduce_algorithms(operation);
    if (std::ranges::find(has, algorithm) == has.end())
        throw unsupported(detail::format("{}: {} is a rung of sum, min and max alone", to_string(operation),
                                         to_string(algorithm)));
    if (algorithm == reduce_algorithm::vectorized && stride != 1)
        throw unsupported(
            detail::format("{}: vectorized needs x.stride 1, not {}", to_string(operation), stride));
}

/// y is dot's alone.
template <class Operation, class T>
void run(reduce_operation which, vector_view<const T> x, vector_view<const T> y,
         rungs::result_type<Operation, T>* result, cuda::stream_ref stream, const reduce_options& options) {
    const char* operation = to_string(which).data();
    require_known(operation, options.algorithm);
    if constexpr (std::is_same_v<Operation, rungs::dot>)
        detail::validate_pair(operation, x, y);
    else
        detail::validate(operation, "x", x);
    detail::validate_result(operation, result, "x", x);
    if (y.size > 0) detail::validate_result(operation, result, "y", y);
    const std::span<std::byte> given = options.workspace;
    detail::validate_workspace(operation, given,
                               {{"x", detail::footprint_of(x)},
                                {"y", detail::footprint_of(y)},
                                {"result", detail::footprint_of(result, sizeof(*result))}});

    if (x.size <= 1) x.stride = y.stride = 1;
    require_supported(which, options.algorithm, x.stride);

    const reduce_problem problem{x.size, std::max(x.stride, y.stride), sizeof(T)};
    const detail::stream_device call_device(stream);
    const device_traits& device = call_device.traits();
    const reduce_algorithm algorithm =
        options.algorithm == reduce_algorithm::automatic ? select(problem, device) : options.algorithm;
    const std::int64_t bytes = reduce_workspace_bytes(problem, device, algorithm);
    detail::validate_workspace_size(operation, given, bytes);

    workspace own(given.empty() ? bytes : 0, stream);
    rungs::arguments<Operation, T> arguments{.x = x, .y = y, .result = result};
    if (bytes > 0) {
        std::byte* data = given.empty() ? own.data() : given.data();
        arguments.ticket = reinterpret_cast<unsigned*>(data);
        arguments.partials = data + detail::workspace_ticket_bytes;
    }
    launch(arguments, device, stream.get(), algorithm);
}

static_assert(rungs::ticket_bytes == detail::workspace_ticket_bytes);

}  // namespace

std::span<const reduce_algorithm> reduce_algorithms() {
    return algorithms;
}

std::span<const reduce_algorithm> reduce_algorithms(reduce_operation operation) {
    const bool is_on_all_rungs = operation == reduce_operation::sum || operation == reduce_operation::min ||
                                 operation == reduce_operation::max;
    if (is_on_all_rungs) return algorithms;
    return algorithms_of_all;
}

std::span<const reduce_operation> reduce_operations() {
    return operations;
}

std::string_view to_string(reduce_operation operation) {
    const auto found = std::ranges::find(descriptions, operation, &description::value);
    return found == descriptions.end() ? "unknown" : found->name;
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
reduce_algorithm select(const reduce_problem& problem, const device_traits& device) {
    require_valid("select", problem, device);
    return reduce_algorithm::single_pass;
}

std::int64_t reduce_workspace_bytes(const reduce_problem& problem, const device_traits& device,
                                    reduce_algorithm algorithm) {
    require_known("reduce_workspace_bytes", algorithm);
    require_valid("reduce_workspace_bytes", problem, device);
    const std::int64_t partials = plan_of(problem, device, algorithm).partials;
    return partials == 0 ? 0 : detail::workspace_ticket_bytes + partials * rungs::max_state_bytes;
}

std::int64_t reduce_depth(const reduce_problem& problem, const device_traits& device,
                          reduce_algorithm algorithm) {
    require_known("reduce_depth", algorithm);
    require_valid("reduce_depth", problem, device);
    return plan_of(problem, device, algorithm).depth;
}

template <class T>
void sum(vector_view<const T> x, std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream,
         const reduce_options& options) {
    run<rungs::sum, T>(reduce_operation::sum, x, {}, result, stream, options);
}

template <class T>
void mean(vector_view<const T> x, std::type_identity_t<mean_type<T>>* result, cuda::stream_ref stream,
          const reduce_options& options) {
    run<rungs::mean, T>(reduce_operation::mean, x, {}, result, stream, options);
}

template <class T>
void min(vector_view<const T> x, std::type_identity_t<T>* result, cuda::stream_ref stream,
         const reduce_options& options) {
    run<rungs::min, T>(reduce_operation::min, x, {}, result, stream, options);
}

template <class T>
void max(vector_view<const T> x, std::type_identity_t<T>* result, cuda::stream_ref stream,
         const reduce_options& options) {
    run<rungs::max, T>(reduce_operation::max, x, {}, result, stream, options);
}

template <class T>
void argmin(vector_view<const T> x, std::int64_t* result, cuda::stream_ref stream,
            const reduce_options& options) {
    run<rungs::argmin, T>(reduce_operation::argmin, x, {}, result, stream, options);
}

template <class T>
void argmax(vector_view<const T> x, std::int64_t* result, cuda::stream_ref stream,
            const reduce_options& options) {
    run<rungs::argmax, T>(reduce_operation::argmax, x, {}, result, stream, options);
}

template <class T>
void norm1(vector_view<const T> x, std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream,
           const reduce_options& options) {
    run<rungs::norm1, T>(reduce_operation::norm1, x, {}, result, stream, options);
}

template <class T>
void norm2(vector_view<const T> x, std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream,
           const reduce_options& options) {
    run<rungs::norm2, T>(reduce_operation::norm2, x, {}, result, stream, options);
}

template <class T>
void count_nonzero(vector_view<const T> x, std::int64_t* result, cuda::stream_ref stream,
                   const reduce_options& options) {
    run<rungs::count_nonzero, T>(reduce_operation::count_nonzero, x, {}, result, stream, options);
}

template <class T>
void dot(vector_view<const T> x, vector_view<const std::type_identity_t<T>> y,
         std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream, const reduce_options& options) {
    run<rungs::dot, T>(reduce_operation::dot, x, y, result, stream, options);
}

template void sum<double>(vector_view<const double>, double*, cuda::stream_ref, const reduce_options&);
template void mean<double>(vector_view<const double>, double*, cuda::stream_ref, const reduce_options&);
template void min<double>(vector_view<const double>, double*, cuda::stream_ref, const reduce_options&);
template void max<double>(vector_view<const double>, double*, cuda::stream_ref, const reduce_options&);
template void argmin<double>(vector_view<const double>, std::int64_t*, cuda::stream_ref,
                             const reduce_options&);
template void argmax<double>(vector_view<const double>, std::int64_t*, cuda::stream_ref,
                             const reduce_options&);
template void norm1<double>(vector_view<const double>, double*, cuda::stream_ref, const reduce_options&);
template void norm2<double>(vector_view<const double>, double*, cuda::stream_ref, const reduce_options&);
template void count_nonzero<double>(vector_view<const double>, std::int64_t*, cuda::stream_ref,
                                    const reduce_options&);
template void dot<double>(vector_view<const double>, vector_view<const double>, double*, cuda::stream_ref,
                          const reduce_options&);
template void sum<float>(vector_view<const float>, float*, cuda::stream_ref, const reduce_options&);
template void mean<float>(vector_view<const float>, float*, cuda::stream_ref, const reduce_options&);
template void min<float>(vector_view<const float>, float*, cuda::stream_ref, const reduce_options&);
template void max<float>(vector_view<const float>, float*, cuda::stream_ref, const reduce_options&);
template void argmin<float>(vector_view<const float>, std::int64_t*, cuda::stream_ref, const reduce_options&);
template void argmax<float>(vector_view<const float>, std::int64_t*, cuda::stream_ref, const reduce_options&);
template void norm1<float>(vector_view<const float>, float*, cuda::stream_ref, const reduce_options&);
template void norm2<float>(vector_view<const float>, float*, cuda::stream_ref, const reduce_options&);
template void count_nonzero<float>(vector_view<const float>, std::int64_t*, cuda::stream_ref,
                                   const reduce_options&);
template void dot<float>(vector_view<const float>, vector_view<const float>, float*, cuda::stream_ref,
                         const reduce_options&);
template void sum<half>(vector_view<const half>, float*, cuda::stream_ref, const reduce_options&);
template void mean<half>(vector_view<const half>, float*, cuda::stream_ref, const reduce_options&);
template void min<half>(vector_view<const half>, half*, cuda::stream_ref, const reduce_options&);
template void max<half>(vector_view<const half>, half*, cuda::stream_ref, const reduce_options&);
template void argmin<half>(vector_view<const half>, std::int64_t*, cuda::stream_ref, const reduce_options&);
template void argmax<half>(vector_view<const half>, std::int64_t*, cuda::stream_ref, const reduce_options&);
template void norm1<half>(vector_view<const half>, float*, cuda::stream_ref, const reduce_options&);
template void norm2<half>(vector_view<const half>, float*, cuda::stream_ref, const reduce_options&);
template void count_nonzero<half>(vector_view<const half>, std::int64_t*, cuda::stream_ref,
                                  const reduce_options&);
template void dot<half>(vector_view<const half>, vector_view<const half>, float*, cuda::stream_ref,
                        const reduce_options&);
template void sum<bfloat16>(vector_view<const bfloat16>, float*, cuda::stream_ref, const reduce_options&);
template void mean<bfloat16>(vector_view<const bfloat16>, float*, cuda::stream_ref, const reduce_options&);
template void min<bfloat16>(vector_view<const bfloat16>, bfloat16*, cuda::stream_ref, const reduce_options&);
template void max<bfloat16>(vector_view<const bfloat16>, bfloat16*, cuda::stream_ref, const reduce_options&);
template void argmin<bfloat16>(vector_view<const bfloat16>, std::int64_t*, cuda::stream_ref,
                               const reduce_options&);
template void argmax<bfloat16>(vector_view<const bfloat16>, std::int64_t*, cuda::stream_ref,
                               const reduce_options&);
template void norm1<bfloat16>(vector_view<const bfloat16>, float*, cuda::stream_ref, const reduce_options&);
template void norm2<bfloat16>(vector_view<const bfloat16>, float*, cuda::stream_ref, const reduce_options&);
template void count_nonzero<bfloat16>(vector_view<const bfloat16>, std::int64_t*, cuda::stream_ref,
                                      const reduce_options&);
template void dot<bfloat16>(vector_view<const bfloat16>, vector_view<const bfloat16>, float*,
                            cuda::stream_ref, const reduce_options&);
template void sum<std::int32_t>(vector_view<const std::int32_t>, std::int64_t*, cuda::stream_ref,
                                const reduce_options&);
template void mean<std::int32_t>(vector_view<const std::int32_t>, double*, cuda::stream_ref,
                                 const reduce_options&);
template void min<std::int32_t>(vector_view<const std::int32_t>, std::int32_t*, cuda::stream_ref,
                                const reduce_options&);
template void max<std::int32_t>(vector_view<const std::int32_t>, std::int32_t*, cuda::stream_ref,
                                const reduce_options&);
template void argmin<std::int32_t>(vector_view<const std::int32_t>, std::int64_t*, cuda::stream_ref,
                                   const reduce_options&);
template void argmax<std::int32_t>(vector_view<const std::int32_t>, std::int64_t*, cuda::stream_ref,
                                   const reduce_options&);
template void norm1<std::int32_t>(vector_view<const std::int32_t>, std::int64_t*, cuda::stream_ref,
                                  const reduce_options&);
template void count_nonzero<std::int32_t>(vector_view<const std::int32_t>, std::int64_t*, cuda::stream_ref,
                                          const reduce_options&);
template void dot<std::int32_t>(vector_view<const std::int32_t>, vector_view<const std::int32_t>,
                                std::int64_t*, cuda::stream_ref, const reduce_options&);
template void sum<std::int64_t>(vector_view<const std::int64_t>, std::int64_t*, cuda::stream_ref,
                                const reduce_options&);
template void mean<std::int64_t>(vector_view<const std::int64_t>, double*, cuda::stream_ref,
                                 const reduce_options&);
template void min<std::int64_t>(vector_view<const std::int64_t>, std::int64_t*, cuda::stream_ref,
                                const reduce_options&);
template void max<std::int64_t>(vector_view<const std::int64_t>, std::int64_t*, cuda::stream_ref,
                                const reduce_options&);
template void argmin<std::int64_t>(vector_view<const std::int64_t>, std::int64_t*, cuda::stream_ref,
                                   const reduce_options&);
template void argmax<std::int64_t>(vector_view<const std::int64_t>, std::int64_t*, cuda::stream_ref,
                                   const reduce_options&);
template void norm1<std::int64_t>(vector_view<const std::int64_t>, std::int64_t*, cuda::stream_ref,
                                  const reduce_options&);
template void count_nonzero<std::int64_t>(vector_view<const std::int64_t>, std::int64_t*, cuda::stream_ref,
                                          const reduce_options&);
template void dot<std::int64_t>(vector_view<const std::int64_t>, vector_view<const std::int64_t>,
                                std::int64_t*, cuda::stream_ref, const reduce_options&);

}  // namespace heddle
