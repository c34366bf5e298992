#include "tests/bounds/elementwise.hpp"
#include "tests/fuzz/operand.hpp"
#include "tests/fuzz/operations.hpp"

#include <deque>

/// Operations on each element by itself, and operations that only move elements.
namespace heddle::fuzz {
namespace {

using op = elementwise_operation;

/// The fields of the layouts of matrices with these names. All lines may be in packets: multiples of 16 elements apart.
std::vector<field> matrices_fields(std::vector<field> fields, std::initializer_list<const char*> names) {
    for (const std::string name : names)
        fields.insert(fields.end(), {{name + "_offset", 0},
                                     {name + "_padding", 0},
                                     {name + "_step", 1},
                                     {name + "_order", 0, {"rows", "columns"}}});
    const std::vector<field> more = {{"lines", 0, {"any", "in_packets"}}, {"rows"}, {"cols"}, {"seed", 0}};
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
}

lattice lattice_of(const problem& p, const std::string& name, std::int64_t rows, std::int64_t cols) {
    const bool is_column_major = p[name + "_order"] == 1;
    const std::int64_t step = p[name + "_step"];
    std::int64_t line = (is_column_major ? rows : cols) * step + p[name + "_padding"];
    if (p["lines"] == 1) line = (line + 15) / 16 * 16;
    if (is_column_major) return {{rows, cols}, {step, line}, p[name + "_offset"]};
    return {{rows, cols}, {line, step}, p[name + "_offset"]};
}

/// Matrices of users' shapes, at the edges of tiles, and with a few long lines.
void draw_matrices(drawing& d, problem& p, std::initializer_list<const char*> names, std::int64_t most) {
    p.draw_words(d);
    auto shape = draw_shape(d, 2, most);
    const std::size_t kind = d.index(4);
    if (kind == 1)
        for (std::int64_t& extent : shape)
            extent = std::max<std::int64_t>(
                d.one_of<std::int64_t>({16, 32, 64}) * d.integer(0, 8) + d.integer(-1, 1), 0);
    if (kind == 2) {
        shape[0] = d.integer(1, 65);
        shape[1] = static_cast<std::int64_t>(d.log_uniform(1, static_cast<double>(2 * most / shape[0])));
        if (d.one_in(2)) std::swap(shape[0], shape[1]);
    }
    p.set({{"rows", shape[0]}, {"cols", shape[1]}});
    // In packets, most begin at the same distance behind a multiple of 16 bytes.
    const std::int64_t offset = d.one_in(2) ? 0 : d.integer(1, 15);
    for (const std::string name : names) {
        const placement at = p["lines"] == 1 && !d.one_in(8) ? placement{.offset = offset} : d.lie(true, 8);
        p.set({{name + "_offset", at.offset},
               {name + "_padding", at.padding},
               {name + "_step", at.step},
               {name + "_order", at.column_major ? 1 : 0}});
    }
    p.set("seed", d.integer(0, 1 << 30));
}

template <class T>
bool has_same_bits(const T& a, const T& b) {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// NaNs with payloads, infinities and denormals among them.
template <class T>
std::vector<T> random_bits(std::int64_t count, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::vector<T> elements(static_cast<std::size_t>(count));
    for (T& element : elements) {
        const std::uint64_t bits = generator();
        std::memcpy(static_cast<void*>(&element), &bits, sizeof(T));
    }
    return elements;
}

// Elementwise operations.

constexpr double low = -1.5, high = 2.25, alpha = -1.25;  // exact in every type

/// Calls an operation with as many of the inputs as it has.
template <class T, class View>
void call(op operation, const View (&in)[3], const View& out, const problem& p, processor where) {
    const auto& [x, y, z] = in;
    const elementwise_options options{rung_of(p, where, elementwise_algorithms())};
    const auto with = [&](const auto& on_device, const auto& on_host, const auto&... arguments) {
        where == processor::cpu ? on_host(arguments...) : on_device(arguments..., calls(), options);
    };
    const auto unary = [&](const auto& on_device, const auto& on_host) { with(on_device, on_host, x, out); };
    if (operation == op::add) return with(add<T>, host::add<T>, x, y, out);
    if (operation == op::subtract) return with(subtract<T>, host::subtract<T>, x, y, out);
    if (operation == op::multiply) return with(multiply<T>, host::multiply<T>, x, y, out);
    if (operation == op::scale)
        return with(scale<T>, host::scale<T>, static_cast<compute_type<T>>(alpha), x, out);
    if (operation == op::axpy)
        return with(axpy<T>, host::axpy<T>, static_cast<compute_type<T>>(alpha), x, out);
    if (operation == op::fused_multiply_add)
        return with(fused_multiply_add<T>, host::fused_multiply_add<T>, x, y, z, out);
    if (operation == op::clamp)
        return with(clamp<T>, host::clamp<T>, x, static_cast<compute_type<T>>(low),
                    static_cast<compute_type<T>>(high), out);
    if (operation == op::abs) return unary(abs<T>, host::abs<T>);
    if (operation == op::exp) return unary(exp<T>, host::exp<T>);
    if (operation == op::sigmoid) return unary(sigmoid<T>, host::sigmoid<T>);
    if (operation == op::tanh) return unary(tanh<T>, host::tanh<T>);
    if (operation == op::relu) return unary(relu<T>, host::relu<T>);
    if (operation == op::gelu) return unary(gelu<T>, host::gelu<T>);
    if (operation == op::gelu_tanh) return unary(gelu_tanh<T>, host::gelu_tanh<T>);
    if (operation == op::silu) return unary(silu<T>, host::silu<T>);
    if (operation == op::sigmoid_derivative) return unary(sigmoid_derivative<T>, host::sigmoid_derivative<T>);
    if (operation == op::tanh_derivative) return unary(tanh_derivative<T>, host::tanh_derivative<T>);
    if (operation == op::relu_derivative) return unary(relu_derivative<T>, host::relu_derivative<T>);
    if (operation == op::gelu_derivative) return unary(gelu_derivative<T>, host::gelu_derivative<T>);
    if (operation == op::gelu_tanh_derivative)
        return unary(gelu_tanh_derivative<T>, host::gelu_tanh_derivative<T>);
    if (operation == op::silu_derivative) return unary(silu_derivative<T>, host::silu_derivative<T>);
}

/// Whether the result is the exact one, rounded, with the sign of a zero: the same as in the type of the arithmetic.
bool is_rounded_once(op operation) {
    return operation <= op::fused_multiply_add;
}

template <class T>
T rounded_once(op operation, T x, T y, T z) {
    using compute = compute_type<T>;
    const auto a = static_cast<compute>(x), b = static_cast<compute>(y), c = static_cast<compute>(z);
    const auto factor = static_cast<compute>(alpha);
    if (operation == op::add) return static_cast<T>(a + b);
    if (operation == op::subtract) return static_cast<T>(a - b);
    if (operation == op::multiply) return static_cast<T>(a * b);
    if (operation == op::scale) return static_cast<T>(factor * a);
    if (operation == op::axpy) return static_cast<T>(std::fma(factor, a, b));
    return static_cast<T>(std::fma(a, b, c));
}

template <class T>
bool is_right_elementwise(op operation, T actual, T x, T y, T z, processor where) {
    const bool is_fast = where != processor::cpu && sizeof(T) == 2;
    if (is_rounded_once(operation)) {
        const T right = rounded_once(operation, x, y, z);
        return has_same_bits(actual, right) ||
               (std::isnan(to_double(actual)) && std::isnan(to_double(right)));
    }
    if (operation == op::sigmoid)
        return bounds::is_sigmoid(actual, x, is_fast ? bounds::fast_functions : bounds::accurate_functions);
    const bounds::operation_accuracy accuracy{unit_roundoff<compute_type<T>>(), is_fast};
    return bounds::is_expected(actual, bounds::expect(operation, accuracy, to_double(x), low, high));
}

/// The place of "any_bits", behind the values of other operations.
const auto any_bits = static_cast<std::int64_t>(all_values.size());

template <class T>
std::vector<T> draw_inputs(const problem& p, op operation, std::int64_t count, std::uint64_t seed) {
    auto drawn =
        p["values"] == any_bits ? random_bits<T>(count, seed) : draw_values<T>(kind_of(p), count, seed);
    if (p["values"] != any_bits)
        for (T& x : drawn)
            x = static_cast<T>(static_cast<compute_type<T>>(p["range"]) * static_cast<compute_type<T>>(x));
    // Beyond this the exponential is denormal, and its error counts four times, which no bound includes.
    if (operation == op::tanh_derivative && !std::is_same_v<T, double>)
        for (T& x : drawn) {
            const double magnitude = std::abs(to_double(x));
            if (magnitude > 40 && magnitude < 1000) x = static_cast<T>(to_double(x) > 0 ? 40.0f : -40.0f);
        }
    return drawn;
}

/// An input of rows x cols. Strides of 0 broadcast one row, column or element of memory.
template <class T>
class input {
  public:
    input(const problem& p, op operation, const std::string& name, bool is_whole, std::uint64_t seed,
          processor where)
        : rows_(p["rows"]),
          cols_(p["cols"]),
          has_one_row_(!is_whole && p[name + "_shape"] % 2 == 1),
          has_one_col_(!is_whole && p[name + "_shape"] >= 2),
          stored_rows_(has_one_row_ ? std::min<std::int64_t>(rows_, 1) : rows_),
          stored_cols_(has_one_col_ ? std::min<std::int64_t>(cols_, 1) : cols_),
          elements_(draw_inputs<T>(p, operation, stored_rows_ * stored_cols_, seed)),
          memory_(where, lattice_of(p, name, stored_rows_, stored_cols_), elements_) {}

    matrix_view<T> matrix() {
        const matrix_view<T> m = memory_.matrix();
        return {m.data, rows_, cols_, has_one_row_ ? 0 : m.row_stride, has_one_col_ ? 0 : m.col_stride};
    }
    [[nodiscard]] T at(std::int64_t row, std::int64_t col) const {
        return elements_[static_cast<std::size_t>((has_one_row_ ? 0 : row) * stored_cols_ +
                                                  (has_one_col_ ? 0 : col))];
    }
    operand<T>& memory() { return memory_; }

  private:
    std::int64_t rows_, cols_;
    bool has_one_row_, has_one_col_;
    std::int64_t stored_rows_, stored_cols_;
    std::vector<T> elements_;
    operand<T> memory_;
};

template <class T>
std::string wrong_elementwise(const problem& p, processor where) {
    const op operation = elementwise_operations()[static_cast<std::size_t>(p["function"])];
    const std::int64_t rows = p["rows"], cols = p["cols"];
    const auto seed = p.seed();
    // The operand that stands for each input, and the one that the output overwrites: 3 for none.
    const std::size_t sources[] = {0, p["y_is"] == 1 ? 0U : 1U, 2};
    const std::size_t wanted = operation == op::axpy ? 1
                               : p["in_place"] == 0  ? 3
                                                     : static_cast<std::size_t>(p["in_place"] - 1);
    const std::size_t place = wanted < static_cast<std::size_t>(input_count(operation)) ? sources[wanted] : 3;
    std::deque<input<T>> inputs;
    const char* const names[] = {"x", "y", "z"};
    for (std::size_t k = 0; k < 3; ++k)
        inputs.emplace_back(p, operation, names[k], k == place, seed + k, where);
    operand<T> apart(where, lattice_of(p, "out", rows, cols));
    operand<T>& out = place < 3 ? inputs[place].memory() : apart;
    const auto input_of = [&](std::size_t k) -> input<T>& { return inputs[sources[k]]; };
    const matrix_view<T> in[] = {input_of(0).matrix(), input_of(1).matrix(), input_of(2).matrix()};
    if (p["views"] == 1 && rows == 1) {
        const auto vector = [](const matrix_view<T>& m) {
            return vector_view<T>{m.data, m.cols, m.col_stride};
        };
        call<T>(operation, {vector(in[0]), vector(in[1]), vector(in[2])}, vector(out.matrix()), p, where);
    } else {
        call<T>(operation, in, out.matrix(), p, where);
    }

    const auto results = out.read();
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; ++j) {
            const T x = input_of(0).at(i, j), y = input_of(1).at(i, j), z = input_of(2).at(i, j);
            const T actual = results[static_cast<std::size_t>(i * cols + j)];
            if (!is_right_elementwise(operation, actual, x, y, z, where))
                return fmt::format("out({}, {}) is {}, of {}, {} and {}", i, j, to_double(actual),
                                   to_double(x), to_double(y), to_double(z));
        }
    std::string changed;
    for (std::size_t k = 0; k < 3; ++k)
        if (k != place) changed += inputs[k].memory().change();
    return first_of({out.damage(), changed, place < 3 ? apart.change() : ""});
}

void draw_elementwise(drawing& d, problem& p) {
    draw_matrices(d, p, {"x", "y", "z", "out"}, d.one_in(24) ? 1 << 19 : 1 << 16);
    for (const char* const shape : {"x_shape", "y_shape", "z_shape"})
        if (d.one_in(2)) p.set(shape, 0);
    if (d.one_in(3)) p.set("values", d.integer(any_bits - 1, any_bits));  // special values, or any bits
    if (!d.one_in(8)) p.set("y_is", 0);
    if (d.one_in(2)) p.set("in_place", 0);
    p.set({{"range", d.one_of<std::int64_t>({1, 12, 40, 104, 750})}, {"views", d.one_in(4) ? 1 : 0}});
    if (p["views"] == 1) p.set("cols", p["rows"] * p["cols"]), p.set("rows", 1);
}

// Transposition.

template <class T>
std::string wrong_transpose(const problem& p, processor where) {
    const std::int64_t rows = p["rows"], cols = p["cols"];
    const auto xs = random_bits<T>(rows * cols, p.seed());
    operand<T> x(where, lattice_of(p, "x", rows, cols), xs), y(where, lattice_of(p, "y", cols, rows));
    if (where == processor::cpu)
        host::transpose<T>(x.matrix(), y.matrix());
    else
        transpose<T>(x.matrix(), y.matrix(), calls(), {rung_of(p, where, transpose_algorithms())});
    const auto ys = y.read();
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; ++j)
            if (ys[static_cast<std::size_t>(j * rows + i)] != xs[static_cast<std::size_t>(i * cols + j)])
                return fmt::format("y({}, {}) is not x({}, {})", j, i, i, j);
    return first_of({y.damage(), x.change()});
}

void draw_transpose(drawing& d, problem& p) {
    draw_matrices(d, p, {"x", "y"}, 1 << 17);
    if (!d.one_in(24)) return;
    // Enough tiles for small elements to have large ones.
    p.set({{"type", d.integer(1, 2)}, {"rows", d.integer(1500, 2600)}, {"cols", d.integer(1500, 2600)}});
}

// Planes of channels and pixels of channels.

lattice lattice_of(const problem& p, const std::string& name, std::vector<std::int64_t> extents) {
    const std::int64_t line = extents[3] + p[name + "_line"], plane = extents[2] * line + p[name + "_plane"],
                       image = extents[1] * plane + p[name + "_image"];
    return {std::move(extents), {image, plane, line, 1}, p[name + "_offset"]};
}

template <class T>
std::string wrong_planes(const problem& p, processor where) {
    const std::int64_t count = p["count"], channels = p["channels"], height = p["height"], width = p["width"],
                       area = height * width;
    const bool is_back = p["function"] == 1;
    const auto source = random_bits<T>(count * channels * area, p.seed());
    const lattice lines = lattice_of(p, "planes", {count, channels, height, width}),
                  pixels = lattice_of(p, "pixels", {count, height, width, channels});
    operand<T> from(where, is_back ? pixels : lines, source), to(where, is_back ? lines : pixels);
    operand<T>&of_planes = is_back ? to : from, &of_pixels = is_back ? from : to;
    const planes_view<T> planes{of_planes.data(), count,           channels, height, width, lines.strides[2],
                                lines.strides[1], lines.strides[0]};
    if (where == processor::cpu)
        is_back ? host::to_nchw<T>(of_pixels.tensor(), planes) : host::to_nhwc<T>(planes, of_pixels.tensor());
    else
        is_back ? to_nchw<T>(of_pixels.tensor(), planes, calls())
                : to_nhwc<T>(planes, of_pixels.tensor(), calls());
    const auto results = to.read();
    for (std::int64_t n = 0; n < count; ++n)
        for (std::int64_t c = 0; c < channels; ++c)
            for (std::int64_t i = 0; i < area; ++i) {
                const auto of_plane = static_cast<std::size_t>((n * channels + c) * area + i),
                           of_pixel = static_cast<std::size_t>((n * area + i) * channels + c);
                if (!has_same_bits(results[is_back ? of_plane : of_pixel],
                                   source[is_back ? of_pixel : of_plane]))
                    return fmt::format("pixel {} of image {}, channel {} is another", i, n, c);
            }
    return first_of({to.damage(), from.change()});
}

void draw_planes(drawing& d, problem& p) {
    p.draw_words(d);
    const bool has_many_images = d.one_in(12);
    auto shape = draw_shape(d, 3, has_many_images ? 8 : 1 << 16);
    for (std::int64_t& extent : shape)
        if (d.one_in(5)) extent = 1;
    if (d.one_in(3) && !has_many_images)
        shape[0] = std::min(shape[0], 16 * d.integer(1, 9) + d.integer(-1, 1));
    p.set(
        {{"count", has_many_images ? static_cast<std::int64_t>(d.log_uniform(1000, 70001)) : d.integer(1, 4)},
         {"channels", shape[0]},
         {"height", shape[1]},
         {"width", shape[2]}});
    for (const std::string name : {"planes", "pixels"}) {
        if (d.one_in(2)) continue;
        p.set(name + "_offset", d.one_in(2) ? d.integer(1, 8) : 0);
        for (const char* const gap : {"_line", "_plane", "_image"})
            p.set(name + gap, d.one_in(2) ? d.one_of<std::int64_t>({1, 2, 3, 8, 16}) : 0);
    }
    p.set("seed", d.integer(0, 1 << 30));
}

std::vector<std::string_view> names_of_operations() {
    std::vector<std::string_view> names;
    for (const op each : elementwise_operations()) names.push_back(to_string(each));
    return names;
}

std::vector<field> elementwise_fields() {
    auto all = all_values;
    all.emplace_back("any_bits");
    std::vector<field> fields = {{"type", 0, floating_types},
                                 {"function", 0, names_of_operations()},
                                 {"values", 0, all},
                                 {"rung", 0, rung_words(elementwise_algorithms())},
                                 {"views", 0, {"matrices", "vectors"}},
                                 {"in_place", 0, {"no", "of_x", "of_y", "of_z"}},
                                 {"y_is", 0, {"y", "x"}}};
    for (const char* const shape : {"x_shape", "y_shape", "z_shape"})
        fields.push_back({shape, 0, {"matrix", "row", "column", "element"}});
    fields.push_back({"range", 1});
    return matrices_fields(std::move(fields), {"x", "y", "z", "out"});
}

std::vector<field> planes_fields() {
    std::vector<field> fields = {{"type", 0, single_types},
                                 {"function", 0, {"to_nhwc", "to_nchw"}},
                                 {"count"},
                                 {"channels"},
                                 {"height"},
                                 {"width"}};
    for (const std::string name : {"planes", "pixels"})
        for (const char* const gap : {"_offset", "_line", "_plane", "_image"})
            fields.push_back({name + gap, 0});
    fields.push_back({"seed", 0});
    return fields;
}

}  // namespace

operation elementwise_cases() {
    return {"elementwise", elementwise_fields(), draw_elementwise,
            [](const problem& p, processor where) {
                if (p["type"] == 1) return wrong_elementwise<double>(p, where);
                return with_single<std::string>(std::max<std::int64_t>(p["type"] - 1, 0),
                                                [&]<class T>() { return wrong_elementwise<T>(p, where); });
            },
            4};
}

operation transpose_cases() {
    return {"transpose",
            matrices_fields(
                {{"type", 0, {"u32", "u8", "u16", "u64"}}, {"rung", 0, rung_words(transpose_algorithms())}},
                {"x", "y"}),
            draw_transpose, [](const problem& p, processor where) {
                if (p["type"] == 0) return wrong_transpose<std::uint32_t>(p, where);
                if (p["type"] == 1) return wrong_transpose<std::uint8_t>(p, where);
                if (p["type"] == 2) return wrong_transpose<std::uint16_t>(p, where);
                return wrong_transpose<std::uint64_t>(p, where);
            }};
}

operation planes_cases() {
    return {"planes", planes_fields(), draw_planes,
            of_single_type<[]<class T>(auto&... a) { return wrong_planes<T>(a...); }>};
}

}  // namespace heddle::fuzz
