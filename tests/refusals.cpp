#include "tests/support/headers.hpp"

// Arguments and options that an operation refuses by rules of its own. They are checked before anything is enqueued, so
// no device is needed. tests/arguments.cpp and tests/validation.cpp have the rules that operations share.
namespace heddle::test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                infinity = std::numeric_limits<float>::infinity();

class refusals : public testing::Test {
  protected:
    alignas(16) float from[32]{}, to[32]{};
    alignas(16) std::int32_t labels_[4]{};
    alignas(16) std::int64_t counts[256]{};
    const vector_view<const float> x{from, 8};
    const vector_view<float> y{to, 8};
    const matrix_view<const float> in{from, 4, 6};
    const matrix_view<float> out{to, 4, 6};

    void TearDown() override {
        const auto is_zero = [](auto each) { return each == 0; };
        EXPECT_TRUE(std::ranges::all_of(from, is_zero) && std::ranges::all_of(to, is_zero) &&
                    std::ranges::all_of(counts, is_zero));
    }
    /// The error of a call has this text; where it begins with "...", these are its last words.
    template <class Call>
    static void refuses(const std::string& text, Call call,
                        const std::source_location& at = std::source_location::current()) {
        if (!text.starts_with("...")) return expect_error(text, call, at);
        const std::string found = invalid_argument_of(call);
        EXPECT_NE(found.find(text.substr(3)), std::string::npos) << found << at.line();
    }
};

TEST_F(refusals, of_norms_are_of_an_epsilon_below_zero) {
    for (const auto& [epsilon, text] : {std::pair{-1.0f, "-1"}, {nan, "nan"}}) {
        const std::string rest = std::string(": options.epsilon is ") + text + ", expected zero or more";
        refuses("layer_norm" + rest,
                [&] { layer_norm<float>(in, {}, {}, out, no_stream, {.epsilon = epsilon}); });
        refuses("layer_norm_gradient" + rest, [&] {
            layer_norm_gradient<float>(in, {}, in, out, {}, {}, no_stream, {.epsilon = epsilon});
        });
    }
}

TEST_F(refusals, of_losses_are_of_options_that_are_no_numbers) {
    const vector_view<const std::int32_t> labels{labels_, 4};
    const auto call = [&](const cross_entropy_options& options) {
        return [=, this] { cross_entropy<float>(in, labels, {to, 4}, out, no_stream, options); };
    };
    refuses("cross_entropy: options.scale is inf, expected a finite number", call({.scale = infinity}));
    refuses("cross_entropy: options.label_smoothing is 1.5, expected 0 to 1",
            call({.label_smoothing = 1.5f}));
    refuses("cross_entropy: options.label_smoothing is nan, expected 0 to 1", call({.label_smoothing = nan}));
    refuses("mean_squared_error: options.scale is nan, expected a finite number", [&] {
        mean_squared_error<float>(in, in, {to + 28, 4}, out, no_stream, {.scale = nan});
    });
    EXPECT_NO_THROW(cross_entropy<float>(in, labels, {}, {}, no_stream)) << "may lack outputs";
}

TEST_F(refusals, of_matrix_reductions_are_of_a_correction_below_zero) {
    refuses("row_variance: options.correction is -1, expected zero or more", [&] {
        row_variance<float>(in, {to, 4}, no_stream, {.correction = -1});
    });
    refuses("host::column_variance: options.correction is -1, expected zero or more", [&] {
        host::column_variance<float>(in, {to, 6}, {.correction = -1});
    });
}

TEST_F(refusals, of_scans_and_transpositions_are_of_views_that_overlap) {
    refuses("inclusive_scan: y is a view that overlaps x in part, expected exactly x or apart from it", [&] {
        inclusive_scan<float>({to, 4}, {to, 4, 2}, no_stream);
    });
    const matrix_view<float> square{to, 4, 4};
    for (const auto& [source, destination] : {std::pair{square, square}, {square, transposed(square)}}) {
        const std::string text =
            "transpose: destination is a view that overlaps source, expected memory apart from it";
        refuses(text, [&] { transpose<float>(source, destination, no_stream); });
        refuses("host::" + text, [&] { host::transpose<float>(source, destination); });
    }
}

