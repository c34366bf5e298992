#include "benchmarks/cliffs/operands.hpp"

#include "benchmarks/support/rows.hpp"
#include <heddle/copy.hpp>

#include <fmt/format.h>

#include <set>
#include <utility>

namespace heddle::bench::cliffs {
namespace {

/// The finaliser of splitmix64.
std::uint64_t mixed(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
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
    while (static_cast<std::int64_t>(taken.size()) < most) {
        const std::uint64_t bits = mixed(seed += 0x9e3779b97f4a7c15);
        const std::uint64_t more = mixed(bits);
        taken.emplace(static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(rows)),
                      static_cast<std::int64_t>(more % static_cast<std::uint64_t>(cols)));
    }
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
                                     as_double(actual[i]), expected[i], slack * bounds[i]);
        if (!wrong.empty()) return wrong;
    }
    return {};
}

#define HEDDLE_CLIFFS_OPERANDS(T)                                                   \
    template std::vector<T> gathered(const T*, const std::vector<std::int64_t>&);   \
    template class operand<T>;                                                      \
    template std::string mismatch(const matrix_view<T>&, const std::vector<place>&, \
                                  const std::vector<double>&, const std::vector<double>&, double)
HEDDLE_CLIFFS_OPERANDS(double);
HEDDLE_CLIFFS_OPERANDS(float);
HEDDLE_CLIFFS_OPERANDS(half);
HEDDLE_CLIFFS_OPERANDS(bfloat16);
HEDDLE_CLIFFS_OPERANDS(std::int32_t);
HEDDLE_CLIFFS_OPERANDS(std::int64_t);
HEDDLE_CLIFFS_OPERANDS(std::uint8_t);
HEDDLE_CLIFFS_OPERANDS(std::uint16_t);
#undef HEDDLE_CLIFFS_OPERANDS

}  // namespace heddle::bench::cliffs
