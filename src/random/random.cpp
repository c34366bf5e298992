#include "src/random/rungs.hpp"
#include "src/random/validate.hpp"
#include <heddle/random.hpp>
#include <heddle/stream.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <span>

namespace heddle {
namespace {

using detail::operand, detail::random_call, detail::random_operation;
using kernels::random::scalars;

template <class T>
scalars validated_scalars(const random_call& call) {
    switch (call.operation) {
        case random_operation::uniform:
            if constexpr (!std::integral<T>) {
                const auto [width, least, most] = detail::validated_range<T>(call.name, call.p, call.q);
                return {.low = call.p, .width = width, .least = least, .most = most};
            }
            break;
        case random_operation::normal:
            detail::validate_normal(call.name, call.p, call.q);
            return {.low = call.p, .width = call.q};
        case random_operation::bernoulli:
        case random_operation::dropout:
            return {.threshold = detail::validated_threshold(call.name, call.p),
                    .scale = detail::dropout_scale(call.p)};
        case random_operation::bits:
            break;
    }
    return {};
}

random_problem described(std::span<const operand> operands, std::size_t element_bytes, bool draws_reals) {
    const auto layout = [=](const operand& o) { return detail::layout_of(o, element_bytes); };
    const bool has_x = operands.size() > 1;
    return {layout(operands.back()), has_x ? layout(operands.front()) : matrix_layout{}, draws_reals};
}

}  // namespace

namespace detail {

random_problem random_problem_of(std::span<const operand> operands, std::size_t element_bytes,
                                 bool draws_reals) {
    constexpr bool have_elements = false;
    validate_elementwise("random_problem_of", operands, element_bytes, zero_strides::refused, have_elements);
    return described(operands, element_bytes, draws_reals);
}

void run(const random_call& call, cuda::stream_ref stream, const random_options& options) {
    const auto rungs = random_rungs();
    scalars scalars;
    visit_type(call.type, [&]<class T> {
        validate_operands_as<T>(call);
        scalars = validated_scalars<T>(call);
    });
    rungs.require_known(call.name, {"options", "algorithm"}, options.algorithm);
    std::array<operand, 2> operands{};
    std::ranges::copy(call.operands, operands.begin());
    const std::span<operand> used = std::span(operands).first(call.operands.size());
    const bool draws_reals =
        call.operation == random_operation::uniform || call.operation == random_operation::normal;
    const kernels::random::random_facts facts(described(used, size_of(call.type), draws_reals));
    if (facts.rows == 0 || facts.cols == 0) return;
    kernels::random::lay_in_rows(used, &operand::view);
    const stream_device device(stream);
    const auto [rung, plan] = rungs.choose(call.name, options.algorithm, facts, device.traits());
    const auto& [data, rows, cols, row_stride, col_stride] = used.front().view;
    rung->launch(plan,
                 {.operation = call.operation,
                  .type = call.type,
                  .x = {data, rows, cols, row_stride, col_stride},
                  .y = used.back().view,
                  .generator = call.generator,
                  .scalars = scalars},
                 stream.get());
}

}  // namespace detail

void random_permutation(vector_view<std::int32_t> y, const philox& generator, cuda::stream_ref stream) {
    detail::validate_permutation("random_permutation", y, generator);
    if (y.size == 0) return;
    const detail::stream_device device(stream);
    kernels::random::launch_permutation(y, generator, stream.get());
}

}  // namespace heddle
