#include "benchmarks/ladders/check.hpp"

namespace heddle::bench {
namespace {

template <class T>
accuracy check_of(const extents& shape, std::string_view rung) {
    const std::int64_t rows = shape[0], cols = shape[1];
    const auto algorithm = algorithm_of(rung, transpose_algorithms());
    const device_buffer<T> from = random_on_device<T>(rows * cols);
    device_buffer<T> to = poisoned_on_device<T>(rows * cols);
    transpose<T>(matrix_view<const T>{from.data(), rows, cols}, matrix_view<T>{to.data(), cols, rows},
                 stream(), {.algorithm = algorithm});

    const std::vector<T> source = on_host(from), destination = on_host(to);
    accuracy result{0, 0, 0, "of the largest element"};
    constexpr std::int64_t most_rows = 1024, most_cols = 1024;
    for (const std::int64_t row : sampled(rows, most_rows))
        for (const std::int64_t col : sampled(cols, most_cols)) {
            const double off = at(destination, col * rows + row) - at(source, row * cols + col);
            result.error = worse(std::abs(off), result.error);
            ++result.elements;
        }
    return result;
}

}  // namespace

accuracy check_transpose(std::string_view type, const extents& shape, std::string_view rung) {
    return with_type_named<double, half, std::uint8_t, float>(
        type, [&]<class T>() { return check_of<T>(shape, rung); });
}

}  // namespace heddle::bench
