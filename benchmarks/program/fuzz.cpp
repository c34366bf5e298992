#include "benchmarks/program/commands.hpp"
#include "benchmarks/program/progress.hpp"
#include "tests/fuzz/run.hpp"

#include <CLI/CLI.hpp>

namespace heddle::bench {
namespace fuzzing {
namespace {

using namespace fuzz;

struct request {
    std::vector<std::string> only;
    std::uint64_t seed = 0;
    std::uint64_t count = 50;
    std::string repeated;
    bool on_cpu = false;
    bool list = false;
    processor gpu = processor::gpu;

    [[nodiscard]] processor where() const { return on_cpu || !has_device() ? processor::cpu : gpu; }
};

std::vector<std::string_view> names() {
    std::vector<std::string_view> all;
    for (const operation& each : operations()) all.push_back(each.name);
    return all;
}

std::vector<const operation*> chosen(const request& r) {
    std::vector<const operation*> found;
    for (const std::string& name : r.only) {
        found.push_back(operation_named(name));
        if (found.back() == nullptr)
            throw usage_error(fmt::format("there is no operation {}{}", name, suggestion(name, names())));
    }
    if (found.empty())
        for (const operation& each : operations()) found.push_back(&each);
    return found;
}

void list_problems(const request& r) {
    fmt::print("seed {}\n", r.seed);
    for (const operation* const each : chosen(r))
        for (std::uint64_t index = 0; index < r.count; ++index)
            fmt::print("{}\n", to_string(draw_problem(*each, r.seed, index)));
}

void repeat(const request& r) {
    fuzz::problem p = [&] {
        try {
            return parse_problem(r.repeated);
        } catch (const std::invalid_argument& error) {
            throw usage_error(error.what());
        }
    }();
    const std::string wrong = p.of().wrong(p, r.where());
    fmt::print("{}: {}\n", to_string(p), wrong.empty() ? "right" : wrong);
    if (!wrong.empty()) throw CLI::RuntimeError(failed);
}

void run_problems(const request& r) {
    const interruptible_scope ctrl_c;
    fmt::print("seed {}, on the {}\n", r.seed, r.where() == processor::cpu ? "CPU" : "GPU");
    bool is_any_wrong = false;
    for (const operation* const each : chosen(r)) {
        std::uint64_t right = 0, wrong = 0, refused = 0;
        for (std::uint64_t index = 0; index < r.count && !was_interrupted(); ++index) {
            const outcome found = run(draw_problem(*each, r.seed, index), r.where());
            if (!found.wrong.empty()) fmt::print("wrong: --problem '{}': {}\n", found.repeated, found.wrong);
            ++(found.is_refused ? refused : found.wrong.empty() ? right : wrong);
        }
        fmt::print("{:16} {:6} right {:6} wrong {:6} that the rung drawn cannot do\n", each->name, right,
                   wrong, refused);
        std::fflush(stdout);
        is_any_wrong |= wrong > 0;
    }
    if (is_any_wrong) throw CLI::RuntimeError(failed);
    if (was_interrupted()) throw CLI::RuntimeError(interrupted);
}

}  // namespace
}  // namespace fuzzing

void add_fuzz(CLI::App& program) {
    const auto given = std::make_shared<fuzzing::request>();
    CLI::App* const command = program.add_subcommand(
        "fuzz", "Draw problems from a seed and compare what heddle computes with float64");
    CLI::Option* const only = command
                                  ->add_option("--only", given->only,
                                               fmt::format("an operation, more than once too: {}",
                                                           fmt::join(fuzzing::names(), ", ")))
                                  ->type_name("OPERATION")
                                  ->allow_extra_args(false);
    CLI::Option* const seed =
        command->add_option("--seed", given->seed,
                            "what problems are drawn from; where it is not given, one is drawn, and printed");
    CLI::Option* const count = command->add_option("--count", given->count, "problems of each operation")
                                   ->check(CLI::Range(1, 1000000))
                                   ->capture_default_str();
    CLI::Option* const repeated =
        command
            ->add_option("--problem", given->repeated, "run one, as fuzz prints it: 'scan type=f64 size=17'")
            ->type_name("PROBLEM");
    for (CLI::Option* const other : {only, seed, count}) repeated->excludes(other);
    CLI::Option* const on_cpu =
        command->add_flag("--cpu", given->on_cpu, "the CPU implementations, where there is a GPU too");
    static const std::map<std::string, fuzz::processor> edges{{"begin", fuzz::processor::gpu_page_begin},
                                                              {"end", fuzz::processor::gpu_page_end}};
    command
        ->add_option("--page", given->gpu,
                     "put each operand at the begin or the end of pages, beside addresses that lead nowhere")
        ->type_name("begin|end")
        ->transform(CLI::CheckedTransformer(edges))
        ->excludes(on_cpu);
    command->add_flag("--list", given->list, "print the problems and run none")->excludes(repeated);
    command->callback([given, seed] {
        if (seed->count() == 0) given->seed = std::random_device{}();
        if (given->list)
            fuzzing::list_problems(*given);
        else if (!given->repeated.empty())
            fuzzing::repeat(*given);
        else
            fuzzing::run_problems(*given);
    });
}

}  // namespace heddle::bench
