#include "kernels/softmax/launch.hpp"
#include "src/elementwise.hpp"
#include "src/format.hpp"
#include <heddle/error.hpp>
#include <heddle/softmax.hpp>
#include <heddle/stream.hpp>

#include <algorithm>
#include <array>

namespace heddle {
namespace {

namespace rungs = kernels::softmax;

constexpr std::array algorithms = {softmax_algorithm::naive, softmax_algorithm::online,
                                   softmax_algorithm::vectorized};

template <bool logarithm, class T>
void run(const char* operation, matrix_view<const T> x, matrix_view<T> y, cuda::stream_ref stream,
         const softmax_options& options) {
    const bool is_known = options.algorithm == softmax_algorithm::automatic ||
                          std::ranges::find(algorithms, options.algorithm) != algorithms.end();
    detail::require(is_known, operation, "options.algorithm", static_cast<int>(options.algorithm),
                    "an enumerator of softmax_algorithm");
    detail::validate_unary(operation, x, y);
    if (y.rows == 0 || y.cols == 0) return;

    const bool unit_stride = y.cols == 1 || (x.col_stride == 1 && y.col_stride == 1);
    const softmax_problem problem{y.rows, y.cols, unit_stride, sizeof(T)};
    const detail::stream_device call_device(stream);
    const device_traits& device = call_device.traits();
    const softmax_algorithm algorithm =
        options.algorithm == softmax_algorithm::automatic ? select(problem, device) : options.algorithm;
    const rungs::arguments<T> arguments{x, y};
    switch (algorithm) {
        case softmax_algorithm::automatic:
            break;  // select() never answers it
        case softmax_algorithm::naive:
            return rungs::launch_naive<logarithm>(arguments, device, stream.get());
        case softmax_algorithm::online:
            return rungs::launch_online<logarithm>(arguments, device, stream.get());
        case softmax_algorithm::vectorized:
            if (!unit_stride)
                throw unsupported(
                    detail::format("{}: vectorized needs each row's elements side by side", operation));
            return rungs::launch_vectorized<logarithm>(arguments, device, stream.get());
    }
}

}  // namespace

std::span<const softmax_algorithm> softmax_algorithms() {
    return algorithms;
}

std::string_view to_string(softmax_algorithm algorithm) {
    switch (algorithm) {
        case softmax_algorithm::automatic:
            return "automatic";
        case softmax_algorithm::naive:
            return "naive";
        case softmax_algorithm::online:
            return "online";
        case softmax_algorithm::vectorized:
            return "vectorized";
    }
    return "unknown";
}

/// Elements that are not side by side, as of a column-major matrix: a thread a row where the rows are enough
/// to fill the device, for then neighbouring threads read neighbours.
softmax_algorithm select(const softmax_problem& problem, const device_traits& device) {
    detail::validate_device("select", device);
    detail::validate_extents("select", {{"rows", problem.rows}, {"cols", problem.cols}});
    if (problem.unit_stride) return softmax_algorithm::vectorized;
    const std::int64_t threads = std::int64_t{device.sm_count} * device.max_threads_per_sm;
    return problem.rows >= threads / 16 ? softmax_algorithm::naive : softmax_algorithm::online;
}

template <class T>
void softmax(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y, cuda::stream_ref stream,
             const softmax_options& options) {
    run<false, T>("softmax", x, y, stream, options);
}

template <class T>
void log_softmax(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y, cuda::stream_ref stream,
                 const softmax_options& options) {
    run<true, T>("log_softmax", x, y, stream, options);
}

template void softmax<float>(matrix_view<const float>, matrix_view<float>, cuda::stream_ref,
                             const softmax_options&);
template void log_softmax<float>(matrix_view<const float>, matrix_view<float>, cuda::stream_ref,
                                 const softmax_options&);
template void softmax<half>(matrix_view<const half>, matrix_view<half>, cuda::stream_ref,
                            const softmax_options&);
template void log_softmax<half>(matrix_view<const half>, matrix_view<half>, cuda::stream_ref,
                                const softmax_options&);
template void softmax<bfloat16>(matrix_view<const bfloat16>, matrix_view<bfloat16>, cuda::stream_ref,
                                const softmax_options&);
template void log_softmax<bfloat16>(matrix_view<const bfloat16>, matrix_view<bfloat16>, cuda::stream_ref,
                                    const softmax_options&);

}  // namespace heddle