TEST_F(refusals, of_random_numbers_are_of_empty_ranges) {
    constexpr float most = std::numeric_limits<float>::max();
    const auto uniform = [&](float low, float high) {
        return [=, this] { random_uniform<float>(y, low, high, {}, no_stream); };
    };
    const auto of_16_bits = [&]<class T>(T, float low, float high) {
        return [=, this] {
            random_uniform<T>(vector_view<T>{reinterpret_cast<T*>(to), 8}, low, high, {}, no_stream);
        };
    };
    refuses("random_uniform: high is 1, expected more than 1 (low)", uniform(1, 1));
    refuses("...low is nan", uniform(nan, 1));
    refuses("...high is nan", uniform(0, nan));
    refuses("...high is inf", uniform(0, infinity));
    refuses("...above low", uniform(-most, most));
    refuses("random_uniform: high is 65520, expected a number within 65504 of 0",
            of_16_bits(half(), 0, 65520));
    refuses("...a number of the element type", of_16_bits(half(), 1.0001f, 1.0002f));
    refuses("...a number of the element type", of_16_bits(bfloat16(), -1.0002f, -1.0001f));
}

TEST_F(refusals, of_random_numbers_are_of_scalars_out_of_range) {
    const auto normal = [&](float mean, float deviation) {
        return [=, this] { random_normal<float>(y, mean, deviation, {}, no_stream); };
    };
    const auto drop = [&](double p) { return [=, this] { dropout<float>(x, y, p, {}, no_stream); }; };
    refuses("random_normal: mean is inf, expected a finite number", normal(infinity, 1));
    refuses("random_normal: deviation is -1, expected a finite number, zero or more", normal(0, -1));
    refuses("dropout: p is 1.5, expected 0 to 1", drop(1.5));
    refuses("dropout: p is nan, expected 0 to 1", drop(std::nan("")));
    refuses("random_bernoulli: p is -0.5, expected 0 to 1",
            [&] { random_bernoulli<float>(y, -0.5, {}, no_stream); });
    refuses("host::random_bernoulli: p is -0.5, expected 0 to 1",
            [&] { host::random_bernoulli<float>(y, -0.5, {}); });
    refuses("random_permutation: y.size is 2147483649, expected at most 2147483648", [&] {
        random_permutation({labels_, (std::int64_t{1} << 31) + 1}, {}, no_stream);
    });
    const auto expect_offset = [&](float* at, const std::string& expected) {
        const auto* const offset = reinterpret_cast<const std::uint64_t*>(at);
        refuses("random_uniform: generator.device_offset is " + address_of(at) + ", expected " + expected,
                [&] { random_uniform<float>(y, 0, 1, {.device_offset = offset}, no_stream); });
    };
    expect_offset(to + 2, "memory apart from y");
    expect_offset(from + 1, "a multiple of 8 bytes");
}

TEST_F(refusals, of_histograms_are_of_vectors_that_do_not_fit) {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(from);
    const auto call = [&](vector_view<const std::uint8_t> elements, vector_view<std::int64_t> into,
                          const histogram_options& options = {}) {
        return [=] { histogram(elements, into, no_stream, options); };
    };
    refuses("histogram: x.size is -1, expected zero or more", call({bytes, -1}, {counts, 256}));
    refuses("histogram: x.stride is 0, expected one or more", call({bytes, 8, 0}, {counts, 256}));
    refuses("histogram: x.data is null, expected a pointer to its elements",
            call({nullptr, 8}, {counts, 256}));
    refuses("histogram: counts.data is null, expected a pointer to its elements",
            call({bytes, 8}, {nullptr, 256}));
    refuses("histogram: counts.size is 255, expected 256", call({bytes, 8}, {counts, 255}));
    refuses("histogram: counts.stride is 2, expected 1", call({bytes, 8}, {counts, 256, 2}));
    refuses("histogram: counts is a view that overlaps x, expected memory apart from x",
            call({reinterpret_cast<std::uint8_t*>(counts), 8}, {counts, 256}));
    refuses("histogram: options.algorithm is 99, expected an enumerator of histogram_algorithm",
            call({bytes, 8}, {counts, 256}, {.algorithm = static_cast<histogram_algorithm>(99)}));
}

TEST_F(refusals, of_histograms_are_of_ranges_that_floats_do_not_divide) {
    using limits = std::numeric_limits<float>;
    const auto call = [&](float lower, float upper, std::int64_t bins = 16) {
        return [=, this] { histogram(x, lower, upper, {counts, bins}, no_stream); };
    };
    refuses("histogram: counts.size is 0, expected 1 to 2147483647", call(0, 1, 0));
    refuses("histogram: lower is nan, expected a finite number", call(nan, 1));
    refuses("histogram: upper is inf, expected a finite number", call(0, infinity));
    refuses("histogram: upper is 1, expected more than lower (1)", call(1, 1));
    refuses("...above lower", call(limits::lowest(), limits::max()));
    refuses("...within float", call(0, limits::denorm_min()));
}

