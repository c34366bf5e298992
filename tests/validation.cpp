#include "tests/matmul/problems.hpp"
#include "tests/support/blurs.hpp"
#include "tests/support/headers.hpp"
#include "tests/support/images.hpp"

// Arguments that all operations refuse alike. They are checked before anything is enqueued, so no device is needed.
namespace heddle::test {
namespace {

/// Host memory for views, which nothing reads.
struct memory {
    alignas(16) float floats[4096]{};
    alignas(16) half halves[4096]{};
    alignas(16) std::int64_t integers[512]{};
    alignas(16) std::byte scratch[4096]{};
};

class every_operation_with_a_workspace : public testing::Test {
  protected:
    struct call {
        std::string name;  ///< the name with which its errors begin
        std::function<void(std::span<std::byte>)> run;
    };

    std::vector<call> calls() {
        add_reductions();
        add_matrix_reductions();
        add_gradients();
        add_scans();
        add_products();
        add_filters();
        return std::move(all_);
    }

    memory m_;

  private:
    void add(const char* name, std::function<void(std::span<std::byte>)> run) {
        all_.push_back({name, std::move(run)});
    }
    void add_reductions() {
        const vector_view<const float> x{m_.floats, 100};
        float* const value = m_.floats + 2000;
        std::int64_t* const place = m_.integers;
        add("sum", [=](auto s) { sum<float>(x, value, no_stream, {.workspace = s}); });
        add("mean", [=](auto s) { mean<float>(x, value, no_stream, {.workspace = s}); });
        add("min", [=](auto s) { min<float>(x, value, no_stream, {.workspace = s}); });
        add("max", [=](auto s) { max<float>(x, value, no_stream, {.workspace = s}); });
        add("argmin", [=](auto s) { argmin<float>(x, place, no_stream, {.workspace = s}); });
        add("argmax", [=](auto s) { argmax<float>(x, place, no_stream, {.workspace = s}); });
        add("dot", [=](auto s) { dot<float>(x, x, value, no_stream, {.workspace = s}); });
        add("norm1", [=](auto s) { norm1<float>(x, value, no_stream, {.workspace = s}); });
        add("norm2", [=](auto s) { norm2<float>(x, value, no_stream, {.workspace = s}); });
        add("count_nonzero", [=](auto s) { count_nonzero<float>(x, place, no_stream, {.workspace = s}); });
    }

    void add_matrix_reductions() {
        const matrix_view<const float> x{m_.floats, 10, 10};
        const vector_view<float> y{m_.floats + 2000, 10};
        const vector_view<std::int64_t> places{m_.integers, 10};
        using scratch = std::span<std::byte>;
        add("row_sum", [=](scratch s) { row_sum<float>(x, y, no_stream, {.workspace = s}); });
        add("row_mean", [=](scratch s) { row_mean<float>(x, y, no_stream, {.workspace = s}); });
        add("row_min", [=](scratch s) { row_min<float>(x, y, no_stream, {.workspace = s}); });
        add("row_max", [=](scratch s) { row_max<float>(x, y, no_stream, {.workspace = s}); });
        add("row_variance", [=](scratch s) { row_variance<float>(x, y, no_stream, {.workspace = s}); });
        add("row_argmax", [=](scratch s) { row_argmax<float>(x, places, no_stream, {.workspace = s}); });
        add("column_sum", [=](scratch s) { column_sum<float>(x, y, no_stream, {.workspace = s}); });
        add("column_mean", [=](scratch s) { column_mean<float>(x, y, no_stream, {.workspace = s}); });
        add("column_min", [=](scratch s) { column_min<float>(x, y, no_stream, {.workspace = s}); });
        add("column_max", [=](scratch s) { column_max<float>(x, y, no_stream, {.workspace = s}); });
        add("column_variance", [=](scratch s) { column_variance<float>(x, y, no_stream, {.workspace = s}); });
        add("column_argmax",
            [=](scratch s) { column_argmax<float>(x, places, no_stream, {.workspace = s}); });
    }

