#include "tests/fuzz/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace heddle::fuzz {

std::vector<field> with_numbers(std::vector<field> fields, const std::string& names) {
    std::istringstream words(names);
    for (std::string word; words >> word;) {
        const std::size_t at = word.find('=');
        fields.push_back({word.substr(0, at), at == std::string::npos ? 1 : std::stoll(word.substr(at + 1))});
    }
    return fields;
}

problem::problem(const operation& of) : of_(&of) {
    for (const field& each : of.fields) values_.push_back(each.simplest);
}

std::size_t problem::place_of(std::string_view field) const {
    const auto found = std::ranges::find(of_->fields, field, &field::name);
    if (found == of_->fields.end())
        throw std::invalid_argument(fmt::format("{} has no field {}", of_->name, field));
    return static_cast<std::size_t>(found - of_->fields.begin());
}

std::int64_t problem::operator[](std::string_view field) const {
    return values_[place_of(field)];
}

bool problem::has(std::string_view field) const {
    return std::ranges::find(of_->fields, field, &field::name) != of_->fields.end();
}

void problem::set(std::string_view field, std::int64_t value) {
    const std::size_t at = place_of(field);
    const auto& words = of_->fields[at].words;
    values_[at] = std::max<std::int64_t>(value, 0);
    if (!words.empty()) values_[at] = std::min(values_[at], std::ssize(words) - 1);
}

void problem::draw_word(std::string_view field, drawing& d) {
    set(field, static_cast<std::int64_t>(d.index(of_->fields[place_of(field)].words.size())));
}

void problem::draw_words(drawing& d) {
    for (const field& each : of_->fields)
        if (!each.words.empty() && (each.name != "rung" || d.one_in(2))) draw_word(each.name, d);
}

std::string_view problem::word(std::string_view field) const {
    const std::size_t at = place_of(field);
    return of_->fields[at].words[static_cast<std::size_t>(values_[at])];
}

std::string to_string(const problem& p) {
    std::string text(p.of().name);
    for (const field& each : p.of().fields) {
        const std::int64_t value = p[each.name];
        if (value == each.simplest) continue;
        text += fmt::format(" {}=", each.name);
        text += each.words.empty() ? std::to_string(value) : std::string(p.word(each.name));
    }
    return text;
}

const operation* operation_named(std::string_view name) {
    const auto found = std::ranges::find(operations(), name, &operation::name);
    return found == operations().end() ? nullptr : &*found;
}

problem parse_problem(std::string_view text) {
    const auto next_word = [&] {
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(word.size());
        return word;
    };
    const std::string_view name = next_word();
    const operation* const of = operation_named(name);
    if (of == nullptr) throw std::invalid_argument(fmt::format("there is no operation {}", name));
    problem p(*of);
    for (std::string_view word = next_word(); !word.empty(); word = next_word()) {
        const std::size_t equals = word.find('=');
        if (equals == std::string_view::npos)
            throw std::invalid_argument(fmt::format("{} is not field=value", word));
        const std::string_view given = word.substr(equals + 1);
        const auto known = std::ranges::find(of->fields, word.substr(0, equals), &field::name);
        if (known == of->fields.end())
            throw std::invalid_argument(fmt::format("{} has no field {}", name, word.substr(0, equals)));
        std::int64_t value = 0;
        if (known->words.empty()) {
            const auto [end, error] = std::from_chars(given.begin(), given.end(), value);
            if (error != std::errc{} || end != given.end() || value < 0)
                throw std::invalid_argument(fmt::format("{}: {} is no number from 0 on", known->name, given));
        } else {
            value = std::ranges::find(known->words, given) - known->words.begin();
            if (value == std::ssize(known->words))
                throw std::invalid_argument(fmt::format("{} is never {}", known->name, given));
        }
        p.set(known->name, value);
    }
    return p;
}

problem draw_problem(const operation& of, std::uint64_t seed, std::uint64_t index) {
    problem p(of);
    drawing d({std::string(of.name), seed, index});
    of.draw(d, p);
    return p;
}

problem simplified(const problem& p, const std::function<bool(const problem&)>& fails) {
    constexpr int most_tries = 400;
    problem best = p;
    int tries = 0;
    for (bool has_changed = true; has_changed && tries < most_tries;) {
        has_changed = false;
        for (std::size_t at = 0; at < best.values_.size(); ++at) {
            const std::int64_t simplest = best.of().fields[at].simplest;
            if (best.values_[at] == simplest) continue;
            const auto take = [&](std::int64_t value) {
                if (value == best.values_[at] || tries == most_tries) return false;
                problem tried = best;
                tried.values_[at] = value;
                ++tries;
                if (!fails(tried)) return false;
                best = tried;
                return has_changed = true;
            };
            if (take(simplest)) continue;
            // Halves the steps towards the simplest value, and never passes it.
            for (std::int64_t step = (best.values_[at] - simplest) / 2; step != 0; step /= 2)
                while (std::abs(best.values_[at] - simplest) >= std::abs(step) &&
                       take(best.values_[at] - step)) {
                }
        }
    }
    return best;
}

std::vector<std::int64_t> draw_shape(drawing& d, std::size_t count, std::int64_t most) {
    // Channels, pixels, widths of layers and vocabularies of well-known networks.
    static constexpr std::int64_t of_users[] = {1,   3,   7,   8,   10,   14,   16,   28,   32,  49,
                                                56,  64,  77,  96,  100,  112,  128,  196,  224, 256,
                                                384, 512, 577, 768, 1000, 1024, 2048, 3072, 4096};
    std::vector<std::int64_t> shape(count);
    const std::size_t kind = d.index(3);
    for (std::int64_t& extent : shape) {
        if (kind == 0)
            extent = of_users[d.index(std::size(of_users))] + (d.one_in(4) ? d.integer(-1, 1) : 0);
        else if (kind == 1)
            extent = d.extent(1, 5000, extent_kind::odd);
        else
            extent = d.one_in(24) ? 0 : static_cast<std::int64_t>(d.log_uniform(1, 5000));
    }
    const auto product = [&] {
        return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, bounded_product);
    };
    while (product() > most) {
        std::int64_t& largest = *std::ranges::max_element(shape);
        largest = kind == 1 ? largest / 2 | 1 : largest / 2;
        if (largest <= 1) break;
    }
    return shape;
}

}  // namespace heddle::fuzz
