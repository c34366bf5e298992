#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/cliffs/row_moments.hpp"
#include "benchmarks/cliffs/vendor_functions.hpp"
#include "tests/bounds/norm.hpp"
#include "tests/bounds/softmax.hpp"

namespace heddle::bench::cliffs {
namespace {

enum class operation { softmax, log_softmax, layer_norm, rms_norm };
constexpr std::string_view names[] = {"softmax", "log_softmax", "layer_norm", "rms_norm"};

template <class T>
struct problem {
    operation op = operation::softmax;
    bool in_place = false;
    bool has_gamma = false, has_beta = false;
    std::int64_t rows = 1, cols = 1;
    placement x, y;
    std::uint64_t seed = 0;

    [[nodiscard]] bool is_softmax() const { return op == operation::softmax || op == operation::log_softmax; }
    [[nodiscard]] numbers elements() const { return is_softmax() ? numbers{-8, 8, 0} : numbers{-1, 2, 0}; }
};

template <class T>
struct operands {
    operand<T> x;
    std::optional<operand<T>> y;  ///< none in place
    std::optional<operand<T>> gamma, beta;

    explicit operands(const problem<T>& p) : x(p.rows, p.cols, p.x, p.seed, p.elements()) {
        if (!p.in_place) y.emplace(p.rows, p.cols, p.y);
        if (p.has_gamma) gamma.emplace(1, p.cols, placement{}, p.seed + 1);
        if (p.has_beta) beta.emplace(1, p.cols, placement{}, p.seed + 2);
    }
    operand<T>& result() { return y ? *y : x; }
};

template <class T>
void run(const problem<T>& p, operands<T>& o) {
    const matrix_view<const T> x = o.x.view();
    const matrix_view<T> y = o.result().view();
    const auto vector_of = [](std::optional<operand<T>>& v) {
        return v ? vector_view<const T>(v->vector()) : vector_view<const T>{};
    };
    if (p.op == operation::softmax) return softmax<T>(x, y, stream());
    if (p.op == operation::log_softmax) return log_softmax<T>(x, y, stream());
    if (p.op == operation::layer_norm)
        return layer_norm<T>(x, vector_of(o.gamma), vector_of(o.beta), y, stream());
    rms_norm<T>(x, vector_of(o.gamma), y, stream());
}

template <class T>
bounds::approximate expected(operation op, T x, double gamma, double beta, const line_facts& row,
                             std::int64_t cols) {
    const std::int64_t counted = counted_columns(cols);
    if (op == operation::softmax || op == operation::log_softmax) {
        const bounds::expected_softmax all(x, row.largest, row.exponentials, cols,
                                           bounds::softmax_steps_of(softmax_algorithm::automatic, counted));
        return op == operation::softmax
                   ? bounds::approximate(all.softmax.front(), all.bounds.front())
                   : bounds::approximate(all.log_softmax.front(), all.log_bounds.front());
    }
    const auto norm =
        op == operation::layer_norm ? bounds::norm_operation::layer_norm : bounds::norm_operation::rms_norm;
    const bounds::expected_norm all(norm, x, moments_of(norm, row, static_cast<double>(cols)),
                                    norm_options{}.epsilon,
                                    bounds::norm_depth(norm_algorithm::automatic, counted), gamma, beta);
    return {all.values.front(), all.bounds.front()};
}

#if HEDDLE_HAS_CUDNN
template <class T>
void add_softmax(trial& t, const problem<T>& p, const std::shared_ptr<operands<T>>& o) {
    t.add_peer("cudnn", [&] {
        const auto softmax = std::make_shared<cudnn_softmax<T>>(o->x.view(), o->result().view(),
                                                                p.op == operation::log_softmax);
        return [softmax, o] { (*softmax)(o->x.data(), o->result().data()); };
    });
}

/// Batch normalisation of one image, whose channels are the rows. So each row is normalised by itself. It has no gamma and
/// beta for each column.
template <class T>
void add_layer_norm(trial& t, const problem<T>& p, const std::shared_ptr<operands<T>>& o) {
    if (p.x != p.y && !p.in_place) return;
    constexpr bool is_stand_in = true;
    t.add_peer(
        "cudnn batch norm",
        [&] {
            const auto tensor = std::make_shared<cudnn_tensor>(), of_rows = std::make_shared<cudnn_tensor>();
            const matrix_view<T> x = o->x.view();
            check(cudnnSetTensor4dDescriptorEx(*tensor, cudnn_type<T>, 1, narrow(p.rows), narrow(p.cols), 1,
                                               narrow(p.rows * x.row_stride), narrow(x.row_stride),
                                               narrow(x.col_stride), 1));
            set_tensor<float>(*of_rows, 1, p.rows, 1, 1, p.rows, 1);
            const auto ones = std::make_shared<operand<float>>(1, p.rows, placement{}, 0, numbers{1, 1, 0});
            const auto zeros = std::make_shared<operand<float>>(1, p.rows, placement{}, 0, numbers{0, 0, 0});
            return [=] {
                const float alpha = 1, beta = 0;
                check(cudnnBatchNormalizationForwardTraining(
                    cudnn_handle(), CUDNN_BATCHNORM_SPATIAL, &alpha, &beta, *tensor, o->x.data(), *tensor,
                    o->result().data(), *of_rows, ones->data(), zeros->data(), 1, nullptr, nullptr,
                    static_cast<double>(norm_options{}.epsilon), nullptr, nullptr));
            };
        },
        !p.has_gamma && !p.has_beta, is_stand_in);
}
#endif

template <class T>
trial prepare(const problem<T>& p) {
    const auto o = std::make_shared<operands<T>>(p);
    expected_places results{sampled_places(p.rows, p.cols, p.seed)};
    std::vector<place> columns;
    for (const place& at : results.places) columns.push_back({0, at.col});
    const std::vector<T> x = gathered(o->x.view(), results.places);
    const std::vector<T> gamma = o->gamma ? gathered(o->gamma->view(), columns) : std::vector<T>{};
    const std::vector<T> beta = o->beta ? gathered(o->beta->view(), columns) : std::vector<T>{};
    const std::vector<line_facts> rows = facts_of(o->x.data(), rows_of(o->x.view(), results.places));
    for (std::size_t i = 0; i < x.size(); ++i)
        results.add(expected(p.op, x[i], gamma.empty() ? 1 : to_double(gamma[i]),
                             beta.empty() ? 0 : to_double(beta[i]), rows[i], p.cols));
    trial t = trial_of(o, "result", results, [p, o] { run(p, *o); });
#if HEDDLE_HAS_CUDNN
    if (is_aligned_for_cudnn<T>(p.x) && is_aligned_for_cudnn<T>(p.y)) {
        if (p.is_softmax()) add_softmax(t, p, o);
        if (p.op == operation::layer_norm) add_layer_norm(t, p, o);
    }
#endif
    return t;
}

template <class T>
drawn_case draw(drawing& d) {
    problem<T> p;
    p.op = static_cast<operation>(d.index(std::size(names)));
    p.in_place = d.one_in(5);
    p.has_gamma = !p.is_softmax() && !d.one_in(3);
    p.has_beta = p.op == operation::layer_norm && p.has_gamma;
    p.x = d.lie(true);
    p.y = d.one_in(2) || p.in_place ? p.x : d.lie(true);
    p.seed = d.bits();
    drawn_case c = draw_case_of(d, 2, [p](extents_view e) {
        const double matrices = spans_of(e[0], e[1], {{p.x, true}, {p.y, !p.in_place}});
        return (matrices + 2 * static_cast<double>(e[1])) * sizeof(T);
    });
    p.rows = c.extents[0];
    p.cols = c.extents[1];
    c.bytes =
        (2 * c.operations + ((p.has_gamma ? 1 : 0) + (p.has_beta ? 1 : 0)) * static_cast<double>(p.cols)) *
        sizeof(T);
    c.words = fmt::format("{} {} of {} x {}{}{}{}", dtype<T>, name_of(names, p.op), p.rows, p.cols,
                          p.has_beta    ? ", gamma and beta"
                          : p.has_gamma ? ", gamma"
                                        : "",
                          p.in_place ? ", in place" : "", to_string(p.x));
    c.words += words_of_placements({{"result", p.y, !p.in_place}});
    c.prepare = [p] { return prepare(p); };
    return c;
}

}  // namespace

drawn_case draw_row_normalisation(drawing& d) {
    return with_type<float, half, bfloat16>(d.type(3), [&]<class T>() { return draw<T>(d); });
}

}  // namespace heddle::bench::cliffs