    void add_gradients() {
        const matrix_view<const float> x{m_.floats, 10, 10}, dy{m_.floats + 1000, 10, 10};
        const vector_view<float> sums{m_.floats + 2000, 10};
        add("layer_norm_gradient", [=](auto s) {
            layer_norm_gradient<float>(x, {}, dy, {}, sums, {}, no_stream, {.workspace = s});
        });
        add("rms_norm_gradient",
            [=](auto s) { rms_norm_gradient<float>(x, {}, dy, {}, sums, no_stream, {.workspace = s}); });
    }

    void add_scans() {
        const vector_view<const float> x{m_.floats, 100};
        const vector_view<float> y{m_.floats + 2000, 100};
        add("inclusive_scan", [=](auto s) { inclusive_scan<float>(x, y, no_stream, {.workspace = s}); });
        add("exclusive_scan", [=](auto s) { exclusive_scan<float>(x, y, no_stream, {.workspace = s}); });
    }

    void add_products() {
        const matrix_view<const float> a{m_.floats, 8, 8}, b{m_.floats + 1000, 8, 8};
        const matrix_view<float> c{m_.floats + 2000, 8, 8};
        const matrix_view<const half> ha{m_.halves, 8, 8}, hb{m_.halves + 1000, 8, 8};
        const matrix_view<half> hc{m_.halves + 2000, 8, 8};
        add("matmul", [=](auto s) { matmul<float>(a, b, c, no_stream, {.workspace = s}); });
        add("matmul", [=](auto s) { matmul<half>(ha, hb, hc, no_stream, {.workspace = s}); });
        add("matmul", [=](auto s) {
            const matmul_epilogue<half> relu{matmul_activation::relu};
            matmul<half>(ha, hb, hc, relu, no_stream, {.workspace = s});
        });
        add("matmul", [=](auto s) {
            batched_matmul<half>(batch_view<const half>{ha}, batch_view<const half>{hb}, batch_view<half>{hc},
                                 no_stream, {.workspace = s});
        });
        add("matmul", [=](auto s) {
            const std::vector<matmul_operands<half>> list = {{ha, hb, hc}};
            batched_matmul<half>(list, no_stream, {.workspace = s});
        });
    }

    void add_filters() {
        const image_view<const float> from{m_.floats, 10, 8};
        const image_view<float> to{m_.floats + 2000, 10, 8};
        static const std::vector<float> taps = {1, 2, 1};
        add("gaussian_blur", [=](auto s) { gaussian_blur<float>(from, to, 1, no_stream, {.workspace = s}); });
        add("separable_convolution",
            [=](auto s) { separable_convolution(from, to, taps, taps, no_stream, {.workspace = s}); });
        add("box_blur", [=](auto s) { box_blur<float>(from, to, 1, no_stream, {.workspace = s}); });
        add("sobel", [=](auto s) { sobel<float>(from, to, gradient::x, no_stream, {.workspace = s}); });
        add("laplacian", [=](auto s) { laplacian<float>(from, to, no_stream, {.workspace = s}); });
    }

