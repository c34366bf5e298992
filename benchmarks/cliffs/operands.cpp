#include "benchmarks/cliffs/operands.hpp"

#include "benchmarks/support/headers.hpp"
#include "benchmarks/support/random.hpp"

namespace heddle::bench::cliffs {
namespace {

/// The first two, the last two, or beside a multiple of 64, where tiles end.
std::int64_t edge(std::int64_t extent, std::uint64_t bits) {
    const auto below = [&bits](std::int64_t count) {
        const auto all = static_cast<std::uint64_t>(count);
        const auto number = static_cast<std::int64_t>(bits % all);
        bits /= all;
        return number;
    };
    constexpr std::int64_t tile = 64;
    const std::int64_t kind = below(8);
    std::int64_t at = 0;
    if (kind < 2)
        at = kind;
    else if (kind < 4)
        at = extent + 1 - kind;  // kinds 2 and 3: the last and the one before
    else
        at = below(3) - 1 + tile * below(extent / tile + 1);
    return std::clamp<std::int64_t>(at, 0, extent - 1);
}

}  // namespace

template <class T>
std::vector<T> gathered(const T* data, const std::vector<std::int64_t>& places) {
    const auto count = static_cast<std::int64_t>(places.size());
    std::vector<T> results(places.size());
    if (count == 0) return results;
    device_buffer<std::int64_t> from(count, stream());
    device_buffer<T> to(count, stream());
    heddle::copy(places, from, stream());
    launch_gather(data, from.data(), count, to.data());
    copy_and_wait(to, results, stream());
    return results;
}

template <class T>
void operand<T>::poison() {
    fill_bytes(elements_, std::byte{0xff}, stream());
}

template <class T>
std::string operand<T>::changed_gap() const {
    const std::int64_t lines = lie_.column_major ? cols_ : rows_, length = lie_.column_major ? rows_ : cols_;
    const std::int64_t used = (length - 1) * lie_.step + 1, line = length * lie_.step + lie_.padding;
    std::set<std::int64_t> places;
    for (std::int64_t at = 0; at < std::min<std::int64_t>(lie_.offset, 16); ++at)
        places.insert(lie_.offset - 1 - at);
    constexpr std::int64_t looked_at = 16;
    for (std::int64_t i = 0; i < std::min(lines, looked_at); ++i) {
        const std::int64_t number = i % 2 == 0 ? i / 2 : lines - 1 - i / 2;
        const std::int64_t begin = lie_.offset + number * line, end = begin + line;
        for (const std::int64_t at : {begin + 1, begin + used - 2})
            if (lie_.step > 1 && length > 1) places.insert(at);
        for (const std::int64_t at : {begin + used, begin + used + 1, end - 2, end - 1})
            if (at >= begin + used && at < end) places.insert(at);
    }
    const std::vector<std::int64_t> all(places.begin(), places.end());
    const std::vector<T> found = gathered(elements_.data(), all);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto bytes = std::as_bytes(std::span(&found[i], 1));
        if (!std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0xff}; }))
            return fmt::format("what lies beside the result was written, {} elements from its first",
                               all[i] - lie_.offset);
    }
    return {};
}

std::vector<place> sampled_places(std::int64_t rows, std::int64_t cols, std::uint64_t seed,
                                  std::int64_t most) {
    std::vector<place> places;
    if (rows <= most && cols <= most / rows) {
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t col = 0; col < cols; ++col) places.push_back({row, col});
        return places;
    }
    std::set<std::pair<std::int64_t, std::int64_t>> taken;
    for (const std::int64_t row : {std::int64_t{0}, rows - 1})
        for (const std::int64_t col : {std::int64_t{0}, cols - 1}) taken.emplace(row, col);
    const auto bits = [&seed] { return mixed(seed += 0x9e3779b97f4a7c15); };
    const auto any = [&bits](std::int64_t extent) {
        return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(extent));
    };
    const auto taken_at = [&](bool row_edge, bool col_edge) {
        const std::int64_t row = row_edge ? edge(rows, bits()) : any(rows);
        taken.emplace(row, col_edge ? edge(cols, bits()) : any(cols));
    };
    for (std::int64_t i = 0; static_cast<std::int64_t>(taken.size()) < most / 2; ++i)
        taken_at(i % 3 != 0, i % 3 != 1);
    while (static_cast<std::int64_t>(taken.size()) < most) taken_at(false, false);
    for (const auto& [row, col] : taken) places.push_back({row, col});
    return places;
}

std::string mismatch(const std::string& where, double actual, double expected, double bound) {
    const double difference = std::abs(actual - expected);
    if (difference <= bound || actual == expected || (std::isnan(actual) && std::isnan(expected))) return {};
    return fmt::format("{} is {:.9g}, {:.3g} from {:.9g}, bound {:.3g}", where, actual, difference, expected,
                       bound);
}

template <class T>
std::string mismatch(const matrix_view<T>& m, const std::vector<place>& places,
                     const std::vector<double>& expected, const std::vector<double>& bounds, double slack) {
    const std::vector<T> actual = gathered(m, places);
    for (std::size_t i = 0; i < places.size(); ++i) {
        std::string wrong = mismatch(fmt::format("element ({}, {})", places[i].row, places[i].col),
                                     to_double(actual[i]), expected[i], slack * bounds[i]);
        if (!wrong.empty()) return wrong;
    }
    return {};
}

#define HEDDLE_CLIFFS_OPERANDS(T)                                                   \
    template std::vector<T> gathered(const T*, const std::vector<std::int64_t>&);   \
    template class operand<T>;                                                      \
    template std::string mismatch(const matrix_view<T>&, const std::vector<place>&, \
                                  const std::vector<double>&, const std::vector<double>&, double);
HEDDLE_EACH_TYPE(HEDDLE_CLIFFS_OPERANDS)
#undef HEDDLE_CLIFFS_OPERANDS

}  // namespace heddle::bench::cliffs
