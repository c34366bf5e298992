#pragma once

#include "tests/bounds/numbers.hpp"
#include "tests/fuzz/problem.hpp"
#include "tests/fuzz/recorder.hpp"
#include "tests/support/mapped_buffer.hpp"
#include <heddle/buffer.hpp>
#include <heddle/error.hpp>
#include <heddle/tensor.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// The parts of operations: operands between canaries, their values, and the check of results.
namespace heddle::fuzz {

using bounds::smallest;
using bounds::to_double;
using bounds::unit_roundoff;

inline const std::vector<std::string_view> floating_types = {"f32", "f64", "f16", "bf16"};
inline const std::vector<std::string_view> single_types = {"f32", "f16", "bf16"};

/// The kinds of element values.
enum class values { uniform, integers, cancelling, spread, tiny, special };
inline values kind_of(const problem& p) {
    return static_cast<values>(p["values"]);
}
inline const std::vector<std::string_view> all_values = {"uniform", "integers", "cancelling",
                                                         "spread",  "tiny",     "special"};
/// The kinds whose values are finite.
inline const std::vector<std::string_view> finite_values = {"uniform", "integers", "cancelling", "spread",
                                                            "tiny"};

/// `count` elements. Integers are small: their products and sums are exact in float. Each cancelling element has its
/// negative beside it. Spread elements differ by factors of up to 2^24. Tiny elements include denormals. One special
/// element in 32 to one in 4096, by the seed, is NaN or infinite.
template <class T>
std::vector<T> draw_values(values kind, std::int64_t count, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    const auto unit = [&] { return static_cast<double>(generator() >> 11) * 0x1p-52 - 1; };
    const auto limited = [](double x) {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(x);
        else
            return static_cast<T>(static_cast<compute_type<T>>(x));
    };
    std::vector<T> drawn(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < drawn.size(); ++i) {
        if constexpr (std::is_integral_v<T>) {
            drawn[i] = static_cast<T>(static_cast<std::int64_t>(generator() % 201) -
                                      (std::is_signed_v<T> ? 100 : 0));
            continue;
        }
        const double x = unit();
        switch (kind) {
            case values::uniform:
                drawn[i] = limited(x);
                break;
            case values::integers:
                drawn[i] = limited(std::round(8 * x));
                break;
            case values::cancelling:
                drawn[i] = limited(i % 2 == 0 ? x : -to_double(drawn[i - 1]));
                break;
            case values::spread:
                drawn[i] = limited(std::ldexp(x, static_cast<int>(generator() % 25) - 16));
                break;
            case values::tiny:
                drawn[i] = limited(x * (std::is_same_v<T, half> ? 0x1p-18 : 0x1p-120));
                break;
            case values::special: {
                constexpr double infinity = std::numeric_limits<double>::infinity();
                const std::uint64_t which = generator() % (std::uint64_t{96} << seed % 8);
                drawn[i] = limited(which == 0   ? std::nan("")
                                   : which == 1 ? infinity
                                   : which == 2 ? -infinity
                                                : x);
            }
        }
    }
    return drawn;
}

/// The same with few special elements, so that most windows have none.
template <class T>
std::vector<T> draw_for_windows(values kind, std::int64_t count, std::uint64_t seed) {
    std::vector<T> drawn = draw_values<T>(kind, count, seed);
    if (kind != values::special) return drawn;
    const std::vector<T> plain = draw_values<T>(values::uniform, count, seed);
    for (std::size_t i = 0; i < drawn.size(); ++i)
        if (i % 16 != seed % 16) drawn[i] = plain[i];
    return drawn;
}

/// The kind of the other factor. Factors of tiny elements are large, so that products do not vanish.
inline values beside(values kind) {
    return kind == values::tiny ? values::uniform : kind;
}

/// Up to four extents, the last innermost, and the distance in elements between neighbours along each.
struct lattice {
    std::vector<std::int64_t> extents, strides;
    std::int64_t offset = 0;  ///< of the first, off an aligned address; at a page's end off any

