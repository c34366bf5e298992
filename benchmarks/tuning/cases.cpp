#include "benchmarks/tuning/cases.hpp"

namespace heddle::bench::tuning {
namespace {

using nlohmann::json;

device_traits device_of(const json& of) {
    const auto& capability = of.at("compute_capability");
    return {.compute_capability_major = capability.at(0),
            .compute_capability_minor = capability.at(1),
            .sm_count = of.at("sm_count"),
            .max_threads_per_sm = of.at("max_threads_per_sm"),
            .shared_memory_per_sm = of.at("shared_memory_per_sm"),
            .shared_memory_per_block_optin = of.at("shared_memory_per_block_optin"),
            .l2_bytes = of.at("l2_bytes")};
}

}  // namespace

const choice& timed_case::taken() const {
    return *std::ranges::min_element(choices, {}, &choice::predicted_us);
}

std::vector<timed_case> read_cases(const operation& operation, const std::filesystem::path& record) {
    try {
        std::ifstream file(record);
        if (!file) throw std::runtime_error("it cannot be read");
        const json content = json::parse(file);
        const device_traits device = device_of(content.at("device"));
        std::vector<timed_case> all;
        for (const json& of : content.at("cases")) {
            const std::string name = of.at("case");
            const bool is_of_operation = name.starts_with(fmt::format("{}:", operation.name));
            if (!is_of_operation || !of.contains("problem") || !of.contains("all_us")) continue;
            timed_case each{
                .name = name, .words = of.at("words"), .us = operation.plans_of(of.at("problem"), device)};
            if (!each.us) continue;
            for (const auto& [kernel, us] : of.at("all_us").items())
                each.predict(each.choices.emplace_back(kernel, us));
            std::erase_if(each.choices,
                          [](const choice& c) { return c.predicted_us <= 0; });  // it has no cost
            each.best_us = std::ranges::min(each.choices, {}, &choice::measured_us).measured_us;
            all.push_back(std::move(each));
        }
        if (all.empty())
            throw std::runtime_error(
                fmt::format("it has no problems of {} with the times of all choices", operation.name));
        return all;
    } catch (const std::exception& error) {
        throw std::runtime_error(fmt::format("{}: {}", record.string(), error.what()));
    }
}

}  // namespace heddle::bench::tuning
