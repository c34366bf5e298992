#include "src/elementwise.hpp"

#include "kernels/elementwise/launch.hpp"
#include <heddle/elementwise.hpp>
#include <heddle/error.hpp>

#include <fmt/format.h>

#include <array>

namespace heddle {
namespace {

namespace rungs = kernels::elementwise;

constexpr std::array algorithms = {elementwise_algorithm::naive, elementwise_algorithm::grid_stride,
                                   elementwise_algorithm::vectorized};

template <class T>
void transpose_all(rungs::arguments<T>& a) {
    a = {transposed(a.x), transposed(a.y), transposed(a.z)};
}

/// The same elements in the order of their addresses: row-major, and as one row where no row has a gap.
template <class T>
void canonicalize(rungs::arguments<T>& a) {
    if (!detail::is_row_major(a.z)) transpose_all(a);
    const auto has_no_gap = [](const auto& m) {
        return m.row_stride == m.cols && (m.col_stride == 1 || m.cols == 1);
    };
    if (has_no_gap(a.x) && has_no_gap(a.y) && has_no_gap(a.z)) {
        const auto flatten = [](auto& m) { m = {m.data, 1, m.rows * m.cols}; };
        flatten(a.x);
        flatten(a.y);
        flatten(a.z);
    }
}

template <class Functor, class T>
void run(const char* operation, rungs::arguments<T> a, cuda::stream_ref stream,
         const elementwise_options& options) {
    const bool is_known = options.algorithm == elementwise_algorithm::automatic ||
                          std::ranges::find(algorithms, options.algorithm) != algorithms.end();
    detail::require(is_known, operation, "options.algorithm", static_cast<int>(options.algorithm),
                    "an enumerator of elementwise_algorithm");
    if (a.z.rows == 0 || a.z.cols == 0) return;

    canonicalize(a);
    const auto has_unit_stride = [](const auto& m) { return m.col_stride == 1 || m.cols == 1; };
    const elementwise_problem problem{a.z.rows, a.z.cols,
                                      has_unit_stride(a.x) && has_unit_stride(a.y) && has_unit_stride(a.z)};
    const device_traits& device = traits_of(current_device());
    const elementwise_algorithm algorithm =
        options.algorithm == elementwise_algorithm::automatic ? select(problem, device) : options.algorithm;
    switch (algorithm) {
        case elementwise_algorithm::automatic:
            break;  // select() never answers it
        case elementwise_algorithm::naive:
            return rungs::launch_naive<Functor>(a, device, stream.get());
        case elementwise_algorithm::grid_stride:
            return rungs::launch_grid_stride<Functor>(a, device, stream.get());
        case elementwise_algorithm::vectorized:
            if (!problem.unit_stride)
                throw unsupported(fmt::format(
                    "{}: vectorized needs every operand's elements side by side along one dimension",
                    operation));
            return rungs::launch_vectorized<Functor>(a, device, stream.get());
    }
}

}  // namespace

std::span<const elementwise_algorithm> elementwise_algorithms() {
    return algorithms;
}

std::string_view to_string(elementwise_algorithm algorithm) {
    switch (algorithm) {
        case elementwise_algorithm::automatic:
            return "automatic";
        case elementwise_algorithm::naive:
            return "naive";
        case elementwise_algorithm::grid_stride:
            return "grid_stride";
        case elementwise_algorithm::vectorized:
            return "vectorized";
    }
    return "unknown";
}

elementwise_algorithm select(const elementwise_problem& problem, const device_traits&) {
    return problem.unit_stride ? elementwise_algorithm::vectorized : elementwise_algorithm::grid_stride;
}

template <class T>
void add(matrix_view<const std::type_identity_t<T>> x, matrix_view<const std::type_identity_t<T>> y,
         matrix_view<T> z, cuda::stream_ref stream, const elementwise_options& options) {
    detail::validate_binary("add", x, y, z);
    run<rungs::add, T>("add", {x, y, z}, stream, options);
}

template <class T>
void add(vector_view<const std::type_identity_t<T>> x, vector_view<const std::type_identity_t<T>> y,
         vector_view<T> z, cuda::stream_ref stream, const elementwise_options& options) {
    detail::validate_binary("add", x, y, z);
    run<rungs::add, T>("add", {detail::as_column(x), detail::as_column(y), detail::as_column(z)}, stream,
                       options);
}

template <class T>
void sigmoid(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y, cuda::stream_ref stream,
             const elementwise_options& options) {
    detail::validate_unary("sigmoid", x, y);
    run<rungs::sigmoid, T>("sigmoid", {x, x, y}, stream, options);
}

template <class T>
void sigmoid(vector_view<const std::type_identity_t<T>> x, vector_view<T> y, cuda::stream_ref stream,
             const elementwise_options& options) {
    detail::validate_unary("sigmoid", x, y);
    run<rungs::sigmoid, T>("sigmoid", {detail::as_column(x), detail::as_column(x), detail::as_column(y)},
                           stream, options);
}

template void add<float>(vector_view<const float>, vector_view<const float>, vector_view<float>,
                         cuda::stream_ref, const elementwise_options&);
template void sigmoid<float>(vector_view<const float>, vector_view<float>, cuda::stream_ref,
                             const elementwise_options&);
template void add<float>(matrix_view<const float>, matrix_view<const float>, matrix_view<float>,
                         cuda::stream_ref, const elementwise_options&);
template void sigmoid<float>(matrix_view<const float>, matrix_view<float>, cuda::stream_ref,
                             const elementwise_options&);
template void add<double>(vector_view<const double>, vector_view<const double>, vector_view<double>,
                          cuda::stream_ref, const elementwise_options&);
template void sigmoid<double>(vector_view<const double>, vector_view<double>, cuda::stream_ref,
                              const elementwise_options&);
template void add<double>(matrix_view<const double>, matrix_view<const double>, matrix_view<double>,
                          cuda::stream_ref, const elementwise_options&);
template void sigmoid<double>(matrix_view<const double>, matrix_view<double>, cuda::stream_ref,
                              const elementwise_options&);
template void add<half>(vector_view<const half>, vector_view<const half>, vector_view<half>, cuda::stream_ref,
                        const elementwise_options&);
template void sigmoid<half>(vector_view<const half>, vector_view<half>, cuda::stream_ref,
                            const elementwise_options&);
template void add<half>(matrix_view<const half>, matrix_view<const half>, matrix_view<half>, cuda::stream_ref,
                        const elementwise_options&);
template void sigmoid<half>(matrix_view<const half>, matrix_view<half>, cuda::stream_ref,
                            const elementwise_options&);
template void add<bfloat16>(vector_view<const bfloat16>, vector_view<const bfloat16>, vector_view<bfloat16>,
                            cuda::stream_ref, const elementwise_options&);
template void sigmoid<bfloat16>(vector_view<const bfloat16>, vector_view<bfloat16>, cuda::stream_ref,
                                const elementwise_options&);
template void add<bfloat16>(matrix_view<const bfloat16>, matrix_view<const bfloat16>, matrix_view<bfloat16>,
                            cuda::stream_ref, const elementwise_options&);
template void sigmoid<bfloat16>(matrix_view<const bfloat16>, matrix_view<bfloat16>, cuda::stream_ref,
                                const elementwise_options&);

}  // namespace heddle
