#include "tests/support/headers.hpp"
#include "tests/support/recording_runtime.hpp"

// Arguments that operations on vectors and matrices refuse alike. They are checked before anything is enqueued, so no
// device is needed.
namespace heddle::test {
namespace {

enum class use {
    input,
    broadcast,  ///< an input whose strides may be 0
    output,     ///< apart from all inputs
    in_place    ///< an output that may be an input of its shape
};
using enum use;

/// An operand of a call. Extents with the same letter are equal. A vector has no rows.
struct operand {
    std::string name;
    char rows, cols;
    std::string rows_fit;  ///< what an error expects of the rows; empty where others fit to this operand
    std::string cols_fit;  ///< the same of the columns, or of a vector's size
    use kind;

    bool is_vector() const { return rows == 0; }
    bool is_written() const { return kind == output || kind == in_place; }
};

/// A matrix of m x n, whose extents are those of the operand `like`.
operand matrix(const std::string& name, const std::string& like = {}, use kind = input) {
    if (like.empty()) return {name, 'm', 'n', "", "", kind};
    return {name, 'm', 'n', "{} (" + like + ".rows)", "{} (" + like + ".cols)", kind};
}
operand vector(const std::string& name, char size, const std::string& fit = {}, use kind = input) {
    return {name, 0, size, "", fit, kind};
}

/// An operand's view. Elements of four bytes have any type.
struct view {
    float* data;
    std::int64_t rows, cols, row_stride, col_stride = 1;

    bool operator==(const view&) const = default;
};

/// The enumerator with this name among any rungs. It is 99 where no rung has the name.
struct any_rung {
    std::string name = "automatic";
    template <class Algorithm>
    operator Algorithm() const {
        for (int i = 0; i < 99; ++i)
            if (to_string(static_cast<Algorithm>(i)) == name) return static_cast<Algorithm>(i);
        return static_cast<Algorithm>(99);
    }
};

/// The arguments of a call. They are its options too.
struct arguments {
    std::vector<view> views;
    any_rung rung;
    std::span<std::byte> workspace;

    template <class Options>
    operator Options() const {
        Options options;
        options.algorithm = rung;
        if constexpr (requires { options.workspace; }) options.workspace = workspace;
        return options;
    }

