#include "tests/bounds/products.hpp"

#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/cliffs/matmul_operands.hpp"
#include "benchmarks/cliffs/vendor_functions.hpp"
#include "benchmarks/support/cublas_lt.hpp"

/// The families of matmul and of layers share checks and the vendors' products.
namespace heddle::bench::cliffs {
namespace {

/// Whether the result is infinite, and the expected value may be too large for the type.
template <class Out>
bool overflows(double actual, double expected, double bound) {
    constexpr double largest_half = 65504;
    return std::is_same_v<Out, half> && std::isinf(actual) && (actual > 0) == (expected > 0) &&
           std::abs(expected) + bound >= largest_half;
}

}  // namespace

/// docs/accuracy.md has the bounds of alpha A B + beta C. `magnitudes` is the sum of the magnitudes of all terms. A bound
/// is at most a sixteenth of it, as for huge k it would be too loose.
template <class In>
double product_bound(precision precision, double k, double magnitudes, double norms) {
    const double limit = magnitudes / 16;
    if constexpr (sizeof(In) == 2) return std::min(limit, bounds::of_16_bits(k) * magnitudes);
    double factor = bounds::of_fmas(k);
    if (precision == precision::fp32_normwise || precision == precision::tf32)
        factor = std::max({factor, bounds::of_tf32x3(k), bounds::of_fp16x3(k)});
    if (precision == precision::tf32) factor = std::max(factor, bounds::of_tf32(k));
    const double normwise = precision == precision::fp32_normwise ? 0x1p-35 * norms : 0;
    // The roundings of random elements grow as the root of their number. TF32 has larger errors, unless k is huge.
    const double likely = (8 * std::sqrt(k) + 16) * bounds::u * norms + 4 * bounds::u * magnitudes;
    const bool is_of_floats = precision == precision::ieee || precision == precision::fp32;
    const double most = is_of_floats ? std::min(limit, likely) : limit;
    return std::min(most, factor * magnitudes) + normwise;
}

template <class Out, class In>
std::function<std::string(double slack)> check_of(const product_problem<Out, In>& p,
                                                  const std::shared_ptr<product_operands<Out, In>>& o) {
    // Places are those of one matrix, in which the matrices of the batch lie below each other.
    const auto places = sampled_places(p.batches * p.m, p.n, p.seed);
    std::vector<line> rows, cols;
    std::vector<std::int64_t> offsets;
    std::vector<place> in_matrix;
    for (const auto& [row, col] : places) {
        const std::int64_t batch = row / p.m;
        rows.push_back(row_of(o->a.first, row % p.m));
        rows.back().first += batch * o->a.stride;
        cols.push_back(column_of(o->b.first, col));
        cols.back().first += batch * o->b.stride;
        in_matrix.push_back({row % p.m, col});
        offsets.push_back(batch * o->c.stride + row % p.m * o->c.first.row_stride +
                          col * o->c.first.col_stride);
    }
    const auto c = gathered<Out>(o->c.first.data, offsets);
    const auto optional_values = [&](std::optional<operand<Out>>& of, auto place_of) {
        std::vector<double> values(places.size(), 0);
        if (!of) return values;
        std::vector<place> at;
        for (const place& where : in_matrix) at.push_back(place_of(where));
        const auto given = gathered(of->view(), at);
        for (std::size_t i = 0; i < given.size(); ++i) values[i] = to_double(given[i]);
        return values;
    };
    const auto row_bias = optional_values(o->row_bias, [](place at) { return place{0, at.col}; });
    const auto column_bias = optional_values(o->column_bias, [](place at) { return place{0, at.row}; });
    const auto residual = optional_values(o->residual, [](place at) { return at; });
    const auto dots = dots_of(o->a.first.data, rows, o->b.first.data, cols);
    std::vector<double> expected, bounds;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const double summand = p.beta == 0 ? 0 : p.beta * to_double(c[i]);
        const double biases = row_bias[i] + column_bias[i];
        const double magnitudes = std::abs(p.alpha) * dots[i].magnitudes + std::abs(summand);
        const double norms = std::abs(p.alpha) * std::sqrt(dots[i].x_squares) * std::sqrt(dots[i].y_squares);
        const double before = p.alpha * dots[i].sum + summand + biases;
        const double after = bounds::activated(p.activation, before);
        double error = product_bound<In>(p.precision, static_cast<double>(p.k), magnitudes, norms);
        if (p.has_epilogue)
            error = 1.13 * std::abs(p.scale) *
                        (error + 0x1p-22 * (std::abs(before) + std::abs(biases)) +
                         (sizeof(In) == 2 ? 0x1p-13 : 0x1p-18) * (std::abs(after) + 0x1p-3)) +
                    0x1p-22 * std::abs(residual[i]);
        expected.push_back(p.scale * after + residual[i]);
        bounds.push_back(bounds::stored_as<Out>(expected[i], error));
    }
    return [o, places, offsets, expected, bounds, is_poisoned = p.beta == 0](double slack) -> std::string {
        const auto actual = gathered<Out>(o->c.first.data, offsets);
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (overflows<Out>(to_double(actual[i]), expected[i], slack * bounds[i])) continue;
            if (std::string wrong = mismatch(fmt::format("element ({}, {})", places[i].row, places[i].col),
                                             to_double(actual[i]), expected[i], slack * bounds[i]);
                !wrong.empty())
                return wrong;
        }
        return is_poisoned ? o->c.all.changed_gap() : std::string{};
    };
}

