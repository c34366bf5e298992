#include "benchmarks/ladders/check.hpp"

namespace heddle::bench {
namespace {

/// What a sum may be off by before it is rounded to T, as a share of the sum of magnitudes, and so of the product of the norms,
/// which is larger.
template <class T>
double bound_of_sums(matmul_algorithm algorithm, std::int64_t depth) {
    const auto k = static_cast<double>(depth);
    const double in_group = std::min(k, 64.0) + 4, groups = std::ceil(k / 64), u = float_unit;
    if constexpr (!std::is_same_v<T, float>) {
        return 2 * (k + k / 16 + 20) * u;
    } else {
        switch (algorithm) {
            case matmul_algorithm::bf16x6:
                return (2.1 * in_group + 2 * groups + 6) * u;
            case matmul_algorithm::tf32x3:
                return (std::ceil(k / 16) + 49) * u;
            case matmul_algorithm::fp16x3:
                return (6.3 * in_group + groups + 6) * u + 0x1p-21 + 0x1p-35;
            case matmul_algorithm::tf32:
                return 0x1p-10 * (1 + 0x1p-11) + 2 * (k + k / 8 + 20) * u;
            default:
                return (k + 4) * u;
        }
    }
}

/// What one element of C should be.
struct element {
    double exact = 0;
    double norms = 0;  ///< of A's row times B's column
    double peak = 0;   ///< the greatest magnitude of a partial sum
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

/// What an element may be off by, as a share of its norms.
template <class T>
double bound_of(const element& of, matmul_algorithm algorithm, std::int64_t depth) {
    const double sums = bound_of_sums<T>(algorithm, depth), size = std::abs(of.exact) / of.norms;
    if (!std::is_same_v<T, float>) return sums + unit_of<T> * (size + sums);
    if (algorithm == matmul_algorithm::tf32) return sums;
    // Roundings of random sums add up as their root (Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019): sqrt(k) u of the
    // partial sums, 6 times which none in 10^7 exceeds; and what pieces of elements lose. A product in bfloat16 is off by
    // more, and one in TF32 up to k of about 8192.
    return std::min(sums, (6 * std::sqrt(static_cast<double>(depth)) * of.peak / of.norms + 16) * float_unit);
}

template <class T>
accuracy check_of(const extents& shape, std::string_view rung, precision precision) {
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
    constexpr std::int64_t most_rows = 32, most_cols = 32;
    accuracy result{0, 0, 0, "of the norms of A's row and B's column"};
    for (const std::int64_t row : sampled(m, most_rows))
        for (const std::int64_t col : sampled(n, most_cols)) {
            const element of = element_of(as, bs, shape, row, col);
            keep_worst(result, std::abs(at(cs, row * n + col) - of.exact) / of.norms,
                       bound_of<T>(of, algorithm, k));
            ++result.elements;
        }
    return result;
}

}  // namespace

accuracy check_matmul(std::string_view type, const extents& shape, std::string_view rung) {
    const auto precision = type == "tf32" ? precision::tf32 : precision::fp32;
    return with_type_named<bfloat16, half, float>(
        type, [&]<class T>() { return check_of<T>(shape, rung, precision); });
}

}  // namespace heddle::bench
