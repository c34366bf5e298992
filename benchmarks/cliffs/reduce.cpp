#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/cliffs/vendor_functions.hpp"
#include "benchmarks/support/cub.hpp"

namespace heddle::bench::cliffs {
namespace {

using operation = reduce_operation;

struct problem {
    operation op = operation::sum;
    std::int64_t size = 1;
    placement x, y;  ///< only dot has y
    std::uint64_t seed = 0;
};

/// Operations that compare elements get few values, so that some are equal or zero. Sums of integers are exact in double.
/// Floats do not cancel, so that a sum that lacks a part is far off.
template <class T>
numbers elements(operation op) {
    if (std::is_integral_v<T>) return {-1000, 1000, 0};
    const bool is_sum = op == operation::sum || op == operation::mean || op == operation::dot ||
                        op == operation::norm1 || op == operation::norm2;
    return is_sum ? numbers{-0.5, 1, 0} : numbers{-1, 1, 0x1p-6};
}

template <class T>
struct operands {
    operand<T> x;
    std::optional<operand<T>> y;
    device_buffer<double> result{1, stream()};  ///< 8 bytes for a result of any type

    explicit operands(const problem& p) : x(1, p.size, p.x, p.seed, elements<T>(p.op)) {
        if (p.op == operation::dot) y.emplace(1, p.size, p.y, p.seed + 1, elements<T>(p.op));
    }
};

template <class T>
void run(const problem& p, operands<T>& o) {
    const vector_view<const T> x = o.x.vector();
    const auto call =
        [&]<class R>(void (*function)(vector_view<const T>, R*, cuda::stream_ref, const reduce_options&)) {
            function(x, reinterpret_cast<R*>(o.result.data()), stream(), {});
        };
    if (p.op == operation::sum) call(sum<T>);
    if (p.op == operation::mean) call(heddle::mean<T>);
    if (p.op == operation::min) call(heddle::min<T>);
    if (p.op == operation::max) call(heddle::max<T>);
    if (p.op == operation::argmin) call(heddle::argmin<T>);
    if (p.op == operation::argmax) call(heddle::argmax<T>);
    if (p.op == operation::norm1) call(heddle::norm1<T>);
    if (p.op == operation::count_nonzero) call(heddle::count_nonzero<T>);
    if constexpr (!std::is_integral_v<T>)
        if (p.op == operation::norm2) call(heddle::norm2<T>);
    if (p.op == operation::dot)
        heddle::dot<T>(x, o.y->vector(), reinterpret_cast<sum_type<T>*>(o.result.data()), stream());
}

template <class T>
double downloaded(operation op, const device_buffer<double>& result) {
    const auto as = [&]<class R>() {
        return to_double(gathered(reinterpret_cast<const R*>(result.data()), {0}).front());
    };
    if (op == operation::mean) return as.template operator()<mean_type<T>>();
    if (op == operation::min || op == operation::max) return as.template operator()<T>();
    if (op == operation::argmin || op == operation::argmax || op == operation::count_nonzero)
        return as.template operator()<std::int64_t>();
    return as.template operator()<sum_type<T>>();
}

template <class T>
bounds::approximate expected(const problem& p, operands<T>& o) {
    const line x{0, p.x.step, p.size};
    const line_facts facts = facts_of(o.x.data(), {x}).front();
    // If the vectors of dot have different strides, it may take more steps.
    const device_traits& device = traits_of(current_device());
    const auto depth_of = [&](std::int64_t stride) {
        return static_cast<double>(reduce_depth({.x = {p.size, stride, sizeof(T)}}, device));
    };
    const double depth = std::max({depth_of(p.x.step), depth_of(p.y.step), depth_of(2)});
    const double u = std::is_integral_v<T> ? 0 : unit_roundoff<sum_type<T>>();
    const double of_sums = error_of_additions(depth + 1, u) + u;
    const auto n = static_cast<double>(p.size);
    if (p.op == operation::sum) return {facts.sum, of_sums * facts.magnitudes};
    if (p.op == operation::mean) {
        const double of_doubles = std::is_integral_v<T> ? (depth + 4) * 0x1p-53 : of_sums + 2 * u;
        return {facts.sum / n, of_doubles * facts.magnitudes / n};
    }
    if (p.op == operation::min) return {facts.smallest, 0};
    if (p.op == operation::max) return {facts.largest, 0};
    if (p.op == operation::argmin) return {static_cast<double>(facts.first_smallest), 0};
    if (p.op == operation::argmax) return {static_cast<double>(facts.first_largest), 0};
    if (p.op == operation::norm1) return {facts.magnitudes, of_sums * facts.magnitudes};
    if (p.op == operation::count_nonzero) return {static_cast<double>(facts.nonzero), 0};
    if (p.op == operation::dot) {
        const dot_facts dot = dots_of(o.x.data(), {x}, o.y->data(), {{0, p.y.step, p.size}}).front();
        return {dot.sum, (of_sums + u) * dot.magnitudes};
    }
    const double root = std::sqrt(facts.squares);
    return {root, (2 * u + (depth + 4) * 0x1p-53) * root};
}

#if HEDDLE_HAS_CUBLAS
/// cuBLAS's results have the type of the elements.
template <class T>
void add_cublas(trial& t, const problem& p, const std::shared_ptr<operands<T>>& o) {
    if constexpr (!std::is_integral_v<T>) {
        constexpr cudaDataType_t type = cuda_type<T>, computed = cuda_type<compute_type<T>>;
        const bool is_checked = sizeof(T) >= 4;
        const auto add = [&](const char* name, auto call) {
            const auto with_scalars = [p, o, call] {
                const scalars_on_device mode;
                check(call(p, *o));
            };
            t.add_call(name, with_scalars, is_checked);
        };
        if (p.op == operation::dot)
            add("cublas dot", [](const auto& of, auto& with) {
                return cublasDotEx_64(cublas_handle(), of.size, with.x.data(), type, of.x.step,
                                      with.y->data(), type, of.y.step, with.result.data(), type, computed);
            });
        if (p.op == operation::norm1)
            add("cublas asum", [](const auto& of, auto& with) {
                return cublasAsumEx_64(cublas_handle(), of.size, with.x.data(), type, of.x.step,
                                       with.result.data(), type, computed);
            });
        if (p.op == operation::norm2)
            add("cublas nrm2", [](const auto& of, auto& with) {
                return cublasNrm2Ex_64(cublas_handle(), of.size, with.x.data(), type, of.x.step,
                                       with.result.data(), type, computed);
            });
    }
}
#endif

template <class T>
trial prepare(const problem& p) {
    const auto o = std::make_shared<operands<T>>(p);
    trial t;
    t.reset = [o] { fill_bytes(o->result, std::byte{0xff}, stream()); };
    t.call = [p, o] { run(p, *o); };
    if (p.x.step == 1 && (p.op != operation::dot || p.y.step == 1))
        t.add_peer(
            "cub",
            [&] {
                const auto scratch = std::make_shared<workspace>(cub_scratch_bytes, stream());
                return [p, o, scratch] {
                    cub_reduce<T>(p.op, o->x.data(), o->y ? o->y->data() : nullptr, p.size, o->result.data(),
                                  *scratch);
                };
            },
            p.op != operation::norm2);
#if HEDDLE_HAS_CUBLAS
    add_cublas(t, p, o);
#endif
    t.wrong = [p, o, of = expected(p, *o)](double slack) {
        return mismatch("the result", downloaded<T>(p.op, o->result), of.value, slack * of.bound);
    };
    return t;
}

template <class T>
drawn_case draw(drawing& d) {
    problem p;
    p.op = reduce_operations()[d.index(reduce_operations().size())];
    if (std::is_integral_v<T> && p.op == operation::norm2) p.op = operation::sum;
    p.x = d.vector_lie();
    if (p.op == operation::dot) p.y = d.one_in(2) ? p.x : d.vector_lie();
    p.seed = d.bits();
    const double vectors = p.op == operation::dot ? 2 : 1;
    drawn_case c = draw_case_of(
        d, 1,
        [p](extents_view e) {
            const std::int64_t elements =
                span_of(p.x, 1, e[0]) + (p.op == operation::dot ? span_of(p.y, 1, e[0]) : 0);
            return static_cast<double>(elements) * sizeof(T);
        },
        [vectors](extents_view e) { return vectors * product_of(e); });
    p.size = c.extents.front();
    c.bytes = c.operations * sizeof(T);
    c.words = fmt::format("{} {} of {}{}", dtype<T>, to_string(p.op), p.size, to_string(p.x));
    c.words += words_of_placements({{"y", p.y}});
    c.prepare = [p] { return prepare<T>(p); };
    return c;
}

}  // namespace

drawn_case draw_reduce(drawing& d) {
    return with_type<float, half, bfloat16, double, std::int32_t, std::int64_t>(
        d.type(6), [&]<class T>() { return draw<T>(d); });
}

}  // namespace heddle::bench::cliffs
