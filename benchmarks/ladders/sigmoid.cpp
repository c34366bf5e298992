#include "benchmarks/ladders/check.hpp"

namespace heddle::bench {
namespace {

/// The bound for elements of magnitude 1 at most.
template <class T>
constexpr double bound = std::is_same_v<T, float> || std::is_same_v<T, double>
                             ? 6 * unit_of<T>
                             : 22 * float_unit + (1 + 0x1p-10) * unit_of<T>;

template <class T>
accuracy check_of(std::int64_t size, std::string_view rung) {
    const auto algorithm = algorithm_of(rung, elementwise_algorithms());
    const device_buffer<T> x = random_on_device<T>(size);
    device_buffer<T> y = poisoned_on_device<T>(size);
    sigmoid<T>(x, y, stream(), {.algorithm = algorithm});

    const std::vector<T> xs = on_host(x), ys = on_host(y);
    accuracy result{0, bound<T>, 0, "of the result"};
    constexpr std::int64_t most = 1 << 16;
    for (const std::int64_t i : sampled(size, most)) {
        const long double exact = 1 / (1 + std::exp(-static_cast<long double>(at(xs, i))));
        result.error = worse(static_cast<double>(std::abs(at(ys, i) - exact) / exact), result.error);
        ++result.elements;
    }
    return result;
}

}  // namespace

accuracy check_sigmoid(std::string_view type, const extents& shape, std::string_view rung) {
    return with_type_named<double, half, bfloat16, float>(
        type, [&]<class T>() { return check_of<T>(shape[0], rung); });
}

}  // namespace heddle::bench
