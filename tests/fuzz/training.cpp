#include "tests/bounds/optimizer.hpp"
#include "tests/bounds/random.hpp"
#include "tests/fuzz/operations.hpp"
#include "tests/fuzz/rows.hpp"
#include "tests/fuzz/scratch.hpp"

#include <array>
#include <deque>

namespace heddle::fuzz {
namespace {

using bounds::approximate;
using bounds::rounded;
using bounds::weight_and_moments;

enum { sgd_, momentum_, nesterov_, adam_, adamw_ };

/// A parameter in memory, cut into pieces that are the parameters of a list. All arrays begin `offset` elements off
/// an aligned address, or each at another offset, or one at another.
template <class T, class Gradient>
struct drawn_parameter {
    std::vector<float> weights, firsts, seconds;
    std::vector<Gradient> gradients;
    operand<float> weight, first, second;
    operand<T> value;
    operand<Gradient> gradient;

    drawn_parameter(const problem& p, std::int64_t size, std::int64_t offset, std::uint64_t seed,
                    processor where)
        : weights(draw_values<float>(values::uniform, size, seed)),
          firsts(moments(p, size, seed + 1)),
          seconds(moments(p, size, seed + 2)),
          gradients(draw_values<Gradient>(kind_of(p), size, seed + 3)),
          weight(where, array(p, 0, size, offset), weights),
          first(where, array(p, 1, size, offset), firsts),
          second(where, array(p, 2, size, offset), squared(seconds)),
          value(where, array(p, 3, size, offset)),
          gradient(where, array(p, 4, size, offset), gradients) {}

    void add_to(std::vector<parameter<T, Gradient>>& list, const problem& p, T* values, int moments) {
        const auto size = static_cast<std::int64_t>(weights.size()),
                   pieces = std::max<std::int64_t>(p["pieces"], 1);
        for (std::int64_t i = 0; i < pieces; ++i) {
            const std::int64_t at = size * i / pieces;
            list.push_back({weight.data() + at, values == nullptr ? nullptr : values + at,
                            gradient.data() + at, moments > 0 ? first.data() + at : nullptr,
                            moments > 1 ? second.data() + at : nullptr, size * (i + 1) / pieces - at});
        }
    }

