#pragma once

#include "benchmarks/support/headers.hpp"

/// What all that times calls on the device shares. All work is on stream().
namespace heddle::bench {

/// The device is kept busy this long before a timed call, so that the host has enqueued the call and both events when
/// the first event is reached: the time between them has no share of the host's.
inline constexpr std::chrono::microseconds enqueue_time{60};

struct interval {
    event start;
    event stop;

    [[nodiscard]] std::chrono::duration<double> length() const { return elapsed(start, stop); }
};

/// Reads what is not written again: a flush by writing would leave L2 full of lines whose way to memory the
/// timed call then waits for.
void flush_l2();

double median(std::vector<double> values);

}  // namespace heddle::bench
