#include "benchmarks/fuzz/operand.hpp"
#include "benchmarks/fuzz/operations.hpp"
#include "benchmarks/support/rows.hpp"
#include "tests/bounds/reduce.hpp"
#include <heddle/histogram.hpp>
#include <heddle/host.hpp>
#include <heddle/reduce.hpp>
#include <heddle/scan.hpp>

namespace heddle::bench::fuzz {
namespace {

const std::vector<std::string_view> numbers = {"f32", "f64", "f16", "bf16", "i32", "i64"};

template <class Result, class Function>
Result with_number(std::int64_t type, Function f) {
    switch (type) {
        case 0:
            return f.template operator()<float>();
        case 1:
            return f.template operator()<double>();
        case 2:
            return f.template operator()<half>();
        case 3:
            return f.template operator()<bfloat16>();
        case 4:
            return f.template operator()<std::int32_t>();
        default:
            return f.template operator()<std::int64_t>();
    }
}

std::vector<field> vector_fields(std::vector<field> fields) {
    const std::vector<field> more = {{"size"}, {"offset", 0}, {"step", 1}, {"seed", 0}};
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
}

void draw_vector(drawing& d, problem& p) {
    p.set("size", draw_shape(d, 1, 1 << 16)[0] * (d.one_in(4) ? d.integer(1, 64) : 1));
    const cliffs::placement at = d.vector_lie();
    p.set("offset", at.offset);
    p.set("step", at.step);
    p.set("seed", d.integer(0, 1 << 30));
    p.draw_words(d);
}

lattice vector_of(const problem& p) {
    return lie({p["size"]}, p["offset"], 0, p["step"]);
}

/// What n additions of T in a row may be off by, beside their magnitudes; 0 of integers.
template <class T>
double error_of_additions(double n) {
    if constexpr (std::is_integral_v<T>)
        return 0;
    else
        return bounds::of_additions(n, unit_roundoff<sum_type<T>>());
}

/// Exact where the sum is one of integers, to the last place where double has more digits than are needed.
using wide = long double;
template <class T>
wide widened(T x) {
    if constexpr (std::is_integral_v<T>)
        return x;
    else
        return as_double(x);
}

template <class T>
std::string wrong_reduce(const problem& p, processor where) {
    enum { sum_, mean_, max_, argmin_, dot_, norm2_, nonzero_ };
    const std::int64_t size = p["size"], kind = p["function"];
    if (size == 0 && (kind == max_ || kind == argmin_)) return {};  // there is none
    const auto seed = static_cast<std::uint64_t>(p["seed"]);
    const auto xs = draw_values<T>(static_cast<values>(p["values"]), size, seed),
               ys = draw_values<T>(values::uniform, size, seed + 1);
    operand<T> x(where, vector_of(p), xs), y(where, vector_of(p), ys), extreme(where, lie({1}, 0, 0, 1));
    operand<sum_type<T>> total(where, lie({1}, 0, 0, 1));
    operand<mean_type<T>> average(where, lie({1}, 0, 0, 1));
    operand<std::int64_t> place(where, lie({1}, 0, 0, 1));
    const vector_view<const T> view = x.vector(), other = y.vector();
    if (where == processor::cpu) {
        if (kind == sum_) *total.data() = host::sum<T>(view);
        if (kind == mean_) *average.data() = host::mean<T>(view);
        if (kind == max_) *extreme.data() = host::max<T>(view);
        if (kind == argmin_) *place.data() = host::argmin<T>(view);
        if (kind == dot_) *total.data() = host::dot<T>(view, other);
        if (kind == nonzero_) *place.data() = host::count_nonzero<T>(view);
        if constexpr (!std::is_integral_v<T>)
            if (kind == norm2_) *total.data() = host::norm2<T>(view);
    } else {
        const reduce_options options{.algorithm = rung_of(p, where, reduce_algorithms())};
        if (kind == sum_) sum<T>(view, total.data(), stream(), options);
        if (kind == mean_) mean<T>(view, average.data(), stream(), options);
        if (kind == max_) max<T>(view, extreme.data(), stream(), options);
        if (kind == argmin_) argmin<T>(view, place.data(), stream(), options);
        if (kind == dot_) dot<T>(view, other, total.data(), stream(), options);
        if (kind == nonzero_) count_nonzero<T>(view, place.data(), stream(), options);
        if constexpr (!std::is_integral_v<T>)
            if (kind == norm2_) norm2<T>(view, total.data(), stream(), options);
    }
    wide total_ = 0, magnitudes = 0, products = 0, of_products = 0, squares = 0;
    std::int64_t nonzero = 0;
    std::size_t least_place = 0, largest_place = 0;
    for (std::size_t i = 0; i < xs.size(); ++i) {
        const wide a = widened(xs[i]), b = widened(ys[i]);
        total_ += a, magnitudes += std::abs(a), products += a * b, of_products += std::abs(a * b),
            squares += a * a;
        nonzero += a != 0;
        const auto replaces = [&](std::size_t now, bool is_less) {
            const wide c = widened(xs[now]);
            return !std::isnan(c) && (std::isnan(a) || (is_less ? a < c : a > c));
        };
        if (replaces(least_place, true)) least_place = i;
        if (replaces(largest_place, false)) largest_place = i;
    }
    const auto n = static_cast<double>(size);
    const double depth = std::min(n, 4096.0) + n / 4096 + 80, smallest_sum = 0x1p-149;
    const auto one = [&](auto& result, wide expected, double bound) {
        return first_of(
            {mismatch(
                 "the result", result.read(), [&](std::size_t) { return static_cast<double>(expected); },
                 [&](std::size_t) { return bound; }),
             result.damage(), x.change(), y.change()});
    };
    const auto near = [&](wide amount) { return static_cast<double>(amount); };
    switch (kind) {
        case sum_:
            return one(total, total_, error_of_additions<T>(depth) * near(magnitudes));
        case mean_:
            return one(average, total_ / static_cast<wide>(size),
                       (error_of_additions<T>(depth) + 0x1p-52) * near(magnitudes) / n +
                           2 * unit_roundoff<mean_type<T>>() * near(std::abs(total_)) / n + smallest_sum);
        case max_:
            return one(extreme, widened(xs[largest_place]), 0);
        case argmin_:
            return one(place, static_cast<wide>(least_place), 0);
        case dot_:
            return one(total, products,
                       error_of_additions<T>(depth + 1) * near(of_products) +
                           (std::is_integral_v<T> ? 0 : n * smallest_sum));
        case norm2_:
            if constexpr (std::is_integral_v<T>)
                return {};
            else
                return one(total, std::sqrt(squares),
                           (2 * unit_roundoff<sum_type<T>>() + depth * 0x1p-53) * near(std::sqrt(squares)) +
                               smallest_sum);
        default:
            return one(place, static_cast<wide>(nonzero), 0);
    }
}

template <class T>
std::string wrong_scan(const problem& p, processor where) {
    const std::int64_t size = p["size"];
    const bool is_inclusive = p["function"] == 0, is_in_place = p["in_place"] == 1;
    const auto xs =
        draw_values<T>(static_cast<values>(p["values"]), size, static_cast<std::uint64_t>(p["seed"]));
    operand<T> x(where, vector_of(p), xs), y(where, lie({size}, 0, 0, 1));
    operand<T>& result = is_in_place ? x : y;
    if (where == processor::cpu)
        is_inclusive ? host::inclusive_scan<T>(x.vector(), result.vector())
                     : host::exclusive_scan<T>(x.vector(), result.vector());
    else {
        const scan_options options{.algorithm = rung_of(p, where, scan_algorithms())};
        is_inclusive ? inclusive_scan<T>(x.vector(), result.vector(), stream(), options)
                     : exclusive_scan<T>(x.vector(), result.vector(), stream(), options);
    }
    std::vector<double> sums, bounds;
    wide sum = 0, magnitudes = 0;
    for (const T element : xs) {
        const auto note = [&] {
            sums.push_back(static_cast<double>(sum));
            bounds.push_back(error_of_additions<T>(2 * 1024 + static_cast<double>(size) / 1024 + 80) *
                             static_cast<double>(magnitudes));
        };
        if (!is_inclusive) note();
        sum += widened(element), magnitudes += std::abs(widened(element));
        if (is_inclusive) note();
    }
    return first_of({mismatch(
                         "y", result.read(), [&](std::size_t i) { return sums[i]; },
                         [&](std::size_t i) { return bounds[i]; }),
                     result.damage(), is_in_place ? "" : x.change()});
}

template <class T>
std::string wrong_histogram(const problem& p, processor where) {
    constexpr bool is_byte = std::is_same_v<T, std::uint8_t>;
    const std::int64_t size = p["size"], bins = is_byte ? 256 : std::max<std::int64_t>(p["bins"], 1);
    std::vector<T> xs(static_cast<std::size_t>(size));
    std::mt19937_64 generator(static_cast<std::uint64_t>(p["seed"]));
    const bool is_one_value = p["spread"] == 1;
    for (T& x : xs) {
        const std::uint64_t bits = is_one_value ? 77 : generator();
        if constexpr (is_byte)
            x = static_cast<T>(bits);
        else
            x = bits % 64 == 1 ? std::numeric_limits<float>::quiet_NaN()
                               : static_cast<float>(bits % 4096) / 1024 - 1.5f;
    }
    const float lower = -1, upper = 2;
    operand<T> x(where, vector_of(p), xs);
    operand<std::int64_t> counts(where, lie({bins}, 0, 0, 1));
    const histogram_options options{where == processor::cpu ? histogram_algorithm::automatic
                                                            : rung_of(p, where, histogram_algorithms())};
    if constexpr (is_byte)
        where == processor::cpu ? host::histogram(x.vector(), counts.vector())
                                : histogram(x.vector(), counts.vector(), stream(), options);
    else
        where == processor::cpu ? host::histogram(x.vector(), lower, upper, counts.vector())
                                : histogram(x.vector(), lower, upper, counts.vector(), stream(), options);
    std::vector<double> expected(static_cast<std::size_t>(bins));
    for (const T element : xs) {
        if constexpr (is_byte) {
            ++expected[element];
        } else if (element >= lower && element < upper) {
            const float scale = static_cast<float>(static_cast<double>(bins) /
                                                   (static_cast<double>(upper) - static_cast<double>(lower)));
            const auto bin = static_cast<std::int64_t>((element - lower) * scale);
            ++expected[static_cast<std::size_t>(std::min(bin, bins - 1))];
        }
    }
    return first_of({mismatch(
                         "counts", counts.read(), [&](std::size_t i) { return expected[i]; },
                         [](std::size_t) { return 0.0; }),
                     counts.damage(), x.change()});
}

void draw_histogram(drawing& d, problem& p) {
    draw_vector(d, p);
    p.set("bins", static_cast<std::int64_t>(d.log_uniform(1, 20000)));
}

}  // namespace

operation reduce_cases() {
    return {"reduce",
            vector_fields({{"type", 0, numbers},
                           {"function", 0, {"sum", "mean", "max", "argmin", "dot", "norm2", "count_nonzero"}},
                           {"values", 0, all_values},
                           {"rung", 0, rung_words(reduce_algorithms())}}),
            draw_vector, [](const problem& p, processor where) {
                return with_number<std::string>(p["type"],
                                                [&]<class T>() { return wrong_reduce<T>(p, where); });
            }};
}

operation scan_cases() {
    return {"scan",
            vector_fields({{"type", 0, {"f32", "f64", "i32", "i64"}},
                           {"function", 0, {"inclusive", "exclusive"}},
                           {"in_place", 0, {"no", "yes"}},
                           {"values", 0, all_values},
                           {"rung", 0, rung_words(scan_algorithms())}}),
            draw_vector, [](const problem& p, processor where) {
                switch (p["type"]) {
                    case 0:
                        return wrong_scan<float>(p, where);
                    case 1:
                        return wrong_scan<double>(p, where);
                    case 2:
                        return wrong_scan<std::int32_t>(p, where);
                    default:
                        return wrong_scan<std::int64_t>(p, where);
                }
            }};
}

operation histogram_cases() {
    return {"histogram",
            vector_fields({{"type", 0, {"u8", "f32"}},
                           {"spread", 0, {"all", "one_value"}},
                           {"rung", 0, rung_words(histogram_algorithms())},
                           {"bins", 1}}),
            draw_histogram, [](const problem& p, processor where) {
                return p["type"] == 0 ? wrong_histogram<std::uint8_t>(p, where)
                                      : wrong_histogram<float>(p, where);
            }};
}

}  // namespace heddle::bench::fuzz
