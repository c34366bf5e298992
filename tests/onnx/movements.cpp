#include "tests/onnx/nodes.hpp"

namespace heddle::test::onnx_nodes {
namespace {

/// Elements `step` apart that are to become contiguous: `count` in each of `rows` rows.
struct run {
    std::int64_t from, to, step = 1, cols = 1, rows = 1;
    std::int64_t row_step = 0, to_step = 0;  ///< distances between rows, in the source and the result

    bool takes_column(std::int64_t next_from, std::int64_t next_to) {
        const std::int64_t way = next_from - from - (cols - 1) * step;
        if (next_to != to + cols || way <= 0 || (cols > 1 && way != step)) return false;
        step = way;
        ++cols;
        return true;
    }
    /// Whether rows are apart from each other, or from the next column.
    bool takes_row(const run& next) {
        const std::int64_t way = next.from - from - (rows - 1) * row_step;
        const std::int64_t to_way = next.to - to - (rows - 1) * to_step;
        const bool is_apart = way >= cols * step || (way > 0 && (rows + 1) * way <= step);
        if (next.cols != cols || (cols > 1 && next.step != step) || !is_apart || to_way < cols) return false;
        if (rows > 1 && (way != row_step || to_way != to_step)) return false;
        row_step = way;
        to_step = to_way;
        ++rows;
        return true;
    }
};

/// Rows as long as possible. Each goes to one of the last few matrices that it fits, or to a new one.
std::vector<run> runs_of(const std::vector<std::int64_t>& from) {
    std::vector<run> lines, all;
    for (std::int64_t i = 0; i < std::ssize(from); ++i)
        if (from[i] >= 0 && (lines.empty() || !lines.back().takes_column(from[i], i)))
            lines.push_back({from[i], i});
    for (const run& each : lines) {
        const auto last = all.rbegin() + std::min<std::int64_t>(std::ssize(all), 8);
        if (std::none_of(all.rbegin(), last, [&](run& one) { return one.takes_row(each); }))
            all.push_back(each);
    }
    for (run& each : all)
        if (each.rows == 1) {
            each.row_step = each.cols * each.step;
            each.to_step = each.cols;
        }
    if (all.empty()) all.push_back({0, 0, 1, 0, 1, 1, 1});
    return all;
}

template <class T>
numbers copied(processor& p, const numbers& from, const std::vector<run>& runs, const numbers& to) {
    guarded<T> x = p.operand<T>(from), y = p.operand<T>(to);
    for (const run& each : runs)
        p.run(transpose_algorithms(), transpose_options(), host::transpose<T>, heddle::transpose<T>,
              matrix_view{x.data() + each.from, each.cols, each.rows, each.step, each.row_step},
              matrix_view{y.data() + each.to, each.rows, each.cols, each.to_step});
    return p.read(y);
}

tensors reshape(processor& p, const arguments& in) {
    extents shape = in.integers("shape", {}, 1);
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (shape[i] == 0 && !in.flag("allowzero")) shape[i] = in[0].shape.at(i);
    const std::int64_t known = -size_of(shape);
    for (std::int64_t& each : shape)
        if (each == -1) each = size_of(in[0].shape) / known;
    return {reshaped(p, in[0], shape)};
}

tensors flatten(processor& p, const arguments& in) {
    const auto begin = in[0].shape.begin(), middle = begin + in.dimension(in.number("axis", 1));
    return {reshaped(p, in[0], {size_of({begin, middle}), size_of({middle, in[0].shape.end()})})};
}

tensors squeeze(processor& p, const arguments& in) {
    extents shape = in[0].shape;
    for (const std::int64_t each : in.integers("axes", {}, 1))
        shape.at(in.dimension(static_cast<double>(each))) = 0;
    if (shape == in[0].shape) std::ranges::replace(shape, 1, 0);
    std::erase(shape, 0);
    return {reshaped(p, in[0], shape)};
}

tensors unsqueeze(processor& p, const arguments& in) {
    extents axes = in.integers("axes", {}, 1), shape = in[0].shape;
    for (std::int64_t& each : axes) each += each < 0 ? std::ssize(shape) + std::ssize(axes) : 0;
    std::ranges::sort(axes);
    for (const std::int64_t each : axes) shape.insert(shape.begin() + each, 1);
    return {reshaped(p, in[0], shape)};
}

tensors concatenation(processor& p, const arguments& in) {
    const std::int64_t axis = in.dimension(in.number("axis", 0));
    extents shape = in[0].shape;
    shape.at(axis) = 0;
    for (const tensor* each : in.given) shape[axis] += each->shape.at(axis);
    return {moved(p, in.given, shape, [&](extents at) {
        std::int64_t before = 0;
        for (const tensor* each : in.given) {
            if (at[axis] < each->shape[axis]) return before + offset_of(at, each->shape);
            at[axis] -= each->shape[axis];
            before += size_of(each->shape);
        }
        throw std::logic_error("beyond all inputs");
    })};
}

tensors split(processor& p, const arguments& in) {
    const std::int64_t axis = in.dimension(in.number("axis", 0)), count = std::ssize(in.outputs);
    const std::int64_t extent = in[0].shape.at(axis);
    std::int64_t first = 0;
    tensors parts;
    extents equal(count, (extent + count - 1) / count);
    if (count > 0) equal.back() = extent - (count - 1) * equal[0];
    for (const std::int64_t each : in.integers("split", equal, 1)) {
        extents shape = in[0].shape;
        shape[axis] = each;
        parts.push_back(moved(p, {&in[0]}, shape, [&](extents at) {
            at[axis] += first;
            return offset_of(at, in[0].shape);
        }));
        first += each;
    }
    return parts;
}

tensors slice(processor& p, const arguments& in) {
    extents shape = in[0].shape, first(shape.size()), step(shape.size(), 1), all(shape.size());
    std::iota(all.begin(), all.end(), 0);
    const extents starts = in.integers("starts", {}, 1), ends = in.integers("ends", {}, 2),
                  axes = in.integers("axes", all, 3), steps = in.integers("steps", {}, 4);
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::int64_t axis = in.dimension(static_cast<double>(axes.at(i))),
                           extent = in[0].shape.at(axis);
        step[axis] = steps.empty() ? 1 : steps.at(i);
        const bool is_back = step[axis] < 0;
        const auto within = [&](std::int64_t at) {
            if (at < 0) at += extent;
            return is_back ? std::clamp<std::int64_t>(at, -1, extent - 1)
                           : std::clamp<std::int64_t>(at, 0, extent);
        };
        first[axis] = within(starts[i]);
        const std::int64_t way = within(ends.at(i)) - first[axis];
        shape[axis] = std::max<std::int64_t>(0, (way + step[axis] - (is_back ? -1 : 1)) / step[axis]);
    }
    return {moved(p, {&in[0]}, shape, [&](extents at) {
        for (std::size_t i = 0; i < at.size(); ++i) at[i] = first[i] + at[i] * step[i];
        return offset_of(at, in[0].shape);
    })};
}

tensors expand(processor& p, const arguments& in) {
    return {expanded(p, in[0], joint_shape(in[0].shape, in.integers("shape", {}, 1)))};
}

tensors tile(processor& p, const arguments& in) {
    const extents repeats = in.integers("repeats", {}, 1);
    extents shape = in[0].shape;
    for (std::size_t i = 0; i < shape.size(); ++i) shape[i] *= repeats.at(i);
    return {moved(p, {&in[0]}, shape, [&](extents at) {
        for (std::size_t i = 0; i < at.size(); ++i) at[i] %= in[0].shape[i];
        return offset_of(at, in[0].shape);
    })};
}

tensors pad(processor& p, const arguments& in) {
    const extents pads = in.integers("pads", {}, 1), &from = in[0].shape;
    const std::string mode = in.text("mode");
    if (in.has_input(3) || mode == "wrap") throw inexpressible("other padding");
    extents shape = from;
    for (std::size_t i = 0; i < shape.size(); ++i) shape[i] += pads.at(i) + pads.at(i + shape.size());
    const auto place_of = [&](extents at) -> std::int64_t {
        for (std::size_t i = 0; i < at.size(); ++i) {
            at[i] -= pads[i];
            const std::int64_t last = from[i] - 1, inside = std::clamp<std::int64_t>(at[i], 0, last);
            if (at[i] != inside && mode == "constant") return -1;
            at[i] = mode == "edge" ? inside : 2 * inside - at[i];
        }
        return offset_of(at, from);
    };
    return {moved(p, {&in[0]}, shape, place_of, in.has_input(2) ? in[2].elements.at(0) : 0)};
}

/// Blocks of pixels become dimensions of their own, in another order.
tensors depth_to_space(processor& p, const arguments& in) {
    const extents& s = in[0].shape;
    const auto b = static_cast<std::int64_t>(in.number("blocksize", 1));
    const bool is_column_first = in.text("mode") == "CRD";
    const std::int64_t depth = s.at(1) / b / b;
    const extents blocks = is_column_first ? extents{s[0], depth, b, b, s.at(2), s.at(3)}
                                           : extents{s[0], b, b, depth, s.at(2), s.at(3)};
    const extents order = is_column_first ? extents{0, 1, 4, 2, 5, 3} : extents{0, 3, 4, 1, 5, 2};
    tensor x = in[0];
    x.shape = blocks;
    return {reshaped(p, permuted(p, x, order), {s[0], depth, s[2] * b, s[3] * b})};
}
tensors space_to_depth(processor& p, const arguments& in) {
    const extents& s = in[0].shape;
    const auto b = static_cast<std::int64_t>(in.number("blocksize", 1));
    tensor x = in[0];
    x.shape = {s.at(0), s.at(1), s.at(2) / b, b, s.at(3) / b, b};
    return {reshaped(p, permuted(p, x, {0, 3, 5, 1, 2, 4}), {s[0], s[1] * b * b, s[2] / b, s[3] / b})};
}

tensors triangle(processor& p, const arguments& in) {
    const bool is_upper = in.flag("upper", true);
    const std::int64_t k = in.has_input(1) ? static_cast<std::int64_t>(in[1].elements.at(0)) : 0;
    return {moved(p, {&in[0]}, in[0].shape, [&](const extents& at) -> std::int64_t {
        const std::int64_t beyond = at.back() - at.end()[-2] - k;
        return (is_upper ? beyond >= 0 : beyond <= 0) ? offset_of(at, in[0].shape) : -1;
    })};
}

tensors transposition(processor& p, const arguments& in) {
    extents order = in.integers("perm", {});
    for (std::int64_t i = std::ssize(in[0].shape); order.size() < in[0].shape.size();) order.push_back(--i);
    return {permuted(p, in[0], order)};
}

tensors identity(processor& p, const arguments& in) {
    if (in.outputs.size() > 1) throw inexpressible("a mask");
    return {reshaped(p, in[0], in[0].shape)};
}

}  // namespace

