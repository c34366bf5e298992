// Names of the elementwise operations, and checks of their arguments for the GPU and for the CPU.
#include "kernels/elementwise/facts.hpp"
#include "src/elementwise/validate.hpp"
#include "src/facts.hpp"
#include <heddle/error.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace heddle {
namespace {

using op = elementwise_operation;

struct description {
    op value;
    const char* name;
    const char* host_name;
    int inputs;
};

constexpr std::array descriptions = {
    description{op::add, "add", "host::add", 2},
    description{op::subtract, "subtract", "host::subtract", 2},
    description{op::multiply, "multiply", "host::multiply", 2},
    description{op::scale, "scale", "host::scale", 1},
    description{op::axpy, "axpy", "host::axpy", 2},
    description{op::fused_multiply_add, "fused_multiply_add", "host::fused_multiply_add", 3},
    description{op::clamp, "clamp", "host::clamp", 1},
    description{op::abs, "abs", "host::abs", 1},
    description{op::exp, "exp", "host::exp", 1},
    description{op::sigmoid, "sigmoid", "host::sigmoid", 1},
    description{op::tanh, "tanh", "host::tanh", 1},
    description{op::relu, "relu", "host::relu", 1},
    description{op::gelu, "gelu", "host::gelu", 1},
    description{op::gelu_tanh, "gelu_tanh", "host::gelu_tanh", 1},
    description{op::silu, "silu", "host::silu", 1},
    description{op::sigmoid_derivative, "sigmoid_derivative", "host::sigmoid_derivative", 1},
    description{op::tanh_derivative, "tanh_derivative", "host::tanh_derivative", 1},
    description{op::relu_derivative, "relu_derivative", "host::relu_derivative", 1},
    description{op::gelu_derivative, "gelu_derivative", "host::gelu_derivative", 1},
    description{op::gelu_tanh_derivative, "gelu_tanh_derivative", "host::gelu_tanh_derivative", 1},
    description{op::silu_derivative, "silu_derivative", "host::silu_derivative", 1},
};

constexpr auto operations = [] {
    std::array<op, descriptions.size()> values{};
    std::ranges::transform(descriptions, values.begin(), &description::value);
    return values;
}();

/// Row i of the table describes enumerator i.
static_assert([] {
    for (std::size_t i = 0; i < descriptions.size(); ++i)
        if (static_cast<std::size_t>(descriptions[i].value) != i) return false;
    return true;
}());

const description& describe(const char* operation, op value) {
    const auto place = static_cast<std::size_t>(value);
    detail::require(place < descriptions.size(), operation, "operation", static_cast<int>(value),
                    "an enumerator of elementwise_operation");
    return descriptions[place];
}

/// Stands for every element type of its size where only addresses matter.
template <std::size_t bytes>
struct alignas(bytes) word {
    std::byte value[bytes];
};

template <class Word>
vector_view<Word> as_vector(const detail::operand& o) {
    return {static_cast<Word*>(o.view.data), o.view.rows, o.view.row_stride};
}
template <class Word>
matrix_view<Word> as_matrix(const detail::operand& o) {
    return {static_cast<Word*>(o.view.data), o.view.rows, o.view.cols, o.view.row_stride, o.view.col_stride};
}

void require_same_shape(const char* operation, const detail::operand& input, const detail::operand& output) {
    const auto require = [&](const char* extent, std::int64_t value, std::int64_t expected) {
        detail::require(value == expected, operation, {input.name, extent}, value, "{} ({}.{})", expected,
                        output.name, extent);
    };
    require(output.is_vector ? "size" : "rows", input.view.rows, output.view.rows);
    require("cols", input.view.cols, output.view.cols);
}

/// The part of an input that is distinct: one element along each dimension with a stride of 0.
detail::operand distinct(detail::operand o) {
    auto& [data, rows, cols, row_stride, col_stride] = o.view;
    if (row_stride == 0) rows = std::min<std::int64_t>(rows, 1);
    if (col_stride == 0) cols = std::min<std::int64_t>(cols, 1);
    return o;
}

void require_steps_forward(const char* operation, const detail::operand& input) {
    const auto& [data, rows, cols, row_stride, col_stride] = input.view;
    const bool is_empty = rows == 0 || cols == 0;
    detail::require(is_empty || rows == 1 || row_stride >= 0, operation,
                    {input.name, input.is_vector ? "stride" : "row_stride"}, row_stride, "zero or more");
    detail::require(is_empty || cols == 1 || col_stride >= 0, operation, {input.name, "col_stride"},
                    col_stride, "zero or more");
}

template <class Word>
void validate_operands(const char* operation, std::span<const detail::operand> operands,
                       detail::zero_strides of_inputs, bool have_elements) {
    const detail::operand& output = operands.back();
    const auto validate_view = [&](const detail::operand& o) {
        if (o.is_vector)
            detail::validate(operation, o.name, as_vector<Word>(o), have_elements);
        else
            detail::validate(operation, o.name, as_matrix<Word>(o), have_elements);
    };
    validate_view(output);
    for (const detail::operand& input : operands.first(operands.size() - 1)) {
        require_same_shape(operation, input, output);
        const bool may_broadcast = of_inputs == detail::zero_strides::allowed;
        if (may_broadcast) require_steps_forward(operation, input);
        const detail::operand reached = may_broadcast ? distinct(input) : input;
        validate_view(reached);
        // In place is fine. In a partial overlap an element could be read after it was written.
        const auto& [data, rows, cols, row_stride, col_stride] = input.view;
        const bool in_place = data == output.view.data &&
                              (rows <= 1 || row_stride == output.view.row_stride) &&
                              (cols <= 1 || col_stride == output.view.col_stride);
        detail::require(in_place || !have_elements ||
                            !detail::overlap(detail::footprint_of(as_matrix<Word>(reached)),
                                             detail::footprint_of(as_matrix<Word>(output))),
                        operation, output.name, "a view that overlaps an input in part",
                        "exactly {} or apart from it", input.name);
    }
}

elementwise_problem described(std::span<const detail::operand> operands, std::size_t element_bytes) {
    elementwise_problem result{.inputs = static_cast<int>(operands.size()) - 1};
    std::ranges::transform(operands, result.operands.begin(),
                           [=](const detail::operand& o) { return detail::layout_of(o, element_bytes); });
    return result;
}

}  // namespace