    matrix_view<float> m(std::size_t i) const {
        const view& v = views[i];
        return {v.data, v.rows, v.cols, v.row_stride, v.col_stride};
    }
    template <class T = float>
    vector_view<T> v(std::size_t i) const {
        return {reinterpret_cast<T*>(views[i].data), views[i].cols, views[i].col_stride};
    }
};
using call = std::function<void(const arguments&)>;
using args = const arguments&;

struct operation {
    std::string name;
    std::vector<operand> operands;
    std::string algorithms;  ///< the enumeration of its rungs
    call on_gpu, on_host;
    /// The extents without which a call has nothing to do.
    std::string may_be_0 = "mn";
    /// What an output overlaps, by the error's words. It is empty where the error has the output's address.
    std::string apart_from = "an operand";
};

std::vector<operation> operations() {
    const cuda::stream_ref s = no_stream;
    std::vector<operation> all;
    const auto add = [&](const auto&... of) { all.push_back({of...}); };
    std::string rungs = "elementwise_algorithm";
    add(
        "add",
        std::vector{matrix("x", "z", broadcast), matrix("y", "z", broadcast), matrix("z", "", in_place)},
        rungs, [=](args a) { heddle::add<float>(a.m(0), a.m(1), a.m(2), s, a); },
        [](args a) { host::add<float>(a.m(0), a.m(1), a.m(2)); });
    add(
        "sigmoid", std::vector{vector("x", 'n', "{} (y.size)", broadcast), vector("y", 'n', "", in_place)},
        rungs, [=](args a) { sigmoid<float>(a.v(0), a.v(1), s, a); },
        [](args a) { host::sigmoid<float>(a.v(0), a.v(1)); }, "n");

    rungs = "random_algorithm";
    const std::vector unary_vectors{vector("x", 'n', "{} (y.size)"), vector("y", 'n', "", in_place)};
    add(
        "dropout", unary_vectors, rungs, [=](args a) { dropout<float>(a.v(0), a.v(1), 0.5, {}, s, a); },
        [](args a) { host::dropout<float>(a.v(0), a.v(1), 0.5, {}); }, "n");
    add(
        "dropout_gradient", std::vector{matrix("dy", "dx"), matrix("dx", "", in_place)}, rungs,
        [=](args a) { dropout_gradient<float>(a.m(0), a.m(1), 0.5, {}, s, a); },
        [](args a) { host::dropout_gradient<float>(a.m(0), a.m(1), 0.5, {}); });
    add(
        "random_permutation", std::vector{vector("y", 'n', "", output)}, "",
        [=](args a) { random_permutation(a.v<std::int32_t>(0), {}, s); },
        [](args a) { host::random_permutation(a.v<std::int32_t>(0), {}); }, "n");

    add(
        "random_uniform", std::vector{matrix("y", "", output)}, rungs,
        [=](args a) { random_uniform<float>(a.m(0), 0, 1, {}, s, a); },
        [](args a) { host::random_uniform<float>(a.m(0), 0, 1, {}); });

    rungs = "softmax_algorithm";
    const std::vector unary{matrix("x", "y"), matrix("y", "", in_place)};
    add(
        "softmax", unary, rungs, [=](args a) { softmax<float>(a.m(0), a.m(1), s, a); },
        [](args a) { host::softmax<float>(a.m(0), a.m(1)); });
    add(
        "log_softmax", unary, rungs, [=](args a) { log_softmax<float>(a.m(0), a.m(1), s, a); },
        [](args a) { host::log_softmax<float>(a.m(0), a.m(1)); });
    rungs = "softmax_gradient_algorithm";
    const std::vector binary{matrix("y", "dx"), matrix("dy", "dx"), matrix("dx", "", in_place)};
    add(
        "softmax_gradient", binary, rungs,
        [=](args a) { softmax_gradient<float>(a.m(0), a.m(1), a.m(2), s, a); },
        [](args a) { host::softmax_gradient<float>(a.m(0), a.m(1), a.m(2)); });
    add(
        "log_softmax_gradient", binary, rungs,
        [=](args a) { log_softmax_gradient<float>(a.m(0), a.m(1), a.m(2), s, a); },
        [](args a) { host::log_softmax_gradient<float>(a.m(0), a.m(1), a.m(2)); });

    rungs = "norm_algorithm";
    const auto parameter = [](const char* name, const char* like, use kind = input) {
        return vector(name, 'n', std::string("0 or {} (") + like + ".cols)", kind);
    };
    add(
        "layer_norm", std::vector{unary[0], parameter("gamma", "y"), parameter("beta", "y"), unary[1]}, rungs,
        [=](args a) { layer_norm<float>(a.m(0), a.v(1), a.v(2), a.m(3), s, a); },
        [](args a) { host::layer_norm<float>(a.m(0), a.v(1), a.v(2), a.m(3)); }, "mn", "a parameter");
    add(
        "rms_norm", std::vector{unary[0], parameter("gamma", "y"), unary[1]}, rungs,
        [=](args a) { rms_norm<float>(a.m(0), a.v(1), a.m(2), s, a); },
        [](args a) { host::rms_norm<float>(a.m(0), a.v(1), a.m(2)); }, "mn", "a parameter");
    rungs = "norm_gradient_algorithm";
    std::vector gradients{matrix("x"), parameter("gamma", "x"), matrix("dy", "x"),
                          matrix("dx", "x", in_place)};
    add(
        "rms_norm_gradient", gradients, rungs,
        [=](args a) { rms_norm_gradient<float>(a.m(0), a.v(1), a.m(2), a.m(3), {}, s, a); },
        [](args a) { host::rms_norm_gradient<float>(a.m(0), a.v(1), a.m(2), a.m(3), {}); }, "mn", "another");
    for (const char* const sums : {"dgamma", "dbeta"}) gradients.push_back(parameter(sums, "x", output));
    add(
        "layer_norm_gradient", gradients, rungs,
        [=](args a) { layer_norm_gradient<float>(a.m(0), a.v(1), a.m(2), a.m(3), a.v(4), a.v(5), s, a); },
        [](args a) { host::layer_norm_gradient<float>(a.m(0), a.v(1), a.m(2), a.m(3), a.v(4), a.v(5)); }, "n",
        "another");

    rungs = "loss_algorithm";
    const operand gradient = matrix("gradient", "", in_place);
    const auto each_row = [](const char* name, const char* like, use kind = input) {
        return vector(name, 'm', std::string("{} (") + like + ".rows)", kind);
    };
    using integer = std::int32_t;
    add(
        "cross_entropy",
        std::vector{matrix("logits", "gradient"), each_row("labels", "logits"), gradient,
                    each_row("loss", "logits", output)},
        rungs, [=](args a) { cross_entropy<float>(a.m(0), a.v<integer>(1), a.v(3), a.m(2), s, a); },
        [](args a) { host::cross_entropy<float>(a.m(0), a.v<integer>(1), a.v(3), a.m(2)); });
    add(
        "mean_squared_error",
        std::vector{matrix("prediction"), matrix("target", "prediction"), gradient,
                    each_row("loss", "prediction", output)},
        rungs, [=](args a) { mean_squared_error<float>(a.m(0), a.m(1), a.v(3), a.m(2), s, a); },
        [](args a) { host::mean_squared_error<float>(a.m(0), a.m(1), a.v(3), a.m(2)); });
    add(
        "label_hits",
        std::vector{matrix("scores"), each_row("labels", "scores"), each_row("hits", "scores", output)}, "",
        [=](args a) { label_hits<float>(a.m(0), a.v<integer>(1), a.v<integer>(2), s); },
        [](args a) { host::label_hits<float>(a.m(0), a.v<integer>(1), a.v<integer>(2)); }, "m");

    const operand x{"x", 'm', 'k', "", "", input}, weights{"weights", 'n', 'k', "", "{} (x.cols)", input};
    const auto layer = [](const char* name, use kind) {
        return operand{name, 'm', 'n', "{} (x.rows)", "{} (weights.rows)", kind};
    };
    const auto bias = [](const char* name, use kind) {
        return vector(name, 'n', "{} (weights.rows), or 0", kind);
    };
    add(
        "linear", std::vector{x, weights, bias("bias", input), layer("y", output)}, "matmul_algorithm",
        [=](args a) { linear<float>(a.m(0), a.m(1), a.v(2), a.m(3), s, a); },
        [](args a) { host::linear<float>(a.m(0), a.m(1), a.v(2), a.m(3)); });
    add(
        "linear_gradient",
        std::vector{x,
                    weights,
                    layer("gradient", input),
                    {"dx", 'm', 'k', "{} (x.rows)", "{} (x.cols)", output},
                    {"dweights", 'n', 'k', "{} (weights.rows)", "{} (weights.cols)", output},
                    bias("dbias", output)},
        "linear_gradient_algorithm",
        [=](args a) { linear_gradient<float>(a.m(0), a.m(1), a.m(2), a.m(3), a.m(4), a.v(5), s, a); },
        [](args a) { host::linear_gradient<float>(a.m(0), a.m(1), a.m(2), a.m(3), a.m(4), a.v(5)); }, "");
    const operand turned{"destination", 'n', 'm', "{} (source.cols)", "{} (source.rows)", output};
    add(
        "transpose", std::vector{matrix("source"), turned}, "transpose_algorithm",
        [=](args a) { transpose<float>(a.m(0), a.m(1), s, a); },
        [](args a) { host::transpose<float>(a.m(0), a.m(1)); }, "mn", "source");

    rungs = "matrix_reduce_algorithm";
    add(
        "row_sum", std::vector{matrix("x"), each_row("y", "x", output)}, rungs,
        [=](args a) { row_sum<float>(a.m(0), a.v(1), s, a); },
        [](args a) { host::row_sum<float>(a.m(0), a.v(1)); }, "", "");
    add(
        "column_max", std::vector{matrix("x"), vector("y", 'n', "{} (x.cols)", output)}, rungs,
        [=](args a) { column_max<float>(a.m(0), a.v(1), s, a); },
        [](args a) { host::column_max<float>(a.m(0), a.v(1)); }, "", "");

    add(
        "inclusive_scan", unary_vectors, "scan_algorithm",
        [=](args a) { inclusive_scan<float>(a.v(0), a.v(1), s, a); },
        [](args a) { host::inclusive_scan<float>(a.v(0), a.v(1)); }, "n", "x");
    add(
        "exclusive_scan", unary_vectors, "scan_algorithm",
        [=](args a) { exclusive_scan<float>(a.v(0), a.v(1), s, a); },
        [](args a) { host::exclusive_scan<float>(a.v(0), a.v(1)); }, "n", "x");

    static float result;
    rungs = "reduce_algorithm";
    const std::vector one{vector("x", 'n')}, two{one[0], vector("y", 'n', "{} (x.size)")};
    add(
        "sum", one, rungs, [=](args a) { sum<float>(a.v(0), &result, s, a); },
        [](args a) { (void)host::sum<float>(a.v(0)); }, "");
    add(
        "min", one, rungs, [=](args a) { min<float>(a.v(0), &result, s, a); },
        [](args a) { (void)host::min<float>(a.v(0)); }, "");
    add(
        "max", one, rungs, [=](args a) { max<float>(a.v(0), &result, s, a); },
        [](args a) { (void)host::max<float>(a.v(0)); }, "");
    add(
        "dot", two, rungs, [=](args a) { dot<float>(a.v(0), a.v(1), &result, s, a); },
        [](args a) { (void)host::dot<float>(a.v(0), a.v(1)); }, "");
    return all;
}

void PrintTo(const operation& of, std::ostream* out) {
    *out << of.name;
}

constexpr std::int64_t room = 256;  ///< elements from an operand to the next

std::int64_t extent_of(char letter) {
    return letter == 'm' ? 4 : letter == 'n' ? 6 : 3;
}

/// The arguments of a call that is right, in this memory. Extents with the letter `empty` are 0, and data without
/// elements are null.
arguments arguments_in(float* memory, const std::vector<operand>& operands, char empty = ' ') {
    arguments all;
    for (const operand& each : operands) {
        const auto extent = [=](char letter) { return letter == empty ? 0 : extent_of(letter); };
        const std::int64_t rows = each.is_vector() ? 1 : extent(each.rows), cols = extent(each.cols);
        all.views.push_back({rows * cols == 0 ? nullptr : memory, rows, cols, cols});
        memory += room;
    }
    return all;
}

class arguments_of : public testing::TestWithParam<operation> {
  protected:
    arguments valid(char empty = ' ') { return arguments_in(memory_.data(), operands, empty); }

