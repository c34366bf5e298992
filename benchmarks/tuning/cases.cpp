#include "benchmarks/tuning/cases.hpp"

#include "src/matmul/rungs.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace heddle::kernels::matmul {

/// In the place of the library's.
const costs& costs_of(const device_traits&) {
    return bench::tuning::current;
}

}  // namespace heddle::kernels::matmul

namespace heddle::bench::tuning {

kernels::matmul::costs current{};

namespace {

using nlohmann::json;

device_traits device_of(const json& of) {
    const auto& capability = of.at("compute_capability");
    return {.compute_capability_major = capability.at(0),
            .compute_capability_minor = capability.at(1),
            .sm_count = of.at("sm_count"),
            .max_threads_per_sm = of.at("max_threads_per_sm"),
            .shared_memory_per_block_optin = of.at("shared_memory_per_block_optin"),
            .l2_bytes = of.at("l2_bytes")};
}

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

std::string_view kernel_named(const std::string& name, element_type operands) {
    const auto kernels = matmul_kernels(operands);
    const auto found = std::ranges::find(kernels, name);
    if (found == kernels.end()) throw std::runtime_error(fmt::format("heddle has no kernel {}", name));
    return *found;
}

double plan_us(const matmul_problem& problem, const device_traits& device, std::string_view kernel) {
    const matmul_options asked{.kernel = kernel};
    if (problem.operands == element_type::f32)
        return detail::plan_matmul<float, float>(problem, device, asked).plan.us;
    if (problem.result == element_type::f32)
        return detail::plan_matmul<half, float>(problem, device, asked).plan.us;
    return detail::plan_matmul<half, half>(problem, device, asked).plan.us;
}

}  // namespace

void timed_product::predict(choice& each) const {
    constexpr double timed_us = 2.5;  // of an empty kernel: what is measured, and in no plan
    each.predicted_us = timed_us + plan_us(problem, device, each.kernel);
}

const choice& timed_product::taken() const {
    return *std::ranges::min_element(choices, {}, &choice::predicted_us);
}

std::vector<timed_product> read_products(const std::filesystem::path& record) {
    try {
        std::ifstream file(record);
        if (!file) throw std::runtime_error("it cannot be read");
        const json content = json::parse(file);
        const device_traits device = device_of(content.at("device"));
        std::vector<timed_product> all;
        for (const json& of : content.at("cases")) {
            if (!of.contains("problem") || !of.contains("all_us")) continue;
            timed_product p{.name = of.at("case"),
                            .words = of.at("words"),
                            .device = device,
                            .problem = problem_of(of.at("problem"))};
            if (p.problem.a.cols == 0) continue;
            for (const auto& [name, us] : of.at("all_us").items())
                p.predict(p.choices.emplace_back(kernel_named(name, p.problem.operands), us));
            p.best_us = std::ranges::min(p.choices, {}, &choice::measured_us).measured_us;
            all.push_back(std::move(p));
        }
        if (all.empty()) throw std::runtime_error("it has no products with the times of all choices");
        return all;
    } catch (const std::exception& error) {
        throw std::runtime_error(fmt::format("{}: {}", record.string(), error.what()));
    }
}

}  // namespace heddle::bench::tuning
