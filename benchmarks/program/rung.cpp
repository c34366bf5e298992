#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/limits.hpp"
#include "benchmarks/operations.hpp"
#include "benchmarks/program/commands.hpp"
#include "benchmarks/program/processes.hpp"
#include "benchmarks/program/record.hpp"
#include "benchmarks/program/runner.hpp"
#include "benchmarks/program/selection.hpp"

namespace heddle::bench {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 58;  // so that bytes and operations can be counted

struct request {
    std::string operation;
    std::string rung;
    std::string type;
    std::string shape;
    std::int64_t size = 0;
    bool profile = false;
    bool under_profiler = false;
};

/// One case of an operation, with what is run of it.
struct rung_case {
    const bench::ladder* ladder = nullptr;  ///< none: the rows are those that are always there
    bench::extents extents;
    const registered_row* rung = nullptr;
    rows below;   ///< the rungs below, the lowest first
    rows others;  ///< the plain call and the vendor's
};

/// The rung, or the words of a kernel's name, as a row's name has them, and as options do.
std::string with(char separator, std::string words) {
    std::ranges::replace_if(
        words, [](char each) { return each == ' ' || each == '-'; }, separator);
    return words;
}

/// The whole numbers in a shape.
extents numbers_in(std::string_view text) {
    extents result;
    for (const char *at = text.data(), *end = at + text.size(); at != end;) {
        std::int64_t extent = 0;
        const auto [after, error] = std::from_chars(at, end, extent);
        if (error == std::errc{}) result.push_back(extent);
        at = error == std::errc{} ? after : at + 1;
    }
    return result;
}

extents extents_of(const request& request, const ladder& ladder) {
    extents result = ladder.of_size;
    if (!request.shape.empty()) {
        const auto given = extents_in(request.shape, ladder.shape);
        if (!given)
            throw usage_error(fmt::format("--shape: a shape of {} is written {}, not {}", ladder.operation,
                                          ladder.shape, request.shape));
        result = *given;
    } else if (request.size > 0) {
        std::ranges::replace(result, std::int64_t{0}, request.size);
    } else {
        throw usage_error(fmt::format("which shape? --size N, or --shape {}", ladder.shape));
    }
    double product = 1;
    for (const std::int64_t extent : result) product *= static_cast<double>(extent);
    if (product > static_cast<double>(most_elements))
        throw usage_error(fmt::format(
            "the shape is too large: the product of its extents is {:.2g}, more than 2^58", product));
    return result;
}

std::string type_of(const request& request, const ladder& ladder) {
    if (request.type.empty()) return std::string(ladder.types.front());
    for (const std::string_view type : ladder.types)
        if (type == request.type || type == request.type + "c1") return std::string(type);
    throw usage_error(fmt::format("the ladder of {} has no type {}{}", ladder.operation, request.type,
                                  suggestion(request.type, ladder.types, by_list)));
}

/// Where an operation has no ladder by size: the cold cases that have rows anyway.
rows registered_case(const request& request) {
    register_all_rows();
    const auto fits_shape = [&](std::string_view shape) {
        if (!request.shape.empty()) return shape == request.shape;
        const extents all = numbers_in(shape);
        return request.size == 0 ||
               std::ranges::all_of(all, [&](std::int64_t extent) { return extent == request.size; });
    };
    std::vector<std::string_view> operations, rungs, cases;
    const registered_row* found = nullptr;
    for (const registered_row& row : registered_rows()) {
        const row_name name = parts_of(row);
        if (name.library == "heddle" && !name.rung.empty()) operations.push_back(name.operation);
        if (name.operation != request.operation || name.temperature == temperature::hot ||
            name.library != "heddle" || name.rung.empty())
            continue;
        rungs.push_back(name.rung);
        if (name.rung != with('-', request.rung)) continue;
        cases.push_back(row.problem.name);
        if (found == nullptr && fits_shape(name.shape) && (request.type.empty() || name.type == request.type))
            found = &row;
    }
    if (rungs.empty())
        throw usage_error(fmt::format("no operation {} has rungs{}", request.operation,
                                      suggestion(request.operation, operations, by_list)));
    if (cases.empty())
        throw usage_error(fmt::format("{} has no rung {}{}", request.operation, request.rung,
                                      suggestion(request.rung, rungs, by_list)));
    if (found == nullptr)
        throw usage_error(fmt::format("{} has no ladder by size, only these cases: {}", request.operation,
                                      fmt::join(cases, ", ")));
    rows all;
    for (const registered_row& row : registered_rows())
        if (row.problem.name == found->problem.name) all.push_back(&row);
    return all;
}

rung_case case_of(const request& request) {
    rung_case result;
    rows candidates;
    const std::string operation = request.operation == "reduce" ? "sum" : request.operation;
    const auto known = std::ranges::find(ladders(), operation, &ladder::operation);
    if (known != ladders().end()) {
        result.ladder = &*known;
        result.extents = extents_of(request, *known);
        known->add_rows(type_of(request, *known), result.extents);
        for (const registered_row& row : registered_rows()) candidates.push_back(&row);
    } else {
        candidates = registered_case(request);
    }

    std::vector<std::string_view> rungs;
    for (const registered_row* row : candidates) {
        const row_name name = parts_of(*row);
        if (name.temperature == temperature::hot) continue;
        if (is_vendor(name.library)) result.others.push_back(row);
        if (name.library != "heddle") continue;
        if (name.rung.empty()) {
            result.others.push_back(row);
            continue;
        }
        rungs.push_back(name.rung);
        if (name.rung == with('-', request.rung)) result.rung = row;
        const bool is_rung = known == ladders().end() || name.rung.find('-') == name.rung.npos;
        if (result.rung == nullptr && is_rung) result.below.push_back(row);
    }
    if (result.rung == nullptr)
        throw usage_error(fmt::format("{} has no rung {}{}", operation, request.rung,
                                      suggestion(request.rung, rungs, by_list)));
    return result;
}

/// The next rung below that can run the case; none of the lowest rung.
const registered_row* rung_below(const rung_case& of) {
    for (const registered_row* row : of.below | std::views::reverse) {
        try {
            row->measure();
            return row;
        } catch (const unsupported&) {  // the next one, then
        }
    }
    return nullptr;
}

/// @throws usage_error  the operands and results are more than the device holds
void check_size(const problem& problem) {
    constexpr double gib = 0x1p30;
    const double bytes = problem.footprint > 0 ? problem.footprint : problem.bytes();
    const auto memory = static_cast<double>(traits_of(current_device()).global_memory_bytes);
    if (bytes > memory)
        throw usage_error(
            fmt::format("the shape is too large: it needs {:.1f} GiB, and the device has {:.1f}", bytes / gib,
                        memory / gib));
}

bool check_rung(const rung_case& of, const std::string& rung) {
    if (of.ladder == nullptr) {
        fmt::print("not checked against float64: {} has no ladder by size\n", parts_of(*of.rung).operation);
        return true;
    }
    const accuracy found = of.ladder->check(parts_of(*of.rung).type, of.extents, rung);
    fmt::print("{}: {} {} within {:.2g} {} of float64; the bound is {:.2g}\n",
               found.is_within_bound() ? "right" : "WRONG", found.elements,
               found.elements == 1 ? "element is" : "elements are", found.error, found.measure, found.bound);
    return found.is_within_bound();
}

const outcome* find(const run_result& result, const registered_row* row) {
    const auto found = std::ranges::find(result.outcomes, row, &outcome::row);
    return found == result.outcomes.end() ? nullptr : &*found;
}

/// A share in per cent, or what takes its room.
std::string share(std::optional<double> value) {
    return value ? fmt::format("{:8.1f} %", 100 * *value) : fmt::format("{:>10}", "");
}

void print_table(const rung_case& of, const rows& all, const registered_row* below,
                 const run_result& result) {
    const outcome* vendor = nullptr;
    for (const registered_row* row : all)
        if (is_vendor(parts_of(*row).library))
            if (const outcome* one = find(result, row); one != nullptr && one->error.empty())
                if (vendor == nullptr || one->median_us() < vendor->median_us()) vendor = one;
    const auto limit = limit_of(of.rung->problem, temperature::cold, ceilings_of(result.outcomes));
    fmt::print("{:32} {:>11} {:>7} {:>10} {:>10}\n", "", "us", "+-", "of vendor", "of limit");
    for (const registered_row* row : all) {
        const outcome* const one = find(result, row);
        if (one == nullptr) continue;
        std::string name = row->name.substr(row->problem.name.size() + 1);
        if (row == below) name += ", the rung below";
        if (!one->error.empty()) {
            fmt::print("{:32} {}\n", name, one->error);
            continue;
        }
        const double us = one->median_us();
        fmt::print("{:32} {:11.2f} {:5.1f} % {} {}\n", name, us, 100 * one->spread(),
                   share(vendor == nullptr ? std::nullopt : std::optional(vendor->median_us() / us)),
                   share(limit ? std::optional(1e6 * limit->seconds / us) : std::nullopt));
    }
    if (limit) fmt::print("the limit is {:.2f} us, by {}\n", 1e6 * limit->seconds, limit->ceiling);
}

void run(const request& request) {
    constexpr int repetitions = 5;
    const rung_case of = case_of(request);
    if (!has_device()) throw std::runtime_error("no GPU; a rung runs on nothing else");
    check_size(of.rung->problem);
    if (request.under_profiler) {
        profile_instead_of_timing();
        of.rung->measure();
        return;
    }
    fmt::print("{} on {}\n", of.rung->name, traits_of(current_device()).name);
    const bool is_right = check_rung(of, with(' ', request.rung));
    const registered_row* const below = rung_below(of);
    rows shown = {of.rung};
    if (below != nullptr) shown.push_back(below);
    shown.insert(shown.end(), of.others.begin(), of.others.end());
    rows all = shown;
    for (const operation& operation : operations())
        if (operation.name == "ceiling") operation.register_rows();
    const rows ceilings = needed_ceilings({of.rung});
    all.insert(all.end(), ceilings.begin(), ceilings.end());
    const run_result result = run_rows(runnable(all), repetitions);
    print_table(of, shown, below, result);
    if (result.interrupted) throw CLI::RuntimeError(interrupted);
    if (request.profile) {
        std::vector<std::string> arguments = {"rung",
                                              request.operation,
                                              request.rung,
                                              "--type",
                                              std::string(parts_of(*of.rung).type),
                                              "--under-profiler"};
        if (request.shape.empty() && request.size > 0)
            arguments.insert(arguments.end(), {"--size", std::to_string(request.size)});
        else
            arguments.insert(arguments.end(), {"--shape", std::string(parts_of(*of.rung).shape)});
        profile_again(arguments);
    }
    const outcome* const ran = find(result, of.rung);
    if (!is_right || ran == nullptr || !ran->error.empty()) throw CLI::RuntimeError(failed);
}

}  // namespace

void add_rung(CLI::App& program) {
    CLI::App* const command = program.add_subcommand(
        "rung", "Run one rung: check it against float64, time it beside the vendor and the rung below");
    const auto wanted = std::make_shared<request>();
    command->add_option("operation", wanted->operation, "matmul, sum, softmax, ...")->required();
    command
        ->add_option(
            "rung", wanted->rung,
            "of its ladder: naive, tiled, ...; or a kernel, as list --kernels names it: 'pipelined 128x128'")
        ->required();
    command->add_option("--type", wanted->type, "f32 where nothing is said")->type_name("TYPE");
    CLI::Option* const size = command->add_option("--size", wanted->size, "each extent of the shape")
                                  ->check(CLI::Range(std::int64_t{1}, most_elements))
                                  ->type_name("N");
    command->add_option("--shape", wanted->shape, "such as 4096x11008x4096 or 1920x1080-r2")
        ->type_name("SHAPE")
        ->excludes(size);
    command->add_flag("--profile", wanted->profile, "also run ncu on it, and say what limits it");
    command->add_flag("--under-profiler", wanted->under_profiler)->group("");
    command->callback([wanted] { run(*wanted); });
}

}  // namespace heddle::bench