    /// The call is refused with this text, on the GPU and on the CPU, and writes nothing.
    void refuses(const std::string& text, const arguments& wrong, bool on_host = true) {
        const std::vector<float> before = memory_;
        recording_runtime::instance() = {};
        expect_error(GetParam().name + ": " + text, [&] { GetParam().on_gpu(wrong); });
        EXPECT_TRUE(recording_runtime::instance().calls.empty());
        if (on_host)
            expect_error("host::" + GetParam().name + ": " + text, [&] { GetParam().on_host(wrong); });
        EXPECT_EQ(memory_, before);
    }
    template <class T>
    void refuses(const std::string& text, std::size_t i, T view::*member, T value) {
        arguments all = valid();
        all.views[i].*member = value;
        refuses(text, all);
    }

    const std::vector<operand> operands = GetParam().operands;

  private:
    std::vector<float> memory_ = std::vector<float>(8 * room);
};

INSTANTIATE_TEST_SUITE_P(all, arguments_of, testing::ValuesIn(operations()),
                         [](const auto& each) { return each.param.name; });

TEST_P(arguments_of, have_extents_that_fit) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto check = [&](const char* extent, char letter, const std::string& fit,
                               std::int64_t view::*member) {
            const std::int64_t is = extent_of(letter);
            const std::string expected = fit.empty() ? "zero or more" : fmt::format(fmt::runtime(fit), is);
            const std::int64_t wrong = fit.empty() ? -is : is - 1;
            refuses(fmt::format("{}.{} is {}, expected {}", operands[i].name, extent, wrong, expected), i,
                    member, wrong);
        };
        const auto& [name, rows, cols, rows_fit, cols_fit, kind] = operands[i];
        if (rows != 0) check("rows", rows, rows_fit, &view::rows);
        check(rows != 0 ? "cols" : "size", cols, cols_fit, &view::cols);
    }
}

