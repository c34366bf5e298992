#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/guarded_workspace.hpp"
#include "tests/support/norm_gradient.hpp"
#include "tests/support/random.hpp"
#include "tests/support/rows.hpp"
#include <heddle/error.hpp>
#include <heddle/graph.hpp>
#include <heddle/norm.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle {
namespace {

using algorithm = norm_gradient_algorithm;
using operation = test::norm_operation;
using reference = test::expected_norm_gradient;
using test::guarded;
using test::random_elements;
using test::row_layout;

std::vector<algorithm> every_algorithm() {
    std::vector<algorithm> all(norm_gradient_algorithms().begin(), norm_gradient_algorithms().end());
    all.push_back(algorithm::automatic);
    return all;
}

struct layouts {
    row_layout x{};
    row_layout dy{};
    row_layout dx{};
    std::int64_t parameter_offset = 0;
    std::int64_t parameter_stride = 1;
    bool has_gamma = true;
    bool wants_dx = true;
    bool wants_dgamma = true;
    bool wants_dbeta = true;
    bool has_workspace = false;
};

template <class T>
class norm_gradients : public test::gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream.emplace();
    }

    static void call(operation op, matrix_view<const T> x, vector_view<const T> gamma,
                     matrix_view<const T> dy, matrix_view<T> dx, vector_view<T> dgamma, vector_view<T> dbeta,
                     const heddle::stream& s, const norm_gradient_options& options) {
        if (op == operation::layer_norm)
            layer_norm_gradient<T>(x, gamma, dy, dx, dgamma, dbeta, s, options);
        else
            rms_norm_gradient<T>(x, gamma, dy, dx, dgamma, s, options);
    }

    /// dx and gamma may be empty.
    static norm_gradient_problem problem_of(const matrix_view<T>& x, const matrix_view<T>& dy,
                                            const matrix_view<T>& dx, const vector_view<T>& gamma = {}) {
        const bool is_unit = x.col_stride == 1 && dy.col_stride == 1 &&
                             (dx.cols == 0 || dx.col_stride == 1) && (gamma.size == 0 || gamma.stride == 1);
        return {.rows = x.rows,
                .cols = x.cols,
                .unit_stride = x.cols == 1 || is_unit,
                .element_bytes = sizeof(T),
                .in_packets = false};
    }
    static bool takes(algorithm a, const norm_gradient_problem& problem) {
        return why_not(a, problem, traits_of(current_device())).empty();
    }

    /// Both operations with every algorithm: it is right, or refused where why_not() says so.
    void check(const std::vector<T>& xs, const std::vector<T>& dys, std::int64_t rows, std::int64_t cols,
               const layouts& l, const std::vector<algorithm>& algorithms, float epsilon = 1e-5f) {
        guarded<T> x = test::make_rows<T>(rows, cols, l.x), dy = test::make_rows<T>(rows, cols, l.dy);
        const auto gammas = random_elements<T>(l.has_gamma ? cols : 0, -2, 2);
        const auto parameters = [&](bool is_wanted) {
            return guarded<T>(1, is_wanted ? cols : 0, 0, l.parameter_offset, l.parameter_stride);
        };
        guarded<T> gamma = parameters(l.has_gamma);
        x.upload(xs);
        dy.upload(dys);
        gamma.upload(gammas);
        const device_traits& device = traits_of(current_device());
        for (const algorithm a : algorithms)
            for (const operation op : {operation::layer_norm, operation::rms_norm}) {
                SCOPED_TRACE(testing::Message()
                             << to_string(a) << (op == operation::rms_norm ? ", rms_norm" : ""));
                const bool wants_dbeta = l.wants_dbeta && op == operation::layer_norm;
                const bool is_empty =
                    rows == 0 || cols == 0 || !(l.wants_dx || l.wants_dgamma || wants_dbeta);
                guarded<T> dx = test::make_rows<T>(l.wants_dx ? rows : 0, l.wants_dx ? cols : 0, l.dx);
                guarded<T> dgamma = parameters(l.wants_dgamma), dbeta = parameters(l.wants_dbeta);
                const norm_gradient_problem problem =
                    problem_of(x.matrix(), dy.matrix(), dx.matrix(), gamma.vector());
                test::guarded_workspace workspace(
                    l.has_workspace ? norm_gradient_workspace_bytes(problem, device, a) : 0);
                norm_gradient_options options{.algorithm = a, .epsilon = epsilon};
                if (l.has_workspace) options.workspace = workspace;
                const auto run = [&] {
                    call(op, x.matrix(), gamma.vector(), dy.matrix(), dx.matrix(), dgamma.vector(),
                         dbeta.vector(), *stream, options);
                };
                if (!is_empty && !takes(a, problem)) {
                    ASSERT_THROW(run(), unsupported);
                    continue;
                }
                run();
                stream->synchronize();
                const reference expected(op, xs, gammas, dys, cols, epsilon,
                                         test::norm_gradient_depth(a, cols));
                if (l.wants_dx) {
                    ASSERT_TRUE(test::are_within(dx.download(), expected.dx, expected.dx_bounds)) << "dx";
                }
                if (l.wants_dgamma) {
                    ASSERT_TRUE(test::are_within(dgamma.download(), expected.dgamma, expected.dgamma_bounds))
                        << "dgamma";
                }
                if (wants_dbeta) {
                    ASSERT_TRUE(test::are_within(dbeta.download(), expected.dbeta, expected.dbeta_bounds))
                        << "dbeta";
                }
                ASSERT_TRUE(dx.canaries_alive() && dgamma.canaries_alive() && dbeta.canaries_alive());
                ASSERT_TRUE(workspace.is_intact());
            }
        ASSERT_TRUE(x.untouched() && dy.untouched() && gamma.untouched());
    }
    void check(std::int64_t rows, std::int64_t cols, const layouts& l = {},
               const std::vector<algorithm>& algorithms = every_algorithm()) {
        check(random_elements<T>(rows * cols, -1, 3), random_elements<T>(rows * cols, -2, 1), rows, cols, l,
              algorithms);
    }

    std::optional<heddle::stream> stream;
};
TYPED_TEST_SUITE(norm_gradients, test::row_types, test::type_names);

