#include "kernels/device/math.hpp"
#include "kernels/random/facts.hpp"
#include "src/random/validate.hpp"
#include <heddle/host.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <numbers>
#include <span>
#include <type_traits>

namespace heddle::host {
namespace {

using detail::operand, detail::random_call, detail::random_operation;

/// Elements that a thread takes at a time.
constexpr std::int64_t chunk = 16384;

using words = std::array<std::uint32_t, 4>;

constexpr std::uint32_t first_multiplier = 0xd2511f53, second_multiplier = 0xcd9e8d57;

constexpr std::uint32_t low_word(std::uint64_t x) {
    return static_cast<std::uint32_t>(x);
}
constexpr std::uint32_t high_word(std::uint64_t x) {
    return static_cast<std::uint32_t>(x >> 32);
}

/// Philox 4x32-10.
constexpr words block_of(words c, std::uint64_t key) {
    std::uint32_t low_key = low_word(key), high_key = high_word(key);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{first_multiplier} * c[0];
        const std::uint64_t b = std::uint64_t{second_multiplier} * c[2];
        c = {high_word(b) ^ c[1] ^ low_key, low_word(b), high_word(a) ^ c[3] ^ high_key, low_word(a)};
        low_key += 0x9e3779b9;
        high_key += 0xbb67ae85;
    }
    return c;
}

// The known answers of Random123, the library of Philox's authors.
constexpr std::uint32_t ones = 0xffffffff;
static_assert(block_of({}, 0) == words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(block_of({ones, ones, ones, ones}, ~std::uint64_t{0}) ==
              words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(block_of({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
              words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

std::uint64_t start_of(const philox& generator) {
    return generator.offset + (generator.device_offset != nullptr ? *generator.device_offset : 0);
}

std::uint64_t word_pair(std::uint32_t low, std::uint32_t high) {
    return std::uint64_t{high} << 32 | low;
}

/// The sine and cosine of pi a for |a| <= 1, each with double's relative accuracy.
std::array<double, 2> sine_and_cosine_of_pi(double a) {
    const double quarters = std::nearbyint(2 * a);
    const double angle = std::numbers::pi * (a - quarters / 2);
    const double s = std::sin(angle), c = std::cos(angle);
    switch (static_cast<int>(quarters) & 3) {
        case 0:
            return {s, c};
        case 1:
            return {c, -s};
        case 2:
            return {-s, -c};
        default:
            return {-c, s};
    }
}

/// The Box-Muller pair for v in (0, 1] and a in [-1, 1].
std::array<double, 2> normal_pair(double v, double a) {
    const double r = std::sqrt(-2 * std::log(v));
    const auto [sine, cosine] = sine_and_cosine_of_pi(a);
    return {r * cosine, r * sine};
}

template <class T>
matrix_view<T> typed(const operand& o) {
    const auto& [data, rows, cols, row_stride, col_stride] = o.view;
    return {static_cast<T*>(data), rows, cols, row_stride, col_stride};
}

/// `draw` turns a block of words into `size` numbers. finish(number, x) makes an element; x is the input's, if any.
template <class T, int size, class Draw, class Finish>
void for_each_element(const random_call& call, std::span<const operand> operands, Draw draw, Finish finish) {
    const matrix_view<const T> x = typed<T>(operands.front());
    const matrix_view<T> y = typed<T>(operands.back());
    const bool has_input = operands.size() > 1;
    const std::uint64_t start = start_of(call.generator);
    const std::int64_t chunks_of_a_row = kernels::divide_up(y.cols, chunk);
#pragma omp parallel for schedule(static) if (y.rows * y.cols > chunk)
    for (std::int64_t c = 0; c < y.rows * chunks_of_a_row; ++c) {
        const std::int64_t row = c / chunks_of_a_row;
        const std::int64_t first = c % chunks_of_a_row * chunk, last = std::min(first + chunk, y.cols);
        std::uint64_t place = start + static_cast<std::uint64_t>(row * y.cols + first);
        decltype(draw(words{})) numbers{};
        for (std::int64_t col = first; col < last; ++col, ++place) {
            if (col == first || place % size == 0) {
                const std::uint64_t b = place / size;
                constexpr std::uint32_t kind = size == 2 ? 1 : 0;
                numbers = draw(block_of({low_word(b), high_word(b), kind, 0}, call.generator.seed));
            }
            const T from = has_input ? x.data[row * x.row_stride + col * x.col_stride] : T{};
            y.data[row * y.row_stride + col * y.col_stride] = finish(numbers[place % size], from);
        }
    }
}

template <class T>
void draw_uniform(const random_call& call, std::span<const operand> operands) {
    using compute = compute_type<T>;
    constexpr int size = sizeof(T) == 8 ? 2 : 4;
    const auto range = detail::validated_range<T>(call.name, call.p, call.q);
    const auto low = static_cast<compute>(call.p), width = static_cast<compute>(range.width),
               least = static_cast<compute>(range.least), most = static_cast<compute>(range.most);
    for_each_element<T, size>(
        call, operands,
        [](const words& w) {
            if constexpr (size == 2)
                return std::array{static_cast<double>(word_pair(w[0], w[1]) >> 11) * 0x1p-53,
                                  static_cast<double>(word_pair(w[2], w[3]) >> 11) * 0x1p-53};
            else
                return std::array{
                    static_cast<float>(w[0] >> 8) * 0x1p-24f, static_cast<float>(w[1] >> 8) * 0x1p-24f,
                    static_cast<float>(w[2] >> 8) * 0x1p-24f, static_cast<float>(w[3] >> 8) * 0x1p-24f};
        },
        [=](compute u, T) { return static_cast<T>(std::clamp(std::fma(u, width, low), least, most)); });
}

template <class T>
void draw_normal(const random_call& call, std::span<const operand> operands) {
    using compute = compute_type<T>;
    constexpr int size = sizeof(T) == 8 ? 2 : 4;
    detail::validate_normal(call.name, call.p, call.q);
    for_each_element<T, size>(
        call, operands,
        [](const words& w) {
            if constexpr (size == 2) {
                return normal_pair(
                    static_cast<double>((word_pair(w[0], w[1]) >> 11) + 1) * 0x1p-53,
                    static_cast<double>(static_cast<std::int64_t>(word_pair(w[2], w[3]))) * 0x1p-63);
            } else {
                // The arguments round as on the GPU. The pair is computed in double.
                const auto pair = [](std::uint32_t v, std::uint32_t a) {
                    return normal_pair(std::fma(static_cast<float>(v), 0x1p-32f, 0x1p-33f),
                                       static_cast<float>(static_cast<std::int32_t>(a)) * 0x1p-31f);
                };
                const auto [a, b] = pair(w[0], w[1]);
                const auto [c, d] = pair(w[2], w[3]);
                return std::array{a, b, c, d};
            }
        },
        [mean = call.p, deviation = call.q](double z, T) {
            return static_cast<T>(static_cast<compute>(std::fma(deviation, z, mean)));
        });
}

template <class T>
void draw_typed(const random_call& call, std::span<const operand> operands) {
    const auto as_they_are = [](const words& w) { return w; };
    const auto convert = [](float x) { return static_cast<T>(x); };
    if constexpr (std::same_as<T, std::uint32_t>) {
        for_each_element<T, 4>(call, operands, as_they_are, [](std::uint32_t w, T) { return w; });
    } else if (call.operation == random_operation::bernoulli) {
        const std::uint64_t threshold = detail::validated_threshold(call.name, call.p);
        for_each_element<T, 4>(call, operands, as_they_are,
                               [=](std::uint32_t w, T) { return convert(w < threshold ? 1.0f : 0.0f); });
    } else if constexpr (!std::integral<T>) {
        using compute = compute_type<T>;
        if (call.operation == random_operation::uniform) return draw_uniform<T>(call, operands);
        if (call.operation == random_operation::normal) return draw_normal<T>(call, operands);
        const std::uint64_t threshold = detail::validated_threshold(call.name, call.p);
        const auto scale = static_cast<compute>(detail::dropout_scale(call.p));
        for_each_element<T, 4>(call, operands, as_they_are, [=](std::uint32_t w, T x) {
            return w < threshold ? convert(0) : static_cast<T>(static_cast<compute>(x) * scale);
        });
    }
}

std::uint32_t round_function(std::uint32_t x, std::uint32_t key) {
    const std::uint64_t once = std::uint64_t{first_multiplier} * (x ^ key);
    const std::uint64_t twice = std::uint64_t{second_multiplier} * (high_word(once) ^ low_word(once));
    return high_word(twice) ^ low_word(twice);
}

}  // namespace

void random_permutation(vector_view<std::int32_t> y, const philox& generator) {
    detail::validate_permutation("host::random_permutation", y, generator);
    if (y.size == 0) return;
    constexpr std::uint32_t kind = 2;
    const std::uint64_t s = start_of(generator);
    std::array<words, 4> keys;
    for (std::uint32_t j = 0; j < keys.size(); ++j)
        keys[j] = block_of({low_word(s), high_word(s), kind, j}, generator.seed);
    const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint32_t>(y.size - 1)));
    const int high_bits = bits / 2, low_bits = bits - high_bits;
    const std::uint32_t high_mask = (std::uint32_t{1} << high_bits) - 1;
    const std::uint32_t low_mask = (std::uint32_t{1} << low_bits) - 1;
#pragma omp parallel for schedule(static) if (y.size > chunk)
    for (std::int64_t i = 0; i < y.size; ++i) {
        auto value = static_cast<std::uint32_t>(i);
        do {
            std::uint32_t high = value >> low_bits, low = value & low_mask;
            for (const words& k : keys)
                for (std::size_t step = 0; step < k.size(); step += 2) {
                    high ^= round_function(low, k[step]) & high_mask;
                    low ^= round_function(high, k[step + 1]) & low_mask;
                }
            value = high << low_bits | low;
        } while (value >= static_cast<std::uint64_t>(y.size));
        y.data[i * y.stride] = static_cast<std::int32_t>(value);
    }
}

}  // namespace heddle::host

namespace heddle::detail {

void on_host::run(const random_call& call) {
    std::array<operand, 2> operands{};
    const std::span<operand> used = std::span(operands).first(call.operands.size());
    visit_type(call.type, [&]<class T> {
        validate_operands_as<T>(call);
        std::ranges::copy(call.operands, operands.begin());
        kernels::random::lay_in_rows(used, &operand::view);
        host::draw_typed<T>(call, used);
    });
}

}  // namespace heddle::detail