TEST_P(arguments_of, point_to_their_elements) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const std::string data = operands[i].name + ".data is ";
        refuses(data + "null, expected a pointer to its elements", i, &view::data,
                static_cast<float*>(nullptr));
        auto* const odd = reinterpret_cast<float*>(reinterpret_cast<char*>(valid().views[i].data) + 2);
        refuses(data + address_of(odd) + ", expected a multiple of 4 bytes", i, &view::data, odd);
    }
}

TEST_P(arguments_of, have_strides_that_step_over_elements) {
    constexpr std::int64_t huge = std::int64_t{1} << 62;
    const std::string countable = " is 4611686018427387904, expected a stride whose bytes fit 63 bits";
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto& [name, rows, cols, rows_fit, cols_fit, kind] = operands[i];
        const std::string stride = name + (rows == 0 ? ".stride" : ".col_stride"),
                          row_stride = name + ".row_stride";
        const std::string least = kind == broadcast ? "zero or more" : "one or more";
        for (const std::int64_t wrong : {-1, 0})
            if (wrong < 0 || kind != broadcast)
                refuses(fmt::format("{} is {}, expected {}", stride, wrong, least), i, &view::col_stride,
                        wrong);
        refuses(stride + countable, i, &view::col_stride, huge);
        if (rows == 0) continue;
        refuses(row_stride + countable, i, &view::row_stride, huge);
        const std::int64_t row = extent_of(cols);
        for (const std::int64_t wrong : {row - 1, std::int64_t{0}})
            if (wrong > 0 || kind != broadcast)
                refuses(fmt::format(
                            "{} is {}, expected at least {} (a row), or a col_stride of at least a column",
                            row_stride, wrong, row),
                        i, &view::row_stride, wrong);
        if (kind == broadcast)
            refuses(row_stride + " is -6, expected zero or more", i, &view::row_stride, std::int64_t{-6});
    }
}

