#include "benchmarks/headline.hpp"
#include "benchmarks/operations.hpp"
#include "benchmarks/support/context.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/device.hpp>
#include <heddle/memory_pool.hpp>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace heddle::bench {
namespace {

struct options {
    bool headline = false;
    bool list = false;
    std::vector<operation> chosen = {};  ///< all, where none is named
};

void print_usage(std::FILE* to) {
    std::vector<std::string_view> names;
    for (const operation& operation : operations()) names.push_back(operation.name);
    fmt::print(to,
               "usage: heddle_bench [--list] [--headline | op...] [Google Benchmark's own options]\n"
               "  --headline  the rows by which versions of heddle are compared, and their peers\n"
               "  --list      print the names of the rows instead, the device's as well; of the headline\n"
               "              each row and its peer\n"
               "  op...       {}; all of them where none is named\n",
               fmt::join(names, " "));
}

void print_help() {
    print_usage(stdout);
    benchmark::PrintDefaultHelp();
}

/// Reads the arguments that Google Benchmark left.
std::optional<options> parse(int argc, char** argv) {
    options result;
    for (const std::string_view argument : std::vector<std::string_view>(argv + 1, argv + argc)) {
        const auto named = std::ranges::find(operations(), argument, &operation::name);
        if (argument == "--headline")
            result.headline = true;
        else if (argument == "--list")
            result.list = true;
        else if (named != operations().end())
            result.chosen.push_back(*named);
        else
            return std::nullopt;
    }
    if (result.headline && !result.chosen.empty()) return std::nullopt;
    if (result.chosen.empty()) result.chosen.assign(operations().begin(), operations().end());
    return result;
}

/// The names that the headline consists of. Empty where one of them is no row's, which is reported.
std::set<std::string_view> names_of_headline() {
    std::set<std::string_view> all, names;
    for (const registered_row& row : registered_rows()) all.insert(row.name);
    bool complete = true;
    for (const headline_row& entry : headline())
        for (const std::string_view name : {entry.name, entry.peer}) {
            names.insert(name);
            if (all.contains(name)) continue;
            fmt::print(stderr, "headline: no row is named {}; a peer's rows need its library in the build\n",
                       name);
            complete = false;
        }
    return complete ? names : std::set<std::string_view>{};
}

void print_names(bool of_headline) {
    if (of_headline)
        for (const headline_row& entry : headline()) fmt::print("{} {}\n", entry.name, entry.peer);
    else
        for (const registered_row& row : registered_rows()) fmt::print("{}\n", row.name);
}

/// The program's exit status.
int run(const options& options) {
    for (const operation& operation : options.chosen) operation.register_rows();
    std::set<std::string_view> headline_names;
    if (options.headline) {
        headline_names = names_of_headline();
        if (headline_names.empty()) return 1;
    }
    if (options.list) {
        print_names(options.headline);
        return 0;
    }

    if (has_device()) {  // rows reuse the memory of the rows before
        memory_pool::of_device(current_device()).set_release_threshold(SIZE_MAX);
    } else if (options.headline) {
        fmt::print(stderr, "No GPU: the headline has no rows of the host.\n");
        return 1;
    } else {
        fmt::print(stderr, "No GPU: only the rows of the host are run.\n");
    }
    add_context();
    for (const registered_row& row : registered_rows())
        if (!options.headline || headline_names.contains(row.name)) hand_over(row);
    benchmark::RunSpecifiedBenchmarks();
    return any_row_failed() ? 1 : 0;
}

}  // namespace
}  // namespace heddle::bench

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv, heddle::bench::print_help);
    const auto options = heddle::bench::parse(argc, argv);
    if (!options) {
        heddle::bench::print_usage(stderr);
        return 2;
    }
    int status = 1;
    try {
        status = heddle::bench::run(*options);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
    }
    benchmark::Shutdown();
    return status;
}
