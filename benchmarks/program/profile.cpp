#include "benchmarks/program/processes.hpp"

namespace heddle::bench {
namespace {

using columns = std::map<std::string, std::string>;  // of a kernel, by ncu's names

std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> cells(1);
    bool is_quoted = false;
    for (const char c : line) {
        if (c == '"')
            is_quoted = !is_quoted;
        else if (c == ',' && !is_quoted)
            cells.emplace_back();
        else if (c != '\r')
            cells.back() += c;
    }
    return cells;
}

/// Reads what ncu prints as raw CSV, among other lines: names, units, and a line for each kernel.
std::vector<columns> kernels_of(const std::string& output) {
    std::istringstream lines(output);
    std::vector<std::string> names;
    std::vector<columns> kernels;
    bool is_after_units = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("\"ID\"")) {
            names = cells_of(line);
            continue;
        }
        if (names.empty() || !line.starts_with('"')) continue;
        if (!std::exchange(is_after_units, true)) continue;
        const std::vector<std::string> cells = cells_of(line);
        columns one;
        for (std::size_t i = 0; i < std::min(names.size(), cells.size()); ++i) one[names[i]] = cells[i];
        kernels.push_back(std::move(one));
    }
    return kernels;
}

std::optional<double> number(const columns& kernel, const std::string& column) {
    const auto found = kernel.find(column);
    if (found == kernel.end()) return std::nullopt;
    std::string text = found->second;
    std::erase(text, ',');
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end == text.c_str()) return std::nullopt;
    return value;
}

/// The greatest of the columns that begin and end so: chips differ in their pipes' names.
std::optional<double> greatest(const columns& kernel, std::string_view begin, std::string_view end) {
    std::optional<double> result;
    for (const auto& [column, value] : kernel)
        if (column.starts_with(begin) && column.ends_with(end))
            if (const auto share = number(kernel, column)) result = std::max(result.value_or(0), *share);
    return result;
}

struct use {
    std::string_view of;
    std::string_view sentence;  ///< where it is what limits the kernel
    std::optional<double> percent;
};

std::vector<use> uses_of(const columns& kernel) {
    constexpr std::string_view elapsed = ".avg.pct_of_peak_sustained_elapsed";
    constexpr std::string_view active = ".avg.pct_of_peak_sustained_active";
    std::optional<double> issue = number(kernel, "smsp__issue_active.avg.per_cycle_active");
    if (issue) *issue *= 100;
    return {{"DRAM", "the bandwidth of DRAM", greatest(kernel, "dram__throughput", elapsed)},
            {"L2", "the bandwidth of L2", greatest(kernel, "lts__throughput", elapsed)},
            {"shared memory", "reads and writes of shared memory",
             greatest(kernel, "l1tex__data_pipe_lsu_wavefronts_mem_shared", elapsed)},
            {"FFMA", "the units that multiply and add floats",
             greatest(kernel, "sm__inst_executed_pipe_fma", active)},
            {"tensor cores", "the tensor cores", greatest(kernel, "sm__pipe_tensor_cycles_active", active)},
            {"issue slots", "the instructions that it issues", issue}};
}

/// What warps wait for most, of an instruction's issue: the name that ncu has for it, and in words.
std::pair<std::string, std::string> top_stall(const columns& kernel) {
    static const std::map<std::string, std::string> words = {
        {"barrier", "other warps at a barrier"},
        {"branch_resolving", "branches"},
        {"dispatch_stall", "the dispatcher"},
        {"drain", "its last stores"},
        {"gmma", "products of the tensor cores"},
        {"imc_miss", "constants"},
        {"lg_throttle", "a place in the queue of loads from memory"},
        {"long_scoreboard", "loads from memory"},
        {"math_pipe_throttle", "a busy arithmetic unit"},
        {"membar", "memory barriers"},
        {"mio_throttle", "a place in the queue of shared memory"},
        {"no_instruction", "instructions to be fetched"},
        {"short_scoreboard", "loads from shared memory"},
        {"sleeping", "a sleep to end"},
        {"tex_throttle", "a place in the queue of textures"},
        {"wait", "the instruction before"}};
    constexpr std::string_view begin = "smsp__average_warps_issue_stalled_", end = "_per_issue_active.ratio";
    std::pair<std::string, std::string> result{"none", "nothing"};
    double most = 0;
    for (const auto& [column, value] : kernel) {
        if (!column.starts_with(begin) || !column.ends_with(end)) continue;
        const std::string reason = column.substr(begin.size(), column.size() - begin.size() - end.size());
        const auto share = number(kernel, column);
        if (!share || *share <= most || !words.contains(reason)) continue;
        most = *share;
        result = {reason, words.at(reason)};
    }
    return result;
}