/// An output lies on each input, and on each output before it.
TEST_P(arguments_of, lie_apart) {
    for (std::size_t i = 0; i < operands.size(); ++i)
        for (std::size_t other = 0; operands[i].is_written() && other < operands.size(); ++other) {
            const operand &to = operands[i], &from = operands[other];
            if (i == other || (from.is_written() && other > i)) continue;
            const std::string& what = GetParam().apart_from;
            const bool is_in_part = to.kind == in_place && to.rows == from.rows && to.cols == from.cols;
            for (const int shift : {0, 1}) {
                if (is_in_part && shift == 0) continue;
                float* const data = valid().views[other].data + shift;
                std::string text = to.name + " is a view that overlaps " + what +
                                   ", expected memory apart from " + (what == "source" ? "it" : from.name);
                if (what.empty())
                    text = to.name + ".data is " + address_of(data) + ", expected memory apart from x";
                if (is_in_part)
                    text = fmt::format(
                        "{} is a view that overlaps {} in part, expected exactly {} or apart from it",
                        to.name, what == "x" ? "x" : "an input", from.name);
                refuses(text, i, &view::data, data);
            }
        }
}

/// The error names one of the operands whose extents have this letter.
TEST_P(arguments_of, have_bytes_that_can_be_counted) {
    constexpr std::int64_t huge = std::int64_t{1} << 62;
    for (const char letter : {'m', 'n', 'k'}) {
        arguments all = valid();
        for (std::size_t i = 0; i < operands.size(); ++i) {
            if (operands[i].rows == letter) all.views[i].rows = huge;
            if (operands[i].cols == letter) all.views[i].cols = all.views[i].row_stride = huge;
        }
        if (all.views == valid().views) continue;
        for (const call& run : {GetParam().on_gpu, GetParam().on_host})
            EXPECT_TRUE(invalid_argument_of([&] {
                            run(all);
                        }).ends_with(" is 4611686018427387904, expected an extent whose bytes fit 63 bits"))
                << letter;
    }
}