    std::vector<call> all_;
};

TEST_F(every_operation_with_a_workspace, refuses_one_without_memory) {
    const std::span<std::byte> nothing(static_cast<std::byte*>(nullptr), 4096);
    for (const auto& [name, run] : calls())
        expect_error(name + ": options.workspace is null, expected a pointer to 4096 bytes, or an empty span",
                     [&] { run(nothing); });
}

TEST_F(every_operation_with_a_workspace, refuses_one_off_its_alignment) {
    for (const std::size_t offset : {1, 8}) {
        const std::span<std::byte> odd = std::span(m_.scratch).subspan(offset);
        for (const auto& [name, run] : calls())
            expect_error(name + ": options.workspace is " + address_of(odd.data()) +
                             ", expected a multiple of 16 bytes",
                         [&] { run(odd); });
    }
}

// Questions about a problem and a device.

/// Every function of a problem and a device, for a small problem or one with so many elements.
struct pure_function {
    std::string name;
    std::function<std::int64_t(std::int64_t, const device_traits&)> run;
};

template <class Select>
auto number_of(Select select) {
    return [select](std::int64_t size, const device_traits& device) {
        return static_cast<std::int64_t>(select(size, device));
    };
}

std::vector<pure_function> pure_functions() {
    using device = const device_traits&;
    using size = std::int64_t;
    std::vector<pure_function> all;
    const auto add = [&](std::string name, auto function) { all.push_back({name, number_of(function)}); };
    add("select", [](size n, device d) {
        const matrix_layout lies{n, 2};
        return select(elementwise_problem{1, {{lies, lies}}}, d);
    });
    add("select", [](size n, device d) { return select(reduce_problem{{n}}, d); });
    add("select", [](size n, device d) { return select(matrix_reduce_problem{{n, 2}}, d); });
    add("select", [](size n, device d) { return select(matrix_reduce_problem{{2, n}}, d); });
    add("select", [](size n, device d) { return select(scan_problem{{n}, {n}}, d); });
    add("select", [](size n, device d) { return select(histogram_problem{{n, 1, 1}}, d); });
    add("select", [](size n, device d) { return select(softmax_problem{{n, 2, 4, 2}, {n, 2, 4, 2}}, d); });
    add("select", [](size n, device d) { return select(norm_problem{{n, 2}, {n, 2}}, d); });
    add("select", [](size n, device d) { return select(loss_problem{{n, 2}}, d); });
    add("select", [](size n, device d) {
        return select(softmax_gradient_problem{{n, 2}, {n, 2}, {n, 2}}, d);
    });
    add("select", [](size n, device d) { return select(norm_gradient_problem{{n, 2}, {n, 2}}, d); });
    add("norm_gradient_workspace_bytes", [](size n, device d) {
        return norm_gradient_workspace_bytes({{n, 2}, {n, 2}}, d);
    });
    add("select", [](size n, device d) { return select(transpose_problem{{n, 2}, {2, n}}, d); });
    add("select", [](size n, device d) { return select(random_problem{{n, 2}}, d); });
    add("select", [](size n, device d) { return select(blur_of_images{n, 2}, d); });
    add("select", [](size n, device d) { return select(blur_of_images{2, n}, d); });
    for (const element_type type : {element_type::f32, element_type::f16}) {
        add("select", [=](size n, device d) { return select(product{n, n, n, type}, d); });
        add("select", [=](size n, device d) { return select(product{2, 2, n, type}, d); });
        for (const matmul_algorithm each : matmul_algorithms(type)) {
            add("matmul_workspace_bytes", [=](size n, device d) {
                return matmul_workspace_bytes(product{n, n, n, type}, d, each);
            });
            add("why_not", [=](size n, device d) { return why_not(each, product{n, 2, 2, type}, d).size(); });
        }
        add("matmul_workspace_bytes", [=](size n, device d) {
            return matmul_workspace_bytes(product{2, n, 2, type}, d);
        });
    }
    for (const reduce_algorithm each : reduce_algorithms()) {
        add("reduce_workspace_bytes",
            [=](size n, device d) { return reduce_workspace_bytes({{n}}, d, each); });
        add("reduce_depth", [=](size n, device d) { return reduce_depth({{n}}, d, each); });
    }
    for (const matrix_reduce_algorithm each : matrix_reduce_algorithms()) {
        add("matrix_reduce_workspace_bytes", [=](size n, device d) {
            return matrix_reduce_workspace_bytes({{2, n}}, d, each);
        });
        add("matrix_reduce_depth", [=](size n, device d) { return matrix_reduce_depth({{n, 2}}, d, each); });
    }
    for (const scan_algorithm each : scan_algorithms()) {
        add("scan_workspace_bytes", [=](size n, device d) {
            return scan_workspace_bytes({{n}, {n}}, d, each);
        });
        add("scan_depth", [=](size n, device d) { return scan_depth({{n}, {n}}, d, each); });
    }
    for (const gaussian_blur_algorithm each : gaussian_blur_algorithms())
        add("gaussian_blur_workspace_bytes", [=](size n, device d) {
            return gaussian_blur_workspace_bytes(blur_of_images{2, n}, d, each);
        });
    add("image_filter_workspace_bytes", [](size n, device d) {
        return image_filter_workspace_bytes({n, 2}, d);
    });
    return all;
}

TEST(every_function_of_a_problem, refuses_a_device_without_multiprocessors) {
    for (const int sm_count : {0, -1})
        for (const auto& [name, run] : pure_functions())
            expect_error(name + ": device.sm_count is " + std::to_string(sm_count) + ", expected one or more",
                         [&] { (void)run(1000, device_traits{.sm_count = sm_count}); });
}

TEST(every_function_of_a_problem, refuses_negative_extents) {
    const device_traits device{.compute_capability_major = 9, .sm_count = 132};
    for (const auto& [name, run] : pure_functions()) {
        const std::string text = invalid_argument_of([&] { (void)run(-1, device); });
        EXPECT_EQ(text.find(name + ": problem."), 0u) << text;
        EXPECT_NE(text.find(" is -1, expected zero or more"), std::string::npos) << text;
    }
}

TEST(every_function_of_a_problem, refuses_more_elements_than_a_device_can_address) {
    const device_traits device{.compute_capability_major = 9, .sm_count = 132};
    for (const std::int64_t size :
         {(std::int64_t{1} << 58) + 1, std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::max()})
        for (const auto& [name, run] : pure_functions()) {
            const std::string text = invalid_argument_of([&] { (void)run(size, device); });
            EXPECT_EQ(text.find(name + ": problem."), 0u) << text;
            EXPECT_NE(text.find("expected a problem that is not too large"), std::string::npos) << text;
        }
}

/// On the smallest possible device, and on a large one.
TEST(every_function_of_a_problem, takes_large_problems_and_small_devices) {
    const device_traits least{.sm_count = 1};
    const device_traits large{.compute_capability_major = 9,
                              .sm_count = 132,
                              .max_threads_per_sm = 2048,
                              .shared_memory_per_sm = 228 * 1024,
                              .shared_memory_per_block_optin = 227 * 1024};
    for (const device_traits& device : {least, large})
        for (const std::int64_t size : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1000},
                                        std::int64_t{1} << 24, std::int64_t{1} << 29})
            for (const auto& [name, run] : pure_functions())
                EXPECT_GE(run(size, device), 0) << name << ' ' << size;
}

