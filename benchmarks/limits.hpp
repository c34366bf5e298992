#pragma once

#include "benchmarks/support/rows.hpp"

#include <optional>
#include <string>

// A stand-in, whose rows have no limits, until the ceilings are there.
namespace heddle::bench {

/// What a row of the operation `ceiling` has measured.
struct ceiling {
    std::string name;
    double bytes = 0;
    bench::temperature temperature = temperature::cold;
    double per_second = 0;
};

inline std::optional<ceiling> ceiling_of(const problem&, temperature, double) {
    return std::nullopt;
}

class ceilings {
  public:
    void add(const ceiling&) {}
};

struct limit {
    std::string ceiling;
    double seconds;
};

inline std::optional<limit> limit_of(const problem&, temperature, const ceilings&) {
    return std::nullopt;
}

inline bool beats_its_limit(double seconds, const limit& limit) {
    return seconds < 0.95 * limit.seconds;
}

}  // namespace heddle::bench
