#include "src/matmul.hpp"

#include "kernels/matmul/launch.hpp"
#include <heddle/error.hpp>
#include <heddle/matmul.hpp>

#include <algorithm>
#include <array>

namespace heddle {
namespace {

namespace rungs = kernels::matmul;

constexpr std::array algorithms = {matmul_algorithm::naive,          matmul_algorithm::coalesced,
                                   matmul_algorithm::tiled,          matmul_algorithm::shared_memory,
                                   matmul_algorithm::register_tiled, matmul_algorithm::pipelined};

bool has_unit_stride(const matrix_view<const float>& m) {
    return m.col_stride == 1 || m.row_stride == 1 || m.cols <= 1 || m.rows <= 1;
}

/// cp.async came with compute capability 8.0.
bool can_copy_async(const device_traits& device) {
    return device.has_compute_capability(8, 0);
}

void require_pipelined_can_run(const matmul_problem& problem, const device_traits& device) {
    if (!can_copy_async(device))
        throw unsupported("matmul: pipelined needs compute capability 8.0 (cp.async)");
    if (!problem.unit_stride)
        throw unsupported(
            "matmul: pipelined needs the rows or the columns of a and of b side by side (a stride of 1)");
}

}  // namespace

std::span<const matmul_algorithm> matmul_algorithms() {
    return algorithms;
}

std::string_view to_string(matmul_algorithm algorithm) {
    switch (algorithm) {
        case matmul_algorithm::automatic:
            return "automatic";
        case matmul_algorithm::naive:
            return "naive";
        case matmul_algorithm::coalesced:
            return "coalesced";
        case matmul_algorithm::tiled:
            return "tiled";
        case matmul_algorithm::shared_memory:
            return "shared_memory";
        case matmul_algorithm::register_tiled:
            return "register_tiled";
        case matmul_algorithm::pipelined:
            return "pipelined";
    }
    return "unknown";
}

matmul_algorithm select(const matmul_problem& problem, const device_traits& device) {
    if (problem.unit_stride && can_copy_async(device)) return matmul_algorithm::pipelined;
    return matmul_algorithm::register_tiled;
}

template <class T>
void matmul(matrix_view<const std::type_identity_t<T>> a, matrix_view<const std::type_identity_t<T>> b,
            matrix_view<T> c, cuda::stream_ref stream, const matmul_options& options) {
    detail::validate_matmul("matmul", a, b, c);
    const bool is_known = options.algorithm == matmul_algorithm::automatic ||
                          std::ranges::find(algorithms, options.algorithm) != algorithms.end();
    detail::require(is_known, "matmul", {"options", "algorithm"}, static_cast<int>(options.algorithm),
                    "an enumerator of matmul_algorithm");
    if (c.rows == 0 || c.cols == 0) return;
    // Either nothing is multiplied or nothing counts: then neither A and B nor an infinite alpha are read.
    if (options.alpha == 0) {
        a.cols = 0;
        b.rows = 0;
    }
    const float alpha = a.cols == 0 ? 0 : options.alpha;

    rungs::arguments arguments{a, b, c, alpha, options.beta};
    // A column-major C is the row-major C^T = B^T A^T.
    if (!detail::is_row_major(c)) {
        arguments.a = transposed(b);
        arguments.b = transposed(a);
        arguments.c = transposed(c);
    }
    const matmul_problem problem{arguments.c.rows, arguments.c.cols, arguments.a.cols,
                                 has_unit_stride(a) && has_unit_stride(b)};
    const device_traits& device = traits_of(current_device());
    const matmul_algorithm algorithm =
        options.algorithm == matmul_algorithm::automatic ? select(problem, device) : options.algorithm;
    switch (algorithm) {
        case matmul_algorithm::automatic:
            break;  // select() never answers it
        case matmul_algorithm::naive:
            return rungs::launch_naive(arguments, device, stream.get());
        case matmul_algorithm::coalesced:
            return rungs::launch_coalesced(arguments, device, stream.get());
        case matmul_algorithm::tiled:
            return rungs::launch_tiled(arguments, device, stream.get());
        case matmul_algorithm::shared_memory:
            return rungs::launch_shared_memory(arguments, device, stream.get());
        case matmul_algorithm::register_tiled:
            return rungs::launch_register_tiled(arguments, device, stream.get());
        case matmul_algorithm::pipelined:
            require_pipelined_can_run(problem, device);
            return rungs::launch_pipelined(arguments, device, stream.get());
    }
}

template void matmul<float>(matrix_view<const float>, matrix_view<const float>, matrix_view<float>,
                            cuda::stream_ref, const matmul_options&);

}  // namespace heddle