TEST_F(refusals, of_elementwise_operations_are_of_an_output_with_strides_of_0) {
    const matrix_view<float> row{to, 4, 6, 0};  // in place it would be an input too
    const vector_view<float> v{to + 26, 4}, element{to, 4, 0};
    refuses("add: z.row_stride is 0, expected at least 6 (a row), or a col_stride of at least a column",
            [&] { add<float>(row, in, row, no_stream); });
    refuses("add: z.stride is 0, expected one or more", [&] { add<float>(v, v, element, no_stream); });
    refuses("axpy: y.stride is 0, expected one or more", [&] { axpy<float>(2, v, element, no_stream); });
}

TEST_F(refusals, of_elementwise_operations_are_of_broadcast_inputs_that_overlap) {
    const auto refuses_input = [&](const std::string& text, const matrix_view<const float>& input) {
        refuses("add: " + text, [&] { add<float>(in, input, out, no_stream); });
    };
    const std::string overlap =
        "z is a view that overlaps an input in part, expected exactly y or apart from it";
    for (const std::int64_t first : {0, 3}) refuses_input(overlap, {to + 6 * first, 4, 6, 0});
    for (const std::int64_t col : {0, 5}) refuses_input(overlap, {to + col, 4, 6, 6, 0});
    for (const std::int64_t element : {0, 13, 23}) refuses_input(overlap, {to + element, 4, 6, 0, 0});
    auto* const off = reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(from) + 2);
    refuses_input("y.data is null, expected a pointer to its elements", {nullptr, 4, 6, 0, 0});
    refuses_input("y.data is " + address_of(off) + ", expected a multiple of 4 bytes", {off, 4, 6, 0});
    refuses_input("y.rows is 3, expected 4 (z.rows)", {from, 3, 6, 0});
    // One row and one column are all of a view: in place is fine.
    EXPECT_NO_THROW(host::abs<float>(matrix_view<float>{to, 1, 6, 0}, matrix_view<float>{to, 1, 6}));
    EXPECT_NO_THROW(host::abs<float>(matrix_view<float>{to, 4, 1, 1, 0}, matrix_view<float>{to, 4, 1}));
}

TEST_F(refusals, of_clamp_are_of_a_range_without_order) {
    refuses("host::clamp: high is 1, expected at least 2 (low)", [&] { host::clamp<float>(x, 2, 1, y); });
    refuses("host::clamp: low is nan, expected a number", [&] { host::clamp<float>(x, nan, 1, y); });
    refuses("clamp: high is nan, expected at least 0 (low)", [&] { clamp<float>(x, 0, nan, y, no_stream); });
}

TEST_F(refusals, of_reductions_are_of_a_result_in_their_operands) {
    auto* const words = reinterpret_cast<std::int32_t*>(counts);
    using view = vector_view<const std::int32_t>;
    const auto refuses_result = [&](const view& of, std::int64_t* result, const std::string& given,
                                    const std::string& expected) {
        refuses("sum: result is " + given + ", expected " + expected,
                [&] { sum<std::int32_t>(of, result, no_stream); });
    };
    refuses_result({words, 8}, nullptr, "null", "a pointer to device memory");
    auto* const odd = reinterpret_cast<std::int64_t*>(words + 1);
    refuses_result({words + 4, 2}, odd, address_of(odd), "a multiple of 8 bytes");
    for (std::int64_t* const inside : {counts, counts + 1, counts + 2})
        for (const view& of : {view{words, 5}, {words + 1, 4}, {words, 3, 2}, {words + 1, 3, 2}})
            refuses_result(of, inside, address_of(inside), "memory apart from x");
    refuses("dot: result is " + address_of(counts + 2) + ", expected memory apart from y", [&] {
        dot<std::int32_t>({words, 4}, {words + 4, 4}, counts + 2, no_stream);
    });
    const auto refuses_workspace = [&](const view& of, std::int64_t* at, std::size_t bytes,
                                       const std::string& operand) {
        const std::span workspace(reinterpret_cast<std::byte*>(at), bytes);
        refuses("sum: options.workspace is " + address_of(at) + ", expected memory apart from " + operand,
                [&] { sum<std::int32_t>(of, counts + 6, no_stream, {.workspace = workspace}); });
    };
    refuses_workspace({words, 2, 6}, counts + 2, 20, "x");
    refuses_workspace({words, 8}, counts + 6, 8, "result");
}

