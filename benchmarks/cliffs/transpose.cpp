#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/cliffs/vendor_functions.hpp"

namespace heddle::bench::cliffs {
namespace {

struct problem {
    std::int64_t rows = 1, cols = 1;
    placement source, destination;
    std::uint64_t seed = 0;
};

template <class T>
struct operands {
    operand<T> source, destination;

    explicit operands(const problem& p)
        : source(p.rows, p.cols, p.source, p.seed,
                 std::is_integral_v<T> ? numbers{0, 255, 0} : numbers{-1, 1, 0}),
          destination(p.cols, p.rows, p.destination) {}
    operand<T>& result() { return destination; }
};

template <class T>
trial prepare(const problem& p) {
    const auto o = std::make_shared<operands<T>>(p);
    expected_places expected{sampled_places(p.cols, p.rows, p.seed)};
    for (const T element : gathered(transposed(o->source.view()), expected.places))
        expected.add(to_double(element), 0);
    trial t = trial_of(o, "result", expected,
                       [o] { transpose<T>(o->source.view(), o->destination.view(), stream()); });
    if (p.source.column_major != p.destination.column_major && p.source.step == 1 && p.destination.step == 1)
        t.add_call("cudaMemcpy2D",
                   [o] { heddle::copy(transposed(o->source.view()), o->destination.view(), stream()); });
#if HEDDLE_HAS_CUBLAS
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
        t.add_call("cublas geam", [o] {
            const matrix_view<T> turned = transposed(o->source.view());
            geam(turned, 1, turned, 0, o->destination.view());
        });
#endif
    return t;
}

template <class T>
drawn_case draw(drawing& d) {
    problem p;
    p.source = d.lie(true);
    p.destination = d.lie(true);
    p.seed = d.bits();
    drawn_case c = draw_case_of(d, 2, [p](extents_view e) {
        return static_cast<double>(span_of(p.source, e[0], e[1]) + span_of(p.destination, e[1], e[0])) *
               sizeof(T);
    });
    p.rows = c.extents[0];
    p.cols = c.extents[1];
    c.bytes = 2 * c.operations * sizeof(T);
    c.words = fmt::format("{} transpose of {} x {}{}", dtype<T>, p.rows, p.cols, to_string(p.source));
    c.words += words_of_placements({{"result", p.destination}});
    c.prepare = [p] { return prepare<T>(p); };
    return c;
}

}  // namespace

drawn_case draw_transpose(drawing& d) {
    return with_type<float, half, std::uint8_t, double>(d.type(4), [&]<class T>() { return draw<T>(d); });
}

}  // namespace heddle::bench::cliffs
