#include "benchmarks/program/commands.hpp"

namespace heddle::bench {
namespace {

/// How many letters have to be inserted, left out or replaced to make the one the other.
std::size_t distance(std::string_view from, std::string_view to) {
    std::vector<std::size_t> row(to.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::size_t diagonal = row[0]++;
        for (std::size_t j = 0; j < to.size(); ++j) {
            const std::size_t replaced = diagonal + (from[i] != to[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

}  // namespace

std::string suggestion(std::string_view given, const std::vector<std::string_view>& names,
                       std::string_view otherwise) {
    const auto letters = [given](std::string_view name) { return distance(given, name); };
    const auto closest = std::ranges::min_element(names, {}, letters);
    const bool is_close = closest != names.end() && 3 * letters(*closest) <= given.size();
    return is_close ? fmt::format("; did you mean {}?", *closest) : fmt::format("; {}", otherwise);
}

}  // namespace heddle::bench