TYPED_TEST(norm_gradients, take_every_shape) {
    for (const auto& [rows, cols] : test::row_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols));
    }
}

TYPED_TEST(norm_gradients, take_rows_at_the_limits_of_registers_and_many_rows) {
    for (const auto& [rows, cols] : {std::pair{700, 511},
                                     {700, 512},
                                     {700, 513},
                                     {300, 1536},
                                     {300, 1537},
                                     {300, 4095},
                                     {300, 4096},
                                     {300, 4097},
                                     {150, 8184},
                                     {150, 8191},
                                     {150, 8192},
                                     {150, 8193},
                                     {9000, 64},
                                     {9001, 65},
                                     {5000, 16},
                                     {20000, 17}}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.has_workspace = true}));
    }
}

/// More rows than blocks that go over them, so that each place of a ring is taken again and again. The rows of an operand with
/// padding begin at other addresses than those of the others.
TYPED_TEST(norm_gradients, take_rows_at_any_address_one_after_another) {
    const std::vector<algorithm> algorithms = {algorithm::vectorized};
    for (const auto& [rows, cols] : {std::pair{13000, 31}, {13000, 65}, {6400, 513}, {700, 4097}})
        for (const layouts& l : {layouts{},
                                 {.x = {.offset = 1}},
                                 {.dy = {.offset = 1}},
                                 {.dx = {.offset = 1}},
                                 {.x = {.padding = 1}, .parameter_offset = 1},
                                 {.dy = {.offset = 3, .padding = 2}, .dx = {.padding = 3}}}) {
            SCOPED_TRACE(testing::Message()
                         << rows << " x " << cols << ", offsets " << l.x.offset << ' ' << l.dy.offset << ' '
                         << l.dx.offset << ", padding " << l.x.padding);
            ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, l, algorithms));
        }
}

/// Clusters have four or eight blocks. There are more rows than clusters, so that both turns of an exchange come in both
/// phases.
TYPED_TEST(norm_gradients, share_long_rows_among_the_blocks_of_clusters) {
    const std::vector<algorithm> algorithms = {algorithm::vectorized};
    for (const auto& [rows, cols] : {std::pair{440, 8193},
                                     {440, 8200},
                                     {340, 16384},
                                     {220, 16385},
                                     {220, 16392},
                                     {140, 32768},
                                     {80, 32769},
                                     {80, 32776},
                                     {72, 65535},
                                     {30, 65536},
                                     {1, 65536},
                                     {2, 65544}}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.has_workspace = true}, algorithms));
    }
    for (const layouts& l : {layouts{.x = {.offset = 1}},
                             {.dy = {.padding = 1}, .has_gamma = false},
                             {.dx = {.offset = 1, .padding = 3}},
                             {.dx = {.padding = 8}, .wants_dgamma = false, .wants_dbeta = false},
                             {.wants_dx = false}})
        for (const auto& [rows, cols] : {std::pair{440, 8193}, {140, 16384}, {140, 20000}}) {
            SCOPED_TRACE(testing::Message()
                         << cols << " columns, offsets " << l.x.offset << ' ' << l.dx.offset);
            ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, l, algorithms));
        }
}