tensor moved(processor& p, const std::vector<const tensor*>& from, const extents& shape,
             const places& place_of, double fill) {
    std::vector<std::int64_t> place;
    extents at(shape.size());
    for (std::int64_t i = 0; i < size_of(shape); ++i) {
        std::int64_t rest = i;
        for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) at[d] = rest % shape[d];
        place.push_back(place_of(at));
    }
    numbers elements, errors;
    for (const tensor* each : from) {
        elements.insert(elements.end(), each->elements.begin(), each->elements.end());
        for (std::int64_t i = 0; i < std::ssize(each->elements); ++i) errors.push_back(each->error(i));
    }
    const bool is_inexact =
        std::ranges::any_of(from, [](const tensor* each) { return !each->errors.empty(); });
    tensor y{from.at(0)->type, shape, numbers(place.size(), fill)};
    for (const std::int64_t each : place)
        if (is_inexact) y.errors.push_back(each < 0 ? 0 : errors.at(each));
    const std::vector<run> runs = runs_of(place);
    const auto as = [&]<class T>(T) { y.elements = copied<T>(p, elements, runs, y.elements); };
    if (y.type == "FLOAT")
        as(float());
    else if (y.type == "DOUBLE")
        as(double());
    else if (y.type == "FLOAT16")
        as(half());
    else if (y.type == "INT32")
        as(std::int32_t());
    else if (y.type == "INT64")
        as(std::int64_t());
    else
        throw inexpressible("type " + y.type);
    return y;
}