    [[nodiscard]] std::int64_t count() const {
        return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
    }
};

/// Lines of the innermost extent, with `step` between elements and `padding` after each line.
inline lattice lie(std::vector<std::int64_t> extents, std::int64_t offset, std::int64_t padding,
                   std::int64_t step) {
    std::vector<std::int64_t> strides(extents.size());
    std::int64_t stride = step;
    for (std::size_t i = extents.size(); i-- > 0;) {
        strides[i] = stride;
        stride = extents[i] * stride + (i + 1 == extents.size() ? padding : 0);
    }
    return {std::move(extents), std::move(strides), offset};
}

/// A lattice of elements in host or device memory. All memory around and between them is poison (NaN where the type
/// has it) and must stay so. At an edge of pages there is no memory around them: reading or writing there is an
/// illegal address.
template <class T>
class operand {
  public:
    /// Every second lattice starts with numbers as elements, so that an expected NaN is not there already.
    operand(processor where, lattice lie) : operand(where, std::move(lie), nullptr) {}
    operand(processor where, lattice lie, const std::vector<T>& elements)
        : operand(where, std::move(lie), &elements) {}
    operand(const operand&) = delete;
    operand& operator=(const operand&) = delete;
    ~operand() { recorded().stop(); }

    [[nodiscard]] T* data() { return (where_ == processor::cpu ? now_.data() : device_) + first(); }
    [[nodiscard]] vector_view<T> vector() { return {data(), lie_.extents.back(), lie_.strides.back()}; }
    [[nodiscard]] matrix_view<T> matrix() {
        const std::size_t last = lie_.extents.size() - 1;
        return {data(), lie_.extents[last - 1], lie_.extents[last], lie_.strides[last - 1],
                lie_.strides[last]};
    }
    [[nodiscard]] tensor_view<T> tensor() { return four<tensor_view<T>>(); }
    [[nodiscard]] filter_view<T> filters() { return four<filter_view<T>>(); }

    /// Restores the initial state.
    void clear() {
        recorded().end();
        send();
    }

    /// The elements, the innermost extent first, after all work of the device. The same problem has the same results.
    std::vector<T> read(bool is_result = true) {
        receive();
        std::vector<T> elements(static_cast<std::size_t>(lie_.count()));
        for_each([&](std::size_t at, std::size_t i) { elements[i] = now_[at]; });
        if (is_result) recorded().add(elements);
        return elements;
    }

    /// The writes outside of elements; empty where there were none.
    std::string damage() {
        receive();
        std::vector<T> expected = image_;
        for_each([&](std::size_t at, std::size_t) { expected[at] = now_[at]; });
        return difference(expected, "was written outside of the view");
    }
    /// Any change at all, in an operand that is only read.
    std::string change() {
        receive();
        return difference(image_, "was changed, which is only read");
    }

  private:
    static constexpr unsigned char poison = std::is_integral_v<T> ? 0xa7 : 0xff, a_number = 0x5a;

    operand(processor where, lattice lie, const std::vector<T>* elements)
        : where_(where), lie_(std::move(lie)) {
        std::int64_t last = 0;
        for (std::size_t i = 0; i < lie_.extents.size(); ++i)
            last += std::max<std::int64_t>(lie_.extents[i] - 1, 0) * lie_.strides[i];
        image_.resize(static_cast<std::size_t>(first() + last + 1 + canaries_));
        std::memset(static_cast<void*>(image_.data()), poison, image_.size() * sizeof(T));
        if (elements != nullptr)
            for_each([&](std::size_t at, std::size_t i) { image_[at] = (*elements)[i]; });
        else if (lie_.count() % 2 == 1)
            for_each([&](std::size_t at, std::size_t) {
                std::memset(static_cast<void*>(&image_[at]), a_number, sizeof(T));
            });
        recorded().end();
        if (where_ == processor::gpu) {
            memory_ = device_buffer<T>(static_cast<std::int64_t>(image_.size()), stream());
            device_ = memory_.data();
        } else if (where_ != processor::cpu) {
            const auto edge =
                where_ == processor::gpu_page_begin ? test::page_edge::begin : test::page_edge::end;
            pages_.emplace(static_cast<std::int64_t>(image_.size() * sizeof(T)), edge);
            device_ = reinterpret_cast<T*>(pages_->data());
        }
        send();
    }

    [[nodiscard]] std::int64_t first() const { return canaries_ + lie_.offset; }

