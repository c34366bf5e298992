#include "benchmarks/cliffs/linear.hpp"

#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/cliffs/matmul_operands.hpp"

/// Fully connected layers, with bias and activation.
namespace heddle::bench::cliffs {
namespace {

/// A layer is a product with an epilogue. B is the transposed matrix of weights.
template <class T>
trial prepare(const product_problem<T, T>& p) {
    const auto o = std::make_shared<product_operands<T, T>>(p);
    trial t;
    t.reset = [o] { o->c.all.poison(); };
    t.call = [p, o] {
        linear<T>(o->a.first, transposed(o->b.first), o->epilogue(p).row_bias, o->c.first, stream(),
                  {.activation = p.activation, .precision = p.precision});
    };
    t.wrong = check_of(p, o);
    add_product_peers(t, p, o);
    return t;
}

template <class T>
drawn_case draw(drawing& d, precision precision) {
    product_problem<T, T> p;
    p.precision = precision;
    p.activation = static_cast<matmul_activation>(d.index(std::size(activations)));
    p.has_row_bias = !d.one_in(4);
    p.has_epilogue = p.has_row_bias || p.activation != matmul_activation::none;
    p.a = draw_layer_matrix(d);
    p.b = draw_layer_matrix(d);
    p.b.column_major = !p.b.column_major;  // weights mostly lie in rows of `in`
    p.c = draw_layer_matrix(d);
    p.seed = d.bits();
    drawn_case c = draw_case_of(
        d, 3,
        [p](extents_view e) {
            return (span_in_double(p.a, e[0], e[1]) + span_in_double(p.b, e[1], e[2]) +
                    span_in_double(p.c, e[0], e[2]) + static_cast<double>(e[2])) *
                   sizeof(T);
        },
        [](extents_view e) { return 2 * product_of(e); });
    p.m = c.extents[0];
    p.k = c.extents[1];
    p.n = c.extents[2];
    c.bytes = (product_of({p.m, p.k}) + product_of({p.k, p.n}) + product_of({p.m, p.n}) +
               (p.has_row_bias ? static_cast<double>(p.n) : 0)) *
              sizeof(T);
    c.words = words_of_layer<T>("linear", precision, c.extents);
    if (p.activation != matmul_activation::none)
        c.words += fmt::format(", {}", name_of(activations, p.activation));
    if (p.has_row_bias) c.words += ", bias";
    placement weights = p.b;
    weights.column_major = !weights.column_major;
    c.words += words_of_placements({{"x", p.a}, {"weights", weights}, {"y", p.c}});
    c.prepare = [p] { return prepare(p); };
    return c;
}

}  // namespace

drawn_case draw_layer(drawing& d) {
    return draw_typed_layer(d, [&]<class T>(precision precision) { return draw<T>(d, precision); });
}

}  // namespace heddle::bench::cliffs
