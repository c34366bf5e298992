#include "tests/matmul/operands.hpp"
#include "tests/onnx/nodes.hpp"

namespace heddle::test::onnx_nodes {
namespace {

/// Images, each a matrix, with rows and columns exchanged.
numbers transposed_matrices(processor& p, const numbers& elements, const extents& shape) {
    return permuted(p, {"FLOAT", shape, elements}, {0, 2, 1}).elements;
}

/// The product alpha A B + beta C. Its roundings include the bounds of the rung and of NumPy's floats.
tensor product(processor& p, batch_view<const float> a, batch_view<const float> b, const numbers& c,
               const arguments& in) {
    guarded<float> of_a = p.operand(in[0].elements), of_b = p.operand(in[1].elements), of_c = p.operand(c);
    a.first.data = of_a.data();
    b.first.data = of_b.data();
    const std::int64_t m = a.first.rows, n = b.first.cols;
    const batch_view<float> to{{of_c.data(), m, n}, a.count, m * n};
    const auto on_host = [](const auto& x, const auto& y, const auto& z, const matmul_options& with) {
        if (z.count == 1) return host::matmul<float>(x.first, y.first, z.first, with.alpha, with.beta);
        host::batched_matmul<float>(x, y, z, with.alpha, with.beta);
    };
    const auto on_gpu = [](const auto& x, const auto& y, const auto& z, auto gpu, const auto& with) {
        if (z.count == 1) return matmul<float>(x.first, y.first, z.first, gpu, with);
        batched_matmul<float>(x, y, z, gpu, with);
    };
    const matmul_options options{.alpha = static_cast<float>(in.number("alpha", 1)),
                                 .beta = in.has_input(2) ? static_cast<float>(in.number("beta", 1)) : 0};
    const auto took = p.run(matmul_algorithms(element_type::f32), options, on_host, on_gpu, a, b, to);
    const shape s{m, n, a.first.cols};
    const double error = bound_of<float>(took.algorithm)(s, 0, 1) + fma_bound(s, 0, 1);
    return {"FLOAT", {m, n}, p.read(of_c), {}, error / u};
}

tensors matmul_operator(processor& p, const arguments& in) {
    const extents &a = in[0].shape, &b = in[1].shape;
    if (a.size() < 2 || a.size() != b.size() || !std::equal(a.begin(), a.end() - 2, b.begin()))
        throw inexpressible("another broadcast");
    const std::int64_t m = a.end()[-2], k = a.back(), n = b.back(), count = size_of(a) / m / k;
    const numbers c(count * m * n, NAN);
    tensor y = product(p, {{nullptr, m, k}, count, m * k}, {{nullptr, k, n}, count, k * n}, c, in);
    y.shape = a;
    y.shape.back() = n;
    return {y};
}

tensors gemm(processor& p, const arguments& in) {
    const auto view = [&](std::size_t i, const char* name) -> batch_view<const float> {
        const matrix_view<const float> m{nullptr, in[i].shape.at(0), in[i].shape.at(1)};
        return {in.flag(name) ? transposed(m) : m};
    };
    const auto a = view(0, "transA"), b = view(1, "transB");
    const std::int64_t m = a.first.rows, n = b.first.cols;
    numbers c(m * n, NAN);
    if (in.has_input(2)) {
        tensor bias = in[2];
        if (bias.shape == extents{1, n}) bias.shape = {n};
        c = add(p, {"FLOAT", {m, n}, numbers(m * n)}, bias).elements;
    }
    return {product(p, a, b, c, in)};
}

/// The shape N x C x H x W of images; images with one spatial dimension have a height of one.
extents image_shape(extents shape) {
    if (shape.size() == 3) shape.insert(shape.begin() + 2, 1);
    return shape.size() == 4 ? shape : throw inexpressible("other than two dimensions of space");
}
/// The pixels in heddle's layout, N x H x W x C.
guarded<float> pixels_of(processor& p, const tensor& x, const extents& s) {
    return p.operand(transposed_matrices(p, x.elements, {s[0], s[1], s[2] * s[3]}));
}
tensor_view<float> view_of(guarded<float>& x, const extents& s) {
    return {x.data(), s[0], s[2], s[3], s[1]};
}
tensor planes_of(processor& p, guarded<float>& y, extents s, std::size_t rank, double roundings) {
    const numbers planes = transposed_matrices(p, p.read(y), {s[0], s[2] * s[3], s[1]});
    if (rank == 3) s.erase(s.begin() + 2);
    return {"FLOAT", s, planes, {}, roundings};
}

/// A window that moves over images.
struct window {
    conv_steps taps{}, stride{}, dilation{};
    conv_padding padding{};

