#include "tests/onnx/nodes.hpp"
#include "tests/support/row_operations.hpp"

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

/// All lines along the axes from the first to the one before the last.
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

/// The axes of an operator, from the first to the one before the last, and the shape of its result. Axes that are not
/// neighbours first come into another order of dimensions.
struct reduced_axes {
    std::int64_t first = 0, last;
    extents shape, order{};

    reduced_axes(const arguments& in, extents axes) : shape(in[0].shape) {
        if (size_of(shape) == 0) throw inexpressible("no elements");
        for (std::int64_t& axis : axes) axis = in.dimension(static_cast<double>(axis));
        std::ranges::sort(axes);
        if (!axes.empty()) first = axes[0];
        last = first + std::ssize(axes);
        for (const std::int64_t axis : axes) shape.at(axis) = -1;
        if (!axes.empty() && axes.back() >= last) {
            order = axes;
            for (std::int64_t i = 0; i < std::ssize(shape); ++i)
                if (shape[i] != -1) order.push_back(i);
            last -= first;
            first = 0;
        }
        if (in.flag("keepdims", true))
            std::ranges::replace(shape, -1, 1);
        else
            std::erase(shape, -1);
    }
};

/// All axes where none is given.
extents axes_of(const arguments& in) {
    extents given = in.integers("axes", {}, 1);
    if (given.empty() && !in.flag("noop_with_empty_axes"))
        for (std::int64_t i = 0; i < std::ssize(in[0].shape); ++i) given.push_back(i);
    return given;
}