TYPED_TEST(norm_gradients, of_drawn_problems_take_every_plan) {
    constexpr int draws = 70;  // of each type
    test::drawing draw;
    for (int i = 0; i < draws; ++i) {
        const std::int64_t cols = draw(1, std::min<std::int64_t>(40000, std::int64_t{1} << draw(3, 16)));
        const std::int64_t rows =
            draw(0, 9) == 0 ? draw(0, 1) : draw(1, std::max<std::int64_t>(1, 200000 / cols));
        SCOPED_TRACE(testing::Message() << "draw " << i << ": " << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols,
                                            {.x = test::draw_row_layout(draw),
                                             .dy = test::draw_row_layout(draw),
                                             .dx = test::draw_row_layout(draw),
                                             .parameter_offset = draw(0, 1) * draw(0, 8),
                                             .parameter_stride = draw(0, 4) == 0 ? draw(2, 3) : 1,
                                             .has_gamma = draw(0, 3) != 0,
                                             .wants_dx = draw(0, 3) != 0,
                                             .wants_dgamma = draw(0, 3) != 0,
                                             .wants_dbeta = draw(0, 3) != 0,
                                             .has_workspace = draw(0, 1) == 0}));
    }
}

TYPED_TEST(norm_gradients, take_every_alignment_and_padding) {
    for (const std::int64_t cols : {5, 32, 128, 1000, 1024, 4096, 8192})
        for (const row_layout& l :
             {row_layout{.offset = 1}, {.padding = 1}, {.padding = 8}, {.offset = 3, .padding = 5}}) {
            SCOPED_TRACE(testing::Message()
                         << cols << " columns, offset " << l.offset << ", padding " << l.padding);
            const std::vector<algorithm> algorithms = {algorithm::vectorized};
            ASSERT_NO_FATAL_FAILURE(this->check(19, cols, {.x = l}, algorithms));
            ASSERT_NO_FATAL_FAILURE(this->check(19, cols, {.dy = l}, algorithms));
            ASSERT_NO_FATAL_FAILURE(this->check(19, cols, {.dx = l}, algorithms));
            ASSERT_NO_FATAL_FAILURE(
                this->check(19, cols, {.x = l, .dy = l, .dx = l, .parameter_offset = 1}, algorithms));
        }
}

TYPED_TEST(norm_gradients, take_spaced_and_transposed_matrices) {
    for (const auto& [rows, cols] : test::strided_shapes()) {
        if (rows * cols > 200000) continue;
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(
            rows, cols, {.x = {.step = 2}, .dx = {.padding = 1, .step = 3}, .parameter_stride = 2}));
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.dy = {.column_major = true}, .has_gamma = false}));
        ASSERT_NO_FATAL_FAILURE(this->check(
            rows, cols, {.x = {.padding = 2, .column_major = true}, .dx = {.column_major = true}}));
    }
}

TYPED_TEST(norm_gradients, are_accurate_far_from_zero) {
    for (const double center : {100.0, -1000.0})
        for (const std::int64_t cols : {7, 128, 1024, 4097, 30000}) {
            SCOPED_TRACE(testing::Message() << cols << " columns about " << center);
            ASSERT_NO_FATAL_FAILURE(this->check(random_elements<TypeParam>(2 * cols, center - 5, center + 5),
                                                random_elements<TypeParam>(2 * cols), 2, cols, {},
                                                {algorithm::block_per_row, algorithm::vectorized}));
        }
}

TYPED_TEST(norm_gradients, take_equal_elements_and_any_epsilon) {
    for (const float epsilon : {1e-5f, 0.5f})
        for (const std::int64_t cols : {1, 33, 1024, 3000}) {
            SCOPED_TRACE(testing::Message() << cols << " columns, epsilon " << epsilon);
            const std::vector<TypeParam> xs(static_cast<std::size_t>(2 * cols),
                                            static_cast<TypeParam>(0.375f));
            ASSERT_NO_FATAL_FAILURE(this->check(xs, random_elements<TypeParam>(2 * cols), 2, cols, {},
                                                every_algorithm(), epsilon));
        }
}