    window(const arguments& in, const extents& image, const extents& default_taps) {
        const auto pair = [&](const char* name, const extents& otherwise) -> conv_steps {
            const extents given = in.integers(name, otherwise);
            return given.size() == 1 ? conv_steps{1, given[0]} : conv_steps{given.at(0), given[1]};
        };
        taps = pair("kernel_shape", default_taps);
        stride = pair("strides", {1, 1});
        dilation = pair("dilations", {1, 1});
        const extents pads = in.integers("pads", {0, 0, 0, 0});
        if (pads.size() == 4) padding = {pads[0], pads[2], pads[1], pads[3]};
        if (pads.size() == 2) padding = {0, 0, pads[0], pads[1]};
        const auto along = [&](std::int64_t extent, auto step, std::int64_t& before, std::int64_t& after) {
            const std::int64_t reach = (taps.*step - 1) * (dilation.*step) + 1;
            if (in.text("auto_pad").starts_with("SAME")) {
                const std::int64_t rest = (extent - 1) % (stride.*step) + 1;
                const std::int64_t all = std::max<std::int64_t>(0, reach - rest);
                before = in.text("auto_pad") == "SAME_LOWER" ? all - all / 2 : all / 2;
                after = all - before;
            }
            // Adds one more place, if it begins in the image.
            const std::int64_t beyond = (extent + before + after - reach) % (stride.*step);
            const bool begins_inside = after + stride.*step < reach + beyond;
            if (in.flag("ceil_mode") && beyond != 0 && begins_inside) after += stride.*step - beyond;
        };
        along(image[2], &conv_steps::y, padding.top, padding.bottom);
        along(image[3], &conv_steps::x, padding.left, padding.right);
    }
};

tensors convolution(processor& p, const arguments& in) {
    if (in.has_input(2)) throw inexpressible("a bias");
    const extents image = image_shape(in[0].shape), filters = image_shape(in[1].shape);
    const window by(in, image, {filters[2], filters[3]});
    const conv_geometry geometry{by.stride, by.padding, by.dilation,
                                 static_cast<std::int64_t>(in.number("group", 1))};
    const extents s{image[0], filters[0], conv_output_height(image[2], filters[2], geometry),
                    conv_output_width(image[3], filters[3], geometry)};
    guarded<float> x = pixels_of(p, in[0], image), w = pixels_of(p, in[1], filters),
                   y = p.operand({}, size_of(s));
    p.run(
        conv_algorithms(), conv_options{.geometry = geometry},
        [](auto a, auto b, auto c, const conv_options& with) { host::conv<float>(a, b, c, with); },
        [](auto... of) { conv<float>(of...); }, view_of(x, image),
        filter_view{w.data(), filters[0], filters[2], filters[3], filters[1]}, view_of(y, s));
    const auto k = static_cast<double>(size_of(filters) / filters[0]);
    return {planes_of(p, y, s, in[0].shape.size(), 2 * (k + 4))};
}

/// An average has a rounding for each pixel, one for the quotient and one for the result.
template <bool is_global, bool is_max>
tensors pooling(processor& p, const arguments& in) {
    const extents image = image_shape(in[0].shape);
    const window by(in, image, is_global ? extents{image[2], image[3]} : extents{});
    if (by.dilation != conv_steps{}) throw inexpressible("dilated pooling");
    if (in.outputs.size() > 1) throw inexpressible("the places of the largest");
    const bool counts_padding = in.flag("count_include_pad");
    if (counts_padding && in.flag("ceil_mode")) throw inexpressible("padding that counts in part");
    const pool_options options{.mode = is_max           ? pool_mode::max
                                       : counts_padding ? pool_mode::padded_average
                                                        : pool_mode::average,
                               .geometry = {by.taps, by.stride, by.padding}};
    const extents s{image[0], image[1], pool_output_height(image[2], options.geometry),
                    pool_output_width(image[3], options.geometry)};
    guarded<float> x = pixels_of(p, in[0], image), y = p.operand({}, size_of(s));
    p.run(pool_algorithms(), options, host::pool<float>, pool<float>, view_of(x, image), view_of(y, s));
    const auto k = static_cast<double>(by.taps.y * by.taps.x);
    return {planes_of(p, y, s, in[0].shape.size(), is_max ? 0 : 2 * (k + 2))};
}

}  // namespace

/// Errors of inputs are summed as magnitudes are. Where elements are only chosen, the largest error counts.
operation summed(const operation& by) {
    return [=](processor& p, const arguments& in) {
        tensors y = by(p, in);
        const auto of_magnitudes = [&](bool with_errors) {
            tensors magnitudes(in.given.size());
            arguments again = in;
            for (std::size_t i = 0; i < in.given.size(); ++i) {
                if (!in.has_input(i)) continue;
                magnitudes[i] = in[i];
                if (in[i].type == "FLOAT" || in[i].type == "DOUBLE")
                    for (std::int64_t j = 0; j < size_of(in[i].shape); ++j) {
                        double& e = magnitudes[i].elements[j];
                        e = std::abs(e) + (with_errors ? in[i].error(j) : 0);
                    }
                magnitudes[i].errors.clear();
                again.given[i] = &magnitudes[i];
            }
            processor host;
            return by(host, again)[0].elements;
        };
        const auto is_off = [](const tensor* each) { return each != nullptr && !each->errors.empty(); };
        const bool is_inexact = std::ranges::any_of(in.given, is_off);
        const numbers sizes = of_magnitudes(false), larger = is_inexact ? of_magnitudes(true) : sizes;
        double chosen = 0;
        for (const tensor* each : in.given)
            if (is_off(each) && y[0].roundings == 0)
                chosen = std::max(chosen, std::ranges::max(each->errors));
        y[0].errors.clear();
        for (std::size_t i = 0; i < sizes.size(); ++i)
            y[0].errors.push_back(y[0].roundings == 0
                                      ? chosen
                                      : larger[i] - sizes[i] +
                                            (is_inexact ? 3 : 1) * y[0].roundings * u * larger[i]);
        return y;
    };
}

tensor product(processor& p, const tensor& x, const tensor& y) {
    static const operation by = summed(matmul_operator);
    return by(p, {{"MatMul", {}, {}, {}}, {&x, &y}})[0];
}

table layers() {
    return {
        {"AveragePool", summed(pooling<false, false>)},
        {"Conv", summed(convolution)},
        {"Gemm", summed(gemm)},
        {"GlobalAveragePool", summed(pooling<true, false>)},
        {"GlobalMaxPool", pooling<true, true>},
        {"MatMul", summed(matmul_operator)},
        {"MaxPool", pooling<false, true>},
    };
}

}  // namespace heddle::test::onnx_nodes