    template <class View>
    View four() {
        return {data(),          lie_.extents[0], lie_.extents[1], lie_.extents[2],
                lie_.extents[3], lie_.strides[2], lie_.strides[1], lie_.strides[0]};
    }

    std::string difference(const std::vector<T>& expected, const char* what) const {
        for (std::size_t i = 0; i < expected.size(); ++i)
            if (std::memcmp(&expected[i], &now_[i], sizeof(T)) != 0)
                return fmt::format("element {} from the first on {}", static_cast<std::int64_t>(i) - first(),
                                   what);
        return {};
    }

    void send() {
        now_ = image_;
        if (where_ == processor::cpu) return;
        check(cudaMemcpyAsync(device_, image_.data(), image_.size() * sizeof(T), cudaMemcpyDefault,
                              stream().get()));
    }
    void receive() {
        if (where_ == processor::cpu) return;
        recorded().end();
        check(cudaMemcpyAsync(now_.data(), device_, now_.size() * sizeof(T), cudaMemcpyDefault,
                              stream().get()));
        stream().synchronize();
    }

    /// function(place in memory, place among the elements).
    template <class Function>
    void for_each(Function function) const {
        const std::int64_t count = lie_.count(), line = lie_.extents.back(), step = lie_.strides.back();
        std::vector<std::int64_t> index(lie_.extents.size());
        for (std::int64_t i = 0; i < count; i += line) {
            const std::int64_t at =
                std::inner_product(index.begin(), index.end(), lie_.strides.begin(), first());
            for (std::int64_t j = 0; j < line; ++j)
                function(static_cast<std::size_t>(at + j * step), static_cast<std::size_t>(i + j));
            for (std::size_t d = index.size() - 1; d-- > 0 && ++index[d] == lie_.extents[d];) index[d] = 0;
        }
    }

    processor where_;
    lattice lie_;
    std::int64_t canaries_ = where_ == processor::cpu || where_ == processor::gpu ? 256 : 0;
    device_buffer<T> memory_;
    std::optional<test::mapped_buffer> pages_;
    std::vector<T> image_;  ///< as it was sent
    std::vector<T> now_;    ///< the present values in host memory, or as last read
    T* device_ = nullptr;
};

/// Whether a result is within `bound` of the expected value. NaN is right for NaN alone. A value that may exceed the
/// type's largest number may be infinite.
template <class T>
bool is_right(T actual_element, double expected, double bound) {
    const double actual = to_double(actual_element);
    if (std::isnan(expected)) return std::isnan(actual);
    if (actual == expected || (std::isfinite(expected) && std::abs(actual - expected) <= bound)) return true;
    if constexpr (std::is_integral_v<T>)
        return false;
    else {
        const double largest = std::is_same_v<T, half>     ? 65504
                               : std::is_same_v<T, double> ? std::numeric_limits<double>::max()
                                                           : 0x1p127;
        return std::isinf(actual) && (actual > 0) == (expected > 0) && std::abs(expected) + bound >= largest;
    }
}

/// The i-th of numbers: of a function, of a list, or one for all.
template <class Numbers>
double number_at(const Numbers& numbers, std::size_t i) {
    if constexpr (std::is_invocable_v<Numbers, std::size_t>)
        return numbers(i);
    else if constexpr (std::is_arithmetic_v<Numbers>)
        return numbers;
    else
        return numbers[i];
}

/// Describes the results that are not within their bounds of what is expected; empty where all are right.
template <class T, class Expected, class Bound = int>
std::string mismatch(std::string_view name, const std::vector<T>& actual, const Expected& expected,
                     const Bound& bound = 0) {
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double right = number_at(expected, i), allowed = number_at(bound, i);
        if (!is_right(actual[i], right, allowed))
            return fmt::format("{}[{}] is {}, and should be {} within {}", name, i, to_double(actual[i]),
                               right, allowed);
    }
    return {};
}

/// The first text that is not empty.
inline std::string first_of(std::initializer_list<std::string> found) {
    const auto at = std::ranges::find_if(found, [](const std::string& text) { return !text.empty(); });
    return at == found.end() ? std::string() : *at;
}

}  // namespace heddle::fuzz
