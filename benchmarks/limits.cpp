#include "benchmarks/limits.hpp"

#include "benchmarks/support/headers.hpp"

namespace heddle::bench {
namespace {

constexpr std::string_view ceiling_operation = "ceiling/";

/// The time of bytes_read and bytes_written, which are not both 0: that of their parts or, where both are there, that of a copy of
/// as many bytes. The one is less for many bytes, the other for few, which a start takes most of the time of.
std::optional<double> memory_seconds(const problem& problem, temperature temperature,
                                     const ceilings& ceilings) {
    const auto seconds_of = [&](const memory_part& part) {
        double best = 0;
        for (const double footprint : part.footprints)
            best = std::max(best, ceilings.per_second(part.ceiling, temperature, footprint).value_or(0));
        return part.bytes / best;  // infinite without the ceiling
    };
    const std::vector<memory_part> parts = memory_parts(problem, temperature);
    double seconds = 0;
    for (const memory_part& part : parts) seconds += seconds_of(part);
    if (problem.bytes_read > 0 && problem.bytes_written > 0)
        seconds = std::min(seconds, seconds_of({"dram_copy", problem.bytes(), parts.front().footprints}));
    if (std::isinf(seconds)) return std::nullopt;
    return seconds;
}

/// The time of operations, which are not 0.
std::optional<limit> arithmetic_limit(const problem& problem, temperature temperature,
                                      const ceilings& ceilings) {
    const auto by = [&](unit unit, int products) -> std::optional<limit> {
        const auto per_second = ceilings.per_second(to_string(unit), temperature);
        if (!per_second) return std::nullopt;
        return limit{std::string(to_string(unit)), problem.operations * products / *per_second};
    };
    const auto by_unit = by(problem.unit, problem.products);
    if (problem.products == 1 || !by_unit) return by_unit;
    const auto by_ffma = by(unit::ffma, 1);
    if (!by_ffma) return std::nullopt;
    return by_ffma->seconds < by_unit->seconds ? by_ffma : by_unit;
}

}  // namespace

std::optional<ceiling> ceiling_of(const problem& problem, temperature temperature, double seconds) {
    std::string_view name = problem.name;
    if (!name.starts_with(ceiling_operation)) return std::nullopt;
    name.remove_prefix(ceiling_operation.size());
    ceiling result{.name = std::string(name), .temperature = temperature};
    if (const auto slash = name.find('/'); slash != std::string_view::npos) {
        result.name.resize(slash);
        result.bytes = problem.bytes();
    }
    const double work = problem.operations > 0 ? problem.operations
                        : problem.bytes() > 0  ? problem.bytes()
                                               : 1;
    result.per_second = work / seconds;
    return result;
}

void ceilings::add(const ceiling& measured) {
    if (!(measured.per_second > 0))
        throw std::invalid_argument("the ceiling " + measured.name + " has no rate above 0");
    rates_[{measured.name, measured.temperature}][measured.bytes] = measured.per_second;
}

const ceilings::rates* ceilings::find(std::string_view name, temperature temperature) const {
    const auto found = rates_.find({std::string(name), temperature});
    return found == rates_.end() ? nullptr : &found->second;
}

std::optional<double> ceilings::per_second(std::string_view name, temperature temperature) const {
    const rates* const all = find(name, temperature);
    if (!all || !all->contains(0)) return std::nullopt;
    return all->at(0);
}

std::optional<double> ceilings::per_second(std::string_view name, temperature temperature,
                                           double bytes) const {
    const rates* const all = find(name, temperature);
    if (!all) return std::nullopt;
    const auto above = all->lower_bound(bytes);
    if (above == all->begin() || (above != all->end() && above->first == bytes)) return above->second;
    const auto below = std::prev(above);
    if (above == all->end()) return below->second;
    // Where times are powers of the bytes, so are the rates: the same line, less that of the bytes.
    const double share = std::log(bytes / below->first) / std::log(above->first / below->first);
    return std::exp(std::lerp(std::log(below->second), std::log(above->second), share));
}

std::vector<memory_part> memory_parts(const problem& problem, temperature temperature) {
    const double lesser = std::min(problem.bytes_read, problem.bytes_written), copied = 2 * lesser;
    std::vector<double> all = {problem.bytes()};
    if (problem.footprint > 0) all.push_back(problem.footprint);
    std::vector<memory_part> parts = {{"dram_copy", copied, all},
                                      {"dram_read", problem.bytes_read - lesser, all},
                                      {"dram_write", problem.bytes_written - lesser, all}};
    // L2 takes in what a cold call writes, whatever else it reads, so its copied part may be as fast as a copy of just that.
    if (temperature == temperature::cold && copied < problem.bytes())
        parts.front().footprints.push_back(copied);
    std::erase_if(parts, [](const memory_part& part) { return part.bytes <= 0; });
    return parts;
}

std::optional<limit> limit_of(const problem& problem, temperature temperature, const ceilings& ceilings) {
    if (problem.name.starts_with(ceiling_operation)) return std::nullopt;
    const bool has_operations = problem.operations > 0 && problem.unit != unit::none;
    if (problem.bytes() <= 0 && !has_operations) return std::nullopt;
    limit result{"memory", 0};
    if (problem.bytes() > 0) {
        const auto seconds = memory_seconds(problem, temperature, ceilings);
        if (!seconds) return std::nullopt;
        result.seconds = *seconds;
    }
    if (has_operations) {
        const auto arithmetic = arithmetic_limit(problem, temperature, ceilings);
        if (!arithmetic) return std::nullopt;
        if (arithmetic->seconds > result.seconds) result = *arithmetic;
    }
    return result;
}

bool beats_its_limit(double seconds, const limit& limit) {
    constexpr double most = 0.05;
    return seconds < (1 - most) * limit.seconds;
}

}  // namespace heddle::bench
