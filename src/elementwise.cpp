#include "src/elementwise.hpp"

#include "kernels/elementwise/launch.hpp"
#include <heddle/error.hpp>
#include <heddle/stream.hpp>

#include <algorithm>
#include <array>

namespace heddle {
namespace {

namespace rungs = kernels::elementwise;

constexpr std::array algorithms = {elementwise_algorithm::naive, elementwise_algorithm::grid_stride,
                                   elementwise_algorithm::vectorized};

}  // namespace

namespace detail {

void run(const elementwise_call& call, cuda::stream_ref stream, const elementwise_options& options) {
    const char* operation = name_of(call.operation);
    std::array<operand, 4> operands;
    std::ranges::copy(call.operands, operands.begin());
    const std::span<operand> used = std::span(operands).first(call.operands.size());
    prepare_elementwise(operation, used, size_of(call.type));
    validate_scalars(operation, call);
    const bool is_known = options.algorithm == elementwise_algorithm::automatic ||
                          std::ranges::find(algorithms, options.algorithm) != algorithms.end();
    require(is_known, operation, {"options", "algorithm"}, static_cast<int>(options.algorithm),
            "an enumerator of elementwise_algorithm");
    const auto& output = used.back().view;
    if (output.rows == 0 || output.cols == 0) return;

    const rungs::arguments arguments{call.operation, call.type, used, call.p, call.q};
    const detail::stream_device call_device(stream);
    const device_traits& device = call_device.traits();
    const elementwise_algorithm algorithm = options.algorithm == elementwise_algorithm::automatic
                                                ? select({output.rows, output.cols}, device)
                                                : options.algorithm;
    switch (algorithm) {
        case elementwise_algorithm::automatic:
            break;  // select() never answers it
        case elementwise_algorithm::naive:
            return rungs::launch_naive(arguments, device, stream.get());
        case elementwise_algorithm::grid_stride:
            return rungs::launch_grid_stride(arguments, device, stream.get());
        case elementwise_algorithm::vectorized:
            return rungs::launch_vectorized(arguments, device, stream.get());
    }
}

}  // namespace detail

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

/// It serves any shape and any strides.
elementwise_algorithm select(const elementwise_problem& problem, const device_traits& device) {
    detail::validate_extents("select", {{"rows", problem.rows}, {"cols", problem.cols}});
    detail::validate_device("select", device);
    return elementwise_algorithm::vectorized;
}

}  // namespace heddle