/// The squares of such elements overflow, and the last warps of a cluster have no columns: their distance from the mean counts
/// for nothing. The deviations d are roundings of means, so that z may be anything; but the sums of warps, of squares about
/// their own means and of those about the row's, hold at least d^2 / 2 each, so that |z| <= sqrt(2). Sigma is at least
/// sqrt(epsilon), and the terms of dx at most |g|, mean |g| and |z| times |z| mean |g|.
TYPED_TEST(norm_gradients, of_equal_elements_without_squares_are_bounded) {
    const auto element = static_cast<TypeParam>(std::is_same_v<TypeParam, half> ? 60000.0f : 1e20f);
    constexpr std::int64_t rows = 2;
    constexpr float epsilon = 1e-5f;
    for (const std::int64_t cols : {8193, 16385}) {
        SCOPED_TRACE(testing::Message() << cols << " columns");
        const auto dys = random_elements<TypeParam>(rows * cols);
        const std::vector<TypeParam> xs(dys.size(), element);
        guarded<TypeParam> x(rows, cols, cols), dy(rows, cols, cols), dx(rows, cols, cols);
        guarded<TypeParam> dgamma(cols), dbeta(cols);
        x.upload(xs);
        dy.upload(dys);
        this->call(operation::layer_norm, x.matrix(), {}, dy.matrix(), dx.matrix(), dgamma.vector(),
                   dbeta.vector(), *this->stream, {.epsilon = epsilon});
        this->stream->synchronize();

        std::vector<double> of_dx, of_dgamma(static_cast<std::size_t>(cols));
        for (std::int64_t row = 0; row < rows; ++row) {
            double mean = 0;  // of |g|
            const auto at = [&](std::int64_t col) {
                return std::abs(test::to_double(dys[static_cast<std::size_t>(row * cols + col)]));
            };
            for (std::int64_t col = 0; col < cols; ++col) mean += at(col) / static_cast<double>(cols);
            for (std::int64_t col = 0; col < cols; ++col) {
                of_dx.push_back(1.01 * (at(col) + 3 * mean) / std::sqrt(epsilon));
                of_dgamma[static_cast<std::size_t>(col)] += 1.01 * std::sqrt(2.0) * at(col);
            }
        }
        ASSERT_TRUE(test::are_within(dx.download(), std::vector<double>(of_dx.size()), of_dx));
        ASSERT_TRUE(test::are_within(dgamma.download(), std::vector<double>(of_dgamma.size()), of_dgamma));
        const reference expected(operation::layer_norm, xs, std::vector<TypeParam>{}, dys, cols, epsilon,
                                 test::norm_gradient_depth(algorithm::automatic, cols));
        ASSERT_TRUE(test::are_within(dbeta.download(), expected.dbeta, expected.dbeta_bounds));
    }
}

TYPED_TEST(norm_gradients, work_in_place) {
    for (const std::int64_t cols : {3, 128, 1024, 4097, 5000, 20000})
        for (const algorithm a : every_algorithm())
            for (const bool is_of_x : {true, false}) {
                SCOPED_TRACE(testing::Message() << cols << " columns, " << to_string(a));
                constexpr std::int64_t rows = 301;
                guarded<TypeParam> x(rows, cols, cols + 8), dy(rows, cols, cols + 8);
                guarded<TypeParam> dgamma(cols), dbeta(cols);
                const auto xs = random_elements<TypeParam>(rows * cols, -5, 5),
                           dys = random_elements<TypeParam>(rows * cols);
                x.upload(xs);
                dy.upload(dys);
                guarded<TypeParam>& dx = is_of_x ? x : dy;
                if (!this->takes(a, this->problem_of(x.matrix(), dy.matrix(), dx.matrix()))) continue;
                this->call(operation::layer_norm, x.matrix(), {}, dy.matrix(), dx.matrix(), dgamma.vector(),
                           dbeta.vector(), *this->stream, {.algorithm = a});
                this->stream->synchronize();
                const reference expected(operation::layer_norm, xs, std::vector<TypeParam>{}, dys, cols,
                                         1e-5f, test::norm_gradient_depth(a, cols));
                ASSERT_TRUE(test::are_within(dx.download(), expected.dx, expected.dx_bounds));
                ASSERT_TRUE(test::are_within(dgamma.download(), expected.dgamma, expected.dgamma_bounds));
                ASSERT_TRUE(test::are_within(dbeta.download(), expected.dbeta, expected.dbeta_bounds));
                ASSERT_TRUE(dx.canaries_alive());
            }
}