tensor reshaped(processor& p, const tensor& x, const extents& shape) {
    if (size_of(shape) != size_of(x.shape)) throw std::logic_error("another size");
    return moved(p, {&x}, shape, [&](const extents& at) { return offset_of(at, shape); });
}

tensor permuted(processor& p, const tensor& x, const extents& order) {
    extents shape;
    for (const std::int64_t each : order) shape.push_back(x.shape.at(each));
    return moved(p, {&x}, shape, [&](const extents& at) {
        extents from(at.size());
        for (std::size_t i = 0; i < at.size(); ++i) from[order[i]] = at[i];
        return offset_of(from, x.shape);
    });
}

extents joint_shape(const extents& x, const extents& y) {
    const std::size_t rank = std::max(x.size(), y.size());
    extents shape(rank, 1);
    for (const extents& each : {x, y})
        for (std::size_t i = 0; i < each.size(); ++i)
            if (each[i] != 1) shape[rank - each.size() + i] = each[i];
    return shape;
}

tensor expanded(processor& p, const tensor& x, const extents& shape) {
    if (x.shape == shape) return x;
    return moved(p, {&x}, shape, [&](const extents& at) {
        extents from(at.end() - std::ssize(x.shape), at.end());
        for (std::size_t i = 0; i < from.size(); ++i)
            if (x.shape[i] == 1) from[i] = 0;
        return offset_of(from, x.shape);
    });
}

