#include "tests/bounds/optimizer.hpp"

#include "benchmarks/cliffs/family.hpp"
#include "kernels/device/math.hpp"

/// Steps of optimizers on lists of tensors, and the norm of their gradients.
namespace heddle::bench::cliffs {
namespace {

enum class operation { sgd, momentum, nesterov, adam, adamw, gradient_norm };
constexpr std::string_view names[] = {"sgd", "momentum", "nesterov", "adam", "adamw", "gradient_norm"};

/// In each array the tensors follow one another, with the padding of `lie`; without one they begin at aligned addresses.
struct problem {
    operation op = operation::sgd;
    bool is_uneven = false, decays = false, clips = false;
    std::int64_t tensors = 1, size = 1;
    placement lie;
    std::uint64_t seed = 0;

    [[nodiscard]] bool is_step() const { return op != operation::gradient_norm; }
    [[nodiscard]] bool is_adam() const { return op == operation::adam || op == operation::adamw; }
    [[nodiscard]] int moments() const {
        if (is_adam()) return 2;
        return op == operation::momentum || op == operation::nesterov ? 1 : 0;
    }
    /// The number of elements of a tensor: `size`, or if tensors are uneven down to a sixteenth of it.
    [[nodiscard]] std::int64_t count(std::int64_t tensor) const {
        return is_uneven ? std::max<std::int64_t>(size >> (tensor * 7 % 5), 1) : size;
    }
    /// The distance from the begin of a tensor to that of the next.
    [[nodiscard]] std::int64_t pitch(std::int64_t tensor) const {
        return lie.padding == 0 ? kernels::round_up(count(tensor), 128) : count(tensor) + lie.padding;
    }
    [[nodiscard]] std::vector<std::int64_t> begins() const {
        std::vector<std::int64_t> begins{0};
        for (std::int64_t i = 0; i < tensors; ++i) begins.push_back(begins.back() + pitch(i));
        return begins;
    }
};

constexpr numbers squares{0, 1, 0};
constexpr double norm = 2.5;

/// 16-bit types have weights in float beside their values.
template <class T, class Gradient>
struct operands {
    static constexpr bool has_value = !std::is_same_v<T, float>;

    std::int64_t size;
    operand<float> weight, first, second;
    operand<T> value;
    operand<Gradient> gradient;
    operand<float> result;  ///< the norm that a call computes or clips by
    std::vector<parameter<T, Gradient>> list;

    explicit operands(const problem& p)
        : size(p.begins().back()),
          weight(1, p.is_step() ? size : 1, p.lie, p.seed + 1),
          first(1, p.moments() > 0 ? size : 1, p.lie, p.seed + 2),
          second(1, p.moments() > 1 ? size : 1, p.lie, p.seed + 3, squares),
          value(1, p.is_step() && has_value ? size : 1, p.lie),
          gradient(1, size, p.lie, p.seed),
          result(p.is_step() ? operand<float>(1, 1, {}, 0, {norm, norm, 0}) : operand<float>(1, 1, {})) {
        const auto begins = p.begins();
        const auto at = [&p](auto& array, bool is_there, std::int64_t begin) {
            return is_there && p.is_step() ? array.data() + begin : nullptr;
        };
        for (std::int64_t i = 0; i < p.tensors; ++i) {
            const std::int64_t begin = begins[static_cast<std::size_t>(i)];
            list.push_back({at(weight, true, begin), at(value, has_value, begin), gradient.data() + begin,
                            at(first, p.moments() > 0, begin), at(second, p.moments() > 1, begin),
                            p.count(i)});
        }
    }

    void reset() {
        for (operand<float>* const each : {&weight, &first, &second, &result}) each->reset();
        value.reset();
    }

    template <class Options>
    Options options(const problem& p) {
        Options o{.learning_rate = 0.03, .weight_decay = p.decays ? 0.1 : 0};
        if (p.clips) o.clip_norm_of = result.data();
        return o;
    }
    sgd_options of_sgd(const problem& p) {
        auto o = options<sgd_options>(p);
        if (p.moments() > 0) o.momentum = 0.9;
        o.nesterov = p.op == operation::nesterov;
        return o;
    }
    adam_options of_adam(const problem& p) { return options<adam_options>(p); }

