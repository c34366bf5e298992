#include "benchmarks/cliffs/run.hpp"

namespace heddle::bench::cliffs {
namespace {

constexpr std::size_t worst_shown = 10;
constexpr double to_us = 1e6;

/// The worst first.
std::vector<outcome> timed(const std::vector<outcome>& outcomes, bool of_stand_ins) {
    std::vector<outcome> result;
    std::ranges::copy_if(outcomes, std::back_inserter(result), [&](const outcome& of) {
        return of.wrong.empty() && of.is_stand_in == of_stand_ins;
    });
    std::ranges::stable_sort(result, {}, ratio_of);
    return result;
}

void print_kind(const std::vector<outcome>& outcomes, bool of_stand_ins) {
    const summary s = summarize(outcomes, of_stand_ins);
    if (s.cases == 0) return;
    fmt::print(
        "  {} beside {}: geometric mean {:.2f}; below 0.8: {:.1f} %, below 0.95: {:.1f} %, below 1: {:.1f} "
        "%\n",
        s.cases, of_stand_ins ? "a stand-in, as no vendor's call was usable" : "a vendor's call",
        s.geometric_mean, 100 * s.below_80, 100 * s.below_95, 100 * s.below_100);
    fmt::print("    {:>5}  {:>10}  {:>10}  {:<20}  {}\n", "ratio", "heddle us", "peer us", "peer", "case");
    const std::vector<outcome> sorted = timed(outcomes, of_stand_ins);
    for (std::size_t i = 0; i < std::min(worst_shown, sorted.size()); ++i) {
        const outcome& of = sorted[i];
        fmt::print("    {:>5.2f}  {:>10.2f}  {:>10.2f}  {:<20}  {}  --case {}\n", ratio_of(of),
                   of.seconds * to_us, of.peer_seconds * to_us, of.peer, of.words, to_string(of.id));
    }
}

}  // namespace

summary summarize(const std::vector<outcome>& outcomes, bool of_stand_ins) {
    const std::vector<outcome> all = timed(outcomes, of_stand_ins);
    summary s{.cases = all.size()};
    if (all.empty()) return s;
    const auto count = static_cast<double>(all.size());
    double logarithms = 0;
    for (const outcome& of : all) {
        const double ratio = ratio_of(of);
        logarithms += std::log(ratio);
        s.below_80 += (ratio < 0.8 ? 1 : 0) / count;
        s.below_95 += (ratio < 0.95 ? 1 : 0) / count;
        s.below_100 += (ratio < 1 ? 1 : 0) / count;
    }
    s.geometric_mean = std::exp(logarithms / count);
    return s;
}

void print_family(std::string_view family, const std::vector<outcome>& outcomes) {
    if (outcomes.empty()) return;
    fmt::print("\n{}, cases: {}. A ratio is the fastest peer's time over heddle's.\n", family,
               outcomes.size());
    print_kind(outcomes, false);
    print_kind(outcomes, true);
    for (const outcome& of : outcomes) {
        if (!of.wrong.empty())
            fmt::print("  WRONG  {}: {}  --case {}\n", of.words, of.wrong, to_string(of.id));
        for (const std::string& note : of.notes)
            fmt::print("  note   {}  --case {}\n", note, to_string(of.id));
    }
    std::map<std::string, std::size_t> refusals;
    for (const outcome& of : outcomes)
        for (const std::string& refusal : of.refusals) ++refusals[refusal];
    for (const auto& [refusal, cases] : refusals)
        fmt::print("  note   {} ({} case{})\n", refusal, cases, cases == 1 ? "" : "s");
}

bool print_pairs(std::string_view family, std::vector<pair_outcome> pairs) {
    constexpr double enough = 0.98, most = 2;
    for (const pair_outcome& of : pairs)
        if (!of.wrong.empty())
            fmt::print("  FAILED  {}  |  {}  ({}): {}\n", of.first, of.second, to_string(of.id), of.wrong);
    const bool has_failed =
        std::erase_if(pairs, [](const pair_outcome& of) { return !of.wrong.empty(); }) > 0;
    const auto excess = [](const pair_outcome& of) { return of.share / of.most; };
    std::ranges::stable_sort(pairs, std::greater<>{}, excess);
    const auto longer = static_cast<std::size_t>(
        std::ranges::count_if(pairs, [&](const pair_outcome& of) { return excess(of) > 1; }));
    const double kept =
        pairs.empty() ? 1 : 1 - static_cast<double>(longer) / static_cast<double>(pairs.size());
    fmt::print("\n{}, pairs: {}; the first takes no longer than it may in {:.1f} %\n", family, pairs.size(),
               100 * kept);
    for (std::size_t i = 0; i < std::min(worst_shown, longer); ++i)
        fmt::print("    {:>5.2f} of {}  {}  |  {}  ({})\n", pairs[i].share, pairs[i].most, pairs[i].first,
                   pairs[i].second, to_string(pairs[i].id));
    return !has_failed && kept >= enough && (pairs.empty() || excess(pairs.front()) <= most);
}

void print_case(const outcome& of) {
    fmt::print("{}: {}\n", to_string(of.id), of.words);
    if (of.wrong.empty())
        fmt::print("  heddle {:.2f} us, {} {:.2f} us, ratio {:.2f}{}\n", of.seconds * to_us, of.peer,
                   of.peer_seconds * to_us, ratio_of(of),
                   of.is_stand_in ? "; a stand-in, as no vendor's call was usable" : "");
    else
        fmt::print("  WRONG  {}\n", of.wrong);
    for (const auto& notes : {of.notes, of.refusals})
        for (const std::string& note : notes) fmt::print("  note   {}\n", note);
}

}  // namespace heddle::bench::cliffs