table movements() {
    return {
        {"Concat", concatenation},
        {"DepthToSpace", depth_to_space},
        {"Expand", expand},
        {"Flatten", flatten},
        {"Identity", identity},
        {"Pad", pad},
        {"Reshape", reshape},
        {"Slice", slice},
        {"SpaceToDepth", space_to_depth},
        {"Split", split},
        {"Squeeze", squeeze},
        {"Tile", tile},
        {"Transpose", transposition},
        {"Trilu", triangle},
        {"Unsqueeze", unsqueeze},
    };
}

table shape_operators() {
    const auto constant = [](processor&, const arguments& in) {
        if (in.has("value")) return tensors{in.attributes.at("value").value.counted()};
        if (!in.has("value_float")) throw inexpressible("another constant");
        return tensors{scalar(in.number("value_float", 0)).counted()};
    };
    const auto shape = [](processor&, const arguments& in) {
        const extents& s = in[0].shape;
        return tensors{{"INT64", {std::ssize(s)}, {s.begin(), s.end()}}};
    };
    const auto size = [](processor&, const arguments& in) {
        return tensors{{"INT64", {}, {static_cast<double>(size_of(in[0].shape))}}};
    };
    const auto constant_of_shape = [](processor&, const arguments& in) {
        const extents s(in[0].elements.begin(), in[0].elements.end());
        const tensor value = in.has("value") ? in.attributes.at("value").value : scalar(0);
        return tensors{{value.type, s, numbers(size_of(s), value.elements.at(0))}};
    };
    const auto cast = [](processor&, const arguments& in) {
        if (in[0].type != "FLOAT" || in.number("to", 0) != 1) throw inexpressible("another type");
        return tensors{in[0]};
    };
    return {
        {"Cast", cast},
        {"Constant", constant},
        {"ConstantOfShape", constant_of_shape},
        {"Shape", shape},
        {"Size", size},
        {"Neg",
         [](processor& p, const arguments& in) {
             if (in[0].type != "INT64") return operator_named("Neg")(p, in);
             tensor y = in[0];
             for (double& e : y.elements) e = -e;
             return tensors{y};
         }},
        {"Sub",
         [](processor& p, const arguments& in) {
             if (in[0].type != "INT64") return operator_named("Sub")(p, in);
             if (in[0].elements.size() != 1) throw inexpressible("arithmetic of shapes");
             tensor y = in[1];
             for (double& e : y.elements) e = in[0].elements.at(0) - e;
             return tensors{y};
         }},
    };
}

}  // namespace heddle::test::onnx_nodes
