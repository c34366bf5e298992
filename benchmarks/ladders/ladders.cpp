#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/support/headers.hpp"
#include "benchmarks/support/random.hpp"
#include "tests/bounds/products.hpp"
#include "tests/bounds/softmax.hpp"
#include "tests/bounds/windows.hpp"

/// Rungs on random elements beside float64, at sampled places, within the bounds of docs/accuracy.md.
namespace heddle::bench {
namespace {

using bounds::u, bounds::unit_roundoff;

template <class T>
std::vector<T> on_host(const device_buffer<T>& buffer) {
    std::vector<T> values(buffer.size());
    copy_and_wait(buffer, values, stream());
    return values;
}

/// Random elements in [-0.5, 1], or bytes. Their mean is not 0, so that a sum that lacks some of them is far off.
template <class T>
device_buffer<T> biased_on_device(std::int64_t size) {
    device_buffer<T> buffer = random_on_device<T>(size);
    if constexpr (!std::is_integral_v<T>) {
        std::vector<T> values = on_host(buffer);
        for (T& value : values) value = static_cast<T>(0.25 + 0.75 * static_cast<double>(value));
        copy_and_wait(values, buffer, stream());
    }
    return buffer;
}

/// A result filled with NaN or 255, so that elements that a rung does not write show.
template <class T>
device_buffer<T> poisoned_on_device(std::int64_t size) {
    device_buffer<T> buffer(size, stream());
    fill_bytes(buffer, std::byte{0xff}, stream());
    return buffer;
}

/// The algorithm of this name, or that of a kernel.
template <class Algorithm>
Algorithm algorithm_of(std::string_view kernel, std::span<const Algorithm> all) {
    const std::string_view rung = kernel.substr(0, kernel.find(' '));
    const auto found = std::ranges::find(all, rung, [](Algorithm algorithm) { return to_string(algorithm); });
    if (found == all.end()) throw std::invalid_argument("there is no rung " + std::string(rung));
    return *found;
}

/// Up to `most` indices below size, the first and the last among them.
std::vector<std::int64_t> sampled(std::int64_t size, std::int64_t most) {
    std::vector<std::int64_t> indices;
    const std::int64_t count = std::min(size, most);
    for (std::int64_t i = 0; i < count; ++i) indices.push_back(count == 1 ? 0 : (size - 1) * i / (count - 1));
    return indices;
}

/// Calls with up to `most` rows and as many columns.
void for_sampled(std::int64_t rows, std::int64_t cols, std::int64_t most, auto call) {
    for (const std::int64_t row : sampled(rows, most))
        for (const std::int64_t col : sampled(cols, most)) call(row, col);
}

/// Counts an element, and keeps the error that is the largest share of its bound, and NaN once there was one.
void keep_worst(accuracy& result, double error, double bound) {
    const bool is_first = result.elements++ == 0;
    if (std::isnan(result.error)) return;
    const bool is_worse = bound == 0 ? error > result.error : error * result.bound > result.error * bound;
    if (is_first || std::isnan(error) || is_worse) {
        result.error = error;
        result.bound = bound;
    }
}

template <class T>
double at(const std::vector<T>& values, std::int64_t index) {
    return static_cast<double>(values[static_cast<std::size_t>(index)]);
}

/// An element of C should be `exact`. `norms` is of A's row times B's column, `peak` the greatest magnitude of a partial sum.
struct element {
    double exact = 0, norms = 0, peak = 0;
};

template <class T>
element element_of(const std::vector<T>& a, const std::vector<T>& b, const extents& shape, std::int64_t row,
                   std::int64_t col) {
    const std::int64_t n = shape[1], k = shape[2];
    element result;
    double a_square = 0, b_square = 0;
    for (std::int64_t l = 0; l < k; ++l) {
        const double x = at(a, row * k + l), y = at(b, l * n + col);
        result.exact += x * y;
        result.peak = std::max(result.peak, std::abs(result.exact));
        a_square += x * x;
        b_square += y * y;
    }
    result.norms = std::sqrt(a_square * b_square);
    return result;
}

/// The bound of an element's error, as a share of its norms.
template <class T>
double bound_of(const element& of, matmul_algorithm algorithm, std::int64_t depth) {
    const auto k = static_cast<double>(depth);
    const double of_norms = algorithm == matmul_algorithm::fp16x3 ? 0x1p-35 : 0;
    const double sums = bounds::of_matmul<T>(algorithm, k) + of_norms, size = std::abs(of.exact) / of.norms;
    if (!std::is_same_v<T, float>) return sums + unit_roundoff<T>() * (size + sums);
    if (algorithm == matmul_algorithm::tf32) return sums;
    // Roundings of random sums add up as their root (Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019): sqrt(k) u of the
    // partial sums. None in 10^7 exceeds 6 times that. Pieces of elements lose a few u more. A product in bfloat16 is off by
    // more, and one in TF32 up to k of about 8192.
    return std::min(sums, (6 * std::sqrt(k) * of.peak / of.norms + 16) * u);
}

template <class T>
accuracy check_product(const extents& shape, std::string_view rung, precision precision) {
    const std::int64_t m = shape[0], n = shape[1], k = shape[2];
    const auto algorithm = algorithm_of(rung, matmul_algorithms(element_type_of<T>));
    const device_buffer<T> a = biased_on_device<T>(m * k), b = biased_on_device<T>(k * n);
    device_buffer<T> c = poisoned_on_device<T>(m * n);
    const matrix_view<const T> a_view{a.data(), m, k}, b_view{b.data(), k, n};
    const matrix_view<T> c_view{c.data(), m, n};
    matmul_options options{.algorithm = algorithm, .precision = precision, .kernel = rung};
    workspace scratch(matmul_workspace_bytes<T>(a_view, b_view, c_view, stream(), options), stream());
    options.workspace = scratch;
    matmul<T>(a_view, b_view, c_view, stream(), options);

    const std::vector<T> as = on_host(a), bs = on_host(b), cs = on_host(c);
    accuracy result{.measure = "of the norms of A's row and B's column"};
    for_sampled(m, n, 32, [&](std::int64_t row, std::int64_t col) {
        const element of = element_of(as, bs, shape, row, col);
        keep_worst(result, std::abs(at(cs, row * n + col) - of.exact) / of.norms,
                   bound_of<T>(of, algorithm, k));
    });
    return result;
}

accuracy check_matmul(std::string_view type, const extents& shape, std::string_view rung) {
    const auto precision = type == "tf32" ? precision::tf32 : precision::fp32;
    return with_type_named<bfloat16, half, float>(
        type, [&]<class T>() { return check_product<T>(shape, rung, precision); });
}

accuracy check_sum(std::string_view type, const extents& shape, std::string_view rung) {
    return with_type_named<double, half, bfloat16, float>(type, [&, size = shape[0]]<class T>() -> accuracy {
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
        const double unit = unit_roundoff<sum_type<T>>();
        const reduce_problem problem{.x = {.size = size, .element_bytes = sizeof(T)}};
        const auto depth = static_cast<double>(reduce_depth(problem, traits_of(current_device()), algorithm));
        // On its way to the result an element meets so many roundings: of all elements together one of each depth is off by
        // the sum of magnitudes times u at most. Of random elements they are independent of each other, and add up as their
        // root: 6 times that none in 10^7 exceeds (Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019).
        const double proven = depth * unit / (1 - depth * unit), expected = 6 * std::sqrt(depth) * unit;
        const auto off = std::abs(static_cast<long double>(on_host(result).front()) - exact);
        return {static_cast<double>(off / magnitudes), std::min(proven, expected), size,
                "of the sum of magnitudes"};
    });
}

accuracy check_sigmoid(std::string_view type, const extents& shape, std::string_view rung) {
    return with_type_named<double, half, bfloat16, float>(type, [&, size = shape[0]]<class T>() {
        const auto algorithm = algorithm_of(rung, elementwise_algorithms());
        const device_buffer<T> x = random_on_device<T>(size);
        device_buffer<T> y = poisoned_on_device<T>(size);
        sigmoid<T>(x, y, stream(), {.algorithm = algorithm});

        const std::vector<T> xs = on_host(x), ys = on_host(y);
        // For elements of magnitude 1 at most.
        const double unit = unit_roundoff<T>(),
                     bound = sizeof(T) > 2 ? 6 * unit : 22 * u + (1 + 0x1p-10) * unit;
        accuracy result{.measure = "of the result"};
        for (const std::int64_t i : sampled(size, 1 << 16)) {
            const long double exact = 1 / (1 + std::exp(-static_cast<long double>(at(xs, i))));
            keep_worst(result, static_cast<double>(std::abs(at(ys, i) - exact) / exact), bound);
        }
        return result;
    });
}

accuracy check_transpose(std::string_view type, const extents& shape, std::string_view rung) {
    return with_type_named<double, half, std::uint8_t, float>(type, [&]<class T>() {
        const std::int64_t rows = shape[0], cols = shape[1];
        const auto algorithm = algorithm_of(rung, transpose_algorithms());
        const device_buffer<T> from = random_on_device<T>(rows * cols);
        device_buffer<T> to = poisoned_on_device<T>(rows * cols);
        transpose<T>(matrix_view<const T>{from.data(), rows, cols}, matrix_view<T>{to.data(), cols, rows},
                     stream(), {.algorithm = algorithm});

        const std::vector<T> source = on_host(from), destination = on_host(to);
        accuracy result{.measure = "of the largest element"};
        for_sampled(rows, cols, 1024, [&](std::int64_t row, std::int64_t col) {
            keep_worst(result, std::abs(at(destination, col * rows + row) - at(source, row * cols + col)), 0);
        });
        return result;
    });
}

accuracy check_softmax(std::string_view type, const extents& shape, std::string_view rung) {
    return with_type_named<half, bfloat16, float>(type, [&]<class T>() {
        const std::int64_t rows = shape[0], cols = shape[1];
        const auto algorithm = algorithm_of(rung, softmax_algorithms());
        const device_buffer<T> x = random_on_device<T>(rows * cols);
        device_buffer<T> y = poisoned_on_device<T>(rows * cols);
        softmax<T>({x.data(), rows, cols}, matrix_view<T>{y.data(), rows, cols}, stream(),
                   {.algorithm = algorithm});

        const std::vector<T> xs = on_host(x), ys = on_host(y);
        // Below half's normal numbers half of the smallest one is a rounding.
        const double denormal = std::is_same_v<T, half> ? 0x1p-25 : 0, unit = unit_roundoff<T>();
        constexpr bool is_float = std::is_same_v<T, float>;
        // Elements of magnitude 1 at most are 2 below the maximum at most.
        const double of_sum = bounds::of_exponentials<T>(cols, bounds::softmax_steps_of(algorithm, cols));
        const double in_float = bounds::of_share<T>(of_sum, 2, 4);
        const double bound = is_float ? in_float : in_float + (1 + 0x1p-8) * unit;
        accuracy result{.measure = "of the result"};
        for (const std::int64_t row : sampled(rows, 64)) {
            double sum = 0, total = 0;
            for (std::int64_t col = 0; col < cols; ++col) sum += std::exp(at(xs, row * cols + col));
            std::map<double, double> roundings;  // of equal elements together: they are the same
            for (std::int64_t col = 0; col < cols; ++col) {
                const double exact = std::exp(at(xs, row * cols + col)) / sum,
                             actual = at(ys, row * cols + col);
                const double off = std::abs(actual - exact);
                keep_worst(result, off > denormal ? (off - denormal) / exact : off * 0, bound);
                total += actual;
                if (!is_float) roundings[exact] += std::max(unit * exact, denormal);
            }
            if (is_float) continue;
            // A sum that lacks a few columns hides in the rounding of a 16-bit result, but not in that of a row's sum: of
            // independent roundings none in 10^7 is off by more than 6 times the root of their squares (Hoeffding).
            double squares = 0;
            for (const auto& [exact, most] : roundings) squares += most * most;
            keep_worst(result, std::abs(total - 1), in_float + 6 * (1 + 0x1p-8) * std::sqrt(squares));
            --result.elements;
        }
        return result;
    });
}

accuracy check_gaussian_blur(std::string_view type, const extents& shape, std::string_view rung) {
    const std::int64_t width = shape[0], height = shape[1], radius = shape[2], channels = type.back() - '0';
    const auto check = [&]<class T>(T) {
        const double sigma = static_cast<double>(radius) / 2;  // as the rows have it
        const auto algorithm = algorithm_of(rung, gaussian_blur_algorithms());
        const device_buffer<T> x = biased_on_device<T>(width * height * channels);
        device_buffer<T> y = poisoned_on_device<T>(width * height * channels);
        gaussian_blur<T>(image_view<const T>{x.data(), width, height, channels},
                         image_view<T>{y.data(), width, height, channels}, sigma, stream(),
                         {.radius = radius, .algorithm = algorithm, .kernel = rung});

        const std::vector<T> xs = on_host(x), ys = on_host(y);
        const std::vector<double> weights = bounds::gaussian(sigma, radius);
        constexpr bool is_float = std::is_same_v<T, float>;
        // Half a level is the rounding of bytes; the rest is what whole numbers as weights may be off by.
        const double bound = is_float ? (2.0 * static_cast<double>(2 * radius + 1) + 4) * u : 0.75;
        accuracy result{.measure = is_float ? "of the largest value" : "levels"};
        for_sampled(height, width, 32, [&](std::int64_t row, std::int64_t col) {
            for (std::int64_t channel = 0; channel < channels; ++channel) {
                double exact = 0;
                for (std::int64_t j = -radius; j <= radius; ++j)
                    for (std::int64_t i = -radius; i <= radius; ++i) {
                        const std::int64_t from_row = std::clamp<std::int64_t>(row + j, 0, height - 1);
                        const std::int64_t from_col = std::clamp<std::int64_t>(col + i, 0, width - 1);
                        exact += at(weights, j + radius) * at(weights, i + radius) *
                                 at(xs, (from_row * width + from_col) * channels + channel);
                    }
                const double actual = at(ys, (row * width + col) * channels + channel);
                keep_worst(result, std::abs(actual - exact), bound);
            }
        });
        return result;
    };
    return type.starts_with("u8") ? check(std::uint8_t{}) : check(float{});
}

}  // namespace

// The files of operations define these.
using add_rows_function = void(std::string_view type, const extents& shape);
add_rows_function add_gaussian_blur_rows, add_matmul_rows, add_sigmoid_rows, add_softmax_rows, add_sum_rows,
    add_transpose_rows;

std::span<const ladder> ladders() {
    static const ladder table[] = {
        {"matmul", "MxNxK", {0, 0, 0}, {"f32", "tf32", "bf16", "f16"}, add_matmul_rows, check_matmul},
        {"sum", "N", {0}, {"f32", "f64", "f16", "bf16"}, add_sum_rows, check_sum},
        {"sigmoid", "N", {0}, {"f32", "f64", "f16", "bf16"}, add_sigmoid_rows, check_sigmoid},
        {"softmax", "ROWSxCOLS", {0, 0}, {"f32", "f16", "bf16"}, add_softmax_rows, check_softmax},
        {"transpose", "ROWSxCOLS", {0, 0}, {"f32", "f64", "f16", "u8"}, add_transpose_rows, check_transpose},
        {"gaussian_blur",
         "WIDTHxHEIGHT-rRADIUS",
         {0, 0, 5},
         {"f32c1", "f32c3", "f32c4", "u8c1", "u8c3", "u8c4"},
         add_gaussian_blur_rows,
         check_gaussian_blur},
    };
    return table;
}

}  // namespace heddle::bench