TYPED_TEST(norm_gradients, keep_nan_to_its_row_and_to_the_columns) {
    const auto is_nan = [](TypeParam value) { return std::isnan(test::to_double(value)); };
    for (const std::int64_t cols : {1, 31, 128, 1000, 4097, 5000, 20000})
        for (const bool is_of_x : {true, false})
            for (const algorithm a : every_algorithm()) {
                SCOPED_TRACE(testing::Message()
                             << cols << " columns, " << to_string(a) << ", in x: " << is_of_x);
                constexpr std::int64_t rows = 3;
                auto xs = random_elements<TypeParam>(rows * cols),
                     dys = random_elements<TypeParam>(rows * cols);
                const std::int64_t at = cols / 2;
                (is_of_x ? xs : dys)[static_cast<std::size_t>(cols + at)] = test::not_a_number<TypeParam>();
                guarded<TypeParam> x(rows, cols, cols), dy(rows, cols, cols), dx(rows, cols, cols);
                guarded<TypeParam> dgamma(cols), dbeta(cols);
                if (!this->takes(a, this->problem_of(x.matrix(), dy.matrix(), dx.matrix()))) continue;
                x.upload(xs);
                dy.upload(dys);
                this->call(operation::layer_norm, x.matrix(), {}, dy.matrix(), dx.matrix(), dgamma.vector(),
                           dbeta.vector(), *this->stream, {.algorithm = a});
                this->stream->synchronize();
                const auto of_dx = dx.download(), of_dgamma = dgamma.download(), of_dbeta = dbeta.download();
                for (std::int64_t i = 0; i < rows * cols; ++i)
                    ASSERT_EQ(is_nan(of_dx[static_cast<std::size_t>(i)]), i / cols == 1) << i;
                for (std::int64_t i = 0; i < cols; ++i) {
                    ASSERT_EQ(is_nan(of_dgamma[static_cast<std::size_t>(i)]), is_of_x || i == at) << i;
                    ASSERT_EQ(is_nan(of_dbeta[static_cast<std::size_t>(i)]), !is_of_x && i == at) << i;
                }
            }
}

TYPED_TEST(norm_gradients, give_the_same_bits_in_a_graph) {
    for (const auto& [rows, cols] :
         {std::pair{10000, 100}, {3000, 1024}, {700, 4097}, {500, 5000}, {200, 20000}}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        const auto xs = random_elements<TypeParam>(std::int64_t{rows} * cols, -4, 4),
                   dys = random_elements<TypeParam>(std::int64_t{rows} * cols);
        guarded<TypeParam> x(rows, cols, cols), dy(rows, cols, cols);
        x.upload(xs);
        dy.upload(dys);
        struct results {
            guarded<TypeParam> dx, dgamma, dbeta;
        };
        results first{{rows, cols, cols}, guarded<TypeParam>(cols), guarded<TypeParam>(cols)},
            second{{rows, cols, cols}, guarded<TypeParam>(cols), guarded<TypeParam>(cols)};
        const auto run = [&](results& r) {
            this->call(operation::layer_norm, x.matrix(), {}, dy.matrix(), r.dx.matrix(), r.dgamma.vector(),
                       r.dbeta.vector(), *this->stream, {});
        };
        run(first);
        const graph captured = graph::capture(*this->stream, [&] { run(second); });
        for (int i = 0; i < 3; ++i) captured.launch(*this->stream);
        this->stream->synchronize();
        const auto same = [](guarded<TypeParam>& a, guarded<TypeParam>& b) {
            const auto of_a = a.download(), of_b = b.download();
            return std::memcmp(of_a.data(), of_b.data(), of_a.size() * sizeof(TypeParam)) == 0;
        };
        EXPECT_TRUE(same(first.dx, second.dx) && same(first.dgamma, second.dgamma) &&
                    same(first.dbeta, second.dbeta));
    }
}

TYPED_TEST(norm_gradients, without_scratch_memory_have_no_column_sums) {
    guarded<TypeParam> x(4, 6, 6), dx(4, 6, 6), dgamma(6);
    x.upload(random_elements<TypeParam>(24));
    const norm_gradient_options options{.scratch = scratch::none};
    EXPECT_NO_THROW(this->call(operation::rms_norm, x.matrix(), {}, x.matrix(), dx.matrix(), {}, {},
                               *this->stream, options));
    this->stream->synchronize();
    EXPECT_THROW(this->call(operation::rms_norm, x.matrix(), {}, x.matrix(), {}, dgamma.vector(), {},
                            *this->stream, options),
                 unsupported);
    EXPECT_TRUE(dgamma.untouched());
}

}  // namespace
}  // namespace heddle
