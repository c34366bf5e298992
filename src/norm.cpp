#include "src/norm.hpp"

#include "kernels/norm/launch.hpp"
#include "src/format.hpp"
#include <heddle/error.hpp>
#include <heddle/norm.hpp>
#include <heddle/stream.hpp>

#include <algorithm>
#include <array>

namespace heddle {
namespace {

namespace rungs = kernels::norm;

constexpr std::array algorithms = {norm_algorithm::naive, norm_algorithm::block_per_row,
                                   norm_algorithm::vectorized};

template <bool centred, class T>
void run(const char* operation, const rungs::arguments<T>& a, cuda::stream_ref stream,
         norm_algorithm asked_for) {
    const bool is_known = asked_for == norm_algorithm::automatic ||
                          std::ranges::find(algorithms, asked_for) != algorithms.end();
    detail::require(is_known, operation, "options.algorithm", static_cast<int>(asked_for),
                    "an enumerator of norm_algorithm");
    detail::validate_norm(operation, a.x, a.gamma, a.beta, a.y, a.epsilon);
    if (a.y.rows == 0 || a.y.cols == 0) return;

    const auto is_side_by_side = [](const auto& v) { return v.size == 0 || v.stride == 1; };
    const bool unit_stride = a.y.cols == 1 || (a.x.col_stride == 1 && a.y.col_stride == 1 &&
                                               is_side_by_side(a.gamma) && is_side_by_side(a.beta));
    const norm_problem problem{a.y.rows, a.y.cols, unit_stride, sizeof(T)};
    const detail::stream_device call_device(stream);
    const device_traits& device = call_device.traits();
    const norm_algorithm algorithm =
        asked_for == norm_algorithm::automatic ? select(problem, device) : asked_for;
    switch (algorithm) {
        case norm_algorithm::automatic:
            break;  // select() never answers it
        case norm_algorithm::naive:
            return rungs::launch_naive<centred>(a, device, stream.get());
        case norm_algorithm::block_per_row:
            return rungs::launch_block_per_row<centred>(a, device, stream.get());
        case norm_algorithm::vectorized:
            if (!unit_stride)
                throw unsupported(detail::format(
                    "{}: vectorized needs the elements of each row, of gamma and of beta side by side",
                    operation));
            return rungs::launch_vectorized<centred>(a, device, stream.get());
    }
}

}  // namespace

std::span<const norm_algorithm> norm_algorithms() {
    return algorithms;
}

std::string_view to_string(norm_algorithm algorithm) {
    switch (algorithm) {
        case norm_algorithm::automatic:
            return "automatic";
        case norm_algorithm::naive:
            return "naive";
        case norm_algorithm::block_per_row:
            return "block_per_row";
        case norm_algorithm::vectorized:
            return "vectorized";
    }
    return "unknown";
}

/// Elements that are not side by side, as of a column-major matrix: a thread a row where the rows are enough
/// to fill the device, for then neighbouring threads read neighbours.
norm_algorithm select(const norm_problem& problem, const device_traits& device) {
    detail::validate_device("select", device);
    detail::validate_extents("select", {{"rows", problem.rows}, {"cols", problem.cols}});
    if (problem.unit_stride) return norm_algorithm::vectorized;
    const std::int64_t threads = std::int64_t{device.sm_count} * device.max_threads_per_sm;
    return problem.rows >= threads / 16 ? norm_algorithm::naive : norm_algorithm::block_per_row;
}

template <class T>
void layer_norm(matrix_view<const std::type_identity_t<T>> x,
                vector_view<const std::type_identity_t<T>> gamma,
                vector_view<const std::type_identity_t<T>> beta, matrix_view<T> y, cuda::stream_ref stream,
                const norm_options& options) {
    run<true, T>("layer_norm", {x, gamma, beta, y, options.epsilon}, stream, options.algorithm);
}

template <class T>
void rms_norm(matrix_view<const std::type_identity_t<T>> x, vector_view<const std::type_identity_t<T>> gamma,
              matrix_view<T> y, cuda::stream_ref stream, const norm_options& options) {
    run<false, T>("rms_norm", {x, gamma, {}, y, options.epsilon}, stream, options.algorithm);
}

template void layer_norm<float>(matrix_view<const float>, vector_view<const float>, vector_view<const float>,
                                matrix_view<float>, cuda::stream_ref, const norm_options&);
template void rms_norm<float>(matrix_view<const float>, vector_view<const float>, matrix_view<float>,
                              cuda::stream_ref, const norm_options&);
template void layer_norm<half>(matrix_view<const half>, vector_view<const half>, vector_view<const half>,
                               matrix_view<half>, cuda::stream_ref, const norm_options&);
template void rms_norm<half>(matrix_view<const half>, vector_view<const half>, matrix_view<half>,
                             cuda::stream_ref, const norm_options&);
template void layer_norm<bfloat16>(matrix_view<const bfloat16>, vector_view<const bfloat16>,
                                   vector_view<const bfloat16>, matrix_view<bfloat16>, cuda::stream_ref,
                                   const norm_options&);
template void rms_norm<bfloat16>(matrix_view<const bfloat16>, vector_view<const bfloat16>,
                                 matrix_view<bfloat16>, cuda::stream_ref, const norm_options&);

}  // namespace heddle