TEST(gaussian_blur_problem, is_of_known_types_and_borders) {
    const device_traits device{.compute_capability_major = 9, .sm_count = 132};
    expect_error("select: problem.type is 9, expected an enumerator of pixel_type",
                 [&] { (void)select(gaussian_blur_problem{.type = static_cast<pixel_type>(9)}, device); });
    expect_error("select: problem.border is 9, expected an enumerator of border",
                 [&] { (void)select(gaussian_blur_problem{.border = static_cast<border>(9)}, device); });
    expect_error("image_filter_workspace_bytes: problem.type is 9, expected an enumerator of pixel_type",
                 [&] { (void)image_filter_workspace_bytes({.type = static_cast<pixel_type>(9)}, device); });
}

template <class Algorithm>
void expect_names(std::span<const Algorithm> rungs) {
    std::set<std::string_view> names = {"automatic", "unknown"};
    EXPECT_FALSE(rungs.empty());
    for (const Algorithm each : rungs) {
        EXPECT_NE(each, Algorithm::automatic);
        EXPECT_TRUE(names.insert(to_string(each)).second) << to_string(each);
    }
    EXPECT_EQ(to_string(Algorithm::automatic), "automatic");
    EXPECT_EQ(to_string(static_cast<Algorithm>(99)), "unknown");
}