  private:
    static lattice array(const problem& p, std::int64_t which, std::int64_t size, std::int64_t offset) {
        constexpr std::int64_t all = 0, each = 6;
        if (p["astray"] == each) return lie({size}, (offset + which) % 8, 0, 1);
        return lie({size}, p["astray"] == all || p["astray"] == which + 1 ? offset : 0, 0, 1);
    }
    static std::vector<float> moments(const problem& p, std::int64_t size, std::uint64_t seed) {
        if (p["moments"] == 1) return std::vector<float>(static_cast<std::size_t>(size));
        return draw_values<float>(values::uniform, size, seed);
    }
    static const std::vector<float>& squared(std::vector<float>& elements) {
        for (float& x : elements) x *= x;
        return elements;
    }
};

template <class T, class Gradient>
std::deque<drawn_parameter<T, Gradient>> draw_parameters(const problem& p, processor where) {
    std::deque<drawn_parameter<T, Gradient>> list;
    auto seed = p.seed();
    std::int64_t offset = p["offset"];
    for (const char* const size : {"size", "second", "third"}) {
        list.emplace_back(p, p[size], offset, seed, where);
        seed += 4, offset = offset > 0 ? offset % 7 + 1 : 0;
    }
    return list;
}

template <class T, class Gradient>
std::string wrong_optimizer(const problem& p, processor where) {
    const std::int64_t kind = p["function"];
    const bool is_adam = kind >= adam_, is_there = p["scalars"] == 1,
               is_weight = p["value"] == 2 && std::is_same_v<T, float>,
               has_value = p["value"] != 1 && !is_weight;
    const int moments = is_adam ? 2 : kind == sgd_ ? 0 : 1;
    auto list = draw_parameters<T, Gradient>(p, where);
    std::vector<parameter<T, Gradient>> views;
    for (auto& each : list) {
        T* values = has_value ? each.value.data() : nullptr;
        if constexpr (std::is_same_v<T, float>)
            if (is_weight) values = each.weight.data();
        each.add_to(views, p, values, moments);
    }

    const std::int64_t step = std::max<std::int64_t>(p["step"], 1);
    const bool clips = p["clip"] != 0;
    static constexpr double most_norms[] = {1.3, 1.3, 0, 1e6, 1.3};
    const double max_norm = most_norms[p["clip"]];
    const float norm =
        p["clip"] == 4 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(p["seed"] % 1000) / 250;
    constexpr float rate = 0.03f;
    operand<float> norm_there(where, vector_of(1), {norm}), rate_there(where, vector_of(1), {rate});
    operand<std::int64_t> step_there(where, vector_of(1), {step});
    sgd_options by_sgd{.momentum = kind == sgd_ ? 0 : 0.85, .nesterov = kind == nesterov_};
    adam_options by_adam;
    if (p["betas"] == 1) by_adam.beta1 = 0, by_adam.beta2 = 0.95, by_adam.epsilon = 0.1;
    const auto set = [&](auto& options) {
        options.learning_rate = is_there ? 1e3 : static_cast<double>(rate);
        if (is_there) options.device_learning_rate = rate_there.data();
        if (p["decay"] == 1) options.weight_decay = 0.1;
        if (p["scale"] == 1) options.gradient_scale = 0.7;
        options.max_norm = max_norm;
        if (clips) options.clip_norm_of = norm_there.data();
        if (where != processor::cpu) options.algorithm = rung_of(p, where, optimizer_algorithms());
    };
    set(by_sgd);
    set(by_adam);
    by_adam.step = is_there ? 7 : step;
    if (is_there) by_adam.device_step = step_there.data();
    if (where == processor::cpu)
        kind == adam_    ? host::adam<T, Gradient>(views, by_adam)
        : kind == adamw_ ? host::adamw<T, Gradient>(views, by_adam)
                         : host::sgd<T, Gradient>(views, by_sgd);
    else
        kind == adam_    ? adam<T, Gradient>(views, calls(), by_adam)
        : kind == adamw_ ? adamw<T, Gradient>(views, calls(), by_adam)
                         : sgd<T, Gradient>(views, calls(), by_sgd);

    by_sgd.learning_rate = by_adam.learning_rate = static_cast<double>(rate);
    by_adam.step = step;
    const approximate factor =
        clips ? bounds::gradient_factor(by_sgd.gradient_scale, max_norm, static_cast<double>(norm))
              : rounded(by_sgd.gradient_scale);
    std::string wrong;
    for (std::size_t k = 0; k < list.size() && wrong.empty(); ++k) {
        auto& each = list[k];
        std::vector<weight_and_moments> states;
        for (std::size_t i = 0; i < each.weights.size(); ++i) {
            weight_and_moments state{to_double(each.weights[i]), to_double(each.firsts[i]),
                                     to_double(each.seconds[i])};
            const approximate g = rounded(factor * to_double(each.gradients[i]));
            is_adam ? state.step(by_adam, kind == adamw_, g) : state.step(by_sgd, g);
            states.push_back(state);
        }
        const auto compare = [&](const char* array, auto& actual, approximate weight_and_moments::*member) {
            return mismatch(
                fmt::format("{} of parameter {}", array, k), actual.read(),
                [&](std::size_t i) { return (states[i].*member).value; },
                [&](std::size_t i) { return (states[i].*member).bound; });
        };
        const auto weights = each.weight.read();
        const auto rounded_once = [&](std::size_t i) { return to_double(static_cast<T>(weights[i])); };
        wrong =
            first_of({compare("weights", each.weight, &weight_and_moments::weight),
                      moments > 0 ? compare("first moments", each.first, &weight_and_moments::first)
                                  : each.first.change(),
                      moments > 1 ? compare("second moments", each.second, &weight_and_moments::second)
                                  : each.second.change(),
                      has_value ? mismatch("value", each.value.read(), rounded_once) : each.value.change(),
                      each.weight.damage(), each.first.damage(), each.second.damage(), each.value.damage(),
                      each.gradient.change()});
    }
    return first_of({wrong, norm_there.change(), rate_there.change(), step_there.change()});
}

/// The error of elements that must have the bits of others; all NaNs are equal.
template <class T>
std::string difference(std::string_view name, const std::vector<T>& actual, const std::vector<T>& expected) {
    for (std::size_t i = 0; i < actual.size(); ++i)
        if (std::memcmp(&actual[i], &expected[i], sizeof(T)) != 0 &&
            !(std::isnan(to_double(actual[i])) && std::isnan(to_double(expected[i]))))
            return fmt::format("{}[{}] is {}, and should be {}", name, i, to_double(actual[i]),
                               to_double(expected[i]));
    return {};
}

/// A second call gives the same bits.
template <class T, class Gradient>
std::string wrong_gradient_norm(const problem& p, processor where) {
    auto list = draw_parameters<T, Gradient>(p, where);
    std::vector<parameter<T, Gradient>> views;
    double squares = 0, count = 0;
    for (auto& each : list) {
        each.add_to(views, p, nullptr, 0);
        for (const Gradient g : each.gradients) squares += to_double(g) * to_double(g), ++count;
    }
    operand<float> norm(where, vector_of(1)), again(where, vector_of(1));
    if (where == processor::cpu) {
        host::gradient_norm<T, Gradient>(views, norm.data());
        host::gradient_norm<T, Gradient>(views, again.data());
    } else {
        const optimizer_problem size{static_cast<std::int64_t>(views.size()),
                                     static_cast<std::int64_t>(count)};
        scratch_memory scratch(p, where, gradient_norm_workspace_bytes(size, traits_of(current_device())));
        gradient_norm_options options;
        scratch.add_to(options);
        gradient_norm<T, Gradient>(views, norm.data(), calls(), options);
        gradient_norm<T, Gradient>(views, again.data(), calls(), options);
        if (const std::string wrong = scratch.damage(); !wrong.empty()) return wrong;
    }
    const double value = std::sqrt(squares);
    const auto result = norm.read();
    return first_of({mismatch(
                         "the norm", result, [&](std::size_t) { return value; },
                         [&](std::size_t) { return (u + (count + 100) * 0x1p-54) * value + 0x1p-149; }),
                     difference("the norm of a second call", again.read(), result), norm.damage(),
                     list[0].gradient.change(), list[1].gradient.change(), list[2].gradient.change()});
}

std::vector<field> list_fields(std::vector<field> fields) {
    const std::vector<field> more = {
        {"type", 0, {"f32", "f16", "bf16", "f16_of_f32", "bf16_of_f32"}},
        {"values", 0, all_values},
        {"moments", 0, {"there", "zero"}},
        {"astray", 0, {"all", "weight", "first", "second", "value", "gradient", "each"}}};
    fields.insert(fields.end(), more.begin(), more.end());
    return with_numbers(std::move(fields), "size second=0 third=0 pieces offset=0 seed=0");
}

void draw_list(drawing& d, problem& p) {
    p.draw_words(d);
    const std::int64_t parameters = d.integer(1, 3);
    const auto size = [&] { return draw_shape(d, 1, 1 << 14)[0] * (d.one_in(8) ? d.integer(1, 4) : 1); };
    p.set(
        {{"size", size()}, {"second", parameters > 1 ? size() : 0}, {"third", parameters > 2 ? size() : 0}});
    if (p.has("clip") && d.one_in(2)) p.set("clip", 1);
    if (p.has("scratch") && d.one_in(8)) p.set("size", p["size"] * d.integer(1, 64));
    // Some lists are longer than those of one launch.
    p.set({{"pieces", d.one_in(2)   ? 1
                      : d.one_in(2) ? d.integer(2, 20)
                                    : d.integer(150, 600)},
           {"offset", d.one_in(2) ? 0 : d.integer(1, 7)}});
    if (p.has("step")) p.set("step", static_cast<std::int64_t>(d.log_uniform(1, 3000)));
    p.set("seed", d.integer(0, 1 << 30));
}

/// The generator of a problem. Its numbers may begin behind others, and its places may wrap to 0. The number of a
/// block, of four words or two doubles, may exceed 32 bits.
philox generator_of(const problem& p) {
    const auto start = static_cast<std::uint64_t>(p["start"]);
    const std::uint64_t begins[] = {start, 0 - start, (1ULL << 34) - start, (1ULL << 33) - start};
    return {.seed = p.seed() * 0x9e3779b97f4a7c15, .offset = begins[p["places"]]};
}

/// A call may take a part of its offset from memory.
template <class Call>
void with_offset(const problem& p, processor where, Call call) {
    philox g = generator_of(p);
    operand<std::uint64_t> there(where, vector_of(1), {g.offset - 12345});
    if (p["device_offset"] == 1) g.offset = 12345, g.device_offset = there.data();
    call(g);
    recorded().end();
    if (where != processor::cpu) check(cudaDeviceSynchronize());  // before the memory is freed
}

std::vector<field> random_fields(std::vector<field> fields) {
    const std::vector<field> more = {{"places", 0, {"forwards", "wrapping", "past_2_to_34", "past_2_to_33"}},
                                     {"device_offset", 0, {"none", "there"}},
                                     {"start", 0}};
    fields.insert(fields.end(), more.begin(), more.end());
    return matrix_fields(fields);
}

void draw_random(drawing& d, problem& p) {
    draw_matrix(d, p);
    p.set("start", d.integer(0, d.one_of<std::int64_t>({9, 9, 1 << 15, 1 << 30})));
    if (d.one_in(50)) {  // millions, or more rows than the height of a grid
        p.set("rows", d.integer(1, d.one_in(2) ? 3 : 300'000));
        p.set("cols", d.integer(1, 3'000'000 / p["rows"]));
    }
}

void draw_random_matrix(drawing& d, problem& p) {
    draw_random(d, p);
    if (d.one_in(2)) p.set("order", 0);  // rungs are faster there, and more
    const placement x = d.lie(false, 8);
    p.set({{"x_offset", x.offset}, {"x_padding", x.padding}});
    const std::string_view function = p.word("function");
    if (!d.one_in(function == "normal" ? 16 : 8)) return;  // normal numbers take the CPU longest
    // Threads have several packets. In half of the problems these are whole packets of whole Philox blocks.
    const bool are_whole = d.one_in(2);
    const std::int64_t rows = function == "bits" ? 1 : d.integer(1, 3), packet = are_whole ? 16 : 1;
    p.set({{"rows", rows},
           {"cols", d.integer(600'000, 1'500'000) / rows / packet * packet},
           {"order", 0},
           {"step", 1}});
    if (!are_whole) return;
    p.set("start", p["start"] / 4 * 4);
    for (const char* const gap : {"offset", "padding", "x_offset", "x_padding"}) p.set(gap, 0);
}

/// The words of all numbers except double's uniform and normal ones.
std::vector<std::uint32_t> words_of(const philox& g, std::int64_t count) {
    std::vector<std::uint32_t> words(static_cast<std::size_t>(count));
    host::random_bits({words.data(), count}, g);
    return words;
}

std::string wrong_random_bits(const problem& p, processor where) {
    const std::int64_t size = p["cols"];
    operand<std::uint32_t> y(where, lie({size}, p["offset"], 0, p["step"]));
    with_offset(p, where, [&](const philox& g) {
        where == processor::cpu
            ? host::random_bits(y.vector(), g)
            : random_bits(y.vector(), g, calls(), {rung_of(p, where, random_algorithms())});
    });
    const auto bits = y.read();
    const philox g = generator_of(p);
    // A call that begins behind the first numbers gives the others.
    const std::int64_t behind = size > 0 ? p["start"] % size : 0;
    const auto later =
        words_of({.seed = g.seed, .offset = g.offset + static_cast<std::uint64_t>(behind)}, size - behind);
    return first_of({difference("bits", bits, words_of(g, size)),
                     difference("bits of the tail", later, {bits.begin() + behind, bits.end()}), y.damage()});
}

/// Zeros and ones as bytes.
std::string wrong_bernoulli_bytes(const problem& p, processor where) {
    const std::int64_t rows = p["rows"], cols = p["cols"];
    operand<std::uint8_t> y(where, ordered_matrix(p));
    with_offset(p, where, [&](const philox& g) {
        where == processor::cpu ? host::random_bernoulli<std::uint8_t>(y.matrix(), 0.3, g)
                                : random_bernoulli<std::uint8_t>(y.matrix(), 0.3, g, calls(),
                                                                 {rung_of(p, where, random_algorithms())});
    });
    const auto words = words_of(generator_of(p), rows * cols);
    return first_of(
        {mismatch("y", y.read(), [&](std::size_t i) { return words[i] < 0.3 * 0x1p32 ? 1.0 : 0.0; }),
         y.damage()});
}

/// Ranges whose nearest number is outside, or around zero, whose sign matters, or with ends that no type has.
template <class T>
std::array<double, 2> range_of(std::int64_t number) {
    const double next = 1 + 2 * unit_roundoff<T>(), least = smallest<T>();
    const double ranges[][2] = {{-1, 2.5},
                                {0, 1},
                                {1000, 1001},
                                {1, next},
                                {-next, -1},
                                {-1, 0},
                                {-0.0, 1},
                                {-least, least},
                                {0, least},
                                {0.1, 0.3},
                                {-3 * least, 5 * least},
                                {least / 2, 3 * least},
                                {-1, least / 4},
                                {1, 1.02},
                                {-1.02, -1}};
    const auto& [low, high] = ranges[number];
    return {static_cast<compute_type<T>>(low), static_cast<compute_type<T>>(high)};
}
const std::vector<std::string_view> range_words = {
    "around_zero", "unit",       "thousand", "one_number", "minus_one",
    "below_zero",  "minus_zero", "denormal", "zero_alone", "tenths",
    "denormals",   "above_zero", "to_zero",  "narrow",     "below_minus_one"};

template <class T>
std::string wrong_random(const problem& p, processor where) {
    enum { uniform_, normal_, bernoulli_, dropout_, dropout_gradient_ };
    using compute = compute_type<T>;
    constexpr bool is_double = std::is_same_v<T, double>;
    const std::int64_t rows = p["rows"], cols = p["cols"], kind = p["function"], count = rows * cols;
    static constexpr double shares[] = {0.5, 0.3, 0, 1, 1e-3, 0x1p-32, 1 - 0x1p-32};
    const double share = shares[p["share"]];
    const auto [low_, high_] = range_of<T>(p["range"]);
    const double low = low_, high = high_;
    constexpr double mean = 0.5, deviation = 1.5;
    const auto xs = draw_values<T>(kind_of(p), count, generator_of(p).seed);
    const bool is_in_place = kind >= dropout_ && p["in_place"] == 1;
    const lattice of_y = ordered_matrix(p);
    operand<T> x(where, is_in_place ? of_y : lie({rows, cols}, p["x_offset"], p["x_padding"], 1), xs),
        apart(where, of_y);
    operand<T>& y = is_in_place ? x : apart;
    const auto on_host = [&](auto to, auto from, const philox& g) {
        const auto a = static_cast<compute>(kind == uniform_ ? low : mean),
                   b = static_cast<compute>(kind == uniform_ ? high : deviation);
        if (kind == uniform_) host::random_uniform<T>(to, a, b, g);
        if (kind == normal_) host::random_normal<T>(to, a, b, g);
        if (kind == bernoulli_) host::random_bernoulli<T>(to, share, g);
        if (kind == dropout_) host::dropout<T>(from, to, share, g);
        if (kind == dropout_gradient_) host::dropout_gradient<T>(from, to, share, g);
    };
    with_offset(p, where, [&](const philox& g) {
        if (where == processor::cpu) return on_host(y.matrix(), x.matrix(), g);
        const random_options options{rung_of(p, where, random_algorithms())};
        const auto a = static_cast<compute>(kind == uniform_ ? low : mean),
                   b = static_cast<compute>(kind == uniform_ ? high : deviation);
        if (kind == uniform_) random_uniform<T>(y.matrix(), a, b, g, calls(), options);
        if (kind == normal_) random_normal<T>(y.matrix(), a, b, g, calls(), options);
        if (kind == bernoulli_) random_bernoulli<T>(y.matrix(), share, g, calls(), options);
        if (kind == dropout_) dropout<T>(x.matrix(), y.matrix(), share, g, calls(), options);
        if (kind == dropout_gradient_)
            dropout_gradient<T>(x.matrix(), y.matrix(), share, g, calls(), options);
    });
    const auto ys = y.read();

    // The same numbers as those of two calls for vectors on the CPU, one behind the other.
    const philox g = generator_of(p);
    std::vector<T> from = xs, same(ys.size());
    const std::int64_t before = count > 0 ? p["start"] % count : 0;
    const auto part = [](std::vector<T>& of, std::int64_t first, std::int64_t size) {
        return vector_view<T>{of.data() + first, size};
    };
    on_host(part(same, 0, before), part(from, 0, before), g);
    on_host(part(same, before, count - before), part(from, before, count - before),
            {.seed = g.seed, .offset = g.offset + static_cast<std::uint64_t>(before)});
    const double v = unit_roundoff<T>(), of_compute = unit_roundoff<compute>();
    const std::string wrong_bits =
        kind == normal_ && where != processor::cpu
            ? mismatch(
                  "y", ys, [&](std::size_t i) { return to_double(same[i]); },
                  [&](std::size_t i) { return bounds::of_normal<T>(to_double(same[i]), mean, deviation); })
            : difference("y", ys, same);

    // The numbers are within their range, and follow from their words.
    const auto words = words_of(g, count);
    const auto threshold = static_cast<std::uint64_t>(std::nearbyint(share * 0x1p32));
    const auto is_one = [&](std::size_t i) { return words[i] < threshold; };
    const double most_z = is_double ? std::sqrt(106 * std::log(2)) : std::sqrt(66 * std::log(2));
    const auto expected = [&](std::size_t i) {
        if (kind == uniform_)
            return is_double ? (low + high) / 2 : low + (words[i] >> 8) * 0x1p-24 * (high - low);
        if (kind == normal_) return mean;
        if (kind == bernoulli_) return is_one(i) ? 1.0 : 0.0;
        return is_one(i) ? 0.0 : to_double(xs[i]) * (1 / (1 - share));
    };
    const auto bound = [&](std::size_t i) {
        const double value = std::abs(expected(i));
        if (kind == uniform_) return is_double ? high - low : 2 * (v + u) * value + smallest<T>();
        if (kind == normal_) return deviation * most_z * (1 + 4 * v) + 4 * v;
        if (kind == bernoulli_ || is_one(i)) return 0.0;
        return (3 * of_compute + (sizeof(T) == 2 ? v : 0)) * value + (is_double ? 0 : smallest<T>());
    };
    std::string beyond;
    for (std::size_t i = 0; kind == uniform_ && i < ys.size(); ++i)
        if (!(to_double(ys[i]) >= low && to_double(ys[i]) < high))
            beyond = fmt::format("y[{}] is {}, beyond [{}, {})", i, to_double(ys[i]), low, high);
    return first_of({wrong_bits, beyond, mismatch("y by its words", ys, expected, bound), y.damage(),
                     is_in_place ? "" : x.change()});
}

std::string wrong_permutation(const problem& p, processor where) {
    const std::int64_t size =
        std::min<std::int64_t>(p["cols"] * std::clamp<std::int64_t>(p["rows"], 1, 16), 1'200'000);
    operand<std::int32_t> y(where, lie({size}, p["offset"], 0, p["step"]));
    with_offset(p, where, [&](const philox& g) {
        where == processor::cpu ? host::random_permutation(y.vector(), g)
                                : random_permutation(y.vector(), g, calls());
    });
    const auto ys = y.read();
    std::vector<std::int32_t> same(ys.size()), sorted = ys;
    host::random_permutation({same.data(), size}, generator_of(p));
    std::ranges::sort(sorted);
    return first_of({difference("y", ys, same),
                     mismatch("y, sorted", sorted, [](std::size_t i) { return static_cast<double>(i); }),
                     y.damage()});
}

}  // namespace

operation optimizer_cases() {
    return {"optimizer",
            list_fields({{"function", 0, {"sgd", "momentum", "nesterov", "adam", "adamw"}},
                         {"betas", 0, {"usual", "small"}},
                         {"decay", 0, {"none", "there"}},
                         {"scale", 0, {"one", "there"}},
                         {"clip", 0, {"none", "there", "to_zero", "far", "by_nan"}},
                         {"scalars", 0, {"options", "in_memory"}},
                         {"value", 0, {"there", "none", "weight"}},
                         {"rung", 0, rung_words(optimizer_algorithms())},
                         {"step", 1}}),
            draw_list,
            of_types<[]<class T, class Gradient>(auto&... a) { return wrong_optimizer<T, Gradient>(a...); }>};
}

operation gradient_norm_cases() {
    return {
        "gradient_norm", list_fields({scratch_field}), draw_list,
        of_types<[]<class T, class Gradient>(auto&... a) { return wrong_gradient_norm<T, Gradient>(a...); }>};
}

operation random_cases() {
    return {
        "random",
        random_fields(
            {{"type", 0, floating_types},
             {"function",
              0,
              {"uniform", "normal", "bernoulli", "dropout", "dropout_gradient", "bits", "bernoulli_bytes"}},
             {"share", 0, {"half", "three_tenths", "none", "all", "thousandth", "least", "nearly_all"}},
             {"range", 0, range_words},
             {"order", 0, {"row_major", "column_major"}},
             {"x_offset", 0},
             {"x_padding", 0},
             {"in_place", 0, {"no", "yes"}},
             {"values", 0, all_values},
             {"rung", 0, rung_words(random_algorithms())}}),
        draw_random_matrix, [](const problem& p, processor where) {
            if (p["function"] == 5) return wrong_random_bits(p, where);
            if (p["function"] == 6) return wrong_bernoulli_bytes(p, where);
            if (p["type"] == 1) return wrong_random<double>(p, where);
            return with_single<std::string>(std::max<std::int64_t>(p["type"] - 1, 0),
                                            [&]<class T>() { return wrong_random<T>(p, where); });
        }};
}

operation permutation_cases() {
    return {"random_permutation", random_fields({}), draw_random, wrong_permutation};
}

}  // namespace heddle::fuzz
