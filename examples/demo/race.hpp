#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

namespace demo {

using call = std::function<void()>;

/// Runs `function` `times` times. Returns the seconds of one run.
using stopwatch = std::function<double(const call& function, int times)>;

struct times {
    double ours;
    std::optional<double> theirs;
};

/// The best time of each in several rounds. Rounds alternate, so that both see the same load of the machine.
inline times race(const stopwatch& seconds_of, const call& ours, const call& theirs) {
    constexpr int rounds = 10;
    constexpr int most_calls = 100;
    constexpr double round_seconds = 2e-3;  // much longer than the clock's resolution

    const auto calls_in_a_round = [&](const call& function) {
        (void)seconds_of(function, 1);  // the first call is slower
        return static_cast<int>(std::clamp(round_seconds / seconds_of(function, 1), 1.0, double{most_calls}));
    };
    const int our_calls = calls_in_a_round(ours);
    const int their_calls = theirs ? calls_in_a_round(theirs) : 0;

    times best{std::numeric_limits<double>::infinity(), std::nullopt};
    for (int round = 0; round < rounds; ++round) {
        best.ours = std::min(best.ours, seconds_of(ours, our_calls));
        if (theirs) {
            const double seconds = seconds_of(theirs, their_calls);
            best.theirs = std::min(best.theirs.value_or(seconds), seconds);
        }
    }
    return best;
}

}  // namespace demo
