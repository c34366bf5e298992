#include "kernels/matmul/launch.hpp"
#include "src/matmul/rungs.hpp"
#include "src/matmul/validate.hpp"
#include <heddle/types.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {
namespace {

using kernels::matmul::product_facts;

/// The tables for questions whose answer depends only on whether the operands are float.
detail::rung_table<detail::matmul_rung<float, float>> float_rungs() {
    return detail::matmul_rungs<float, float>();
}
detail::rung_table<detail::matmul_rung<half, half>> half_rungs() {
    return detail::matmul_rungs<half, half>();
}

template <class Function>
auto with_table(element_type operands, Function function) {
    return operands == element_type::f32 ? function(float_rungs()) : function(half_rungs());
}

bool has_kernel(matmul_algorithm algorithm, element_type operands, std::string_view kernel) {
    return with_table(operands, [=](const auto& table) { return table.has(algorithm, kernel); });
}

bool is_empty(const matmul_problem& p) {
    return p.c.rows == 0 || p.c.cols == 0 || p.a.cols == 0 || p.batches == 0;
}

/// An empty product needs no scratch memory, so its facts allow every rung.
product_facts facts_of(matmul_problem problem) {
    problem.has_scratch |= is_empty(problem);
    return product_facts(problem);
}

std::string why_no_kernel(matmul_algorithm algorithm, element_type operands, std::string_view kernel) {
    return detail::format("matmul: {} has no kernel for operands of type {}",
                          kernel.empty() ? to_string(algorithm) : kernel, detail::name_of(operands));
}

/// Accepts the kernels of all types. require_kernel() checks that there is one for the operands' type.
void validate_algorithm(const char* operation, const detail::argument_name& name, matmul_algorithm algorithm,
                        const detail::argument_name& kernel_name, std::string_view kernel) {
    detail::require(to_string(algorithm) != "unknown", operation, name, static_cast<int>(algorithm),
                    "an enumerator of matmul_algorithm");
    if (float_rungs().has(algorithm, kernel) || half_rungs().has(algorithm, kernel)) return;
    std::string names;
    const auto float_kernels = matmul_kernels(element_type::f32, algorithm);
    for (const element_type type : {element_type::f32, element_type::f16})
        for (const std::string_view each : matmul_kernels(type, algorithm))
            if (type == element_type::f32 || std::ranges::find(float_kernels, each) == float_kernels.end())
                names += detail::format("{}{}", names.empty() ? "" : ", ", each);
    detail::require(false, operation, kernel_name, kernel, "one of {}", names);
}

void validate_question(const char* operation, matmul_algorithm algorithm, const matmul_problem& problem,
                       const device_traits& device, std::string_view kernel) {
    validate_algorithm(operation, "algorithm", algorithm, "kernel", kernel);
    detail::validate_problem(operation, problem, device);
}

}  // namespace

std::string_view to_string(matmul_algorithm algorithm) {
    const std::string_view name = float_rungs().name_of(algorithm);
    return name != "unknown" ? name : half_rungs().name_of(algorithm);
}

std::string_view to_string(precision precision) {
    constexpr std::array names = {"ieee", "fp32", "fp32_normwise", "tf32"};
    const auto place = static_cast<std::size_t>(precision);
    return place < names.size() ? names[place] : "unknown";
}

matmul_algorithm select(const matmul_problem& problem, const device_traits& device) {
    detail::validate_problem("select", problem, device);
    if (is_empty(problem)) return matmul_algorithm::naive;
    return with_table(problem.operands, [&](const auto& table) {
        return table.choose("select", matmul_algorithm::automatic, product_facts(problem), device).rung->id;
    });
}

std::string why_not(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device,
                    std::string_view kernel) {
    validate_question("why_not", algorithm, problem, device, kernel);
    if (!has_kernel(algorithm, problem.operands, kernel))
        return why_no_kernel(algorithm, problem.operands, kernel);
    return with_table(problem.operands, [&](const auto& table) {
        return table.why_not("matmul", algorithm, facts_of(problem), device, kernel);
    });
}

std::string_view select_kernel(const matmul_problem& problem, const device_traits& device,
                               matmul_algorithm algorithm, std::string_view kernel) {
    validate_question("select_kernel", algorithm, problem, device, kernel);
    detail::require_kernel(algorithm, problem.operands, kernel);
    if (is_empty(problem)) return "naive";
    return with_table(problem.operands, [&](const auto& table) {
        return table.choose("select_kernel", algorithm, product_facts(problem), device, kernel).rung->name;
    });
}

