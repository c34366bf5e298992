#include "tests/onnx/nodes.hpp"
#include "tests/support/norm.hpp"
#include <heddle/host.hpp>
#include <heddle/loss.hpp>
#include <heddle/matrix_reduce.hpp>
#include <heddle/norm.hpp>
#include <heddle/reduce.hpp>
#include <heddle/scan.hpp>
#include <heddle/softmax.hpp>

namespace heddle::test::onnx_nodes {
namespace {

/// Elements along neighbouring axes, as rows of a matrix.
struct lines {
    std::int64_t rows, cols, row_stride, col_stride, offset, first;

    template <class T>
    matrix_view<T> of(guarded<T>& x) const {
        return {x.data() + offset, rows, cols, row_stride, col_stride};
    }
    /// An element for each row.
    template <class T>
    vector_view<T> results(guarded<T>& y) const {
        return {y.data() + first, rows};
    }
};

/// All lines along the axes from the first to one before the last.
std::vector<lines> lines_along(const extents& shape, std::int64_t first, std::int64_t last) {
    const std::int64_t outer = size_of({shape.begin(), shape.begin() + first});
    const std::int64_t inner = size_of({shape.begin() + last, shape.end()});
    const std::int64_t cols = size_of(shape) / outer / inner;
    if (inner == 1) return {{outer, cols, cols, 1, 0, 0}};
    std::vector<lines> all;
    for (std::int64_t i = 0; i < outer; ++i)
        all.push_back({inner, cols, 1, inner, i * cols * inner, i * inner});
    return all;
}

template <auto on_host, auto on_gpu>
constexpr auto of_rows = [](processor& p, auto x, auto y) {
    p.run(matrix_reduce_algorithms(), matrix_reduce_options(), on_host, on_gpu, x, y);
};
template <reduce_operation operation, auto on_host, auto on_gpu>
constexpr auto of_vectors = [](processor& p, auto x, auto y) {
    const auto store = [](auto v, auto* to) { *to = on_host(v); };
    for (std::int64_t row = 0; row < x.rows; ++row) {
        const vector_view v{x.data + row * x.row_stride, x.cols, x.col_stride};
        p.run(reduce_algorithms(operation), reduce_options(), store, on_gpu, v, y.data + row);
    }
};
constexpr auto sum_of_rows = of_rows<host::row_sum<float>, row_sum<float>>;
constexpr auto mean_of_rows = of_rows<host::row_mean<float>, row_mean<float>>;

template <class X = float, class Y = float, class By>
numbers reduced(processor& p, By by, const tensor& x, std::int64_t first, std::int64_t last) {
    const auto all = lines_along(x.shape, first, last);
    guarded<X> from = p.operand<X>(x.elements);
    guarded<Y> to = p.operand<Y>({}, size_of(x.shape) / all.at(0).cols);
    for (const lines& each : all) by(p, matrix_view<const X>(each.of(from)), each.results(to));
    return p.read(to);
}

/// The axes of an operator, from the first to one before the last, and the shape of what it gives.
struct reduced_axes {
    std::int64_t first = 0, last;
    extents shape;

