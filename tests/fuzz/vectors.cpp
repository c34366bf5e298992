#include "tests/bounds/reduce.hpp"
#include "tests/fuzz/operand.hpp"
#include "tests/fuzz/operations.hpp"
#include "tests/fuzz/scratch.hpp"

namespace heddle::fuzz {
namespace {

const std::vector<std::string_view> numbers = {"f32", "f64", "f16", "bf16", "i32", "i64"};

template <class Result, class Function>
Result with_number(std::int64_t type, Function f) {
    if (type == 0) return f.template operator()<float>();
    if (type == 1) return f.template operator()<double>();
    if (type == 2) return f.template operator()<half>();
    if (type == 3) return f.template operator()<bfloat16>();
    if (type == 4) return f.template operator()<std::int32_t>();
    return f.template operator()<std::int64_t>();
}

std::vector<field> vector_fields(std::vector<field> fields) {
    return with_numbers(std::move(fields), "size offset=0 step seed=0");
}

void draw_vector(drawing& d, problem& p) {
    p.set("size", draw_shape(d, 1, 1 << 16)[0] * (d.one_in(4) ? d.integer(1, 64) : 1));
    const placement at = d.vector_lie();
    p.set({{"offset", at.offset}, {"step", at.step}, {"seed", d.integer(0, 1 << 30)}});
    p.draw_words(d);
}

lattice vector_of(const problem& p) {
    return lie({p["size"]}, p["offset"], 0, p["step"]);
}

/// As draw_vector(), with sizes beside powers of two, where plans change, and some that fill the device.
void draw_long_vector(drawing& d, problem& p, std::int64_t most) {
    draw_vector(d, p);
    if (d.one_in(4)) p.set("size", (std::int64_t{1} << d.integer(5, 21)) + d.integer(-1, 1));
    if (d.one_in(50)) p.set("size", d.integer(most / 4, most));
}

void draw_second_vector(drawing& d, problem& p) {
    const placement y = d.vector_lie();
    p.set({{"y_offset", y.offset}, {"y_step", y.step}});
}

lattice second_vector_of(const problem& p) {
    return lie({p["size"]}, p["y_offset"], 0, p["y_step"]);
}

/// Two numbers, one of them at each 13th place from somewhere on; or one number alone.
template <class T>
std::vector<T> draw_equal_numbers(std::int64_t size, std::uint64_t seed) {
    drawing d({"equal", seed, 0});
    const auto number = [&] {
        if constexpr (std::is_integral_v<T>)
            return d.one_of<T>({std::numeric_limits<T>::min(), 0, 1, std::numeric_limits<T>::max()});
        else
            return static_cast<T>(d.one_of<float>({-HUGE_VALF, -0.0f, 0, 1, HUGE_VALF}));
    };
    std::vector<T> xs(static_cast<std::size_t>(size), number());
    const T other = number();
    for (std::int64_t i = d.integer(0, std::max<std::int64_t>(size - 1, 0)); i < size; i += 13)
        xs[static_cast<std::size_t>(i)] = other;
    return xs;
}

/// Spread integers are so large that sums wrap. Half of the special vectors have one special element alone.
template <class T>
std::vector<T> draw_numbers(const problem& p, std::uint64_t seed) {
    const std::int64_t size = p["size"];
    const auto kind = kind_of(p);
    if (p.word("values") == "equal") return draw_equal_numbers<T>(size, seed);
    const bool is_lone = kind == values::special && seed % 2 == 1 && size > 0;
    auto xs = draw_values<T>(is_lone ? values::uniform : kind, size, seed);
    std::mt19937_64 generator(seed);
    if constexpr (std::is_integral_v<T>) {
        constexpr int shift = sizeof(T) == 8 ? 1 : 33;
        if (kind == values::spread)
            for (T& x : xs) x = static_cast<T>(static_cast<std::int64_t>(generator()) >> shift);
    } else if (is_lone) {
        const float specials[] = {NAN, HUGE_VALF, -HUGE_VALF};
        xs[generator() % xs.size()] = static_cast<T>(specials[generator() % 3]);
    }
    return xs;
}

/// Holds an integer exactly, and a double with spare digits.
using wide = long double;
template <class T>
wide widened(T x) {
    if constexpr (std::is_integral_v<T>)
        return x;
    else
        return to_double(x);
}

/// Sums as computed on the GPU and the CPU: integers wrap.
template <class T>
using exact_sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, wide>;
template <class T>
wide widened_sum(exact_sum<T> sum) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<std::make_signed_t<exact_sum<T>>>(sum);
    else
        return sum;
}

/// The error of so many additions of numbers of T and of the reference's n, as a share of the sum of magnitudes.
template <class T>
wide error_of_additions(std::int64_t depth, std::int64_t n) {
    return bounds::of_additions(static_cast<double>(depth), unit_roundoff<T>()) +
           static_cast<wide>(n + 2) * 0x1p-64L;
}

template <class T>
std::string wrong_number(std::string_view name, T actual_number, wide expected, wide bound) {
    const wide actual = widened(actual_number);
    if (std::isnan(expected)
            ? std::isnan(actual)
            : actual == expected || (std::isfinite(expected) && std::abs(actual - expected) <= bound))
        return {};
    return fmt::format("{} is {}, and should be {} within {}", name, actual, expected, bound);
}

/// docs/accuracy.md: chunks of 4096, 32 accumulators in each, and pairs of chunks.
std::int64_t reduce_depth_on_host(std::int64_t size) {
    std::int64_t levels = 0;
    while ((std::int64_t{4096} << levels) < size) ++levels;
    return 4096 / 32 + 5 + levels;
}

const std::vector<std::string_view> reductions = {"sum",   "mean",          "max", "argmin", "dot",
                                                  "norm2", "count_nonzero", "min", "argmax", "norm1"};

template <class T>
std::string wrong_reduce(const problem& p, processor where) {
    enum { sum_, mean_, max_, argmin_, dot_, norm2_, nonzero_, min_, argmax_, norm1_ };
    constexpr bool is_integer = std::is_integral_v<T>;
    const std::int64_t size = p["size"], kind = p["function"];
    if (is_integer && kind == norm2_) return {};
    const auto seed = p.seed();
    const auto xs = draw_numbers<T>(p, seed);
    const auto ys = kind == dot_ ? draw_numbers<T>(p, seed + 1) : std::vector<T>(xs.size());
    operand<T> x(where, vector_of(p), xs), y(where, second_vector_of(p), ys),
        extreme(where, lie({1}, 0, 0, 1));
    operand<sum_type<T>> total(where, lie({1}, 0, 0, 1));
    operand<mean_type<T>> average(where, lie({1}, 0, 0, 1));
    operand<std::int64_t> place(where, lie({1}, 0, 0, 1));
    const vector_view<const T> view = x.vector(), other = y.vector();
    std::int64_t depth = reduce_depth_on_host(size);
    reduce_options options{.algorithm = rung_of(p, where, reduce_algorithms())};
    reduce_problem problem = kind == dot_ ? reduce_problem_of(view, other) : reduce_problem_of(view);
    problem.has_scratch = p.word("scratch") != "none";
    const device_traits* const device = where == processor::cpu ? nullptr : &traits_of(current_device());
    scratch_memory scratch(p, where,
                           device ? reduce_workspace_bytes(problem, *device, options.algorithm) : 0);
    scratch.add_to(options);
    if (device) depth = reduce_depth(problem, *device, options.algorithm);
    const auto reduce = [&](auto on_host, auto on_gpu, auto& result) {
        device ? on_gpu(view, result.data(), calls(), options) : void(*result.data() = on_host(view));
    };
    if (kind == sum_) reduce(host::sum<T>, sum<T>, total);
    if (kind == mean_) reduce(host::mean<T>, mean<T>, average);
    if (kind == max_) reduce(host::max<T>, max<T>, extreme);
    if (kind == min_) reduce(host::min<T>, min<T>, extreme);
    if (kind == argmin_) reduce(host::argmin<T>, argmin<T>, place);
    if (kind == argmax_) reduce(host::argmax<T>, argmax<T>, place);
    if (kind == norm1_) reduce(host::norm1<T>, norm1<T>, total);
    if (kind == nonzero_) reduce(host::count_nonzero<T>, count_nonzero<T>, place);
    if constexpr (!is_integer)
        if (kind == norm2_) reduce(host::norm2<T>, norm2<T>, total);
    if (kind == dot_)
        device ? dot<T>(view, other, total.data(), calls(), options)
               : void(*total.data() = host::dot<T>(view, other));
    const std::string of_scratch = scratch.damage();
    exact_sum<T> sum_of_all = 0, products = 0, norm1_of_all = 0;
    wide terms = 0, magnitudes = 0, of_products = 0, squares = 0;
    std::int64_t nonzero = 0, least_place = size > 0 ? 0 : -1, largest_place = least_place;
    wide least = HUGE_VALL, largest = -HUGE_VALL;  // for no elements
    if constexpr (is_integer) least = std::numeric_limits<T>::max(), largest = std::numeric_limits<T>::min();
    for (std::size_t i = 0; i < xs.size(); ++i) {
        const wide a = widened(xs[i]), b = widened(ys[i]);
        if constexpr (is_integer) {
            const auto bits = static_cast<std::uint64_t>(xs[i]);
            sum_of_all += bits, products += bits * static_cast<std::uint64_t>(ys[i]),
                norm1_of_all += a < 0 ? -bits : bits;
        } else {
            sum_of_all += a, products += a * b, norm1_of_all += std::abs(a);
        }
        terms += a, magnitudes += std::abs(a), of_products += std::abs(a * b), squares += a * a,
            nonzero += a != 0;
        const auto at = static_cast<std::int64_t>(i);
        if (i == 0 || (!std::isnan(least) && (std::isnan(a) || a < least))) least = a, least_place = at;
        if (i == 0 || (!std::isnan(largest) && (std::isnan(a) || a > largest)))
            largest = a, largest_place = at;
    }
    const auto n = static_cast<wide>(size);
    const auto one = [&](auto& result, wide expected, wide bound) {
        return first_of({wrong_number("the result", result.read()[0], expected, bound), result.damage(),
                         of_scratch, x.change(), y.change()});
    };
    const auto of_sums = [&](std::int64_t roundings) {
        return is_integer ? 0 : error_of_additions<sum_type<T>>(roundings, size);
    };
    const wide least_sum = is_integer ? 0 : smallest<sum_type<T>>();
    if (kind == sum_) return one(total, widened_sum<T>(sum_of_all), of_sums(depth) * magnitudes);
    // two more roundings, and one from int64 to double
    if (kind == mean_)
        return one(
            average, terms / n,
            error_of_additions<mean_type<T>>(depth + 3, size) * magnitudes / n + smallest<mean_type<T>>());
    if (kind == max_ || kind == min_) {  // an element, also where zeros of both signs are equal
        const T value = extreme.read()[0];
        const auto has_its_bits = [&](const T& each) { return std::memcmp(&each, &value, sizeof(T)) == 0; };
        const bool is_number = size > 0 && !std::isnan(kind == max_ ? largest : least);
        if (is_number && std::ranges::none_of(xs, has_its_bits)) return "the result is no element";
        return one(extreme, kind == max_ ? largest : least, 0);
    }
    if (kind == argmin_) return one(place, least_place, 0);
    if (kind == argmax_) return one(place, largest_place, 0);
    if (kind == dot_)
        return one(total, widened_sum<T>(products), of_sums(depth + 1) * of_products + n * least_sum);
    if (kind == norm1_) return one(total, widened_sum<T>(norm1_of_all), of_sums(depth) * magnitudes);
    if (kind ==
        norm2_) {  // the root halves the error of the squares; it rounds, and so does the result's type
        constexpr bool is_double = std::is_same_v<T, double>;
        const wide relative = static_cast<wide>(depth + (is_double ? 4 : 3)) * 0x1p-54L + (n + 2) * 0x1p-64L +
                              (is_double ? 0 : 0x1p-24L);
        return one(total, std::sqrt(squares), relative * std::sqrt(squares) + least_sum);
    }
    return one(place, nonzero, 0);
}

/// Only sum, min and max have most of the rungs.
void draw_reduce(drawing& d, problem& p) {
    draw_long_vector(d, p, 6'000'000);
    draw_second_vector(d, p);
    const auto has = reduce_algorithms(reduce_operation::dot);
    const auto is_of_all = [&](reduce_algorithm each) { return to_string(each) == p.word("rung"); };
    if (p["rung"] > 0 && std::ranges::none_of(has, is_of_all))
        p.set("function", d.one_of<std::int64_t>({0, 2, 7}));
}

template <class T>
std::string wrong_scan(const problem& p, processor where) {
    const std::int64_t size = p["size"];
    const bool is_inclusive = p["function"] == 0, is_in_place = p["in_place"] == 1;
    const auto xs = draw_numbers<T>(p, p.seed());
    operand<T> x(where, vector_of(p), xs), y(where, second_vector_of(p));
    operand<T>& result = is_in_place ? x : y;
    std::int64_t depth =
        2 * 1024 + size / 1024;  // through a chunk of 1024 twice, and one addition for each chunk
    std::string of_scratch;
    if (where == processor::cpu)
        is_inclusive ? host::inclusive_scan<T>(x.vector(), result.vector())
                     : host::exclusive_scan<T>(x.vector(), result.vector());
    else {
        scan_options options{.algorithm = rung_of(p, where, scan_algorithms())};
        scan_problem problem = scan_problem_of<T>(x.vector(), result.vector());
        problem.has_scratch = p.word("scratch") != "none";
        const device_traits& device = traits_of(current_device());
        scratch_memory scratch(p, where, scan_workspace_bytes(problem, device, options.algorithm));
        scratch.add_to(options);
        is_inclusive ? inclusive_scan<T>(x.vector(), result.vector(), calls(), options)
                     : exclusive_scan<T>(x.vector(), result.vector(), calls(), options);
        depth = scan_depth(problem, device, options.algorithm);
        of_scratch = scratch.damage();
    }
    const auto found = result.read();
    exact_sum<T> so_far = 0;
    wide magnitudes = 0;
    std::string wrong;
    for (std::size_t i = 0; i < found.size() && wrong.empty(); ++i) {
        const auto compare = [&] {
            if constexpr (std::is_integral_v<T>)
                wrong = wrong_number("y", found[i], static_cast<T>(so_far), 0);
            else
                wrong = wrong_number("y", found[i], so_far,
                                     error_of_additions<T>(depth, static_cast<std::int64_t>(i)) * magnitudes);
            if (!wrong.empty()) wrong += fmt::format(" (element {})", i);
        };
        if (!is_inclusive) compare();
        if constexpr (std::is_integral_v<T>)
            so_far += static_cast<std::uint64_t>(xs[i]);
        else
            so_far += xs[i], magnitudes += std::abs(xs[i]);
        if (is_inclusive) compare();
    }
    return first_of({wrong, result.damage(), of_scratch, is_in_place ? "" : x.change()});
}

void draw_scan(drawing& d, problem& p) {
    draw_long_vector(d, p, 3'000'000);
    draw_second_vector(d, p);
}

/// Elements lie anywhere, a fourth of them beside the range. Few bins have most of them, or runs of them.
template <class T>
std::string wrong_histogram(const problem& p, processor where) {
    enum { any_, few_, runs_ };
    using limits = std::numeric_limits<float>;
    constexpr bool is_byte = std::is_same_v<T, std::uint8_t>;
    const std::int64_t size = p["size"], bins = is_byte ? 256 : std::max<std::int64_t>(p["bins"], 1),
                       distinct = std::max<std::int64_t>(p["distinct"], 1), gap = p["seed"] % 2 == 0 ? 1 : 13;
    static constexpr float ranges[][2] = {
        {-1, 2}, {0, limits::max()}, {-limits::max() / 2, limits::max() / 2}, {-0x1p-100f, 0x1p-100f}};
    const float lower = ranges[p["range"]][0], upper = ranges[p["range"]][1];
    const float specials[] = {lower,
                              upper,
                              std::nextafter(lower, -HUGE_VALF),
                              limits::max(),
                              limits::lowest(),
                              std::nextafter(upper, -HUGE_VALF),
                              HUGE_VALF,
                              -HUGE_VALF,
                              limits::quiet_NaN(),
                              -limits::max(),
                              -0.0f,
                              limits::denorm_min()};
    std::vector<T> xs(static_cast<std::size_t>(size));
    std::mt19937_64 generator(p.seed());
    for (std::int64_t i = 0; i < size; ++i) {
        const auto drawn = [&](std::int64_t count) {
            return static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(count));
        };
        std::int64_t bin = drawn(bins + bins / 2 + 2) - bins / 4 - 1;
        if (p["elements"] == few_ && drawn(4) > 0) bin = gap * drawn(distinct);
        if (p["elements"] == runs_) bin = gap * (i * distinct / size);
        T& x = xs[static_cast<std::size_t>(i)];
        if constexpr (is_byte)
            x = static_cast<T>(bin);
        else if (p["elements"] != runs_ && drawn(32) == 0)
            x = specials[drawn(std::ssize(specials))];
        else
            x = static_cast<float>(lower + (static_cast<double>(bin) + 0.5) / static_cast<double>(bins) *
                                               (double{upper} - double{lower}));
    }
    operand<T> x(where, vector_of(p), xs);
    operand<std::int64_t> counts(where, lie({bins}, 0, 0, 1));
    const histogram_options options{where == processor::cpu ? histogram_algorithm::automatic
                                                            : rung_of(p, where, histogram_algorithms())};
    if constexpr (is_byte)
        where == processor::cpu ? host::histogram(x.vector(), counts.vector())
                                : histogram(x.vector(), counts.vector(), calls(), options);
    else
        where == processor::cpu ? host::histogram(x.vector(), lower, upper, counts.vector())
                                : histogram(x.vector(), lower, upper, counts.vector(), calls(), options);
    std::vector<double> expected(static_cast<std::size_t>(bins));
    const auto scale = static_cast<float>(static_cast<double>(bins) / (double{upper} - double{lower}));
    for (const T element : xs) {
        if constexpr (is_byte) {
            ++expected[element];
        } else if (element >= lower && element < upper) {
            const auto bin = static_cast<std::int64_t>((element - lower) * scale);
            ++expected[static_cast<std::size_t>(std::min(bin, bins - 1))];
        }
    }
    return first_of({mismatch("counts", counts.read(), expected), counts.damage(), x.change()});
}

