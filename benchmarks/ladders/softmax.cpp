#include "tests/bounds/softmax.hpp"

#include "benchmarks/ladders/check.hpp"

namespace heddle::bench {
namespace {

/// Before the result is rounded to a 16-bit type; of elements of magnitude 1 at most, which are 2 below the maximum at most.
template <class T>
double bound_in_float(softmax_algorithm algorithm, std::int64_t cols) {
    const bounds::sum_steps steps = bounds::softmax_steps_of(algorithm, cols);
    constexpr bool is_float = std::is_same_v<T, float>;
    const double e = is_float ? 3 : 5, s = is_float ? 1 : 3.35;
    const double sum =
        s * std::log(static_cast<double>(cols)) + 3 * e + steps.additions + steps.rescalings * (e + 2);
    return (sum + s * 2 + 2 * e + 4) * float_unit;
}

template <class T>
accuracy check_of(const extents& shape, std::string_view rung) {
    const std::int64_t rows = shape[0], cols = shape[1];
    const auto algorithm = algorithm_of(rung, softmax_algorithms());
    const device_buffer<T> x = random_on_device<T>(rows * cols);
    device_buffer<T> y = poisoned_on_device<T>(rows * cols);
    softmax<T>({x.data(), rows, cols}, matrix_view<T>{y.data(), rows, cols}, stream(),
               {.algorithm = algorithm});

    const std::vector<T> xs = on_host(x), ys = on_host(y);
    // Below half's normal numbers half of the smallest one is a rounding.
    const double denormal = std::is_same_v<T, half> ? 0x1p-25 : 0;
    constexpr bool is_float = std::is_same_v<T, float>;
    const double in_float = bound_in_float<T>(algorithm, cols);
    const double bound = is_float ? in_float : in_float + (1 + 0x1p-8) * unit_of<T>;
    accuracy result{0, bound, 0, "of the result"};
    constexpr std::int64_t most_rows = 64;
    for (const std::int64_t row : sampled(rows, most_rows)) {
        double sum = 0;
        for (std::int64_t col = 0; col < cols; ++col) sum += std::exp(at(xs, row * cols + col));
        double total = 0;
        std::map<double, double> roundings;  // of equal elements together: they are the same
        for (std::int64_t col = 0; col < cols; ++col) {
            const double exact = std::exp(at(xs, row * cols + col)) / sum;
            const double off = std::abs(at(ys, row * cols + col) - exact);
            keep_worst(result, off > denormal ? (off - denormal) / exact : off * 0, bound);
            ++result.elements;
            total += at(ys, row * cols + col);
            if (!is_float) roundings[exact] += std::max(unit_of<T> * exact, denormal);
        }
        if (is_float) continue;
        // A sum that lacks a few columns hides in the rounding of a 16-bit result, but not in that of a row's sum: of
        // independent roundings none in 10^7 is off by more than 6 times the root of their squares (Hoeffding).
        double squares = 0;
        for (const auto& [exact, most] : roundings) squares += most * most;
        keep_worst(result, std::abs(total - 1), in_float + 6 * (1 + 0x1p-8) * std::sqrt(squares));
    }
    return result;
}

}  // namespace

accuracy check_softmax(std::string_view type, const extents& shape, std::string_view rung) {
    return with_type_named<half, bfloat16, float>(type, [&]<class T>() { return check_of<T>(shape, rung); });
}

}  // namespace heddle::bench
