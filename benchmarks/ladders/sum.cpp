#include "benchmarks/ladders/check.hpp"

namespace heddle::bench {
namespace {

template <class T>
accuracy check_of(std::int64_t size, std::string_view rung) {
    const auto algorithm = algorithm_of(rung, reduce_algorithms());
    const device_buffer<T> x = biased_on_device<T>(size);
    device_buffer<sum_type<T>> result = poisoned_on_device<sum_type<T>>(1);
    sum<T>(x, result.data(), stream(), {.algorithm = algorithm});

    long double exact = 0, magnitudes = 0;
    for (const T element : on_host(x)) {
        const auto value = static_cast<long double>(static_cast<double>(element));
        exact += value;
        magnitudes += std::abs(value);
    }
    const double unit = std::is_same_v<T, double> ? unit_of<double> : float_unit;
    const reduce_problem problem{.x = {.size = size, .element_bytes = sizeof(T)}};
    const auto depth = static_cast<double>(reduce_depth(problem, traits_of(current_device()), algorithm));
    // On its way to the result an element meets so many roundings: of all elements together one of each depth is off by the sum
    // of magnitudes times u at most. Of random elements they are independent of each other, and add up as their root: 6 times
    // that none in 10^7 exceeds (Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019).
    const double proven = depth * unit / (1 - depth * unit), expected = 6 * std::sqrt(depth) * unit;
    const auto off = std::abs(static_cast<long double>(on_host(result).front()) - exact);
    return {static_cast<double>(off / magnitudes), std::min(proven, expected), size,
            "of the sum of magnitudes"};
}

}  // namespace

accuracy check_sum(std::string_view type, const extents& shape, std::string_view rung) {
    return with_type_named<double, half, bfloat16, float>(
        type, [&]<class T>() { return check_of<T>(shape[0], rung); });
}

}  // namespace heddle::bench
