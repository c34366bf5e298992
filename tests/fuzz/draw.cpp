#include "tests/fuzz/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

namespace heddle::fuzz {
namespace {

/// The finaliser of splitmix64.
std::uint64_t mixed(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
}

/// FNV-1a.
std::uint64_t hash(std::string_view text) {
    std::uint64_t result = 0xcbf29ce484222325;
    for (const char letter : text) result = (result ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
    return result;
}

/// base^(fraction / 2^32).
double power(double base, std::uint32_t fraction) {
    double result = 1;
    for (int bit = 31; bit >= 0; --bit) {
        base = std::sqrt(base);
        if ((fraction >> bit & 1) != 0) result *= base;
    }
    return result;
}

std::int64_t quotient_up(std::int64_t a, std::int64_t b) {
    return a / b + (a % b != 0 ? 1 : 0);
}

/// More than any extent that fits, and far below an overflow.
constexpr std::int64_t most_extent = std::int64_t{1} << 40;
constexpr std::int64_t most_elements = std::int64_t{1} << 60;

}  // namespace

std::string to_string(const case_id& id) {
    return fmt::format("{}:{}:{}", id.family, id.seed, id.index);
}

std::optional<case_id> parse_case_id(std::string_view text) {
    const std::size_t first = text.find(':');
    if (first == 0 || first == std::string_view::npos) return std::nullopt;
    const std::size_t second = text.find(':', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    const auto number = [](std::string_view digits) -> std::optional<std::uint64_t> {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
        return value;
    };
    const auto seed = number(text.substr(first + 1, second - first - 1));
    const auto index = number(text.substr(second + 1));
    if (!seed || !index) return std::nullopt;
    return case_id{std::string(text.substr(0, first)), *seed, *index};
}

std::int64_t bounded_product(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? most_elements : std::min(product, most_elements);
}

std::int64_t span_of(const placement& p, std::int64_t rows, std::int64_t cols) {
    if (p.column_major) std::swap(rows, cols);
    return std::min(p.offset + bounded_product(rows, bounded_product(cols, p.step) + p.padding),
                    most_elements);
}

std::string to_string(const placement& p) {
    std::string words;
    if (p.column_major) words += ", column-major";
    if (p.offset != 0) words += fmt::format(", at {}", p.offset);
    if (p.padding != 0) words += fmt::format(", padding {}", p.padding);
    if (p.step != 1) words += fmt::format(", step {}", p.step);
    return words;
}

drawing::drawing(const case_id& id, variation other)
    : generator_(mixed(mixed(hash(id.family) ^ id.seed) + 0x9e3779b97f4a7c15 * (id.index + 1))),
      other_(std::move(other)) {}

std::int64_t drawing::integer(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
}

std::size_t drawing::index(std::size_t count) {
    return static_cast<std::size_t>(bits() % count);
}

std::size_t drawing::type(std::size_t count) {
    types_ = count;
    const std::size_t drawn = index(count);
    return other_.type.value_or(drawn);
}

double drawing::log_uniform(double low, double high) {
    return low * power(high / low, static_cast<std::uint32_t>(bits() >> 32));
}

std::int64_t drawing::extent(std::int64_t low, std::int64_t high, extent_kind kind) {
    const auto within = [this](std::int64_t from, std::int64_t to) {
        const double drawn = log_uniform(static_cast<double>(from), static_cast<double>(to) + 1);
        return std::clamp(static_cast<std::int64_t>(drawn), from, to);
    };
    if (kind == extent_kind::multiple_of_8 && quotient_up(low, 8) <= high / 8)
        return 8 * within(quotient_up(low, 8), high / 8);
    if (kind == extent_kind::power_of_two) {
        const auto first = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(low - 1)));
        const auto last = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(high))) - 1;
        if (first <= last) return std::int64_t{1} << integer(first, last);
    }
    const std::int64_t drawn = within(low, high);
    if (kind != extent_kind::odd || drawn % 2 == 1) return drawn;
    return drawn < high ? drawn + 1 : drawn > low ? drawn - 1 : drawn;
}

std::vector<std::int64_t> drawing::extents(std::size_t count, const fits_function& fits) {
    double ratio = log_uniform(1, most_ratio);
    if (ratio < 2) ratio = 1;
    const auto below = [ratio](std::int64_t extent) {
        return std::max<std::int64_t>(
            1, static_cast<std::int64_t>(std::ceil(static_cast<double>(extent) / ratio)));
    };
    const auto above = [ratio](std::int64_t extent) {
        return static_cast<std::int64_t>(static_cast<double>(extent) * ratio);
    };
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[index(i)]);
    const bool one_kind = one_in(2);
    auto kind = static_cast<extent_kind>(index(3));

    std::vector<std::int64_t> drawn(count, 1);
    std::int64_t smallest = most_extent, largest = 1;
    for (std::size_t place = 0; place < count; ++place) {
        const std::size_t now = order[place];
        // Extents that are not drawn yet have their least value.
        const auto fits_with = [&](std::int64_t extent) {
            std::vector<std::int64_t> tried = drawn;
            tried[now] = extent;
            for (std::size_t later = place + 1; later < count; ++later)
                tried[order[later]] = below(std::max(largest, extent));
            return fits(tried);
        };
        const std::int64_t low = below(largest);
        std::int64_t high = place == 0 ? most_extent : std::max(low, above(smallest));
        if (!fits_with(high)) {
            std::int64_t too_large = high;
            high = low;
            while (too_large - high > 1) {
                const std::int64_t middle = high + (too_large - high) / 2;
                (fits_with(middle) ? high : too_large) = middle;
            }
        }
        if (!one_kind) kind = static_cast<extent_kind>(index(3));
        drawn[now] = extent(low, high, kind);
        smallest = std::min(smallest, drawn[now]);
        largest = std::max(largest, drawn[now]);
    }
    return other_.extents.empty() ? drawn : other_.extents;
}

placement drawing::lie(bool may_be_column_major, std::int64_t strided) {
    placement p;
    if (one_in(4)) p.offset = one_of<std::int64_t>({1, 1, 1, 2, 3, 4, 8});
    if (one_in(3)) p.padding = one_of<std::int64_t>({1, 1, 3, 8, 64});
    if (one_in(strided)) p.step = integer(2, 3);
    if (may_be_column_major) p.column_major = one_in(4);
    return other_.is_aligned ? placement{.column_major = p.column_major} : p;
}

placement drawing::vector_lie(std::int64_t strided) {
    placement p;
    if (one_in(3)) p.offset = one_of<std::int64_t>({1, 1, 1, 2, 3, 4, 8});
    if (one_in(strided)) p.step = integer(2, 5);
    return other_.is_aligned ? placement{} : p;
}

}  // namespace heddle::fuzz
