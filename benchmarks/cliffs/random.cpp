#include "tests/bounds/random.hpp"

#include "benchmarks/cliffs/family.hpp"

/// Random numbers, dropout and permutations.
namespace heddle::bench::cliffs {
namespace {

enum class operation { uniform, normal, bernoulli, dropout, permutation };
constexpr std::string_view names[] = {"random_uniform", "random_normal", "random_bernoulli", "dropout"};

struct problem {
    operation op = operation::uniform;
    bool in_place = false;
    double share = 0.5;
    philox generator;
    std::int64_t rows = 1, cols = 1;
    placement x, y;
    std::uint64_t seed = 0;

    [[nodiscard]] bool has_input() const { return op == operation::dropout; }
    [[nodiscard]] bool is_apart() const { return !has_input() || !in_place; }
};

template <class T>
struct operands {
    std::optional<operand<T>> x, y;

    explicit operands(const problem& p) {
        if (p.has_input()) x.emplace(p.rows, p.cols, p.x, p.seed);
        if (p.is_apart()) y.emplace(p.rows, p.cols, p.y);
    }
    operand<T>& result() { return y ? *y : *x; }
};

constexpr double low = -1, high = 2.5, mean = 0.5, deviation = 1.5;

template <class T>
void run(const problem& p, operands<T>& o) {
    using compute = compute_type<T>;
    const matrix_view<T> y = o.result().view();
    if (p.op == operation::uniform)
        return random_uniform<T>(y, compute{low}, compute{high}, p.generator, stream());
    if (p.op == operation::normal)
        return random_normal<T>(y, compute{mean}, compute{deviation}, p.generator, stream());
    if (p.op == operation::bernoulli) return random_bernoulli<T>(y, p.share, p.generator, stream());
    dropout<T>(o.x->view(), y, p.share, p.generator, stream());
}

/// The element at this place as the CPU draws it. An element depends on its place alone.
template <class T>
T on_host(const problem& p, std::int64_t at, T x) {
    using compute = compute_type<T>;
    philox from = p.generator;
    from.offset += static_cast<std::uint64_t>(at);
    T drawn = x;
    const vector_view<T> y{&drawn, 1};
    if (p.op == operation::uniform) host::random_uniform<T>(y, compute{low}, compute{high}, from);
    if (p.op == operation::normal) host::random_normal<T>(y, compute{mean}, compute{deviation}, from);
    if (p.op == operation::bernoulli) host::random_bernoulli<T>(y, p.share, from);
    if (p.op == operation::dropout) host::dropout<T>(y, y, p.share, from);
    return drawn;
}

template <class T>
trial prepare(const problem& p) {
    const auto o = std::make_shared<operands<T>>(p);
    expected_places expected{sampled_places(p.rows, p.cols, p.seed)};
    std::vector<T> xs(expected.places.size());
    if (o->x) xs = gathered(o->x->view(), expected.places);
    for (std::size_t i = 0; i < xs.size(); ++i) {
        const auto& [row, col] = expected.places[i];
        const double value = to_double(on_host(p, row * p.cols + col, xs[i]));
        // All but normal numbers are equal bit for bit.
        expected.add(value, p.op == operation::normal ? bounds::of_normal<T>(value, mean, deviation) : 0);
    }
    return trial_of(o, "result", expected, [p, o] { run(p, *o); });
}

/// Compares the sum and the sum of squares with those of a permutation, and checks that sampled elements differ.
std::string wrong_permutation(operand<std::int32_t>& y, std::int64_t size, std::uint64_t seed, double slack) {
    const auto n = static_cast<double>(size);
    const auto facts = facts_of(y.data(), {row_of(y.view(), 0)}).front();
    const double sum = n * (n - 1) / 2, squares = sum * (2 * n - 1) / 3, rounding = 0x1p-50 * slack;
    for (const std::string& wrong :
         {mismatch("the sum", facts.sum, sum, rounding * sum), mismatch("the smallest", facts.smallest, 0, 0),
          mismatch("the sum of squares", facts.squares, squares, rounding * squares),
          mismatch("the largest", facts.largest, n - 1, 0)})
        if (!wrong.empty()) return wrong;
    const auto some = gathered(y.view(), sampled_places(1, size, seed));
    if (std::set(some.begin(), some.end()).size() != some.size()) return "two elements are equal";
    return y.changed_gap();
}

trial prepare_permutation(std::int64_t size, const placement& lie, const philox& generator) {
    const auto y = std::make_shared<operand<std::int32_t>>(1, size, lie);
    trial t;
    t.reset = [y] { y->poison(); };
    t.call = [y, generator] { random_permutation(y->vector(), generator, stream()); };
    t.wrong = [y, size, generator](double slack) {
        return wrong_permutation(*y, size, generator.seed, slack);
    };
    return t;
}

template <class T>
drawn_case draw(drawing& d) {
    problem p;
    p.op = static_cast<operation>(d.index(std::size(names) + 1));
    p.in_place = d.one_in(5);
    p.share = d.one_of({0.5, 0.1, 0.001});
    p.generator = {.seed = d.bits(), .offset = d.bits() % 9};
    p.y = d.lie(true);
    p.x = d.one_in(2) || p.in_place ? p.y : d.lie(true);
    p.seed = d.bits();
    const placement in_vector = d.vector_lie();
    if (p.op == operation::permutation) {
        drawn_case c = draw_case_of(d, 1, [&](extents_view e) {
            return static_cast<double>(span_of(in_vector, 1, e[0])) * sizeof(std::int32_t);
        });
        const std::int64_t size = c.extents.front();
        c.bytes = c.operations * sizeof(std::int32_t);
        c.words = fmt::format("i32 random_permutation of {}{}", size, to_string(in_vector));
        c.prepare = [=] { return prepare_permutation(size, in_vector, p.generator); };
        return c;
    }
    drawn_case c = draw_case_of(d, 2, [p](extents_view e) {
        return spans_of(e[0], e[1], {{p.x, p.has_input()}, {p.y, p.is_apart()}}) * sizeof(T);
    });
    p.rows = c.extents[0];
    p.cols = c.extents[1];
    c.bytes = (p.has_input() ? 2 : 1) * c.operations * sizeof(T);
    c.words = fmt::format("{} {} of {} x {}", dtype<T>, name_of(names, p.op), p.rows, p.cols);
    if (p.op == operation::bernoulli || p.has_input()) c.words += fmt::format(", p {}", p.share);
    if (!p.is_apart()) c.words += ", in place";
    c.words += to_string(p.y);
    if (p.has_input() && p.x != p.y) c.words += fmt::format("; x{}", to_string(p.x));
    c.prepare = [p] { return prepare<T>(p); };
    return c;
}

}  // namespace

drawn_case draw_random(drawing& d) {
    return with_type<float, half, bfloat16, double>(d.type(4), [&]<class T>() { return draw<T>(d); });
}

}  // namespace heddle::bench::cliffs