std::string sentence(const std::vector<use>& uses, const std::string& waits_for) {
    constexpr double busy = 60;
    const auto by_percent = [](const use& a, const use& b) {
        return a.percent.value_or(0) < b.percent.value_or(0);
    };
    const use& most = *std::ranges::max_element(uses, by_percent);
    if (most.percent.value_or(0) >= busy)
        return fmt::format("What limits it: {}, {:.0f} % used.", most.sentence, *most.percent);
    return fmt::format("What limits it: latency; nothing is used by {:.0f} %, and warps wait for {}.", busy,
                       waits_for);
}

/// Why there is no profile: what ncu says, or this program under it.
std::string error_in(const process_output& output) {
    if (output.text.find("ERR_NVGPUCTRPERM") != output.text.npos)
        return "no right to profile: the driver lets only root read the GPU's counters here "
               "(ERR_NVGPUCTRPERM)";
    constexpr std::string_view own = "heddle-bench: ", of_ncu = "==ERROR==";
    std::istringstream lines(output.text);
    std::string why;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(own)) return "the call failed under ncu: " + line.substr(own.size());
        if (why.empty() && line.starts_with(of_ncu))
            why = "ncu: " + line.substr(line.find_first_not_of("=ERO "));
    }
    if (!why.empty()) return why;
    return output.status == 0 ? "ncu profiled no kernel"
                              : fmt::format("ncu ended with {} and profiled no kernel", output.status);
}

}  // namespace

void profile_again(const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {
        "ncu",  "--profile-from-start", "off",     "--csv", "--page", "raw", "--print-units",
        "base", "--print-kernel-base",  "function"};
    for (const char* section :
         {"SpeedOfLight", "ComputeWorkloadAnalysis", "SchedulerStats", "WarpStateStats", "Occupancy"})
        command.insert(command.end(), {"--section", section});
    command.insert(command.end(),
                   {"--metrics",
                    "dram__throughput.avg.pct_of_peak_sustained_elapsed,"
                    "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed,"
                    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active,"
                    "gpu__time_duration.sum",
                    own_program()});
    command.insert(command.end(), arguments.begin(), arguments.end());
    const std::optional<process_output> output = output_of(command);
    if (!output) throw std::runtime_error("cannot profile: ncu is not on PATH; Nsight Compute has it");
    const std::vector<columns> kernels = kernels_of(output->text);
    if (kernels.empty()) throw std::runtime_error("cannot profile: " + error_in(*output));

    const auto duration = [](const columns& one) {
        return number(one, "gpu__time_duration.sum").value_or(0);
    };
    const columns& longest = *std::ranges::max_element(kernels, {}, duration);
    const std::vector<use> uses = uses_of(longest);
    const auto [stall, waits_for] = top_stall(longest);
    std::string name = longest.contains("Kernel Name") ? longest.at("Kernel Name") : "";
    name.resize(std::min(name.size(), name.find_first_of("(<")));
    fmt::print("\nprofile of {}{}, at ncu's clocks\n", name,
               kernels.size() > 1 ? fmt::format(", the longest of {} kernels", kernels.size()) : "");
    for (const use& one : uses)
        fmt::print("  {:14} {}\n", one.of, one.percent ? fmt::format("{:5.1f} %", *one.percent) : "unknown");
    if (const auto occupied = number(longest, "sm__warps_active.avg.pct_of_peak_sustained_active"))
        fmt::print("  {:14} {:5.1f} %\n", "occupancy", *occupied);
    fmt::print("  {:14} {}\n{}\n", "top stall", stall, sentence(uses, waits_for));
}

}  // namespace heddle::bench