/// It begins where an operand does.
TEST_P(arguments_of, lie_apart_from_the_workspace) {
    static const std::set<std::string> takers = {"column_max",
                                                 "dot",
                                                 "exclusive_scan",
                                                 "inclusive_scan",
                                                 "layer_norm_gradient",
                                                 "linear",
                                                 "linear_gradient",
                                                 "max",
                                                 "min",
                                                 "rms_norm_gradient",
                                                 "row_sum",
                                                 "sum"};
    for (std::size_t i = 0; takers.contains(GetParam().name) && i < operands.size(); ++i) {
        arguments all = valid();
        auto* const data = reinterpret_cast<std::byte*>(all.views[i].data);
        all.workspace = {data, 64};
        refuses(
            "options.workspace is " + address_of(data) + ", expected memory apart from " + operands[i].name,
            all, false);
    }
}

TEST_P(arguments_of, have_a_rung_that_is_an_enumerator) {
    if (GetParam().algorithms.empty()) return;
    arguments all = valid();
    all.rung.name = "none";
    refuses("options.algorithm is 99, expected an enumerator of " + GetParam().algorithms, all, false);
}

TEST_P(arguments_of, may_be_empty) {
    for (const char letter : GetParam().may_be_0)
        for (const call& run : {GetParam().on_gpu, GetParam().on_host}) {
            recording_runtime::instance() = {};
            EXPECT_NO_THROW(run(valid(letter))) << letter;
            EXPECT_TRUE(recording_runtime::instance().calls.empty()) << letter;
        }
}

/// A rung that cannot take them is refused before anything is launched.
TEST(arguments_of_a_rung, lie_as_it_needs) {
    std::map<std::string, std::string> lacks = {
        {"layer_norm", "vectorized needs the elements of each row, of gamma and of beta side by side"},
        {"linear_gradient", "fused needs a dx, and an activation_of_x that is not none"},
        {"sum", "vectorized needs x.stride 1"},
        {"transpose",
         "vectorized needs the elements of source and of destination side by side along one dimension"}};
    for (const char* const of_rows : {"cross_entropy", "random_uniform", "softmax"})
        lacks[of_rows] = "vectorized needs each row's elements side by side";
    for (const operation& each : operations()) {
        if (!lacks.contains(each.name)) continue;
        recording_runtime::instance() = {};
        std::vector<float> memory(8 * room);
        arguments all = arguments_in(memory.data(), each.operands);
        all.rung.name = lacks[each.name].substr(0, lacks[each.name].find(' '));
        all.views[0].col_stride = 2;
        all.views[0].row_stride = 13;
        EXPECT_EQ(lack_in(error_of<unsupported>([&] { each.on_gpu(all); })),
                  each.name + ": " + lacks[each.name]);
        EXPECT_TRUE(recording_runtime::instance().calls.empty());
        lacks.erase(each.name);
    }
    EXPECT_TRUE(lacks.empty()) << "there is no operation " << lacks.begin()->first;
}

}  // namespace
}  // namespace heddle::test