    void run(const problem& p) {
        if (!p.is_step()) return gradient_norm<T, Gradient>(list, result.data(), stream());
        if (p.op == operation::adam) return adam<T, Gradient>(list, stream(), of_adam(p));
        if (p.op == operation::adamw) return adamw<T, Gradient>(list, stream(), of_adam(p));
        sgd<T, Gradient>(list, stream(), of_sgd(p));
    }
};

/// Places of elements in the arrays. The first and the last tensor are among those that have some.
std::vector<place> places_of(const problem& p) {
    const auto begins = p.begins();
    std::vector<place> places;
    for (const place& at : sampled_places(p.tensors, p.size, p.seed, 48))
        places.push_back(
            {0, begins[static_cast<std::size_t>(at.row)] + std::min(at.col, p.count(at.row) - 1)});
    return places;
}

struct expectation {
    expected_places weight, first, second;
};

template <class T, class Gradient>
expectation expected_step(const problem& p, operands<T, Gradient>& o) {
    const auto places = places_of(p);
    expectation expected{{places}, {places}, {places}};
    const std::vector<float> none(places.size());
    const auto weights = gathered(o.weight.view(), places);
    const auto firsts = p.moments() > 0 ? gathered(o.first.view(), places) : none,
               seconds = p.moments() > 1 ? gathered(o.second.view(), places) : none;
    const auto gradients = gathered(o.gradient.view(), places);
    const bounds::approximate factor =
        p.clips ? bounds::gradient_factor(1, sgd_options{}.max_norm, norm) : bounds::approximate(1);
    for (std::size_t i = 0; i < places.size(); ++i) {
        bounds::weight_and_moments state{to_double(weights[i]), to_double(firsts[i]), to_double(seconds[i])};
        const bounds::approximate g = bounds::rounded(factor * to_double(gradients[i]));
        p.is_adam() ? state.step(o.of_adam(p), p.op == operation::adamw, g) : state.step(o.of_sgd(p), g);
        expected.weight.add(state.weight);
        expected.first.add(state.first);
        expected.second.add(state.second);
    }
    return expected;
}

/// Each value has to be its weight, rounded once.
template <class T, class Gradient>
std::string wrong_values(const std::vector<place>& places, operands<T, Gradient>& o) {
    expected_places expected{places};
    for (const float weight : gathered(o.weight.view(), places))
        expected.add(to_double(static_cast<T>(weight)), 0);
    return expected.wrong("value", o.value, 1);
}

/// The norm of all gradients.
template <class T, class Gradient>
expected_places expected_norm(const problem& p, operands<T, Gradient>& o) {
    const auto begins = p.begins();
    std::vector<line> lines;
    double sum = 0, count = 0;
    for (std::int64_t i = 0; i < p.tensors; ++i) {
        lines.push_back({begins[static_cast<std::size_t>(i)], 1, p.count(i)});
        count += static_cast<double>(p.count(i));
    }
    for (const line_facts& facts : facts_of(o.gradient.data(), lines)) sum += facts.squares;
    expected_places expected{{{0, 0}}};
    const double value = std::sqrt(sum), depth = std::min(count, 16 * std::sqrt(count)) + 100;
    expected.add(value, (bounds::u + depth * 0x1p-54) * value);
    return expected;
}

template <class T, class Gradient>
trial prepare(const problem& p) {
    const auto o = std::make_shared<operands<T, Gradient>>(p);
    trial t;
    t.is_in_place = p.is_step();
    t.reset = [o] { o->reset(); };
    t.call = [p, o] { o->run(p); };
    if (!p.is_step()) {
        t.wrong = [o, expected = expected_norm(p, *o)](double slack) {
            return expected.wrong("norm", o->result, slack);
        };
        return t;
    }
    t.wrong = [p, o, expected = expected_step(p, *o)](double slack) {
        return first_wrong({expected.weight.wrong("weight", o->weight, slack),
                            p.moments() > 0 ? expected.first.wrong("first", o->first, slack) : "",
                            p.moments() > 1 ? expected.second.wrong("second", o->second, slack) : "",
                            o->has_value ? wrong_values(expected.weight.places, *o) : ""});
    };
    return t;
}

template <class T, class Gradient = T>
drawn_case draw(drawing& d) {
    constexpr std::int64_t most_tensors = 1 << 13;
    problem p;
    p.op = static_cast<operation>(d.index(std::size(names)));
    const bool is_list = !d.one_in(4);
    p.is_uneven = is_list && d.one_in(2);
    p.decays = d.one_in(2);
    p.clips = p.is_step() && d.one_in(3);
    p.lie = d.lie(false, never);
    p.seed = d.bits();
    const double values = std::is_same_v<T, float> ? 0 : sizeof(T);
    const double states = p.is_step() ? (1 + p.moments()) * sizeof(float) : 0;
    const auto shaped = [p, is_list](std::span<const std::int64_t> e) {
        problem of = p;
        of.tensors = is_list ? e[0] : 1;
        of.size = e.back();
        return of;
    };
    const auto memory = [=](std::span<const std::int64_t> e) {
        const problem of = shaped(e);
        const auto elements = bounded_product(of.tensors, of.size + 128) + 5 * of.lie.offset + 8;
        return static_cast<double>(elements) * (states + (p.is_step() ? values : 0) + sizeof(Gradient));
    };
    drawn_case c;
    c.extents = d.extents(is_list ? 2 : 1, [&](std::span<const std::int64_t> e) {
        return shaped(e).tensors <= most_tensors && memory(e) <= most_bytes;
    });
    p = shaped(c.extents);
    double elements = 0;
    for (std::int64_t i = 0; i < p.tensors; ++i) elements += static_cast<double>(p.count(i));
    c.memory = memory(c.extents);
    c.operations = elements;
    c.bytes = elements * (2 * states + (p.is_step() ? values : 0) + sizeof(Gradient));
    c.words = fmt::format("{} {} of {} tensors of {}{}, {} gradients{}", dtype<T>, name_of(names, p.op),
                          p.tensors, p.is_uneven ? "up to " : "", p.size, dtype<Gradient>, to_string(p.lie));
    if (p.is_step() && p.decays) c.words += ", decay";
    if (p.clips) c.words += ", clipped";
    c.prepare = [p] { return prepare<T, Gradient>(p); };
    return c;
}

}  // namespace

drawn_case draw_optimizer(drawing& d) {
    const std::size_t type = d.type(5);
    if (type == 0) return draw<float>(d);
    if (type == 1) return draw<half>(d);
    if (type == 2) return draw<bfloat16>(d);
    return type == 3 ? draw<half, float>(d) : draw<bfloat16, float>(d);
}

}  // namespace heddle::bench::cliffs