/// Shared memory keeps 12288 counts, or 58112 of a Hopper GPU, and a packet 16 bytes.
void draw_histogram(drawing& d, problem& p) {
    draw_long_vector(d, p, 6'000'000);
    if (d.one_in(2)) p.set("offset", d.integer(0, 15));
    p.set("bins", static_cast<std::int64_t>(d.log_uniform(1, 20000)));
    if (d.one_in(4))
        p.set("bins", d.one_of<std::int64_t>({4096, 4097, 12288, 12289, 58112, 58113, 100000, 200000}));
    p.set("distinct", static_cast<std::int64_t>(d.log_uniform(1, 5000)));
}

}  // namespace

operation reduce_cases() {
    std::vector<std::string_view> kinds = all_values;
    kinds.push_back("equal");
    return {"reduce",
            vector_fields({{"type", 0, numbers},
                           {"function", 0, reductions},
                           {"values", 0, kinds},
                           {"rung", 0, rung_words(reduce_algorithms())},
                           scratch_field,
                           {"y_offset", 0},
                           {"y_step", 1}}),
            draw_reduce,
            [](const problem& p, processor where) {
                return with_number<std::string>(p["type"],
                                                [&]<class T>() { return wrong_reduce<T>(p, where); });
            },
            4};
}

operation scan_cases() {
    return {"scan",
            vector_fields({{"type", 0, {"f32", "f64", "i32", "i64"}},
                           {"function", 0, {"inclusive", "exclusive"}},
                           {"in_place", 0, {"no", "yes"}},
                           {"values", 0, all_values},
                           {"rung", 0, rung_words(scan_algorithms())},
                           scratch_field,
                           {"y_offset", 0},
                           {"y_step", 1}}),
            draw_scan, [](const problem& p, processor where) {
                if (p["type"] == 0) return wrong_scan<float>(p, where);
                if (p["type"] == 1) return wrong_scan<double>(p, where);
                if (p["type"] == 2) return wrong_scan<std::int32_t>(p, where);
                return wrong_scan<std::int64_t>(p, where);
            }};
}

operation histogram_cases() {
    return {"histogram",
            vector_fields({{"type", 0, {"u8", "f32"}},
                           {"elements", 0, {"any", "few", "runs"}},
                           {"range", 0, {"few_units", "positive", "widest", "narrow"}},
                           {"rung", 0, rung_words(histogram_algorithms())},
                           {"distinct", 1},
                           {"bins", 1}}),
            draw_histogram, [](const problem& p, processor where) {
                return p["type"] == 0 ? wrong_histogram<std::uint8_t>(p, where)
                                      : wrong_histogram<float>(p, where);
            }};
}

}  // namespace heddle::fuzz