/// For any problem: why_not() knows the enumerators.
template <class Algorithm, class Problem>
void expect_rungs(const std::string& enumeration, std::span<const Algorithm> rungs, const Problem& problem) {
    expect_names(rungs);
    expect_error("why_not: algorithm is 99, expected an enumerator of " + enumeration,
                 [&] { (void)why_not(static_cast<Algorithm>(99), problem, device_traits{.sm_count = 132}); });
}

TEST(rungs, have_names_of_their_own) {
    const matrix_layout m{3, 4};
    const tensor_layout pixels{1, 3, 3, 1, 1, 3, 9};
    expect_names(image_filter_algorithms());
    expect_names(matmul_algorithms(element_type::f16));
    expect_rungs("conv_algorithm", conv_algorithms(), conv_problem{pixels, pixels, {1, 1, 1, 1, 1, 1, 1}});
    expect_rungs("elementwise_algorithm", elementwise_algorithms(), elementwise_problem{1, {{m, m}}});
    expect_rungs("gaussian_blur_algorithm", gaussian_blur_algorithms(),
                 gaussian_blur_problem(blur_of_images{4, 4}));
    expect_rungs("histogram_algorithm", histogram_algorithms(), histogram_problem{{9, 1, 1}});
    expect_rungs("linear_gradient_algorithm", linear_gradient_algorithms(), linear_gradient_problem{});
    expect_rungs("loss_algorithm", loss_algorithms(), loss_problem{m});
    expect_rungs("matmul_algorithm", matmul_algorithms(element_type::f32), matmul_problem(product{1, 2, 3}));
    expect_rungs("matrix_reduce_algorithm", matrix_reduce_algorithms(), matrix_reduce_problem{m});
    expect_rungs("norm_algorithm", norm_algorithms(), norm_problem{m, m});
    expect_rungs("norm_gradient_algorithm", norm_gradient_algorithms(), norm_gradient_problem{m, m});
    expect_rungs("optimizer_algorithm", optimizer_algorithms(), optimizer_problem{});
    expect_rungs("pool_algorithm", pool_algorithms(), pool_problem{pixels, pixels});
    expect_rungs("random_algorithm", random_algorithms(), random_problem{m});
    expect_rungs("reduce_algorithm", reduce_algorithms(), reduce_problem{{9}});
    expect_rungs("scan_algorithm", scan_algorithms(), scan_problem{{9}, {9}});
    expect_rungs("softmax_algorithm", softmax_algorithms(), softmax_problem{m, m});
    expect_rungs("softmax_gradient_algorithm", softmax_gradient_algorithms(),
                 softmax_gradient_problem{m, m, m});
    expect_rungs("transpose_algorithm", transpose_algorithms(), transpose_problem{m, transposed(m)});
}

TEST(problems, of_operands_that_disagree_are_refused) {
    const auto expect_refused = []<class Problem, class Algorithm>(Algorithm algorithm,
                                                                   const Problem& problem) {
        const device_traits device{.sm_count = 132};
        const std::string text =
            ": problem is one of operands that disagree, expected one that a _problem_of() makes";
        expect_error("select" + text, [&] { (void)select(problem, device); });
        expect_error("why_not" + text, [&] { (void)why_not(algorithm, problem, device); });
    };
    expect_refused(loss_algorithm::naive, loss_problem{{3, 4}, {3, 5}});
    expect_refused(norm_algorithm::naive, norm_problem{{3, 4}, {3, 4}, {3}});
    expect_refused(random_algorithm::naive, random_problem{{3, 4}, {3, 5}});
    expect_refused(scan_algorithm::naive, scan_problem{{1}, {2}});
    expect_refused(softmax_algorithm::naive, softmax_problem{{3, 4}, {3, 5}});
    expect_refused(transpose_algorithm::naive, transpose_problem{{3, 4}, {3, 4}});
}

