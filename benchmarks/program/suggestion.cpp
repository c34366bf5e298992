#include "benchmarks/program/suggestion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

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

std::string suggestion(std::string_view given, const std::vector<std::string_view>& names) {
    constexpr std::size_t most_names = 40;
    std::vector<std::string_view> different;
    for (const std::string_view name : names)
        if (std::ranges::find(different, name) == different.end()) different.push_back(name);
    if (different.empty()) return "";

    const auto closer = [given](std::string_view a, std::string_view b) {
        return distance(given, a) < distance(given, b);
    };
    const std::string_view closest = *std::ranges::min_element(different, closer);
    std::string text;
    if (distance(given, closest) <= 1 + given.size() / 4) text = fmt::format("; did you mean {}?", closest);
    const bool too_many = different.size() > most_names;
    if (too_many) different.resize(most_names);
    return fmt::format("{} There {}: {}{}", text.empty() ? "." : text, different.size() == 1 ? "is" : "are",
                       fmt::join(different, ", "), too_many ? ", ..." : "");
}

}  // namespace heddle::bench