/// A reduction has a rounding for each element of a line, and some more.
template <class By>
operation reduce_by(By by, double each = 0, double more = 0) {
    return summed([=](processor& p, const arguments& in) {
        const reduced_axes axes(in, axes_of(in));
        const auto n = static_cast<double>(size_of(in[0].shape) / size_of(axes.shape));
        const tensor x = axes.order.empty() ? in[0] : permuted(p, in[0], axes.order);
        const numbers y = reduced(p, by, x, axes.first, axes.last);
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

/// The last of equal elements is the first in reverse order.
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

/// Inputs of one shape become the rows of a matrix, whose columns are reduced by by(T()) for type T.
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

template <class T>
tensor scanned(processor& p, const tensor& x, std::int64_t axis, bool is_exclusive, bool is_reverse = false) {
    const auto on_host = is_exclusive ? host::exclusive_scan<T> : host::inclusive_scan<T>;
    const auto on_gpu = is_exclusive ? exclusive_scan<T> : inclusive_scan<T>;
    guarded<T> from = p.operand<T>(is_reverse ? reversed(x, axis) : x.elements),
               to = p.operand<T>({}, size_of(x.shape));
    for (const lines& each : lines_along(x.shape, axis, axis + 1))
        for (std::int64_t row = 0; row < each.rows; ++row) {
            const auto line = [&](guarded<T>& of) {
                return vector_view{each.of(of).data + row * each.row_stride, each.cols, each.col_stride};
            };
            p.run(scan_algorithms(), scan_options(), on_host, on_gpu, line(from), line(to));
        }
    tensor y{x.type, x.shape, p.read(to)};
    if (is_reverse) y.elements = reversed(y, axis);
    return y;
}
tensors scan(processor& p, const arguments& in) {
    const std::int64_t axis = in.dimension(in[1].elements.at(0));
    tensor y = scanned<double>(p, in[0], axis, in.flag("exclusive"), in.flag("reverse"));
    y.roundings = 2 * static_cast<double>(in[0].shape[axis]) * unit_roundoff<double>() / u;
    return {y};
}

/// A sum of equal steps.
tensors range(processor& p, const arguments& in) {
    const double first = in[0].elements.at(0), step_of = in[2].elements.at(0);
    const auto n = static_cast<std::int64_t>(std::ceil((in[1].elements.at(0) - first) / step_of));
    tensor steps{in[0].type, {std::max<std::int64_t>(n, 0)}, numbers(std::max<std::int64_t>(n, 0), step_of)};
    if (n > 0) steps.elements[0] = first;
    if (in[0].type == "INT32") return {scanned<std::int32_t>(p, steps, 0, false)};
    if (in[0].type != "FLOAT") throw inexpressible("another type");
    tensor y = scanned<float>(p, steps, 0, false);
    for (const double e : y.elements)
        y.errors.push_back(2 * static_cast<double>(n) * u * std::max(std::abs(first), std::abs(e)));
    return {y};
}

/// Elements below the largest become 0. So do all of the largest but the first, as they have others before them.
tensors hardmax(processor& p, const arguments& in) {
    const std::int64_t axis = in.dimension(in.number("axis", -1));
    tensor largest = in[0];
    largest.shape[axis] = 1;
    largest.elements = reduced(p, of_rows<host::row_max<float>, row_max<float>>, in[0], axis, axis + 1);
    const tensor ones = scalar(1), candidates = subtract(p, ones, step(p, subtract(p, largest, in[0])));
    const tensor before = scanned<float>(p, candidates, axis, true);
    return {multiply(p, candidates, subtract(p, ones, step(p, before)))};
}

template <class OnHost, class OnGpu, class... Inputs>
numbers of_doubles(processor& p, const OnHost& on_host, const OnGpu& on_gpu, const Inputs&... x) {
    const auto with = [&](auto&&... from) {
        guarded<double> to = p.operand<double>({}, std::min({from.vector().size...}));
        p.run(elementwise_algorithms(), elementwise_options(), on_host, on_gpu,
              vector_view<const double>(from.vector())..., to.vector());
        return p.read(to);
    };
    return with(p.operand<double>(x)...);
}

/// Newton's steps towards e^y = sum of e^(x - largest): one for each unit of the first excess, and some more.
tensors log_of_exponentials(processor& p, const arguments& in) {
    using enum reduce_operation;
    const reduced_axes axes(in, axes_of(in));
    if (in[0].type != "DOUBLE" || !axes.order.empty()) throw inexpressible("another type, or axes apart");
    tensor largest = in[0], x = in[0];
    std::fill(largest.shape.begin() + axes.first, largest.shape.begin() + axes.last, 1);
    largest.elements = reduced<double, double>(p, of_vectors<max, host::max<double>, heddle::max<double>>, x,
                                               axes.first, axes.last);
    x.elements = of_doubles(p, host::subtract<double>, heddle::subtract<double>, x.elements,
                            expanded(p, largest, x.shape).elements);
    x.elements = of_doubles(p, host::exp<double>, heddle::exp<double>, x.elements);
    const numbers sums = reduced<double, double>(p, of_vectors<sum, host::sum<double>, heddle::sum<double>>,
                                                 x, axes.first, axes.last);
    const auto negate_on_host = [](auto a, auto b) { host::scale<double>(-1, a, b); };
    const auto negate = [](auto a, auto... b) { heddle::scale<double>(-1, a, b...); };
    const auto n = static_cast<double>(x.elements.size() / sums.size());
    numbers y(sums.size());
    for (double i = 0; i < n + 8; ++i) {
        const numbers e =
            of_doubles(p, host::exp<double>, heddle::exp<double>, of_doubles(p, negate_on_host, negate, y));
        y = of_doubles(p, host::fused_multiply_add<double>, heddle::fused_multiply_add<double>, sums, e, y);
        y = of_doubles(p, host::add<double>, heddle::add<double>, y, numbers(y.size(), -1));
    }
    tensor z{"DOUBLE", axes.shape,
             of_doubles(p, host::add<double>, heddle::add<double>, y, largest.elements)};
    for (const double e : z.elements)
        z.errors.push_back(unit_roundoff<double>() * (2 * n + 60 + 12 * std::abs(e)));
    return {z};
}

/// Slices along the axes, multiplied one by one.
tensors product_of_slices(processor& p, const arguments& in) {
    const reduced_axes axes(in, axes_of(in));
    const tensor from = axes.order.empty() ? in[0] : permuted(p, in[0], axes.order);
    const auto begin = from.shape.begin();
    const std::int64_t outer = size_of({begin, begin + axes.first}),
                       inner = size_of({begin + axes.last, from.shape.end()});
    const std::int64_t n = size_of(from.shape) / outer / inner;
    const auto slice = [&](std::int64_t i) {
        return moved(p, {&from}, axes.shape, [&](const extents& at) {
            const std::int64_t place = offset_of(at, axes.shape);
            return (place / inner * n + i) * inner + place % inner;
        });
    };
    tensor y = slice(0).counted();
    for (std::int64_t i = 1; i < n; ++i) y = multiply(p, y, slice(i));
    return {y};
}

/// Only those of doubles that are sums, products of vectors, or copies.
tensors einsum(processor& p, const arguments& in) {
    using enum reduce_operation;
    std::string equation = in.text("equation");
    std::erase(equation, ' ');
    if (in[0].type != "DOUBLE") throw inexpressible("another type");
    const extents& s = in[0].shape;
    const double each = 2 * unit_roundoff<double>() / u;
    if (equation == "ij->ji") return {permuted(p, in[0], {1, 0})};
    if (equation == "...ii->...i") {
        const extents shape(s.begin(), s.end() - 1);
        return {moved(p, {&in[0]}, shape, [&](extents at) {
            at.push_back(at.back());
            return offset_of(at, s);
        })};
    }
    if (equation == "ij->i") {
        const auto by = of_vectors<sum, host::sum<double>, heddle::sum<double>>;
        const numbers y = reduced<double, double>(p, by, in[0], 1, 2);
        return {{"DOUBLE", {s[0]}, y, {}, each * static_cast<double>(s[1])}};
    }
    const bool is_inner = equation == "i,i";
    if (!is_inner && equation != "bij,bjk->bik") throw inexpressible("another equation");
    const std::int64_t count = is_inner ? 1 : s[0], m = is_inner ? 1 : s[1], k = s.back(),
                       n = is_inner ? 1 : in[1].shape[2];
    guarded<double> x = p.operand<double>(in[0].elements), y = p.operand<double>(in[1].elements),
                    z = p.operand<double>({}, count * m * n);
    const auto store = [](auto a, auto b, auto* to) { *to = host::dot<double>(a, b); };
    for (std::int64_t i = 0; i < count * m * n; ++i)
        p.run(reduce_algorithms(dot), reduce_options(), store, heddle::dot<double>,
              vector_view<const double>{x.data() + i / n * k, k},
              vector_view<const double>{y.data() + i / n / m * k * n + i % n, k, n}, z.data() + i);
    const extents shape = is_inner ? extents{} : extents{count, m, n};
    return {{"DOUBLE", shape, p.read(z), {}, each * static_cast<double>(k)}};
}

double largest_error(const tensor& x) {
    return x.errors.empty() ? 0 : std::ranges::max(x.errors);
}

/// In heddle a row's sum of n exponentials is off by 6 n + log(n) + 9 roundings (docs/accuracy.md, Softmax and norms).
/// In NumPy, whose functions are off by 8 u each, it is n + log(n) + 8. The rounding of an exponent counts as often
/// as its magnitude says.
tensor softmax_of(processor& p, const tensor& x, std::int64_t axis, bool is_log) {
    guarded<float> from = p.operand(x.elements), to = p.operand({}, size_of(x.shape));
    const auto on_host = is_log ? host::log_softmax<float> : host::softmax<float>;
    const auto on_gpu = is_log ? log_softmax<float> : softmax<float>;
    for (const lines& each : lines_along(x.shape, axis, axis + 1))
        p.run(softmax_algorithms(), softmax_options(), on_host, on_gpu, each.of(from), each.of(to));
    tensor y{x.type, x.shape, p.read(to)};
    const auto n = static_cast<double>(x.shape[axis]);
    const double of_sums = 7 * n + 2 * std::log(n) + 17, least = smallest<float>();
    const double off = 2 * largest_error(x);
    for (const double e : y.elements)
        y.errors.push_back(is_log ? u * (of_sums + 11 * std::log(n) - 4 * e) + off
                                  : u * e * (of_sums + 19 - 2 * std::log(std::max(e, least))) + least +
                                        e * std::expm1(off));
    return y;
}
template <bool is_log>
tensors softmax_operator(processor& p, const arguments& in) {
    return {softmax_of(p, in[0], in.dimension(in.number("axis", -1)), is_log)};
}

/// NumPy's error bound is that of heddle. It also gives means, and reciprocals of the deviations.
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
    extents each = shape;
    std::fill(each.begin() + axis, each.end(), 1);
    tensors of_rows = moments(p, in[0], axis);
    for (tensor& moment : of_rows) moment.shape = each;
    const tensor square = add(p, of_rows[1], scalar(epsilon)), ones{"FLOAT", each, numbers(size_of(each), 1)};
    return {z, of_rows[0], over_root(p, ones, square)};
}

/// The weights of a loss's labels, 0 for ignored labels.
tensor weights_of(const arguments& in) {
    tensor weights{"FLOAT", in[1].shape, {}};
    for (const double label : in[1].elements) {
        const bool is_ignored = in.has("ignore_index") && label == in.number("ignore_index", 0);
        const auto weight = [&] { return in[2].elements.at(static_cast<std::size_t>(label)); };
        weights.elements.push_back(is_ignored ? 0 : in.has_input(2) ? weight() : 1);
    }
    return weights;
}

/// The error of a sum is that of its terms, and a rounding for each, in heddle and in NumPy. A mean is a sum divided
/// by the sum of weights.
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

/// A loss is the sum of products with zeros and, at the label, minus the weight.
tensors likelihood_loss(processor& p, const arguments& in) {
    const tensor weights = weights_of(in);
    tensor chosen{"FLOAT", in[0].shape, numbers(in[0].elements.size())};
    tensor losses{"FLOAT", in[1].shape, {}, numbers(weights.elements.size())};
    for (const lines& each : lines_along(in[0].shape, 1, 2))
        for (std::int64_t row = 0; row < each.rows; ++row) {
            const double weight = weights.elements[each.first + row];
            const auto label = static_cast<std::int64_t>(in[1].elements[each.first + row]);
            if (weight == 0) continue;
            const std::int64_t place = each.offset + row * each.row_stride + label * each.col_stride;
            chosen.elements[place] = -weight;
            const double off = in[0].error(place), product = std::abs(in[0].elements[place] * weight);
            losses.errors[each.first + row] = off == 0 ? 0 : std::abs(weight) * off + 2.01 * u * product;
        }
    losses.elements = reduced(p, sum_of_rows, multiply(p, in[0], chosen), 1, 2);
    return reduced_loss(p, losses, weights, in);
}

}  // namespace

tensor normalized(processor& p, const tensor& x, std::int64_t axis, float epsilon) {
    const lines all = lines_along(x.shape, axis, std::ssize(x.shape)).at(0);
    guarded<float> from = p.operand(x.elements), to = p.operand({}, size_of(x.shape));
    const auto on_host = [=](auto a, auto gamma, auto beta, auto b) {
        host::layer_norm<float>(a, gamma, beta, b, epsilon);
    };
    p.run(norm_algorithms(), norm_options{.epsilon = epsilon}, on_host, layer_norm<float>, all.of(from),
          vector_view<float>(), vector_view<float>(), all.of(to));
    const std::vector<double> none;
    const expected_norm expected(norm_operation::layer_norm, x.elements, none, none, all.cols, epsilon,
                                 static_cast<double>(all.cols));
    tensor y{x.type, x.shape, p.read(to), expected.bounds};
    for (double& error : y.errors) error *= 2;
    return y;
}

/// The error of a variance counts as that of a mean of the squares, and some roundings more.
tensors moments(processor& p, const tensor& x, std::int64_t axis) {
    const extents shape(x.shape.begin(), x.shape.begin() + axis);
    const std::int64_t last = std::ssize(x.shape), rows = size_of(shape), cols = size_of(x.shape) / rows;
    const auto variances = of_rows<host::row_variance<float>, row_variance<float>>;
    tensor mean{x.type, shape, reduced(p, mean_of_rows, x, axis, last)},
        variance{x.type, shape, reduced(p, variances, x, axis, last)};
    const auto n = static_cast<double>(cols);
    for (std::int64_t row = 0; row < rows; ++row) {
        double magnitude = 0, square = 0;
        for (std::int64_t i = row * cols; i < (row + 1) * cols; ++i) {
            magnitude += std::abs(x.elements[i]) / n;
            square += x.elements[i] * x.elements[i] / n;
        }
        mean.errors.push_back((2 * n + 4) * u * magnitude);
        variance.errors.push_back((4 * n + 20) * u * square);
    }
    return {mean, variance};
}

table row_operators() {
    const auto logarithm_of_sum = [](processor& p, const arguments& in) {
        return tensors{logarithm(p, reduce_by(sum_of_rows, 2)(p, in)[0])};
    };
    using enum reduce_operation;
    constexpr auto dot_on_host = [](auto x) { return host::dot<float>(x, x); };
    constexpr auto dot_on_gpu = [](auto x, auto... to) { heddle::dot<float>(x, x, to...); };
    return {
        {"ArgMax", place_by(of_rows<host::row_argmax<float>, row_argmax<float>>)},
        {"ArgMin", place_by(of_vectors<argmin, host::argmin<float>, heddle::argmin<float>>)},
        {"CumSum", summed(scan)},
        {"Einsum", summed(einsum)},
        {"Hardmax", hardmax},
        {"LayerNormalization", layer_normalization},
        {"LogSoftmax", softmax_operator<true>},
        {"Max", extreme_by([]<class T>(T) { return of_vectors<max, host::max<T>, heddle::max<T>>; })},
        {"Min", extreme_by([]<class T>(T) { return of_vectors<min, host::min<T>, heddle::min<T>>; })},
        {"NegativeLogLikelihoodLoss", likelihood_loss},
        {"Range", onnx_nodes::range},
        {"ReduceL1", reduce_by(of_vectors<norm1, host::norm1<float>, heddle::norm1<float>>, 2)},
        {"ReduceL2", reduce_by(of_vectors<norm2, host::norm2<float>, heddle::norm2<float>>, 0.5, 3)},
        {"ReduceLogSum", logarithm_of_sum},
        {"ReduceLogSumExp", log_of_exponentials},
        {"ReduceMax", reduce_by(of_rows<host::row_max<float>, row_max<float>>)},
        {"ReduceMean", reduce_by(mean_of_rows, 2, 4)},
        {"ReduceMin", reduce_by(of_rows<host::row_min<float>, row_min<float>>)},
        {"ReduceProd", product_of_slices},
        {"ReduceSum", reduce_by(sum_of_rows, 2)},
        {"ReduceSumSquare", reduce_by(of_vectors<dot, dot_on_host, dot_on_gpu>, 2, 2)},
        {"Softmax", softmax_operator<false>},
        {"SoftmaxCrossEntropyLoss", cross_entropy_loss},
    };
}

}  // namespace heddle::test::onnx_nodes