bool may_stand_for(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device) {
    return with_table(problem.operands, [&](const auto& table) {
        return table.may_take(algorithm, facts_of(problem), device);
    });
}

std::int64_t matmul_workspace_bytes(const matmul_problem& problem, const device_traits& device,
                                    matmul_algorithm algorithm, std::string_view kernel) {
    validate_question("matmul_workspace_bytes", algorithm, problem, device, kernel);
    matmul_problem with = problem;
    with.has_scratch = true;
    if (is_empty(problem) || !detail::can_run(algorithm, with, device, kernel)) return 0;
    return with_table(problem.operands, [&](const auto& table) {
        return table.choose("matmul", algorithm, product_facts(with), device, kernel).plan.workspace_bytes();
    });
}

namespace detail {

void add_facts(facts& to, const matrix_layout& m) {
    to.add({fact("rows", m.rows), fact("cols", m.cols), fact("row_stride", m.row_stride, m.cols),
            fact("col_stride", m.col_stride, 1), fact("alignment", m.alignment(), 256)});
}

void add_facts(facts& to, const matmul_problem& p) {
    to.add({fact("a", p.a), fact("b", p.b), fact("c", p.c), fact("operands", name_of(p.operands)),
            fact("result", name_of(p.result), name_of(p.operands)), fact("batches", p.batches, 1),
            fact("a_stride", p.a_stride, 0), fact("b_stride", p.b_stride, 0), fact("c_stride", p.c_stride, 0),
            fact("has_epilogue", p.has_epilogue, false), fact("adds_c", p.adds_c, false),
            fact("has_scratch", p.has_scratch, true),
            fact("precision", to_string(p.precision), to_string(precision::fp32))});
}

bool can_run(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device,
             std::string_view kernel) {
    return has_kernel(algorithm, problem.operands, kernel) &&
           with_table(problem.operands, [&](const auto& table) {
               return table.can_run(algorithm, facts_of(problem), device, kernel);
           });
}

void require_kernel(matmul_algorithm algorithm, element_type operands, std::string_view kernel) {
    if (!has_kernel(algorithm, operands, kernel))
        throw unsupported(why_no_kernel(algorithm, operands, kernel));
}

void validate_choice(const char* operation, const matmul_options& options) {
    validate_algorithm(operation, {"options", "algorithm"}, options.algorithm, {"options", "kernel"},
                       options.kernel);
    validate_precision(operation, {"options", "precision"}, options.precision);
}

void validate_problem(const char* operation, const matmul_problem& p, const device_traits& device) {
    validate_device(operation, device);
    const std::int64_t m = p.c.rows, n = p.c.cols, k = p.a.cols;
    validate_extents(operation, {{"m", m}, {"n", n}, {"batches", p.batches}});
    validate_extents(operation, {{"m", m}, {"k", k}});
    validate_extents(operation, {{"n", n}, {"k", k}});
    require(p.a.rows == m && p.b.rows == k && p.b.cols == n, operation, "problem",
            "one of shapes that disagree", "one of matmul_problem_of()");
    validate_types(operation, p);
    const std::int64_t bytes = p.operands == element_type::f32 ? 4 : 2;
    require(p.a.element_bytes == bytes && p.b.element_bytes == bytes, operation,
            {"problem", "a.element_bytes"}, p.a.element_bytes, "{}, as that of b: the size of an operand",
            bytes);
}

template <class In, class Out>
planned_matmul<In, Out> plan_matmul(const matmul_problem& problem, const device_traits& device,
                                    const matmul_options& options) {
    validate_problem("matmul", problem, device);
    if (problem.a.cols == 0) {  // beta * C and the epilogue remain: `scale` computes them for every rung
        static constexpr matmul_rung<In, Out> scale{matmul_algorithm::naive,
                                                    "scale",
                                                    any_problem,
                                                    never,
                                                    kernels::matmul::plan_scale,
                                                    kernels::matmul::launch_scale<In, Out>};
        const std::string reason = why_not(options.algorithm, problem, device, options.kernel);
        if (!reason.empty()) throw unsupported(reason);
        return {&scale, scale.plan(product_facts(problem), device)};
    }
    return matmul_rungs<In, Out>().choose("matmul", options.algorithm, product_facts(problem), device,
                                          options.kernel);
}

#define INSTANTIATE(In, Out)                                                                  \
    template planned_matmul<In, Out> plan_matmul(const matmul_problem&, const device_traits&, \
                                                 const matmul_options&);
HEDDLE_PAIRS_OF_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace detail
}  // namespace heddle