TEST_F(refusals, of_reductions_are_of_rungs_that_the_operation_lacks) {
    const auto has = reduce_algorithms(reduce_operation::argmax);
    for (const reduce_algorithm algorithm : reduce_algorithms())
        if (std::ranges::find(has, algorithm) == has.end())
            expect_error<unsupported>(
                "argmax: " + std::string(to_string(algorithm)) + " is a rung of sum, min and max alone",
                [&] { argmax<float>(x, counts, no_stream, {.algorithm = algorithm}); });
}

/// A layer from 3 values to 2, for a batch of 4.
class refused_layers : public refusals {
  protected:
    const matrix_view<const float> values{from, 4, 3}, weights{from + 12, 2, 3}, gradient{from + 20, 4, 2};
    const vector_view<const float> bias{from + 18, 2};
    const matrix_view<float> results{to + 20, 4, 2}, dx{to, 4, 3}, dweights{to + 12, 2, 3};
    const vector_view<float> dbias{to + 18, 2};

    auto layer(const linear_options& options) const {
        return [=, this] { linear<float>(values, weights, bias, results, no_stream, options); };
    }
    auto gradients(const matrix_view<float>& to_x, const linear_gradient_options& options) const {
        return [=, this] {
            linear_gradient<float>(values, weights, gradient, to_x, dweights, dbias, no_stream, options);
        };
    }
};

TEST_F(refused_layers, are_of_unknown_options) {
    refuses("linear: options.activation is 7, expected an enumerator of matmul_activation",
            layer({.activation = static_cast<matmul_activation>(7)}));
    const auto both_refuse = [&](const std::string& text, auto set) {
        linear_options of_layer;
        set(of_layer);
        refuses("linear: options." + text, layer(of_layer));
        linear_gradient_options of_gradients;
        set(of_gradients);
        refuses("linear_gradient: options." + text, gradients(dx, of_gradients));
    };
    both_refuse("precision is 9, expected an enumerator of precision",
                [](auto& options) { options.precision = static_cast<precision>(9); });
    both_refuse("scratch is 9, expected an enumerator of scratch",
                [](auto& options) { options.scratch = static_cast<scratch>(9); });
    both_refuse("workspace is null, expected a pointer to 64 bytes, or an empty span", [](auto& options) {
        options.workspace = {static_cast<std::byte*>(nullptr), 64};
    });
    for (const auto other :
         {matmul_activation::gelu, matmul_activation::gelu_tanh, matmul_activation::silu}) {
        const std::string text = fmt::format(
            "linear_gradient: options.activation_of_x is {}, expected none, relu, sigmoid or tanh: of "
            "others the derivative does not follow from the result",
            static_cast<int>(other));
        refuses(text, gradients(dx, {.activation_of_x = other}));
        refuses("host::" + text, [&] {
            host::linear_gradient<float>(values, weights, gradient, dx, dweights, dbias,
                                         {.activation_of_x = other});
        });
    }
}

TEST_F(refused_layers, are_of_shapes_that_other_functions_name) {
    refuses("linear_gradient: dx.rows is 0, expected 4 (x.rows)", gradients({to, 0, 3}, {}));
    refuses("linear_workspace_bytes: bias.size is 1, expected 2 (weights.rows), or 0", [&] {
        (void)linear_workspace_bytes<float>(values, weights, {from, 1}, results, no_stream);
    });
    refuses("linear_gradient_problem_of: gradient.rows is 3, expected 4 (x.rows)", [&] {
        (void)linear_gradient_problem_of<float>(values, weights, {from, 3, 2}, dx);
    });
    refuses("linear_gradient_workspace_bytes: dbias.size is 1, expected 2 (weights.rows), or 0", [&] {
        (void)linear_gradient_workspace_bytes<float>(values, weights, gradient, dx, dweights, {to, 1},
                                                     no_stream);
    });
}

TEST_F(refused_layers, are_not_those_without_gradients_or_a_batch) {
    EXPECT_NO_THROW(linear_gradient<float>(values, weights, gradient, {}, {}, {}, no_stream));
    EXPECT_NO_THROW(linear_gradient<float>({nullptr, 0, 3}, weights, {nullptr, 0, 2},
                                           matrix_view<float>{nullptr, 0, 3}, {}, {}, no_stream));
    EXPECT_NO_THROW(host::linear_gradient<float>(values, weights, gradient, {}, {}, {}));
}

}  // namespace
}  // namespace heddle::test