TEST(unknown_enumerators, have_no_name) {
    for (const int value : {-1, 99})
        EXPECT_EQ(to_string(static_cast<elementwise_operation>(value)), "unknown");
    EXPECT_EQ(to_string(static_cast<precision>(99)), "unknown");
    EXPECT_EQ(to_string(static_cast<reduce_operation>(99)), "unknown");
}

TEST(unknown_enumerators, have_no_number_of_inputs) {
    for (const int value : {-1, 21, 99})
        expect_error("input_count: operation is " + std::to_string(value) +
                         ", expected an enumerator of elementwise_operation",
                     [&] { (void)input_count(static_cast<elementwise_operation>(value)); });
}

// Views with too large distances, or too many elements.

class uncountable_bytes : public testing::Test {
  protected:
    static constexpr std::int64_t far = std::int64_t{1} << 61;
    memory m_;
};

TEST_F(uncountable_bytes, of_a_vector_are_of_its_stride_or_its_size) {
    const auto text_of = [&](const vector_view<const float>& x) {
        return invalid_argument_of([&] { sum<float>(x, m_.floats + 2000, no_stream); });
    };
    EXPECT_EQ(text_of({m_.floats, 10, far}),
              "sum: x.stride is 2305843009213693952, expected a stride whose bytes fit 63 bits");
    EXPECT_EQ(text_of({m_.floats, far, 1}),
              "sum: x.size is 2305843009213693952, expected an extent whose bytes fit 63 bits");
    EXPECT_EQ(text_of({m_.floats, far, far}),
              "sum: x.size is 2305843009213693952, expected an extent whose bytes fit 63 bits");
}

TEST_F(uncountable_bytes, of_a_matrix_are_of_the_dimension_at_fault) {
    const auto text_of = [&](const matrix_view<const float>& x) {
        return invalid_argument_of([&] { row_sum<float>(x, {m_.floats + 2000, x.rows}, no_stream); });
    };
    const std::string stride = " is 2305843009213693952, expected a stride whose bytes fit 63 bits";
    const std::string extent = " is 2305843009213693952, expected an extent whose bytes fit 63 bits";
    EXPECT_EQ(text_of({m_.floats, 3, 4, far, 1}), "row_sum: x.row_stride" + stride);
    EXPECT_EQ(text_of({m_.floats, 3, 4, 1, far}), "row_sum: x.col_stride" + stride);
    // Each dimension alone can be counted, or the other one has the larger stride.
    EXPECT_EQ(text_of({m_.floats, 2, 1 << 30, std::int64_t{1} << 40, std::int64_t{1} << 35}),
              "row_sum: x.col_stride is 34359738368, expected a stride whose bytes fit 63 bits");
    EXPECT_EQ(text_of({m_.floats, 1, 1, far / 2 + far / 4, far / 2 + 1}),
              "row_sum: x.row_stride is 1729382256910270464, expected a stride whose bytes fit 63 bits");
    EXPECT_EQ(text_of({m_.floats, far, 4, 4, 1}), "row_sum: x.rows" + extent);
    EXPECT_EQ(text_of({m_.floats, 4, far, 1, 1}), "row_sum: x.cols" + extent);
    constexpr std::int64_t side = std::int64_t{1} << 31;
    EXPECT_EQ(text_of({m_.floats, side, side}),
              "row_sum: x.rows is 2147483648, expected an extent whose bytes fit 63 bits");
}

TEST_F(uncountable_bytes, of_images_are_of_the_dimension_at_fault) {
    const auto text_of = [&](const image_batch_view<const float>& from) {
        return invalid_argument_of([&] {
            gaussian_blur<float>(from, {{m_.floats + 2000, 4, 4}, from.count, 16}, 1, no_stream);
        });
    };
    const std::string stride = " is 2305843009213693952, expected a stride whose bytes fit 63 bits";
    const std::string extent = " is 2305843009213693952, expected an extent whose bytes fit 63 bits";
    EXPECT_EQ(text_of({{m_.floats, 4, 4, 1, far}}), "gaussian_blur: source.row_stride" + stride);
    EXPECT_EQ(text_of({{m_.floats, far, 4, 1, far}}), "gaussian_blur: source.width" + extent);
    EXPECT_EQ(text_of({{m_.floats, 4, far, 1, 4}}), "gaussian_blur: source.height" + extent);
    EXPECT_EQ(text_of({{m_.floats, 4, 4}, 3, far}), "gaussian_blur: source.stride" + stride);
    EXPECT_EQ(text_of({{m_.floats, 4, 4}, far, 16}), "gaussian_blur: source.count" + extent);
}

