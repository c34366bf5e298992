#include "benchmarks/limits.hpp"
#include "benchmarks/program/commands.hpp"
#include "benchmarks/program/gpu_watcher.hpp"
#include "benchmarks/program/json_file.hpp"
#include "benchmarks/program/processes.hpp"
#include "benchmarks/program/progress.hpp"
#include "benchmarks/program/record.hpp"
#include "benchmarks/program/runner.hpp"
#include "benchmarks/program/selection.hpp"

namespace heddle::bench {
namespace {

struct request {
    selection wanted;
    int repetitions = 5;
    int processes = 1;
    bool samples = false;
    bool resume = false;
    std::string commit;
    std::filesystem::path output = "heddle-bench.json";
};

/// The greatest copy, by which a report draws what memory allows.
const registered_row* greatest_copy() {
    const registered_row* greatest = nullptr;
    for (const registered_row& row : registered_rows()) {
        const row_name name = parts_of(row);
        if (name.operation != "ceiling" || name.type != "dram_copy" || name.temperature == temperature::hot)
            continue;
        if (greatest == nullptr || row.problem.bytes() > greatest->problem.bytes()) greatest = &row;
    }
    return greatest;
}

/// The ceilings too that the rows need, before them.
void add_ceilings(rows& all) {
    rows wanted = needed_ceilings(all);
    if (!wanted.empty()) wanted.push_back(greatest_copy());
    for (const registered_row* row : wanted)
        if (std::ranges::find(all, row) == all.end()) all.push_back(row);
    std::ranges::stable_partition(
        all, [](const registered_row* row) { return parts_of(*row).operation == "ceiling"; });
}

void print_table(const json& record) {
    fmt::print("{:56} {:>11} {:>7} {:>9}  limit\n", "row", "us", "+-", "of limit");
    for (const json& row : record["rows"]) {
        if (!row["error"].is_null()) {
            fmt::print("{:56} {}\n", name_of(row), row["error"].get<std::string>());
            continue;
        }
        const double us = row["us"];
        fmt::print("{:56} {:11.2f} {:5.1f} %", name_of(row), us, 100 * row["spread"].get<double>());
        if (!row["limit"].is_null())
            fmt::print(" {:7.0f} %  {}", 100 * row["limit"]["us"].get<double>() / us,
                       row["limit"]["ceiling"].get<std::string>());
        fmt::print("\n");
    }
}

/// Says which rows failed, and which are faster than what limits them: then they, or the limit, are wrong.
bool all_is_well(const std::vector<outcome>& outcomes) {
    const ceilings ceilings = ceilings_of(outcomes);
    bool fine = true;
    for (const outcome& outcome : outcomes) {
        const registered_row& row = *outcome.row;
        if (outcome.failed) {
            fmt::print(stderr, "heddle-bench: {} failed: {}\n", row.name, outcome.error);
            fine = false;
        }
        if (!outcome.error.empty() || !row.on_device) continue;
        const auto limit = limit_of(row.problem, parts_of(row).temperature, ceilings);
        if (limit && beats_its_limit(1e-6 * outcome.median_us(), *limit)) {
            fmt::print(stderr,
                       "heddle-bench: {} takes {:.2f} us, less than 95 % of its limit of {:.2f} us ({}): "
                       "the row or the ceiling is wrong\n",
                       row.name, outcome.median_us(), 1e6 * limit->seconds, limit->ceiling);
            fine = false;
        }
    }
    return fine;
}

/// Writes the record and prints it. Where it cannot be written, as on a full disk, it is printed all the same: the result is
/// why.
std::exception_ptr write(json_file& file, const json& record, const request& request) {
    std::exception_ptr why_not;
    try {
        file.write(record);
    } catch (...) {
        why_not = std::current_exception();
    }
    print_table(record);
    if (!why_not)
        fmt::print("recorded in {}{}\n", request.output.string(),
                   record["complete"].get<bool>() ? "" : ", incomplete");
    std::fflush(stdout);
    return why_not;
}

/// The record that the run goes on with.
json resumable(const request& request, const rows& all, const gpu_watcher& watcher) {
    const std::string file = request.output.string();
    json before = read_record(request.output);
    if (const auto why = why_not_resumed(before, watcher, commit_or(request.commit)); !why.empty())
        throw usage_error(fmt::format("cannot resume {}: {}", file, why));
    if (before.at("complete").get<bool>()) {
        std::set<std::string> names;
        for (const json& row : before.at("rows")) names.insert(name_of(row));
        for (const registered_row* row : all)
            if (parts_of(*row).operation != "ceiling" && !names.contains(row->name))
                throw usage_error(
                    fmt::format("cannot resume {}: it is complete, and has no row {}", file, row->name));
        return before;
    }
    for (const auto& [name, outcome] : taken(before))
        if (std::ranges::find(all, name, &registered_row::name) == all.end())
            throw usage_error(fmt::format("cannot resume {}: this run has no row {}", file, name));
    return before;
}

void run_in_processes(const request& request) {
    json_file file(request.output);
    const std::vector<json> records =
        headline_of_processes(request.processes, request.repetitions, commit_or(request.commit));
    if (records.empty()) throw CLI::RuntimeError(interrupted);
    json record = merged(records);
    if (std::ssize(records) < request.processes) record["complete"] = false;
    if (const auto why_not = write(file, record, request)) std::rethrow_exception(why_not);
    if (!record["complete"].get<bool>()) throw CLI::RuntimeError(interrupted);
    const auto has_error = [](const json& row) { return !row["error"].is_null(); };
    if (std::ranges::any_of(record["rows"], has_error)) throw CLI::RuntimeError(failed);
}

void run_in_this_process(const request& request) {
    rows all = selected_rows(request.wanted);
    if (!request.wanted.headline) add_ceilings(all);
    all = runnable(std::move(all));
    const gpu_watcher watcher;
    const json before = request.resume ? resumable(request, all, watcher) : json::object();
    if (before.value("complete", false)) {
        fmt::print("{} is complete\n", request.output.string());
        return;
    }
    json_file file(request.output);
    if (!watcher.why_not().empty())
        fmt::print(stderr, "heddle-bench: {}; the record has no clocks\n", watcher.why_not());
    const int repetitions = before.value("repetitions", request.repetitions);
    const run_result result = run_rows(all, repetitions, request.resume ? taken(before) : outcomes_by_name());
    const bool is_headline = request.wanted.headline;
    json record = record_of(result, repetitions, watcher, commit_or(request.commit),
                            {.is_headline = is_headline, .has_samples = is_headline || request.samples});
    if (request.resume) record = resumed(before, std::move(record));
    const auto why_not = write(file, record, request);
    const bool fine = all_is_well(result.outcomes);
    if (why_not) std::rethrow_exception(why_not);
    if (result.interrupted) throw CLI::RuntimeError(interrupted);
    if (!fine) throw CLI::RuntimeError(failed);
}

}  // namespace

void add_run(CLI::App& program) {
    constexpr int least_repetitions = 5, most = 1000;
    CLI::App* const command =
        program.add_subcommand("run", "Time rows, all of them where no filter is given, and write a record");
    const auto wanted = std::make_shared<request>();
    add_filters(*command, wanted->wanted);
    command->add_option("--repetitions", wanted->repetitions, "of each row; the record has their median")
        ->check(CLI::Range(least_repetitions, most))
        ->capture_default_str();
    command
        ->add_option("--processes", wanted->processes,
                     "of the headline: run it in so many, one after the other")
        ->check(CLI::Range(1, most))
        ->capture_default_str();
    command->add_flag("--samples", wanted->samples,
                      "keep the time of each repetition, too; the headline always does");
    command
        ->add_flag("--resume", wanted->resume,
                   "go on with the record, which Ctrl-C ended, of the same card, commit and driver")
        ->excludes(command->get_option("--headline"))
        ->excludes(command->get_option("--repetitions"));
    command->add_option("--commit", wanted->commit,
                        "what the sources are; without it HEDDLE_COMMIT, or what git said at build time");
    command->add_option("-o,--output", wanted->output, "the record")
        ->type_name("FILE")
        ->capture_default_str();
    command->callback([wanted] {
        const bool is_headline = wanted->wanted.headline;
        if (wanted->processes > 1 && !is_headline) throw usage_error("--processes is for --headline");
        if (is_headline && !has_device())
            throw std::runtime_error("no GPU; the headline has no rows of the host");
        if (wanted->processes > 1)
            run_in_processes(*wanted);
        else
            run_in_this_process(*wanted);
    });
}

}  // namespace heddle::bench
