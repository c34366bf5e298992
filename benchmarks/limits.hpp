#pragma once

#include "benchmarks/support/problem.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::bench {

/// What a row of the operation `ceiling` has measured.
struct ceiling {
    std::string name;  ///< dram_copy, ffma, ...
    double bytes = 0;  ///< that a call touches, of memory's; 0 of others
    bench::temperature temperature = temperature::cold;
    double per_second = 0;  ///< bytes, operations or, of launch, calls
};

/// What a row of the problem measured whose call took `seconds`; nothing where it is no row of a ceiling.
std::optional<ceiling> ceiling_of(const problem& problem, temperature temperature, double seconds);

/// The ceilings of one run.
class ceilings {
  public:
    /// Replaces an earlier one of this name, temperature and bytes.
    /// @throws std::invalid_argument  per_second is not above 0
    void add(const ceiling& measured);

    /// The rate of a ceiling whose bytes are 0. Nothing where it was not measured.
    [[nodiscard]] std::optional<double> per_second(std::string_view name, temperature temperature) const;

    /// The bytes a second of a call that touches `bytes`. Between two that were measured, the logarithm of a call's time is
    /// linear in that of the bytes; beyond the least and the greatest the rate is theirs. Nothing where none was measured.
    [[nodiscard]] std::optional<double> per_second(std::string_view name, temperature temperature,
                                                   double bytes) const;

  private:
    using rates = std::map<double, double>;  // by bytes
    std::map<std::pair<std::string, temperature>, rates> rates_;

    [[nodiscard]] const rates* find(std::string_view name, temperature temperature) const;
};

/// Bytes that a call moves at the best rate that a ceiling has at one of these footprints.
struct memory_part {
    std::string_view ceiling;
    double bytes;
    std::vector<double> footprints;
};

/// What a problem's time of memory may consist of: twice the lesser of the bytes read and written as a copy, the rest as reading
/// or writing.
std::vector<memory_part> memory_parts(const problem& problem, temperature temperature);

/// The least time that a call can take.
struct limit {
    std::string ceiling;  ///< what takes it: memory, or a unit's name
    double seconds;
};

/// The larger of the times of memory, which is that of its parts or of one copy, and arithmetic: a cold row's by the cold ceilings, a hot
/// row's by the hot ones. Nothing for a row of a ceiling, where the problem declares neither bytes nor operations, and where a
/// ceiling that the limit depends on was not measured: what remains might be far below.
std::optional<limit> limit_of(const problem& problem, temperature temperature, const ceilings& ceilings);

/// By more than 5 %: the row or a ceiling is wrong.
bool beats_its_limit(double seconds, const limit& limit);

}  // namespace heddle::bench