TEST_F(uncountable_bytes, of_copies_are_of_the_dimension_at_fault) {
    expect_error(
        "fill: destination.row_stride is 2305843009213693952, expected a stride whose bytes fit 63 bits",
        [&] {
            fill_zero(matrix_view{m_.floats, 3, 4, far}, no_stream);
        });
    expect_error("fill: destination.cols is 2305843009213693952, expected an extent whose bytes fit 63 bits",
                 [&] {
                     fill_zero(matrix_view{m_.floats, 3, far, far}, no_stream);
                 });
    expect_error("fill: destination.stride is 2305843009213693952, expected a stride whose bytes fit 63 bits",
                 [&] {
                     fill_zero(vector_view{m_.floats, 3, far}, no_stream);
                 });
}

// Images, or matrices, between those of another batch.

class every_operation_on_batches : public testing::Test {
  protected:
    static constexpr std::int64_t size = 40;
    using call = std::function<void(float*)>;

    /// Each reads every other array of `size` elements of the fixture, and writes to an address and every other array
    /// from there.
    std::vector<call> calls_of_the_host() {
        using host::conv, host::pool, host::to_nhwc, host::to_nchw, host::batched_matmul;
        return {[&](float* to) { conv<float>(pixels_, filters_, pixels(to)); },
                [&](float* to) { conv<float>(others_, filters_, pixels(to), {.residual = pixels_}); },
                [&](float* to) { pool<float>(pixels_, pixels(to)); },
                [&](float* to) { to_nhwc<float>(planes(m_.floats), pixels(to)); },
                [&](float* to) { to_nchw<float>(pixels_, planes(to)); },
                [&](float* to) { batched_matmul<float>(matrices_, shared_, matrices(to)); },
                [&](float* to) { host::gaussian_blur<float>(images_, images(to), 1); },
                [&](float* to) { host::separable_convolution(images_, images(to), taps_, taps_); },
                [&](float* to) { host::box_blur<float>(images_, images(to), 1); },
                [&](float* to) { host::sobel<float>(images_, images(to), gradient::x); },
                [&](float* to) { host::laplacian<float>(images_, images(to)); }};
    }
    /// As above. The algorithm would be refused next, so no device is needed.
    std::vector<call> calls_of_the_device() {
        constexpr auto conv_rung = static_cast<conv_algorithm>(99);
        constexpr auto filter_rung = static_cast<image_filter_algorithm>(99);
        const auto s = no_stream;
        return {
            [=, this](float* to) { conv<float>(pixels_, filters_, pixels(to), s, {.algorithm = conv_rung}); },
            [=, this](float* to) {
                const conv_epilogue<float> sum{.residual = pixels_};
                conv<float>(others_, filters_, pixels(to), sum, s, {.algorithm = conv_rung});
            },
            [=, this](float* to) {
                pool<float>(pixels_, pixels(to), s, {.algorithm = static_cast<pool_algorithm>(99)});
            },
            [=, this](float* to) {
                const auto algorithm = static_cast<matmul_algorithm>(99);
                batched_matmul<float>(matrices_, shared_, matrices(to), s, {.algorithm = algorithm});
            },
            [=, this](float* to) {
                const auto algorithm = static_cast<gaussian_blur_algorithm>(99);
                gaussian_blur<float>(images_, images(to), 1, s, {.algorithm = algorithm});
            },
            [=, this](float* to) {
                separable_convolution(images_, images(to), taps_, taps_, s, {.algorithm = filter_rung});
            },
            [=, this](float* to) { box_blur<float>(images_, images(to), 1, s, {.algorithm = filter_rung}); },
            [=, this](float* to) {
                sobel<float>(images_, images(to), gradient::x, s, {.algorithm = filter_rung});
            },
            [=, this](float* to) { laplacian<float>(images_, images(to), s, {.algorithm = filter_rung}); }};
    }