    reduced_axes(const arguments& in, extents axes) : shape(in[0].shape) {
        if (size_of(shape) == 0) throw inexpressible("no elements");
        for (std::int64_t& axis : axes) axis = in.dimension(static_cast<double>(axis));
        std::ranges::sort(axes);
        if (!axes.empty()) first = axes[0];
        last = first + std::ssize(axes);
        if (!axes.empty() && axes.back() >= last) throw inexpressible("axes that are not neighbours");
        std::fill(shape.begin() + first, shape.begin() + last, 1);
        if (!in.flag("keepdims", true)) shape.erase(shape.begin() + first, shape.begin() + last);
    }
};

/// A reduction goes through so many roundings for each element of a line, and some more.
template <class By>
operation reduce_by(By by, double each = 0, double more = 0) {
    return summed([=](processor& p, const arguments& in) {
        extents given = in.integers("axes", {}, 1);
        if (given.empty() && !in.flag("noop_with_empty_axes"))
            for (std::int64_t i = 0; i < std::ssize(in[0].shape); ++i) given.push_back(i);
        const reduced_axes axes(in, given);
        const auto n = static_cast<double>(size_of(in[0].shape) / size_of(axes.shape));
        const numbers y = reduced(p, by, in[0], axes.first, axes.last);
        return tensors{{"FLOAT", axes.shape, y, {}, each * n + more}};
    });
}

numbers reversed(const tensor& x, std::int64_t axis) {
    numbers y;
    const std::int64_t inner = size_of({x.shape.begin() + axis + 1, x.shape.end()}), extent = x.shape[axis];
    for (std::int64_t i = 0; i < std::ssize(x.elements); ++i)
        y.push_back(x.elements[i + (extent - 1 - 2 * (i / inner % extent)) * inner]);
    return y;
}

/// The last of equal elements is the first of them in reverse order.
template <class By>
operation place_by(By by) {
    return [=](processor& p, const arguments& in) {
        const reduced_axes axes(in, in.integers("axis", {0}));
        tensor x = in[0];
        if (in.flag("select_last_index")) x.elements = reversed(x, axes.first);
        const auto last = static_cast<double>(x.shape[axes.first] - 1);
        tensor y{"INT64", axes.shape, reduced<float, std::int64_t>(p, by, x, axes.first, axes.last)};
        for (double& e : y.elements) e = in.flag("select_last_index") ? last - e : e;
        return tensors{y};
    };
}

/// Inputs of one shape are the rows of a matrix, whose columns are reduced: by(T()) does it for type T.
template <class By>
operation extreme_by(By by) {
    return [=](processor& p, const arguments& in) {
        tensor all{in[0].type, in[0].shape, {}};
        for (const tensor* each : in.given)
            all.elements.insert(all.elements.end(), each->elements.begin(), each->elements.end());
        all.shape.insert(all.shape.begin(), std::ssize(in.given));
        if (size_of(all.shape) != std::ssize(all.elements)) throw inexpressible("another broadcast");
        const auto as = [&]<class T>(T type) {
            return tensors{{all.type, in[0].shape, reduced<T, T>(p, by(type), all, 0, 1)}};
        };
        if (all.type == "FLOAT16") return as(half());
        if (all.type == "DOUBLE") return as(double());
        if (all.type == "INT32") return as(std::int32_t());
        return all.type == "INT64" ? as(std::int64_t()) : as(float());
    };
}

tensors scan(processor& p, const arguments& in) {
    const std::int64_t axis = in.dimension(in[1].elements.at(0));
    const bool is_reverse = in.flag("reverse"), is_exclusive = in.flag("exclusive");
    const auto on_host = is_exclusive ? host::exclusive_scan<double> : host::inclusive_scan<double>;
    const auto on_gpu = is_exclusive ? exclusive_scan<double> : inclusive_scan<double>;
    guarded<double> from = p.operand<double>(is_reverse ? reversed(in[0], axis) : in[0].elements),
                    to = p.operand<double>({}, size_of(in[0].shape));
    for (const lines& each : lines_along(in[0].shape, axis, axis + 1))
        for (std::int64_t row = 0; row < each.rows; ++row) {
            const auto line = [&](guarded<double>& of) {
                return vector_view{each.of(of).data + row * each.row_stride, each.cols, each.col_stride};
            };
            p.run(scan_algorithms(), scan_options(), on_host, on_gpu, line(from), line(to));
        }
    const double roundings = 2 * static_cast<double>(in[0].shape[axis]) * unit_roundoff<double>() / u;
    tensor y{"DOUBLE", in[0].shape, p.read(to), {}, roundings};
    if (is_reverse) y.elements = reversed(y, axis);
    return {y};
}

/// A row's sum of n exponentials is off by 6 n + log(n) + 9 roundings in heddle (docs/accuracy.md, "Softmax and norms").
/// NumPy's is off by n + log(n) + 8, as its functions are by 8 u each. An exponent is off by one, and weighs as much as
/// it is.
tensor softmax_of(processor& p, const tensor& x, std::int64_t axis, bool is_log) {
    guarded<float> from = p.operand(x.elements), to = p.operand({}, size_of(x.shape));
    const auto on_host = is_log ? host::log_softmax<float> : host::softmax<float>;
    const auto on_gpu = is_log ? log_softmax<float> : softmax<float>;
    for (const lines& each : lines_along(x.shape, axis, axis + 1))
        p.run(softmax_algorithms(), softmax_options(), on_host, on_gpu, each.of(from), each.of(to));
    tensor y{x.type, x.shape, p.read(to)};
    const auto n = static_cast<double>(x.shape[axis]);
    const double of_sums = 7 * n + 2 * std::log(n) + 17, least = smallest<float>();
    for (const double e : y.elements)
        y.errors.push_back(is_log ? u * (of_sums + 11 * std::log(n) - 4 * e)
                                  : u * e * (of_sums + 19 - 2 * std::log(std::max(e, least))) + least);
    return y;
}
template <bool is_log>
tensors softmax_operator(processor& p, const arguments& in) {
    return {softmax_of(p, in[0], in.dimension(in.number("axis", -1)), is_log)};
}

/// NumPy is off as heddle may be. It also gives reciprocals of the deviations, which heddle does not.
tensors layer_normalization(processor& p, const arguments& in) {
    const extents& shape = in[0].shape;
    const std::int64_t axis = in.dimension(in.number("axis", -1));
    const lines all = lines_along(shape, axis, std::ssize(shape)).at(0);
    const auto epsilon = static_cast<float>(in.number("epsilon", 1e-5));
    const auto on_host = [=](auto x, auto gamma, auto beta, auto y) {
        host::layer_norm<float>(x, gamma, beta, y, epsilon);
    };
    const numbers &of_x = in[0].elements, &of_gamma = in[1].elements, &of_beta = in[2].elements;
    guarded<float> x = p.operand(of_x), gamma = p.operand(of_gamma), beta = p.operand(of_beta),
                   y = p.operand({}, size_of(shape));
    p.run(norm_algorithms(), norm_options{.epsilon = epsilon}, on_host, layer_norm<float>, all.of(x),
          gamma.vector(), beta.vector(), all.of(y));
    const expected_norm expected(norm_operation::layer_norm, of_x, of_gamma, of_beta, all.cols, epsilon,
                                 static_cast<double>(all.cols));
    tensor z{"FLOAT", shape, p.read(y), expected.bounds};
    for (double& error : z.errors) error *= 2;
    arguments mean{{}, {&in[0]}};
    for (std::int64_t i = axis; i < std::ssize(shape); ++i)
        mean.attributes["axes"].elements.push_back(static_cast<double>(i));
    return {z, reduce_by(mean_of_rows, 2, 4)(p, mean)[0]};
}

/// The weights of a loss's labels, 0 where one is ignored.
tensor weights_of(const arguments& in) {
    tensor weights{"FLOAT", in[1].shape, {}};
    for (const double label : in[1].elements) {
        const bool is_ignored = in.has("ignore_index") && label == in.number("ignore_index", 0);
        const auto weight = [&] { return in[2].elements.at(static_cast<std::size_t>(label)); };
        weights.elements.push_back(is_ignored ? 0 : in.has_input(2) ? weight() : 1);
    }
    return weights;
}

/// A sum is off by what its terms are, and by a rounding for each, in heddle and in NumPy. A mean is one over that of
/// weights.
tensors reduced_loss(processor& p, const tensor& losses, const tensor& weights, const arguments& in) {
    const auto total = [&](tensor x) {
        x.shape = {1, std::ssize(x.elements)};
        x.errors.resize(x.elements.size());
        tensor y{"FLOAT", {}, reduced(p, sum_of_rows, x, 1, 2), {0}};
        for (std::size_t i = 0; i < x.elements.size(); ++i)
            y.errors[0] += x.errors[i] + 2 * static_cast<double>(x.shape[1]) * u * std::abs(x.elements[i]);
        return y;
    };
    if (in.text("reduction") == "none") return {losses};
    const tensor all = total(losses), weight = total(weights);
    if (in.text("reduction") == "sum") return {all};
    tensor y = scale(p, 1 / weight.elements[0], all);
    const double of_weight = weight.errors[0] / weight.elements[0] + 3 * u;
    y.errors = {all.errors[0] / weight.elements[0] + of_weight * std::abs(y.elements[0])};
    return {y};
}

/// A loss is minus a logarithm of the softmax, times a weight.
tensors cross_entropy_loss(processor& p, const arguments& in) {
    const auto ignored = static_cast<std::int32_t>(in.number("ignore_index", -1));
    const tensor weights = weights_of(in);
    guarded<float> logits = p.operand(in[0].elements), loss = p.operand({}, size_of(in[1].shape));
    guarded<std::int32_t> labels = p.operand<std::int32_t>(in[1].elements);
    for (const lines& each : lines_along(in[0].shape, 1, 2))
        p.run(loss_algorithms(), cross_entropy_options{.ignore_label = ignored}, host::cross_entropy<float>,
              cross_entropy<float>, each.of(logits), each.results(labels), each.results(loss),
              matrix_view<float>());
    tensor losses = multiply(p, {"FLOAT", in[1].shape, p.read(loss)}, weights);
    const auto n = static_cast<double>(in[0].shape[1]);
    for (std::size_t i = 0; i < losses.elements.size(); ++i)
        losses.errors.push_back(
            u * ((7 * n + 13 * std::log(n) + 17) * weights.elements[i] + 9 * losses.elements[i]));
    tensors outputs = reduced_loss(p, losses, weights, in);
    outputs.push_back(softmax_of(p, in[0], 1, true));
    return outputs;
}

/// A loss is the sum of products with zeros and, in the place of the label, minus the weight.
tensors likelihood_loss(processor& p, const arguments& in) {
    const tensor weights = weights_of(in);
    tensor chosen{"FLOAT", in[0].shape, numbers(in[0].elements.size())};
    for (const lines& each : lines_along(in[0].shape, 1, 2))
        for (std::int64_t row = 0; row < each.rows; ++row) {
            const double weight = weights.elements[each.first + row];
            const auto label = static_cast<std::int64_t>(in[1].elements[each.first + row]);
            if (weight != 0)
                chosen.elements[each.offset + row * each.row_stride + label * each.col_stride] = -weight;
        }
    const numbers losses = reduced(p, sum_of_rows, multiply(p, in[0], chosen), 1, 2);
    return reduced_loss(p, {"FLOAT", in[1].shape, losses}, weights, in);
}

}  // namespace

table row_operators() {
    using enum reduce_operation;
    constexpr auto dot_on_host = [](auto x) { return host::dot<float>(x, x); };
    constexpr auto dot_on_gpu = [](auto x, auto... to) { heddle::dot<float>(x, x, to...); };
    return {
        {"ArgMax", place_by(of_rows<host::row_argmax<float>, row_argmax<float>>)},
        {"ArgMin", place_by(of_vectors<argmin, host::argmin<float>, heddle::argmin<float>>)},
        {"CumSum", summed(scan)},
        {"LayerNormalization", layer_normalization},
        {"LogSoftmax", softmax_operator<true>},
        {"Max", extreme_by([]<class T>(T) { return of_vectors<max, host::max<T>, heddle::max<T>>; })},
        {"Min", extreme_by([]<class T>(T) { return of_vectors<min, host::min<T>, heddle::min<T>>; })},
        {"NegativeLogLikelihoodLoss", likelihood_loss},
        {"ReduceL1", reduce_by(of_vectors<norm1, host::norm1<float>, heddle::norm1<float>>, 2)},
        {"ReduceL2", reduce_by(of_vectors<norm2, host::norm2<float>, heddle::norm2<float>>, 0.5, 3)},
        {"ReduceMax", reduce_by(of_rows<host::row_max<float>, row_max<float>>)},
        {"ReduceMean", reduce_by(mean_of_rows, 2, 4)},
        {"ReduceMin", reduce_by(of_rows<host::row_min<float>, row_min<float>>)},
        {"ReduceSum", reduce_by(sum_of_rows, 2)},
        {"ReduceSumSquare", reduce_by(of_vectors<dot, dot_on_host, dot_on_gpu>, 2, 2)},
        {"Softmax", softmax_operator<false>},
        {"SoftmaxCrossEntropyLoss", cross_entropy_loss},
    };
}

}  // namespace heddle::test::onnx_nodes