namespace detail {

std::size_t size_of(element_type type) {
    switch (type) {
        case element_type::f64:
            return 8;
        case element_type::f32:
            return 4;
        case element_type::f16:
        case element_type::bf16:
            return 2;
    }
    return 0;
}

void validate_elementwise(const char* operation, std::span<const operand> operands, std::size_t element_bytes,
                          zero_strides of_inputs, bool have_elements) {
    switch (element_bytes) {
        case 1:
            return validate_operands<word<1>>(operation, operands, of_inputs, have_elements);
        case 2:
            return validate_operands<word<2>>(operation, operands, of_inputs, have_elements);
        case 4:
            return validate_operands<word<4>>(operation, operands, of_inputs, have_elements);
        case 8:
            return validate_operands<word<8>>(operation, operands, of_inputs, have_elements);
        case 16:
            return validate_operands<word<16>>(operation, operands, of_inputs, have_elements);
        default:
            throw unsupported(detail::format("{}: elements must have 1, 2, 4, 8 or 16 bytes{}", operation,
                                             facts({fact("element_bytes", element_bytes)}).given()));
    }
}

const char* name_of(elementwise_operation operation) {
    return describe("elementwise", operation).name;
}

const char* host_name(elementwise_operation operation) {
    return describe("host::elementwise", operation).host_name;
}

void validate_scalars(const char* operation, const elementwise_call& call) {
    if (call.operation != elementwise_operation::clamp) return;
    require(call.p == call.p, operation, "low", call.p, "a number");
    require(call.q >= call.p, operation, "high", call.q, "at least {} (low)", call.p);
}

elementwise_problem elementwise_problem_of(std::span<const operand> operands, std::size_t element_bytes) {
    constexpr bool have_elements = false;
    validate_elementwise("elementwise_problem_of", operands, element_bytes, zero_strides::allowed,
                         have_elements);
    return described(operands, element_bytes);
}

elementwise_facts prepare_elementwise(const char* operation, std::span<operand> operands,
                                      std::size_t element_bytes) {
    validate_elementwise(operation, operands, element_bytes, zero_strides::allowed);
    const elementwise_facts facts = kernels::elementwise::facts_of(described(operands, element_bytes));
    kernels::elementwise::lay_in_rows(operands, &operand::view);
    return facts;
}

}  // namespace detail

std::span<const elementwise_operation> elementwise_operations() {
    return operations;
}

std::string_view to_string(elementwise_operation value) {
    const auto found = std::ranges::find(descriptions, value, &description::value);
    return found == descriptions.end() ? "unknown" : found->name;
}

int input_count(elementwise_operation value) {
    return describe("input_count", value).inputs;
}

}  // namespace heddle
