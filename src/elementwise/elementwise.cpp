#include "src/elementwise/rungs.hpp"
#include "src/elementwise/validate.hpp"
#include <heddle/elementwise.hpp>
#include <heddle/stream.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace heddle::detail {

void run(const elementwise_call& call, cuda::stream_ref stream, const elementwise_options& options) {
    const auto rungs = elementwise_rungs();
    const char* operation = name_of(call.operation);
    std::array<operand, 4> operands;
    std::ranges::copy(call.operands, operands.begin());
    const std::span<operand> used = std::span(operands).first(call.operands.size());
    const elementwise_facts facts = prepare_elementwise(operation, used, size_of(call.type));
    validate_scalars(operation, call);
    rungs.require_known(operation, {"options", "algorithm"}, options.algorithm);
    if (facts.rows == 0 || facts.cols == 0) return;
    const stream_device device(stream);
    const auto [rung, plan] = rungs.choose(operation, options.algorithm, facts, device.traits());
    rung->launch(plan, {call.operation, call.type, used, call.p, call.q}, stream.get());
}

}  // namespace heddle::detail
