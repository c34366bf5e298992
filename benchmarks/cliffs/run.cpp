#include "benchmarks/cliffs/run.hpp"

#include "benchmarks/support/kernels.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"

namespace heddle::bench::cliffs {
namespace {

using seconds = std::chrono::duration<double>;
using clock = std::chrono::steady_clock;

/// What a call is timed for, at least three times, but not where those take long.
constexpr seconds budget_a_call{8e-3};
constexpr seconds long_round{0.3};
constexpr std::size_t least_rounds = 3, most_rounds = 60;
/// A peer that takes longer, and many times as long as heddle, is not the fastest.
constexpr seconds slow_peer{0.3};
constexpr double many_times = 10;
/// Peers sum in other orders, and approximate functions: only what is wired wrongly is off by more.
constexpr double slack_of_peers = 64;

void synchronize(const std::string& who) {
    if (const cudaError_t status = cudaStreamSynchronize(stream().get()); status != cudaSuccess)
        throw lost_device(fmt::format("{}: {}", who, cudaGetErrorString(status)));
}

/// A call on a trial's operands.
struct turn {
    const trial* of;
    std::function<void()> call;
};

/// The median of each call's cold times. The calls take turns.
std::vector<double> time_in_turn(const std::vector<turn>& calls) {
    static std::deque<interval> intervals;
    for (const turn& each : calls) each.of->reset();
    while (intervals.size() < calls.size()) intervals.emplace_back();

    std::vector<std::vector<double>> times(calls.size());
    const auto begin = clock::now();
    for (std::size_t round = 0; round < most_rounds; ++round) {
        for (std::size_t place = 0; place < calls.size(); ++place) {
            const std::size_t who = (place + round) % calls.size();
            if (calls[who].of->is_in_place) calls[who].of->reset();  // else values run away
            flush_l2();
            spin(enqueue_time, stream());
            intervals[who].start.record(stream());
            calls[who].call();
            intervals[who].stop.record(stream());
        }
        synchronize("timing");
        for (std::size_t who = 0; who < calls.size(); ++who)
            times[who].push_back(intervals[who].length().count());
        const seconds taken = clock::now() - begin;
        if (taken > long_round) break;
        if (round + 1 >= least_rounds && taken > budget_a_call * static_cast<double>(calls.size())) break;
    }
    std::vector<double> medians;
    for (auto& of_call : times) medians.push_back(median(std::move(of_call)));
    return medians;
}

/// A copy that reads and writes as many bytes in all.
peer copy_of(double bytes) {
    const auto half_of_them = std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes / 2));
    const auto from =
        std::make_shared<device_buffer<std::uint8_t>>(random_on_device<std::uint8_t>(half_of_them));
    const auto to = std::make_shared<device_buffer<std::uint8_t>>(half_of_them, stream());
    return {"copy", [from, to] { heddle::copy(*from, *to, stream()); }, false, true};
}

/// Runs one call on a fresh result. What is wrong with it.
std::string check_call(const trial& t, const std::function<void()>& call, double slack,
                       const std::string& who, seconds& taken) {
    t.reset();
    synchronize("making operands");
    const auto begin = clock::now();
    call();
    synchronize(who);
    taken = clock::now() - begin;
    return slack > 0 ? t.wrong(slack) : std::string{};
}

/// Runs a function, and says why it failed; empty where it did not.
/// @throws lost_device
std::string why_failed(const std::function<void()>& function) {
    try {
        function();
    } catch (const lost_device&) {
        throw;
    } catch (const std::exception& error) {
        (void)cudaGetLastError();
        synchronize(error.what());
        return error.what();
    }
    return {};
}

/// The peers that can do it and are not far too slow.
std::vector<peer> usable_peers(const trial& t, seconds heddle_took, outcome& result) {
    std::vector<peer> usable;
    for (const peer& p : t.peers) {
        const std::string why = why_failed([&] {
            seconds taken{};
            const double slack = p.is_checked ? slack_of_peers : 0;
            const std::string wrong = check_call(t, p.call, slack, p.name, taken);
            if (!wrong.empty()) {
                result.notes.push_back(fmt::format("{} computes something else: {}", p.name, wrong));
                return;
            }
            const auto is_slow = [&] { return taken > slow_peer && taken > heddle_took * many_times; };
            if (is_slow()) (void)check_call(t, p.call, 0, p.name, taken);  // the first call loads the library
            if (is_slow())
                result.refusals.push_back(
                    fmt::format("{} takes {:.2g} s: it is not timed", p.name, taken.count()));
            else
                usable.push_back(p);
        });
        if (!why.empty()) result.refusals.push_back(fmt::format("{} cannot do it: {}", p.name, why));
    }
    return usable;
}

/// Fills in the times, and the fastest peer of those that count.
void time_case(const trial& t, double bytes, std::vector<peer> peers, outcome& result) {
    result.is_stand_in = std::ranges::all_of(peers, &peer::is_stand_in);
    if (!result.is_stand_in) std::erase_if(peers, [](const peer& p) { return p.is_stand_in; });
    if (peers.empty()) peers.push_back(copy_of(bytes));
    std::vector<turn> calls{{&t, t.call}};
    for (const peer& p : peers) calls.push_back({&t, p.call});
    const std::vector<double> times = time_in_turn(calls);
    const auto best = std::min_element(times.begin() + 1, times.end());
    result.seconds = times.front();
    result.peer_seconds = *best;
    result.peer = peers[static_cast<std::size_t>(best - times.begin() - 1)].name;
    for (std::size_t i = 0; i < peers.size(); ++i)
        result.all_seconds.emplace_back(peers[i].name, times[i + 1]);
}

outcome run(const case_id& id, const drawn_case& drawn, beside beside) {
    outcome result{.id = id, .words = drawn.words};
    std::string_view what = "failed";
    const std::string why = why_failed([&] {
        const trial t = beside == beside::vendors ? drawn.prepare() : drawn.prepare_choices();
        result.refusals = t.refusals;
        result.problem = t.problem;
        seconds heddle_took{};
        result.wrong = check_call(t, t.call, 1, "heddle", heddle_took);
        if (!result.wrong.empty()) return;
        what = "could not be timed beside its peers";
        time_case(t, drawn.bytes, usable_peers(t, heddle_took, result), result);
    });
    if (!why.empty()) result.wrong = fmt::format("{}: {}", what, why);
    return result;
}

}  // namespace

double ratio(double seconds, double other) {
    constexpr double small = 5e-6, level = 1e-6;
    if (std::max(seconds, other) < small && std::abs(seconds - other) <= level) return 1;
    return other / seconds;
}

double ratio_of(const outcome& of) {
    return ratio(of.seconds, of.peer_seconds);
}

std::vector<pair_outcome> run_pairs(const case_id& id) {
    std::vector<pair_outcome> outcomes;
    for (const case_pair& pair : draw_pairs(id)) {
        pair_outcome& of = outcomes.emplace_back(id, pair.first.words, pair.second.words, 0, pair.most);
        of.wrong = why_failed([&] {
            const trial first = pair.first.prepare(), second = pair.second.prepare();
            const std::vector<double> times = time_in_turn({{&first, first.call}, {&second, second.call}});
            of.share = ratio(times[1], times[0]);
        });
    }
    return outcomes;
}

outcome run_case(const case_id& id, beside beside) {
    const drawn_case drawn = draw_case(id);
    try {
        return run(id, drawn, beside);
    } catch (const lost_device& error) {
        throw lost_device(fmt::format("{} ({}): {}", to_string(id), drawn.words, error.what()));
    }
}

}  // namespace heddle::bench::cliffs
