#include "benchmarks/cliffs/case.hpp"
#include "benchmarks/cliffs/run.hpp"
#include "benchmarks/program/commands.hpp"
#include "benchmarks/program/json_file.hpp"
#include "benchmarks/program/progress.hpp"
#include "benchmarks/program/record.hpp"
#include "benchmarks/support/peers.hpp"

#include <CLI/CLI.hpp>

namespace heddle::bench {
namespace cliffs {
namespace {

struct request {
    std::vector<std::string> only;
    std::uint64_t seed = 0;
    std::uint64_t count = 150;
    std::string repeated;
    std::string output;
    bool list = false;
    bool choices = false;
    bool monotone = false;

    [[nodiscard]] cliffs::beside beside() const { return choices ? beside::own_choices : beside::vendors; }
};

std::vector<std::string_view> family_names() {
    std::vector<std::string_view> names;
    for (const family& family : families()) names.push_back(family.name);
    return names;
}

std::vector<const family*> chosen_families(const request& r) {
    for (const std::string& name : r.only)
        if (family_named(name) == nullptr)
            throw usage_error(fmt::format("there is no family {}{}", name, suggestion(name, family_names())));
    const auto is_chosen = [&](const family& of) {
        if (!r.only.empty() && std::ranges::find(r.only, of.name) == r.only.end()) return false;
        return !r.choices || draw_case({std::string(of.name), r.seed, 0}).prepare_choices;
    };
    std::vector<const family*> chosen;
    for (const family& family : families())
        if (is_chosen(family)) chosen.push_back(&family);
    if (chosen.empty())
        throw usage_error("--choices: none of these families lists what its plain call chooses from");
    return chosen;
}

case_id repeated_case(const request& r) {
    const std::optional<case_id> id = parse_case_id(r.repeated);
    if (!id) throw usage_error(fmt::format("{} is no case: those are family:seed:index", r.repeated));
    if (family_named(id->family) == nullptr)
        throw usage_error(
            fmt::format("there is no family {}{}", id->family, suggestion(id->family, family_names())));
    return *id;
}

/// The case that is repeated, or all.
void list_cases(const request& r) {
    const auto print = [](const case_id& id) { fmt::print("{}: {}\n", to_string(id), draw_case(id).words); };
    if (!r.repeated.empty()) return print(repeated_case(r));
    fmt::print("seed {}\n", r.seed);
    for (const family* family : chosen_families(r))
        for (std::uint64_t index = 0; index < r.count; ++index)
            print({std::string(family->name), r.seed, index});
}

/// Says which peers are missing.
void need_device() {
    if (!has_device()) throw std::runtime_error("no GPU; cliffs --list prints the cases without one");
    memory_pool::of_device(current_device()).set_release_threshold(SIZE_MAX);
    for (const std::string_view library : {"cublas", "cudnn", "npp"})
        if (const std::string why = why_missing(library); !why.empty())
            fmt::print(stderr, "heddle-bench: {}; cases go without it\n", why);
}

/// Unused memory of earlier cases goes back where it adds up.
void trim_memory() {
    constexpr std::size_t enough = std::size_t{16} << 30, kept = std::size_t{4} << 30;
    memory_pool pool = memory_pool::of_device(current_device());
    if (pool.bytes_reserved() > enough) pool.trim(kept);
}

json json_of(const outcome& of, bool with_all) {
    json result{{"case", to_string(of.id)}, {"words", of.words}};
    if (!of.problem.empty()) result["problem"] = json::parse(of.problem);
    if (of.wrong.empty()) {
        result["us"] = rounded(1e6 * of.seconds);
        result["peer"] = of.peer;
        result["peer_us"] = rounded(1e6 * of.peer_seconds);
        result["ratio"] = rounded(ratio_of(of));
        result["stand_in"] = of.is_stand_in;
        if (with_all)
            for (const auto& [peer, seconds] : of.all_seconds)
                result["all_us"][peer] = rounded(1e6 * seconds);
    }
    result["wrong"] = of.wrong.empty() ? json() : json(of.wrong);
    result["notes"] = of.notes;
    result["refusals"] = of.refusals;
    return result;
}

json json_of(const device_traits& d) {
    return {{"compute_capability", {d.compute_capability_major, d.compute_capability_minor}},
            {"sm_count", d.sm_count},
            {"max_threads_per_sm", d.max_threads_per_sm},
            {"shared_memory_per_sm", d.shared_memory_per_sm},
            {"shared_memory_per_block_optin", d.shared_memory_per_block_optin},
            {"l2_bytes", d.l2_bytes}};
}

json record_of(const request& r, const std::vector<outcome>& outcomes, bool is_complete) {
    json cases = json::array();
    for (const outcome& of : outcomes) cases.push_back(json_of(of, r.choices));
    return {{"schema", record_schema},  {"kind", "cliffs"},
            {"commit", commit_or("")},  {"gpu", traits_of(current_device()).name},
            {"peers", peer_versions()}, {"device", json_of(traits_of(current_device()))},
            {"seed", r.seed},           {"count", r.count},
            {"complete", is_complete},  {"cases", cases}};
}

bool is_any_wrong(const std::vector<outcome>& outcomes) {
    return std::ranges::any_of(outcomes, [](const outcome& of) { return !of.wrong.empty(); });
}

void repeat_case(const request& r) {
    const case_id id = repeated_case(r);
    need_device();
    const outcome of = run_case(id, r.beside());
    print_case(of);
    if (r.choices)
        for (const auto& [peer, seconds] : of.all_seconds)
            fmt::print("  {:12.2f} us  {}\n", 1e6 * seconds, peer);
    if (!of.wrong.empty()) throw CLI::RuntimeError(failed);
}

void run_cases(const request& r) {
    const std::vector<const family*> chosen = chosen_families(r);
    need_device();
    std::optional<json_file> file;
    if (!r.output.empty()) file.emplace(r.output);
    fmt::print("seed {}, {}, problems of each family: {}, cold\n", r.seed, traits_of(current_device()).name,
               r.count);

    const interruptible_scope ctrl_c;
    progress progress(chosen.size() * r.count, chosen.size() * r.count);
    std::vector<outcome> outcomes;
    std::string lost;
    for (const family* family : chosen) {
        std::vector<outcome> of_family;
        for (std::uint64_t index = 0; index < r.count && lost.empty() && !was_interrupted(); ++index) {
            const case_id id{std::string(family->name), r.seed, index};
            progress.begin(to_string(id));
            try {
                of_family.push_back(run_case(id, r.beside()));
                trim_memory();
            } catch (const lost_device& error) {
                lost = error.what();
            } catch (const cuda_error& error) {  // trimming fails on a lost device alone
                lost = fmt::format("{}: {}", to_string(id), error.what());
            }
            progress.end(true);
        }
        progress.clear();
        print_family(family->name, of_family);
        std::fflush(stdout);
        outcomes.insert(outcomes.end(), of_family.begin(), of_family.end());
    }
    if (!lost.empty())
        throw std::runtime_error(
            fmt::format("the GPU is lost, in {}{}", lost, file ? "; no record is written" : ""));
    if (file) file->write(record_of(r, outcomes, !was_interrupted()));
    if (is_any_wrong(outcomes)) throw CLI::RuntimeError(failed);
    if (was_interrupted()) throw CLI::RuntimeError(interrupted);
}

void compare_pairs(const request& r) {
    need_device();
    if (!r.repeated.empty()) {
        for (const pair_outcome& of : run_pairs(repeated_case(r)))
            fmt::print("{:5.2f} of {}  {}  |  {}  {}\n", of.share, of.most, of.first, of.second, of.wrong);
        return;
    }
    const std::vector<const family*> chosen = chosen_families(r);
    fmt::print("seed {}, {}, problems of each family: {}, cold\n", r.seed, traits_of(current_device()).name,
               r.count);
    const interruptible_scope ctrl_c;
    bool is_level = true;
    for (const family* family : chosen) {
        std::vector<pair_outcome> pairs;
        for (std::uint64_t index = 0; index < r.count && !was_interrupted(); ++index) {
            std::ranges::move(run_pairs({std::string(family->name), r.seed, index}),
                              std::back_inserter(pairs));
            trim_memory();
        }
        is_level &= print_pairs(family->name, std::move(pairs));
        std::fflush(stdout);
    }
    if (was_interrupted()) throw CLI::RuntimeError(interrupted);
    if (!is_level) throw CLI::RuntimeError(failed);
}

}  // namespace
}  // namespace cliffs

void add_cliffs(CLI::App& program) {
    const auto given = std::make_shared<cliffs::request>();
    CLI::App* const command = program.add_subcommand(
        "cliffs", "Draw problems from a seed and find those where the vendor is faster");
    CLI::Option* const only = command
                                  ->add_option("--only", given->only,
                                               fmt::format("a family, more than once too: {}",
                                                           fmt::join(cliffs::family_names(), ", ")))
                                  ->type_name("FAMILY")
                                  ->allow_extra_args(false);
    CLI::Option* const seed =
        command->add_option("--seed", given->seed,
                            "what problems are drawn from; where it is not given, one is drawn, and printed");
    CLI::Option* const count = command->add_option("--count", given->count, "problems of each family")
                                   ->check(CLI::Range(1, 100000))
                                   ->capture_default_str();
    CLI::Option* const output =
        command->add_option("-o,--output", given->output, "a record of all cases, JSON")->type_name("FILE");
    CLI::Option* const repeated =
        command->add_option("--case", given->repeated, "repeat one, as matmul:12345:17")->type_name("CASE");
    for (CLI::Option* const other : {only, seed, count, output}) repeated->excludes(other);
    command->add_flag("--choices", given->choices,
                      "instead of the vendor's calls, time all that heddle's plain call chooses from");
    command
        ->add_flag("--monotone", given->monotone,
                   "instead, heddle's times of pairs: a type beside a wider one, a smaller problem beside a "
                   "larger, any address beside an aligned one")
        ->excludes(output);
    command->add_flag("--list", given->list, "print the problems and run none; needs no GPU")
        ->excludes(output);
    command->callback([given, seed] {
        if (seed->count() == 0) given->seed = std::random_device{}();
        if (given->list)
            cliffs::list_cases(*given);
        else if (given->monotone)
            cliffs::compare_pairs(*given);
        else if (!given->repeated.empty())
            cliffs::repeat_case(*given);
        else
            cliffs::run_cases(*given);
    });
}

}  // namespace heddle::bench
