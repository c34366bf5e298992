#include "src/random/rungs.hpp"
#include "src/random/validate.hpp"
#include <heddle/random.hpp>
#include <heddle/stream.hpp>

#include <algorithm>
#include <array>
#include <concepts>
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

random_problem describe(const random_call& call, std::span<const operand> operands) {
    const auto& y = operands.back().view;
    const bool is_of_doubles =
        call.type == detail::random_type::f64 &&
        (call.operation == random_operation::uniform || call.operation == random_operation::normal);
    return {.rows = y.rows,
            .cols = y.cols,
            .element_bytes = detail::size_of(call.type),
            .block_elements = is_of_doubles ? 2 : 4,
            .unit_stride = std::ranges::all_of(
                operands, [](const operand& o) { return o.view.cols == 1 || o.view.col_stride == 1; }),
            .is_crossed = !detail::is_row_major(y)};
}

}  // namespace

namespace detail {

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
    lay_in_rows(used);
    const random_problem problem = describe(call, used);
    if (problem.rows == 0 || problem.cols == 0) return;
    const stream_device device(stream);
    const auto [rung, plan] = rungs.choose(call.name, options.algorithm, problem, device.traits());
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
