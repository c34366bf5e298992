#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/support/cub.hpp"

namespace heddle::bench::cliffs {
namespace {

struct problem {
    bool inclusive = true;
    bool in_place = false;
    std::int64_t size = 1;
    placement x, y;
    std::uint64_t seed = 0;
};

/// Sums of integers are exact in double. Floats do not cancel, so that a sum that lacks a part is far off.
template <class T>
constexpr numbers elements = std::is_integral_v<T> ? numbers{-1000, 1000, 0} : numbers{-0.5, 1, 0};

template <class T>
struct operands {
    operand<T> x;
    std::optional<operand<T>> y;  ///< none in place

    explicit operands(const problem& p) : x(1, p.size, p.x, p.seed, elements<T>) {
        if (!p.in_place) y.emplace(1, p.size, p.y);
    }
    operand<T>& result() { return y ? *y : x; }
};

template <class T>
trial prepare(const problem& p) {
    const auto o = std::make_shared<operands<T>>(p);
    expected_places expected{sampled_places(1, p.size, p.seed)};
    std::vector<line> before;
    for (const place& at : expected.places) before.push_back({0, p.x.step, at.col + (p.inclusive ? 1 : 0)});
    const scan_problem of = scan_problem_of<T>(o->x.vector(), o->result().vector());
    const double depth = static_cast<double>(scan_depth(of, traits_of(current_device())));
    const double u = std::is_integral_v<T> ? 0 : unit_roundoff<T>();
    for (const line_facts& facts : facts_of(o->x.data(), before))
        expected.add(facts.sum, (error_of_additions(depth, u) + 2 * u) * facts.magnitudes);
    const auto scan = p.inclusive ? inclusive_scan<T> : exclusive_scan<T>;
    trial t = trial_of(o, "result", expected,
                       [o, scan] { scan(o->x.vector(), o->result().vector(), stream(), {}); });
    if (p.x.step == 1 && p.y.step == 1)
        t.add_peer("cub", [&] {
            const auto size = static_cast<std::int32_t>(p.size);
            const auto scratch = std::make_shared<workspace>(cub_scan_scratch_bytes<T>(size), stream());
            return [=] { cub_scan<T>(p.inclusive, o->x.data(), o->result().data(), size, *scratch); };
        });
    return t;
}

template <class T>
drawn_case draw(drawing& d) {
    problem p;
    p.inclusive = d.one_in(2);
    p.in_place = d.one_in(5);
    p.x = d.vector_lie();
    p.y = d.one_in(2) || p.in_place ? p.x : d.vector_lie();
    p.seed = d.bits();
    drawn_case c = draw_case_of(d, 1, [p](extents_view e) {
        return spans_of(1, e[0], {{p.x, true}, {p.y, !p.in_place}}) * sizeof(T);
    });
    p.size = c.extents.front();
    c.bytes = 2 * c.operations * sizeof(T);
    c.words = fmt::format("{} {}clusive_scan of {}{}{}", dtype<T>, p.inclusive ? "in" : "ex", p.size,
                          p.in_place ? ", in place" : "", to_string(p.x));
    c.words += words_of_placements({{"result", p.y, !p.in_place}});
    c.prepare = [p] { return prepare<T>(p); };
    return c;
}

}  // namespace

drawn_case draw_scan(drawing& d) {
    return with_type<float, double, std::int32_t, std::int64_t>(d.type(4),
                                                                [&]<class T>() { return draw<T>(d); });
}

}  // namespace heddle::bench::cliffs
