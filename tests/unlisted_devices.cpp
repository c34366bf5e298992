#include "tests/support/blurs.hpp"
#include "tests/support/headers.hpp"

#include <initializer_list>

// Devices without costs in heddle have rungs that run. The rungs for Hopper alone are not chosen there.
namespace heddle::test {
namespace {

/// The facts are in the order of device_traits.
const device_traits devices[] = {
    {0, "B200", 10, 0, 148, 2048, 65536, 228 << 10, 48 << 10, 227 << 10, 126 << 20},
    {0, "B300", 10, 3, 148, 2048, 65536, 228 << 10, 48 << 10, 227 << 10, 126 << 20},
    {0, "RTX 5090", 12, 0, 170, 1536, 65536, 100 << 10, 48 << 10, 99 << 10, 96 << 20},
    {0, "a small part", 12, 0, 30, 1536, 65536, 100 << 10, 48 << 10, 99 << 10, 32 << 20},
};

/// `automatic` finds a rung that runs, and `simplest` also runs.
void expect_rungs(const auto& problems, auto simplest) {
    for (const device_traits& device : devices)
        for (std::size_t i = 0; i < problems.size(); ++i) {
            SCOPED_TRACE(device.name + ", problem " + std::to_string(i));
            auto chosen = decltype(simplest)::automatic;
            ASSERT_NO_THROW(chosen = select(problems[i], device));
            ASSERT_NE(to_string(chosen), "automatic");
            ASSERT_EQ(why_not(chosen, problems[i], device), "");
            ASSERT_EQ(why_not(simplest, problems[i], device), "");
        }
}

/// Adds each problem again, changed.
void also(auto& all, auto change) {
    for (const auto& p : std::vector(all)) all.push_back(p), change(all.back());
}
template <class P, class T>
void also(std::vector<P>& all, T P::*fact, std::initializer_list<std::type_identity_t<T>> values) {
    for (const P& p : std::vector(all))
        for (const T& value : values) all.push_back(p), all.back().*fact = value;
}

constexpr std::int64_t many = (std::int64_t{1} << 32) + 1;

constexpr std::int64_t sizes[] = {0, 1, 31, 1000, 2049, 1 << 20, 100000007, many};

/// The layouts of vectors of each size.
template <int... bytes>
std::vector<vector_layout> vectors() {
    std::vector<vector_layout> all;
    for (const std::int64_t size : sizes)
        for (const std::int64_t each : {bytes...})
            all.insert(all.end(), {{size, 1, each}, {size, 1, each, each}, {size, 3, each}});
    return all;
}

constexpr std::int64_t matrices[][2] = {{0, 0},       {0, 9},     {7, 0},      {1, 1},       {3, 5},
                                        {17, 33},     {64, 64},   {9, 1},      {1000, 3},    {4096, 4096},
                                        {100003, 12}, {4, 65536}, {16, 65537}, {2, 1 << 20}, {1 << 20, 8},
                                        {1, many},    {many, 1}};

/// The layouts of matrices of each shape: in packets, off them, with gaps, column-major.
template <int... bytes>
std::vector<matrix_layout> layouts() {
    std::vector<matrix_layout> all;
    for (const auto& [rows, cols] : matrices)
        for (const std::int64_t size : {bytes...})
            all.insert(all.end(), {{rows, cols, (cols + 15) / 16 * 16, 1, size},
                                   {rows, cols, cols, 1, size, size},
                                   {rows, cols, cols * 3, 3, size},
                                   {rows, cols, 1, rows, size}});
    return all;
}

/// Problems whose operands have one layout.
template <class P>
std::vector<P> of_rows(std::initializer_list<matrix_layout P::*> operands) {
    std::vector<P> all;
    for (const matrix_layout& lies : layouts<2, 4>()) {
        all.emplace_back();
        for (const auto operand : operands) all.back().*operand = lies;
    }
    return all;
}

TEST(unlisted_devices, runs_operations_on_rows) {
    expect_rungs(of_rows({&loss_problem::x, &loss_problem::gradient}), loss_algorithm::naive);
    expect_rungs(of_rows({&norm_problem::x, &norm_problem::y}), norm_algorithm::naive);
    expect_rungs(of_rows({&softmax_problem::x, &softmax_problem::y}), softmax_algorithm::naive);
    expect_rungs(
        of_rows({&softmax_gradient_problem::y, &softmax_gradient_problem::dy, &softmax_gradient_problem::dx}),
        softmax_gradient_algorithm::naive);
    using gradient = norm_gradient_problem;
    auto gradients = of_rows({&gradient::x, &gradient::dy, &gradient::dx});
    also(gradients, &gradient::has_scratch, {false});
    for (gradient& p : gradients)
        if (p.has_scratch) p.dgamma.size = p.x.cols;
    expect_rungs(gradients, norm_gradient_algorithm::naive);
}

TEST(unlisted_devices, runs_what_is_element_by_element) {
    std::vector<elementwise_problem> all;
    for (const matrix_layout& lies : layouts<2, 4, 8>()) {
        const auto& [rows, cols, row_stride, col_stride, bytes, offset] = lies;
        const matrix_layout dense{rows, cols, cols, 1, bytes}, row{rows, cols, 0, 1, bytes},
            column{rows, cols, 1, 0, bytes};
        all.insert(all.end(),
                   {{1, {{lies, dense}}}, {2, {{lies, row, dense}}}, {3, {{dense, column, row, lies}}}});
    }
    expect_rungs(all, elementwise_algorithm::naive);
    std::vector<random_problem> numbers;
    for (const matrix_layout& lies : layouts<1, 2, 4, 8>())
        numbers.insert(numbers.end(), {{lies}, {lies, lies}});
    also(numbers, &random_problem::draws_reals, {false});
    expect_rungs(numbers, random_algorithm::naive);
}

TEST(unlisted_devices, runs_transpositions_and_reductions_of_matrices) {
    std::vector<transpose_problem> all;
    for (const matrix_layout& lies : layouts<1, 2, 4, 8>()) {
        const matrix_layout dense{lies.cols, lies.rows, lies.rows, 1, lies.element_bytes};
        all.insert(all.end(), {{lies, dense}, {lies, transposed(lies)}});
    }
    expect_rungs(all, transpose_algorithm::naive);
    auto reductions = of_rows({&matrix_reduce_problem::x});
    also(reductions, [](auto& p) { p.x = transposed(p.x); });
    also(reductions, &matrix_reduce_problem::has_scratch, {false});
    expect_rungs(reductions, matrix_reduce_algorithm::naive);
}

TEST(unlisted_devices, runs_operations_on_vectors) {
    std::vector<reduce_problem> all;
    for (const vector_layout& lies : vectors<1, 2, 4, 8>()) all.insert(all.end(), {{lies}, {lies, lies}});
    also(all, [](auto& p) { p.y.offset = p.x.element_bytes; });
    expect_rungs(all, reduce_algorithm::interleaved);
    also(all, &reduce_problem::has_scratch, {false});
    expect_rungs(all, reduce_algorithm::single_pass);
    for (const device_traits& device : devices)
        for (const reduce_problem& p : all)
            for (const reduce_operation operation : reduce_operations())
                ASSERT_EQ(why_not(operation, select(p, device), p, device), "");
    std::vector<scan_problem> scans;
    for (const vector_layout& lies : vectors<4, 8>()) scans.push_back({lies, lies});
    also(scans, [](auto& p) { p.x.offset = 2 * p.x.element_bytes % 16; });
    also(scans, &scan_problem::has_scratch, {false});
    expect_rungs(scans, scan_algorithm::naive);
    std::vector<histogram_problem> histograms;
    for (const vector_layout& lies : vectors<1, 4>()) histograms.push_back({lies});
    also(histograms, &histogram_problem::bins, {1, 10, 257, 12288, 12289, 1 << 20});
    expect_rungs(histograms, histogram_algorithm::naive);
    const std::vector<optimizer_problem> lists = {{0, 0}, {1, 0}, {1, 1}, {512, many}, {513, many}};
    expect_rungs(lists, optimizer_algorithm::naive);
}

TEST(unlisted_devices, runs_filters_of_images) {
    using problem = blur_of_images;
    std::vector<problem> all = {{1, 1}, {37, 5}, {1920, 1080}, {4096, 4096}, {1 << 20, 3}};
    also(all, &problem::channels, {2, 3, 4});
    also(all, &problem::type, {pixel_type::u8, pixel_type::u16, pixel_type::f16});
    also(all, [](auto& p) { p.images = 7, p.exact = true; });
    also(all, [](auto& p) { p.begin = rows_at::single_elements, p.border = border::wrap; });
    std::vector<problem> wide = all;
    also(all, &problem::radius, {1, {2, 5}, 5, 8, {16, 9}, 40, {255, 3}, 300, 1000});
    also(wide, &problem::radius, {1001, {2, 5000}});
    for (std::vector<problem>* some : {&all, &wide})
        for (problem& p : *some) {
            p.sigma = 0.5 + static_cast<double>(p.radius.x + p.radius.y) / 6;
            const image_filter_problem box{p.width, p.height, p.channels, p.radius, p.type, p.images};
            for (const auto& each : devices) ASSERT_NO_THROW((void)image_filter_workspace_bytes(box, each));
        }
    also(all, &problem::has_scratch, {false});
    expect_rungs(all, gaussian_blur_algorithm::naive);
    expect_rungs(wide, gaussian_blur_algorithm::separable);
}

struct product_shape {
    std::int64_t m, n, k;
};
constexpr product_shape products[] = {
    {0, 4, 4},          {4, 4, 0},      {1, 1, 1},        {1, 1000, 1000},   {1000, 1, 999},
    {16, 16, 16},       {17, 33, 65},   {64, 4096, 4096}, {513, 515, 517},   {128, 128, 1 << 20},
    {4096, 4096, 4096}, {100003, 7, 3}, {8192, 8, 8192},  {20000, 20000, 64}};

struct conv_shape {
    std::int64_t count, side, channels, outputs, filter, groups, step, pad, apart;
};
constexpr conv_shape convolutions[] = {
    {0, 8, 16, 16, 3, 1, 1, 0, 1},     {1, 1, 1, 1, 1, 1, 1, 0, 1},        {1, 9, 16, 63, 1, 1, 1, 0, 1},
    {1, 8, 0, 4, 3, 1, 1, 0, 1},       {32, 14, 1024, 256, 1, 1, 1, 0, 1}, {1, 2000, 1, 8, 5, 1, 1, 0, 1},
    {2, 7, 3, 4, 3, 1, 1, 1, 1},       {32, 224, 3, 64, 7, 1, 2, 3, 1},    {32, 56, 64, 64, 3, 1, 1, 1, 1},
    {32, 56, 256, 512, 1, 1, 2, 0, 1}, {2, 30, 33, 129, 3, 1, 1, 1, 3},    {2, 28, 128, 128, 3, 32, 1, 1, 1},
    {2, 28, 96, 192, 3, 3, 1, 0, 1},   {32, 112, 96, 96, 3, 96, 1, 1, 1},  {1, 40, 5, 5, 11, 5, 1, 0, 1}};

template <class Out, class In>
void add(const product_shape& s, std::vector<matmul_problem>& all) {
    for (const auto& b : {matrix_view<const In>{nullptr, s.k, s.n}, {nullptr, s.k, s.n, 1, s.k}})
        all.push_back(matmul_problem_of<Out, In>({nullptr, s.m, s.k}, b, {nullptr, s.m, s.n}));
}

template <class Out, class In>
void add(const conv_shape& s, std::vector<conv_problem>& all) {
    const conv_geometry g{{s.step, s.step}, {s.pad, s.pad, s.pad, s.pad}, {s.apart, s.apart}, s.groups};
    const std::int64_t side = conv_output_height(s.side, s.filter, g), depth = s.channels / s.groups;
    for (const std::int64_t gap : {0, 3})
        all.push_back(conv_problem_of<Out, In>(
            {nullptr, s.count, s.side, s.side, s.channels, s.channels + gap},
            {nullptr, s.outputs, s.filter, s.filter, depth, depth + gap},
            {nullptr, s.count, side, side, s.outputs, s.outputs + gap}, {.geometry = g}));
}

template <class Out, class>
void add(const conv_shape& s, std::vector<pool_problem>& all) {
    const pool_geometry g{{s.filter, s.filter}, {s.step, s.step}, {s.pad, s.pad, s.pad, s.pad}};
    const std::int64_t side = pool_output_height(s.side, g);
    for (const std::int64_t gap : {0, 3})
        all.push_back(pool_problem_of<Out>({nullptr, s.count, s.side, s.side, s.channels, s.channels + gap},
                                           {nullptr, s.count, side, side, s.channels, s.channels + gap},
                                           {.geometry = g}));
}

template <class P>
std::vector<P> of_every_type(const auto& shapes) {
    std::vector<P> all;
    for (const auto& s : shapes) {
        add<float, float>(s, all), add<half, half>(s, all), add<bfloat16, bfloat16>(s, all);
        add<float, half>(s, all), add<float, bfloat16>(s, all);
    }
    if constexpr (requires(P p) { p.precision; }) {
        also(all, &P::precision, {precision::ieee, precision::fp32_normwise, precision::tf32});
        also(all, &P::has_scratch, {false});
    }
    return all;
}

TEST(unlisted_devices, runs_products_of_matrices) {
    auto all = of_every_type<matmul_problem>(products);
    also(all, [](auto& p) { p.a.row_stride *= 2, p.a.col_stride *= 2; });
    also(all, [](auto& p) { p.a.offset = p.b.offset = p.c.offset = p.a.element_bytes; });
    std::vector<linear_gradient_problem> gradients;
    for (const matmul_problem& p : all)
        if (p.result == p.operands) gradients.push_back({p});
    also(gradients, &linear_gradient_problem::has_derivative, {true});
    expect_rungs(gradients, linear_gradient_algorithm::separate);
    also(all, [](auto& p) { p.has_epilogue = p.adds_c = true; });
    also(all, [](auto& p) { p.batches = 5, p.a_stride = many - 1, p.c_stride = p.c.rows * p.c.cols; });
    expect_rungs(all, matmul_algorithm::naive);
}

TEST(unlisted_devices, runs_convolutions_and_pools) {
    auto all = of_every_type<conv_problem>(convolutions);
    also(all, [](auto& p) { p.input.offset = p.filters.offset = p.input.element_bytes; });
    also(all, [](auto& p) { p.has_epilogue = true, p.residual = p.output; });
    also(all, [](auto& p) { p.is_matmul_epilogue = p.has_epilogue; });
    expect_rungs(all, conv_algorithm::naive);
    auto pools = of_every_type<pool_problem>(convolutions);
    also(pools, &pool_problem::mode, {pool_mode::average, pool_mode::padded_average});
    also(pools, [](auto& p) { p.input.offset = p.output.offset = p.input.element_bytes; });
    expect_rungs(pools, pool_algorithm::naive);
}

}  // namespace
}  // namespace heddle::test
