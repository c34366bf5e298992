#include "benchmarks/tuning/cases.hpp"
#include "kernels/matmul/cost/h100.hpp"
#include "kernels/matmul/cost/h200.hpp"
#include "src/matmul/rungs.hpp"

HEDDLE_CHANGEABLE_COSTS(matmul)

namespace heddle::bench::tuning {
namespace {

using kernels::matmul::costs, kernels::matmul::current;
using nlohmann::json;

constexpr auto members_of_card = std::to_array<std::pair<std::string_view, double costs::*>>(
    {{"memory_bytes_per_us", &costs::memory_bytes_per_us},
     {"l2_bytes_per_us", &costs::l2_bytes_per_us},
     {"copied_bytes_per_us", &costs::copied_bytes_per_us},
     {"launch_us", &costs::launch_us},
     {"combine_us", &costs::combine_us},
     {"elements_per_us", &costs::elements_per_us},
     {"by_element", &costs::by_element},
     {"adding", &costs::adding},
     {"epilogue_us", &costs::epilogue_us}});
static_assert(sizeof(costs) == sizeof(costs::rows) + members_of_card.size() * sizeof(double),
              "a member is missing");

precision precision_named(const std::string& name) {
    for (const auto each : {precision::ieee, precision::fp32, precision::fp32_normwise, precision::tf32})
        if (to_string(each) == name) return each;
    throw std::runtime_error(fmt::format("{} is no precision", name));
}

matmul_problem problem_of(const json& of) {
    const std::int64_t bytes = of.at("element_bytes"), wide = sizeof(float);
    const bool widens = of.at("widens");
    const auto layout = [](const json& m, std::int64_t element_bytes) {
        const std::int64_t alignment = m.at(4);
        return matrix_layout{m.at(0), m.at(1), m.at(2), m.at(3), element_bytes, alignment % 256};
    };
    const element_type operands = bytes == wide ? element_type::f32 : element_type::f16;
    return {.a = layout(of.at("a"), bytes),
            .b = layout(of.at("b"), bytes),
            .c = layout(of.at("c"), widens ? wide : bytes),
            .operands = operands,
            .result = widens ? element_type::f32 : operands,
            .batches = of.at("batches"),
            .a_stride = of.at("a_stride"),
            .b_stride = of.at("b_stride"),
            .has_epilogue = of.at("has_epilogue"),
            .adds_c = of.at("adds_c"),
            .precision = precision_named(of.at("precision"))};
}

double us_of(const matmul_problem& problem, const device_traits& device, std::string_view kernel) {
    constexpr double timed_us = 2.5;  // of an empty kernel: what is measured, and in no plan
    const matmul_options asked{.kernel = kernel};
    if (problem.operands == element_type::f32)
        return timed_us + detail::plan_matmul<float, float>(problem, device, asked).plan.us;
    if (problem.result == element_type::f32)
        return timed_us + detail::plan_matmul<half, float>(problem, device, asked).plan.us;
    return timed_us + detail::plan_matmul<half, half>(problem, device, asked).plan.us;
}

std::vector<row_numbers> rows() {
    std::vector<row_numbers> all;
    for (auto& row : current.rows)
        all.push_back({row.row,
                       {{&row.start_us},
                        {&row.around_us},
                        {&row.step_us},
                        {&row.alone_us, 0},
                        {&row.of_memory_rate, 1}}});
    return all;
}

std::vector<card_number> of_card() {
    std::vector<card_number> all;
    for (const auto& [name, member] : members_of_card) all.push_back({name, &(current.*member)});
    return all;
}

plan_us plans_of(const json& problem, const device_traits& device) {
    const matmul_problem of = problem_of(problem);
    if (of.a.cols == 0) return {};
    return [=](std::string_view kernel) { return us_of(of, device, kernel); };
}

}  // namespace

const operation matmul_operation{.name = "matmul",
                                 .cards = {"h100", "h200"},
                                 .begin =
                                     [](std::string_view card) {
                                         current =
                                             card == "h100" ? kernels::matmul::h100 : kernels::matmul::h200;
                                     },
                                 .rows = rows,
                                 .of_card = of_card,
                                 .plans_of = plans_of};

}  // namespace heddle::bench::tuning
