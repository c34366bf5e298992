#include "tests/onnx/nodes.hpp"

#include <numbers>

/// Layers made of other operators.
namespace heddle::test::onnx_nodes {
namespace {

/// One element for each channel, to be broadcast over images of a rank.
tensor per_channel(tensor x, std::size_t rank) {
    x.shape.resize(rank - 1, 1);
    return x;
}
tensor with_channels_first(processor& p, const tensor& x) {
    extents order(x.shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order.at(0), order.at(1));
    return permuted(p, x, order);
}
tensor affine(processor& p, const tensor& x, const tensor& factor, const tensor& bias) {
    return add(p, multiply(p, x, per_channel(factor, x.shape.size())), per_channel(bias, x.shape.size()));
}

/// In training, a step also takes over a part of the moments.
tensors batch_normalization(processor& p, const arguments& in) {
    const auto epsilon = static_cast<float>(in.number("epsilon", 1e-5));
    if (!in.flag("training_mode")) {
        const tensor centred = subtract(p, in[0].counted(), per_channel(in[3], in[0].shape.size()));
        const tensor factor = over_root(p, in[1], add(p, in[4].counted(), scalar(epsilon)));
        return {affine(p, centred, factor, in[2])};
    }
    const tensor x = with_channels_first(p, in[0]);
    const double momentum = in.number("momentum", 0.9);
    tensors all{affine(p, with_channels_first(p, normalized(p, x, 1, epsilon)), in[1], in[2])};
    const tensors now = moments(p, x, 1);
    for (std::size_t i = 0; i < now.size(); ++i)
        all.push_back(add(p, scale(p, momentum, in[3 + i].counted()), scale(p, 1 - momentum, now[i])));
    return all;
}

tensors instance_normalization(processor& p, const arguments& in) {
    const auto epsilon = static_cast<float>(in.number("epsilon", 1e-5));
    return {affine(p, normalized(p, in[0], 2, epsilon), in[1], in[2])};
}

/// Groups of channels, each with a factor and a bias.
tensors group_normalization(processor& p, const arguments& in) {
    const auto groups = static_cast<std::int64_t>(in.number("num_groups", 1));
    const auto epsilon = static_cast<float>(in.number("epsilon", 1e-5));
    if (size_of(in[1].shape) != groups) throw inexpressible("a factor for each channel");
    tensor x = in[0];
    x.shape = {in[0].shape.at(0), groups, size_of(in[0].shape) / in[0].shape[0] / groups};
    tensor y = affine(p, normalized(p, x, 2, epsilon), in[1], in[2]);
    y.shape = in[0].shape;
    return {y};
}

/// NumPy computes the variance as a difference, and adds a negligible number to its root.
tensors mean_variance_normalization(processor& p, const arguments& in) {
    if (in.integers("axes", {0, 2, 3}) != extents{0, 2, 3}) throw inexpressible("other axes");
    const tensor x = with_channels_first(p, in[0]), variance = moments(p, x, 1)[1];
    tensor y = normalized(p, x, 1, 0);
    const std::int64_t cols = size_of(y.shape) / y.shape[0];
    for (std::int64_t i = 0; i < size_of(y.shape); ++i) {
        const double v = variance.elements[i / cols],
                     off = variance.errors[i / cols] / v + 1e-9 / std::sqrt(v);
        y.errors[i] += off * std::abs(y.elements[i]);
    }
    return {with_channels_first(p, y)};
}

/// Sums of neighbouring channels are a product with a band matrix of ones.
tensors local_response_normalization(processor& p, const arguments& in) {
    const extents& s = in[0].shape;
    const double size = in.number("size", 1), beta = in.number("beta", 0.75);
    if (beta != 0.5 && beta != 0.75) throw inexpressible("powers other than roots");
    const extents rows{s.at(0), s.at(1), size_of({s.begin() + 2, s.end()})};
    tensor band{"FLOAT", {s[0], s[1], s[1]}, {}};
    for (std::int64_t i = 0; i < size_of(band.shape); ++i) {
        const auto apart = static_cast<double>(i % s[1] - i / s[1] % s[1]);
        band.elements.push_back(apart >= -std::floor((size - 1) / 2) && apart <= std::ceil((size - 1) / 2));
    }
    tensor x = in[0].counted();
    x.shape = rows;
    const tensor sums = product(p, band, multiply(p, x, x));
    const tensor base =
        add(p, scale(p, in.number("alpha", 0.0001) / size, sums), scalar(in.number("bias", 1)));
    tensor y = over_root(p, x, base);
    if (beta == 0.75) y = over_root(p, y, over_root(p, base, base));
    y.shape = s;
    return {y};
}

/// A convolution of the image, with zeros between its pixels, by flipped filters.
tensors transposed_convolution(processor& p, const arguments& in) {
    const extents &x = in[0].shape, &w = in[1].shape;
    const std::size_t rank = x.size() - 2;
    if (in.has_input(2) || in.number("group", 1) != 1 || rank > 2) throw inexpressible("another convolution");
    const extents ones(rank, 1), none(rank, 0), strides = in.integers("strides", ones),
                                                dilations = in.integers("dilations", ones),
                                                more = in.integers("output_padding", none);
    extents pads = in.integers("pads", extents(2 * rank, 0)), output = in.integers("output_shape", {});
    const bool is_same = in.text("auto_pad").starts_with("SAME");
    extents spread = x, filters{w.at(1), w.at(0)};
    for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t reach = dilations.at(i) * (w[2 + i] - 1);
        if (is_same) output.push_back(x[2 + i] * strides.at(i));
        if (!output.empty()) {
            const std::int64_t all = strides.at(i) * (x[2 + i] - 1) + more.at(i) + reach + 1 - output.at(i);
            const std::int64_t less = (all - (all < 0 ? 1 : 0)) / 2;
            pads[i] = in.text("auto_pad") == "SAME_UPPER" ? less : all - less;
            pads[i + rank] = all - pads[i];
        }
        pads[i] = reach - pads[i];
        pads[i + rank] = reach - pads[i + rank] + more[i];
        spread[2 + i] = (x[2 + i] - 1) * strides[i] + 1;
        filters.push_back(w[2 + i]);
    }
    const tensor image = moved(p, {&in[0]}, spread, [&](extents at) -> std::int64_t {
        for (std::size_t i = 0; i < rank; ++i) {
            if (at[2 + i] % strides[i] != 0) return -1;
            at[2 + i] /= strides[i];
        }
        return offset_of(at, x);
    });
    const tensor turned = moved(p, {&in[1]}, filters, [&](extents at) {
        std::swap(at[0], at[1]);
        for (std::size_t i = 0; i < rank; ++i) at[2 + i] = w[2 + i] - 1 - at[2 + i];
        return offset_of(at, w);
    });
    arguments conv{{"Conv", {}, {}, {}}, {&image, &turned}};
    conv.attributes["pads"].elements = {pads.begin(), pads.end()};
    conv.attributes["dilations"].elements = {dilations.begin(), dilations.end()};
    return operator_named("Conv")(p, conv);
}

/// The weights of a pixel's neighbours, by ONNX's definition.
numbers weights_at(double ratio, const arguments& in) {
    const std::string mode = in.text("mode"), nearest = in.text("nearest_mode");
    if (mode == "linear") return {1 - ratio, ratio};
    if (mode == "cubic") {
        const double a = in.number("cubic_coeff_a", -0.75);
        const auto near = [=](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
        const auto far = [=](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
        return {far(ratio + 1), near(ratio), near(1 - ratio), far(2 - ratio)};
    }
    const bool is_rounded = nearest != "floor" && in.operation != "Upsample";
    const bool is_right = ratio == 1 || nearest == "ceil" || (is_rounded && ratio > 0.5) ||
                          (nearest == "round_prefer_ceil" && ratio == 0.5);
    return {is_right ? 0. : 1., is_right ? 1. : 0.};
}

/// The matrix that resizes an axis, and the results that lie outside.
struct resizing {
    tensor matrix;
    std::vector<bool> is_outside;

    resizing(const arguments& in, std::int64_t from, std::int64_t to, double factor, double first,
             double last)
        : matrix{"FLOAT", {to, from}, numbers(to * from)}, is_outside(to) {
        const std::string mode = in.text("coordinate_transformation_mode");
        const double width = factor * static_cast<double>(from), end = static_cast<double>(from - 1);
        for (std::int64_t i = 0; i < to; ++i) {
            const auto x = static_cast<double>(i);
            double at = (x + 0.5) / factor - 0.5;
            if (mode == "align_corners") at = width == 1 ? 0 : x * end / (width - 1);
            if (mode == "asymmetric" || in.operation == "Upsample") at = x / factor;
            if (mode == "half_pixel_symmetric")
                at += (1 - static_cast<double>(to) / width) * static_cast<double>(from) / 2;
            if (mode == "tf_half_pixel_for_nn") at = (x + 0.5) / factor;
            if (mode == "pytorch_half_pixel" && width == 1) at = -0.5;
            if (mode == "tf_crop_and_resize") {
                at = first * end +
                     (width == 1 ? (last - first) * end / 2 : x * (last - first) * end / (width - 1));
                is_outside[i] = at < 0 || at > end;
                if (is_outside[i]) continue;
            }
            const bool is_whole = at == std::floor(at);
            numbers weights = weights_at(is_whole ? 1 : at - std::floor(at), in);
            const auto n = std::ssize(weights);
            const std::int64_t begin = static_cast<std::int64_t>(std::ceil(at)) - n / 2;
            double sum = 1;
            if (in.flag("exclude_outside")) {
                sum = 0;
                for (std::int64_t j = 0; j < n; ++j) {
                    if (begin + j < 0 || begin + j >= from) weights[j] = 0;
                    sum += weights[j];
                }
            }
            for (std::int64_t j = 0; j < n; ++j)
                matrix.elements[i * from + std::clamp<std::int64_t>(begin + j, 0, from - 1)] +=
                    weights[j] / sum;
        }
        for (double& e : matrix.elements) {
            matrix.errors.push_back(2 * u * std::abs(e));
            e = static_cast<float>(e);
        }
    }
};

/// The product of each picture with a matrix on either side.
tensors resize(processor& p, const arguments& in) {
    const extents& s = in[0].shape;
    const std::int64_t rank = std::ssize(s);
    const bool is_upsample = in.operation == "Upsample", has_sizes = in.has_input(3);
    const tensor& given = in[is_upsample ? 1 : has_sizes ? 3 : 2];
    if (rank < 2 || size_of({s.begin(), s.end() - 2}) != 1) throw inexpressible("several pictures");
    for (const char* each : {"antialias", "axes", "keep_aspect_ratio_policy"})
        if (in.has(each)) throw inexpressible(std::string("resizing with ") + each);
    extents shape = s;
    std::vector<resizing> sides;
    for (std::int64_t axis = 0; axis < rank; ++axis) {
        const double e = given.elements.at(axis), extent = static_cast<double>(s[axis]);
        shape[axis] = static_cast<std::int64_t>(std::floor(has_sizes ? e : e * extent));
        const bool has_part = !is_upsample && in.has_input(1) && std::ssize(in[1].elements) == 2 * rank;
        const double first = has_part ? in[1].elements[axis] : 0,
                     last = has_part ? in[1].elements[axis + rank] : 1;
        if (axis >= rank - 2)
            sides.emplace_back(in, s[axis], shape[axis], has_sizes ? e / extent : e, first, last);
    }
    tensor x = in[0].counted();
    x.shape = {s[rank - 2], s[rank - 1]};
    tensor y = product(p, product(p, sides[0].matrix, x), permuted(p, sides[1].matrix, {1, 0}));
    tensor outside{"FLOAT", y.shape, {}};
    for (std::int64_t i = 0; i < size_of(y.shape); ++i) {
        const bool is_beyond = sides[0].is_outside[i / y.shape[1]] || sides[1].is_outside[i % y.shape[1]];
        outside.elements.push_back(is_beyond ? in.number("extrapolation_value", 0) : 0);
    }
    if (std::ranges::any_of(outside.elements, [](double e) { return e != 0; })) y = add(p, y, outside);
    y.shape = shape;
    return {y};
}

/// Products with matrices of cosines and sines.
tensors fourier(processor& p, const arguments& in) {
    if (in.has_input(1) || in.flag("onesided")) throw inexpressible("another length");
    const std::int64_t axis = in.dimension(in.number("axis", 1)), last = std::ssize(in[0].shape) - 1;
    const bool is_complex = in[0].shape[last] == 2, is_inverse = in.flag("inverse");
    const std::int64_t n = in[0].shape[axis];
    tensor cosines{"FLOAT", {n, n}, {}}, sines = cosines;
    for (std::int64_t i = 0; i < n * n; ++i) {
        const double angle =
            2 * std::numbers::pi * static_cast<double>(i / n * (i % n) % n) / static_cast<double>(n);
        const double factor = is_inverse ? 1 / static_cast<double>(n) : 1;
        cosines.elements.push_back(static_cast<float>(factor * std::cos(angle)));
        sines.elements.push_back(static_cast<float>(factor * (is_inverse ? -1 : 1) * std::sin(angle)));
        cosines.errors.push_back(2 * u * factor);
        sines.errors.push_back(2 * u * factor);
    }
    extents order(last + 1), back(last + 1);
    std::iota(order.begin(), order.end(), 0);
    order.erase(order.begin() + axis);
    order.push_back(axis);
    std::rotate(order.begin(), order.begin() + last - 1, order.begin() + last);  // the parts come first
    for (std::int64_t i = 0; i <= last; ++i) back[order[i]] = i;
    const tensor x = permuted(p, in[0].counted(), order);
    const std::int64_t parts = x.shape[0], rows = size_of(x.shape) / parts / n;
    const auto part = [&](std::int64_t i) {
        return moved(p, {&x}, {rows, n}, [&](const extents& at) { return (i * rows + at[0]) * n + at[1]; });
    };
    const tensor real = part(0);
    tensor of_real = product(p, real, cosines), imaginary = scale(p, -1, product(p, real, sines));
    if (is_complex) {
        of_real = add(p, of_real, product(p, part(1), sines));
        imaginary = add(p, imaginary, product(p, part(1), cosines));
    }
    extents shape = x.shape;
    shape[0] = 2;
    const auto place_of = [&](const extents& at) { return offset_of(at, shape); };
    return {permuted(p, moved(p, {&of_real, &imaginary}, shape, place_of), back)};
}

/// The gates of a recurrent layer in one direction, and its state from step to step.
struct recurrent {
    processor& p;
    const arguments& in;
    std::int64_t steps, batch, inputs, hidden;
    bool is_batch_first;

    recurrent(processor& by, const arguments& of)
        : p(by), in(of), hidden(of[2].shape.at(2)), is_batch_first(of.flag("layout")) {
        const extents& x = in[0].shape;
        steps = x.at(is_batch_first);
        batch = x[!is_batch_first];
        inputs = x.at(2);
        const bool is_other = in.has("activations") || in.has("clip") || in.has("activation_alpha") ||
                              in.flag("linear_before_reset") || in.flag("input_forget");
        if (in[1].shape.at(0) != 1 || is_other || in.text("direction") == "reverse")
            throw inexpressible("another recurrent layer");
    }
    tensor x(std::int64_t step_of) const {
        return moved(p, {&in[0]}, {batch, inputs},
                     [&](const extents& at) {
                         return is_batch_first ? (at[0] * steps + step_of) * inputs + at[1]
                                               : (step_of * batch + at[0]) * inputs + at[1];
                     })
            .counted();
    }
    /// Weights, transposed.
    tensor weights(std::size_t input, std::int64_t gate) const {
        const std::int64_t cols = in[input].shape.at(2);
        return moved(p, {&in[input]}, {cols, hidden},
                     [&](const extents& at) { return (gate * hidden + at[1]) * cols + at[0]; });
    }
    tensor row(std::size_t input, std::int64_t i) const {
        if (!in.has_input(input)) return scalar(0);
        return moved(p, {&in[input]}, {hidden}, [&](const extents& at) { return i * hidden + at[0]; });
    }
    tensor initial(std::size_t input) const {
        if (in.has_input(input) && is_batch_first) throw inexpressible("a state that lies otherwise");
        tensor h = in.has_input(input) ? in[input] : tensor{"FLOAT", {}, numbers(batch * hidden)};
        h.shape = {batch, hidden};
        return h.counted();
    }
    /// x W^T + h R^T and both biases, for `gates` gates.
    tensor gate(std::int64_t i, std::int64_t gates, const tensor& x_now, const tensor& h) const {
        const tensor sum = add(p, product(p, x_now, weights(1, i)), product(p, h, weights(2, i)));
        return add(p, sum, add(p, row(3, i).counted(), row(3, gates + i)));
    }
    /// All states, and the last.
    tensors results(const std::vector<tensor>& states) const {
        std::vector<const tensor*> all;
        for (const tensor& each : states) all.push_back(&each);
        const extents shape =
            is_batch_first ? extents{batch, steps, 1, hidden} : extents{steps, 1, batch, hidden};
        const tensor y = moved(p, all, shape, [&](const extents& at) {
            const std::int64_t step_of = is_batch_first ? at[1] : at[0],
                               line = is_batch_first ? at[0] : at[2];
            return (step_of * batch + line) * hidden + at[3];
        });
        tensor last = states.back();
        last.shape = is_batch_first ? extents{batch, 1, hidden} : extents{1, batch, hidden};
        return {y, last};
    }
};

tensors rnn(processor& p, const arguments& in) {
    const recurrent of(p, in);
    tensor h = of.initial(5);
    tensors states;
    for (std::int64_t i = 0; i < of.steps; ++i) states.push_back(h = tanh(p, of.gate(0, 1, of.x(i), h)));
    return of.results(states);
}

/// h = (1 - z) n + z h, with the gates z and r; n is computed from r times the state.
tensors gru(processor& p, const arguments& in) {
    const recurrent of(p, in);
    tensor h = of.initial(5);
    tensors states;
    for (std::int64_t i = 0; i < of.steps; ++i) {
        const tensor x = of.x(i), z = sigmoid(p, of.gate(0, 3, x, h)), r = sigmoid(p, of.gate(1, 3, x, h));
        const tensor n = tanh(p, of.gate(2, 3, x, multiply(p, r, h)));
        h = add(p, multiply(p, subtract(p, scalar(1), z), n), multiply(p, z, h));
        states.push_back(h);
    }
    return of.results(states);
}

tensors lstm(processor& p, const arguments& in) {
    const recurrent of(p, in);
    tensor h = of.initial(5), c = of.initial(6);
    tensors states;
    const auto gate = [&](std::int64_t i, const tensor& x, const tensor& seen) {
        return sigmoid(p, add(p, of.gate(i, 4, x, h), multiply(p, seen, of.row(7, i))));
    };
    for (std::int64_t i = 0; i < of.steps; ++i) {
        const tensor x = of.x(i), input = gate(0, x, c), forget = gate(2, x, c);
        c = add(p, multiply(p, forget, c), multiply(p, input, tanh(p, of.gate(3, 4, x, h))));
        h = multiply(p, gate(1, x, c), tanh(p, c));
        states.push_back(h);
    }
    return of.results(states);
}

/// Drops nothing, as NumPy and heddle drop different elements in training.
tensors dropout_operator(processor& p, const arguments& in) {
    if (in.outputs.size() > 1) throw inexpressible("a mask");
    const bool is_training = in.has_input(2) && in[2].elements.at(0) != 0;
    if (is_training && in[1].elements.at(0) != 0) throw inexpressible("NumPy's random numbers");
    guarded<float> x = p.operand(in[0].elements), y = p.operand({}, size_of(in[0].shape));
    p.run(
        random_algorithms(), random_options(),
        [](auto from, auto to) { host::dropout<float>(from, to, 0, {}); },
        [](auto from, auto to, auto gpu, const random_options& with) {
            dropout<float>(from, to, 0, {}, gpu, with);
        },
        x.vector(), y.vector());
    return {{in[0].type, in[0].shape, p.read(y)}};
}

}  // namespace

table networks() {
    return {
        {"BatchNormalization", batch_normalization},
        {"ConvTranspose", transposed_convolution},
        {"DFT", fourier},
        {"Dropout", dropout_operator},
        {"GRU", gru},
        {"GroupNormalization", group_normalization},
        {"InstanceNormalization", instance_normalization},
        {"LRN", local_response_normalization},
        {"LSTM", lstm},
        {"MeanVarianceNormalization", mean_variance_normalization},
        {"RNN", rnn},
        {"Resize", resize},
        {"Upsample", resize},
    };
}

}  // namespace heddle::test::onnx_nodes