    memory m_;

  private:
    static tensor_view<float> pixels(float* p) { return {p, 3, 4, 5, 2, 2, 10, 2 * size}; }
    static planes_view<float> planes(float* p) { return {p, 3, 2, 4, 5, 5, 20, 2 * size}; }
    static batch_view<float> matrices(float* p) { return {{p, 8, 5}, 3, 2 * size}; }
    static image_batch_view<float> images(float* p) { return {{p, 5, 4, 2}, 3, 2 * size}; }

    const tensor_view<const float> pixels_ = pixels(m_.floats), others_ = pixels(m_.floats + 1000);
    const filter_view<const float> filters_{m_.floats + 2000, 2, 1, 1, 2};
    const batch_view<const float> matrices_ = matrices(m_.floats), shared_{{m_.floats + 2000, 5, 5}, 3, 0};
    const image_batch_view<const float> images_ = images(m_.floats);
    const std::vector<float> taps_ = {1, 2, 1};
};

TEST_F(every_operation_on_batches, writes_between_images_that_it_reads) {
    for (const call& run : calls_of_the_host()) EXPECT_NO_THROW(run(m_.floats + size));
    for (const call& run : calls_of_the_device()) {
        const std::string text = invalid_argument_of([&] { run(m_.floats + size); });
        EXPECT_NE(text.find(": options.algorithm is 99"), std::string::npos) << text;
    }
}

TEST_F(every_operation_on_batches, refuses_to_write_to_an_element_that_it_reads) {
    for (const std::int64_t shift : {-1, 1})
        for (const std::vector<call>& calls : {calls_of_the_host(), calls_of_the_device()})
            for (const call& run : calls) {
                const std::string text = invalid_argument_of([&] { run(m_.floats + size + shift); });
                EXPECT_NE(text.find("overlaps"), std::string::npos) << text;
            }
}

// Batches of nothing.

TEST(batches_of_none, have_no_pointers) {
    const batch_view<const half> a{{nullptr, 3, 4}, 0, 12}, b{{nullptr, 4, 5}, 0, 20};
    const batch_view<half> c{{nullptr, 3, 5}, 0, 15};
    EXPECT_NO_THROW(batched_matmul<half>(a, b, c, no_stream));
    EXPECT_NO_THROW(batched_matmul<half>(std::vector<matmul_operands<half>>{}, no_stream));

    const image_batch_view<const float> from{{nullptr, 10, 8}, 0, 80};
    const image_batch_view<float> to{{nullptr, 10, 8}, 0, 80};
    const std::vector<float> taps = {1, 2, 1};
    EXPECT_NO_THROW(gaussian_blur<float>(from, to, 1, no_stream));
    EXPECT_NO_THROW(separable_convolution(from, to, taps, taps, no_stream));
    EXPECT_NO_THROW(box_blur<float>(from, to, 1, no_stream));
    EXPECT_NO_THROW(sobel<float>(from, to, gradient::x, no_stream));
    EXPECT_NO_THROW(laplacian<float>(from, to, no_stream));
    EXPECT_NO_THROW(host::gaussian_blur<float>(from, to, 1));
    EXPECT_NO_THROW(host::separable_convolution(from, to, taps, taps));
    EXPECT_NO_THROW(host::box_blur<float>(from, to, 1));
    EXPECT_NO_THROW(host::sobel<float>(from, to, gradient::x));
    EXPECT_NO_THROW(host::laplacian<float>(from, to));
}

}  // namespace
}  // namespace heddle::test