#if HEDDLE_HAS_CUBLAS

namespace {

constexpr std::size_t shown_candidates = 2;
constexpr lt_search search{.candidates = 8, .calls = 5, .long_call_ms = 1};

template <class Out, class In>
void dot(const vendor_product<Out, In>& p) {
    const scalars_on_device mode;
    check(cublasDotEx_64(cublas_handle(), p.a.cols, p.a.data, cuda_type<In>, p.a.col_stride, p.b.data,
                         cuda_type<In>, p.b.row_stride, p.c.data, cuda_type<Out>, CUDA_R_32F));
}

template <class Out, class In>
vendor_product<Out, In> turned(vendor_product<Out, In> p) {
    std::swap(p.a, p.b);
    std::swap(p.a_stride, p.b_stride);
    p.a = transposed(p.a);
    p.b = transposed(p.b);
    p.c = transposed(p.c);
    p.residual = transposed(p.residual);
    return p;
}

}  // namespace

template <class Out, class In>
void add_vendor_products(trial& t, vendor_product<Out, In> p, const std::function<void()>& then,
                         const std::string& what, bool is_checked) {
    const auto add = [&](const std::string& name, auto call) {
        t.add_peer(
            name + what,
            [&] {
                return [call, then] {
                    call();
                    if (then) then();
                };
            },
            is_checked);
    };
    if (!is_row_major(p.c)) {
        p = turned(p);
        p.row_bias = nullptr;  // it would be one of columns
    }
    if (!p.has_epilogue()) {
        add("cublas", [p] { gemm(p); });
        if (p.batches == 1 && (p.c.rows == 1 || p.c.cols == 1)) {
            const auto column = p.c.cols == 1 ? p : turned(p);
            add("cublas gemv", [column] { gemv(column); });
            if (p.c.rows == p.c.cols && p.alpha == 1 && p.beta == 0) add("cublas dot", [p] { dot(p); });
        }
    }
    try {
        const auto product = std::make_shared<lt_product<Out, In>>(p);
        const auto fastest = product->fastest(search);
        for (std::size_t i = 0; i < std::min(shown_candidates, fastest.size()); ++i)
            add("cublaslt", [product, algorithm = fastest[i]] { check(product->run(algorithm)); });
    } catch (const std::exception&) {  // it refuses the problem, or is missing
        (void)cudaGetLastError();
    }
}

#else

template <class Out, class In>
void add_vendor_products(trial&, vendor_product<Out, In>, const std::function<void()>&, const std::string&,
                         bool) {}

#endif

#define HEDDLE_CLIFFS_PRODUCTS(Out, In)                                                                      \
    template std::function<std::string(double)> check_of(const product_problem<Out, In>&,                    \
                                                         const std::shared_ptr<product_operands<Out, In>>&); \
    template void add_vendor_products(trial&, vendor_product<Out, In>, const std::function<void()>&,         \
                                      const std::string&, bool);
HEDDLE_EACH_PRODUCT(HEDDLE_CLIFFS_PRODUCTS)
#undef HEDDLE_CLIFFS_PRODUCTS

template double product_bound<float>(precision, double, double, double);
template double product_bound<half>(precision, double, double, double);
template double product_bound<bfloat16>(precision, double, double, double);

}  // namespace heddle::bench::cliffs
