#include "benchmarks/program/record.hpp"

#include "benchmarks/headline.hpp"
#include "benchmarks/program/selection.hpp"
#include "benchmarks/support/peers.hpp"

#include <fmt/chrono.h>
#include <heddle_sources.hpp>

#include <ctime>

namespace heddle::bench {
namespace {

std::string cpu_name() {
    std::ifstream cpus("/proc/cpuinfo");
    for (std::string line; std::getline(cpus, line);)
        if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
    return "unknown";
}

std::string now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::string cuda_version() {
    int version = 0;
    check(cudaRuntimeGetVersion(&version));
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

json gpu() {
    if (!has_device()) return {{"name", "no GPU"}};
    const device_traits& device = traits_of(current_device());
    return {{"name", device.name},
            {"sms", device.sm_count},
            {"l2_bytes", device.l2_bytes},
            {"memory_bytes", device.global_memory_bytes},
            {"compute_capability",
             fmt::format("{}.{}", device.compute_capability_major, device.compute_capability_minor)}};
}

json watched(const gpu_history& history) {
    json result = json::object();
    const auto add = [&](const char* name, const std::vector<double>& values) {
        if (values.empty()) return;
        const auto [least, greatest] = std::ranges::minmax(values);
        result[name] = {rounded(least), rounded(median(values)), rounded(greatest)};
    };
    add("sm_mhz", history.sm_mhz);
    add("memory_mhz", history.memory_mhz);
    add("power_w", history.power_w);
    add("temperature_c", history.temperature_c);
    if (!result.empty()) result["throttled"] = history.throttled;
    return result;
}

std::string driver_of(const gpu_watcher& watcher) {
    return watcher.driver().empty() ? "unknown" : watcher.driver();
}

/// Bytes or operations, which are whole.
json count_or_null(double value) {
    return value > 0 ? json(std::llround(value)) : json(nullptr);
}

json row_of(const outcome& outcome, const ceilings& ceilings) {
    const row_name name = parts_of(*outcome.row);
    json row = {{"operation", name.operation},
                {"type", name.type},
                {"shape", name.shape},
                {"library", name.library},
                {"rung", name.rung.empty() ? json(nullptr) : json(name.rung)},
                {"hot", name.temperature == temperature::hot},
                {"bytes", count_or_null(outcome.row->problem.bytes())}};
    row["bytes_written"] = count_or_null(outcome.row->problem.bytes_written);
    row["operations"] = count_or_null(outcome.row->problem.operations);
    if (!outcome.error.empty()) {
        row["error"] = outcome.error;
        return row;
    }
    row["us"] = rounded(outcome.median_us());
    row["spread"] = rounded(outcome.spread(), 2);
    row["repetitions"] = outcome.us.size();
    const auto limit =
        outcome.row->on_device ? limit_of(outcome.row->problem, name.temperature, ceilings) : std::nullopt;
    row["limit"] =
        limit ? json{{"ceiling", limit->ceiling}, {"us", rounded(1e6 * limit->seconds)}} : json(nullptr);
    row["error"] = nullptr;
    return row;
}

void add_peer(json& row, const outcome& outcome) {
    const auto entry = std::ranges::find(headline(), outcome.row->name, &headline_row::name);
    if (entry != headline().end()) row["peer"] = entry->peer;
}

json samples_of(const outcome& outcome) {
    json samples = json::array();
    for (const double us : outcome.us) samples.push_back(rounded(us));
    return samples;
}

void add_samples(json& row, const outcome& outcome) {
    if (!outcome.error.empty()) return;
    row["calls"] = outcome.calls;
    row["processes"] = json::array({samples_of(outcome)});
}

json ceiling_row(const ceiling& measured, const outcome& outcome) {
    json row = {{"name", measured.name}};
    if (measured.bytes > 0) row["bytes"] = measured.bytes;
    row["hot"] = measured.temperature == temperature::hot;
    const problem& problem = outcome.row->problem;
    if (problem.operations > 0 || problem.bytes() > 0) {
        row["per_second"] = rounded(measured.per_second);
        row["unit"] = problem.operations > 0 ? "FLOP/s" : "B/s";
    } else {
        row["us"] = rounded(outcome.median_us());
    }
    return row;
}

std::optional<ceiling> ceiling_of(const outcome& outcome) {
    if (outcome.us.empty()) return std::nullopt;
    return ceiling_of(outcome.row->problem, parts_of(*outcome.row).temperature, 1e-6 * outcome.median_us());
}

/// Merges the processes' [least, median, greatest].
json merged_quantity(const json& all) {
    std::vector<double> least, medians, greatest;
    for (const json& one : all) {
        least.push_back(one[0]);
        medians.push_back(one[1]);
        greatest.push_back(one[2]);
    }
    return {std::ranges::min(least), median(medians), std::ranges::max(greatest)};
}

json merged_watched(const std::vector<json>& records) {
    std::map<std::string, json> quantities;
    std::set<std::string> throttled;
    for (const json& record : records)
        for (const auto& [name, value] : record["watched"].items())
            if (name == "throttled")
                throttled.merge(value.get<std::set<std::string>>());
            else
                quantities[name].push_back(value);
    json result = json::object();
    for (const auto& [name, all] : quantities) result[name] = merged_quantity(all);
    if (!result.empty()) result["throttled"] = throttled;
    return result;
}

/// Adds the samples of another process to a row's.
void merge_samples(json& row, const json& other) {
    if (!row["error"].is_null()) return;
    if (!other["error"].is_null()) {
        row["error"] = other["error"];
        return;
    }
    for (const json& process : other["processes"]) row["processes"].push_back(process);
    std::vector<double> us;
    for (const json& process : row["processes"])
        for (const json& sample : process) us.push_back(sample);
    const auto [least, greatest] = std::ranges::minmax(us);
    row["us"] = rounded(median(us));
    row["spread"] = rounded((greatest - least) / 2 / median(us), 2);
    row["repetitions"] = us.size();
}

}  // namespace

ceilings ceilings_of(const std::vector<outcome>& outcomes) {
    ceilings all;
    for (const outcome& outcome : outcomes)
        if (const auto measured = ceiling_of(outcome)) all.add(*measured);
    return all;
}

json record_of(const run_result& result, int repetitions, const gpu_watcher& watcher,
               const std::string& commit, record_contents contents) {
    json record = {{"schema", record_schema},
                   {"heddle", HEDDLE_VERSION},
                   {"commit", commit},
                   {"sources_sha256", HEDDLE_SOURCES_SHA256},
                   {"date", now()},
                   {"repetitions", repetitions},
                   {"seconds", static_cast<long>(result.seconds + 0.5)},
                   {"complete", !result.interrupted},
                   {"gpu", gpu()},
                   {"cpu", cpu_name()},
                   {"driver", driver_of(watcher)},
                   {"cuda", cuda_version()},
                   {"peers", peer_versions()},
                   {"watched", watched(watcher.history())},
                   {"ceilings", json::array()},
                   {"rows", json::array()}};
    const ceilings ceilings = ceilings_of(result.outcomes);
    for (const outcome& outcome : result.outcomes) {
        const auto measured = ceiling_of(outcome);
        if (measured && !contents.is_headline) {
            record["ceilings"].push_back(ceiling_row(*measured, outcome));
            continue;
        }
        json& row = record["rows"].emplace_back(row_of(outcome, ceilings));
        if (contents.is_headline) add_peer(row, outcome);
        if (contents.has_samples) add_samples(row, outcome);
    }
    if (result.interrupted && !contents.is_headline) {  // with which the run can be resumed
        record["taken"] = json::array();
        for (const outcome& outcome : result.outcomes)
            if (!outcome.us.empty())
                record["taken"].push_back(
                    {{"row", outcome.row->name}, {"us", samples_of(outcome)}, {"calls", outcome.calls}});
    }
    return record;
}

std::string why_not_resumed(const json& before, const gpu_watcher& watcher, const std::string& commit) {
    const std::array<std::array<std::string, 3>, 7> heads = {
        {{"card", before.at("gpu").at("name"), gpu()["name"]},
         {"commit", before.at("commit"), commit},
         {"digest of the sources", before.at("sources_sha256"), HEDDLE_SOURCES_SHA256},
         {"driver", before.at("driver"), driver_of(watcher)},
         {"CUDA", before.at("cuda"), cuda_version()},
         {"CPU", before.at("cpu"), cpu_name()},
         {"set of peers", before.at("peers").dump(), json(peer_versions()).dump()}}};
    for (const auto& [what, then, now] : heads)
        if (then != now) return fmt::format("it is of another {}: {}, not {}", what, then, now);
    const bool was_stopped = before.contains("taken");
    return was_stopped || before.at("complete").get<bool>() ? "" : "no Ctrl-C ended it";
}

outcomes_by_name taken(const json& before) {
    outcomes_by_name result;
    for (const json& entry : before.at("taken"))
        result[entry.at("row")] = {.row = nullptr, .us = entry.at("us"), .calls = entry.at("calls")};
    return result;
}

json resumed(const json& before, json record) {
    record["seconds"] = record["seconds"].get<long>() + before["seconds"].get<long>();
    record["watched"] = merged_watched({before, record});
    return record;
}

json merged(const std::vector<json>& records) {
    json result = records.front();
    std::map<std::string, json*> by_name;
    for (json& row : result["rows"]) by_name.emplace(name_of(row), &row);
    bool complete = result["complete"];
    long seconds = result["seconds"];
    for (std::size_t index = 1; index < records.size(); ++index) {
        complete = complete && records[index]["complete"].get<bool>();
        seconds += records[index]["seconds"].get<long>();
        for (const json& row : records[index]["rows"])
            if (const auto same = by_name.find(name_of(row)); same != by_name.end())
                merge_samples(*same->second, row);
    }
    result["seconds"] = seconds;
    result["complete"] = complete;
    result["watched"] = merged_watched(records);
    return result;
}

std::string name_of(const json& row) {
    const auto text = [&row](const char* key) {
        return row[key].is_null() ? "" : row[key].get<std::string>();
    };
    const std::string rung = text("rung");
    return fmt::format("{}/{}/{}/{}{}{}{}", text("operation"), text("type"), text("shape"), text("library"),
                       rung.empty() ? "" : ":", rung, row["hot"].get<bool>() ? "/hot" : "");
}

std::string commit_or(const std::string& given) {
    if (!given.empty()) return given;
    if (const char* named = std::getenv("HEDDLE_COMMIT"); named != nullptr && *named != '\0') return named;
    return HEDDLE_COMMIT;
}

}  // namespace heddle::bench
