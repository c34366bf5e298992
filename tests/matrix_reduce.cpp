#include "tests/support/matrix_reduce.hpp"

#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/provoked.hpp"
#include "tests/support/random.hpp"
#include <heddle/graph.hpp>
#include <heddle/host.hpp>
#include <heddle/matrix_reduce.hpp>
#include <heddle/stream.hpp>
#include <heddle/workspace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace heddle {
namespace {

using reference = test::reduced_row;
using test::address_of;
using test::guarded;
using test::invalid_argument_of;
using test::mean_bound;
using test::random_elements;
using test::sum_bound;
using test::to_double;
using test::variance_bound;

using element_types = testing::Types<float, half, bfloat16>;

std::vector<matrix_reduce_algorithm> every_algorithm() {
    std::vector<matrix_reduce_algorithm> all(matrix_reduce_algorithms().begin(),
                                             matrix_reduce_algorithms().end());
    all.push_back(matrix_reduce_algorithm::automatic);
    return all;
}

template <class T>
T number(double value) {
    return static_cast<T>(static_cast<float>(value));
}

/// One vector of each result.
template <class T>
struct results {
    guarded<float> sum, mean, variance, unbiased;
    guarded<T> min, max;
    guarded<std::int64_t> argmax;

    results(std::int64_t size, std::int64_t stride, bool on_host = false)
        : sum(make<float>(size, stride, on_host)),
          mean(make<float>(size, stride, on_host)),
          variance(make<float>(size, stride, on_host)),
          unbiased(make<float>(size, stride, on_host)),
          min(make<T>(size, stride, on_host)),
          max(make<T>(size, stride, on_host)),
          argmax(make<std::int64_t>(size, stride, on_host)) {}

    bool canaries_alive() {
        return sum.canaries_alive() && mean.canaries_alive() && variance.canaries_alive() &&
               unbiased.canaries_alive() && min.canaries_alive() && max.canaries_alive() &&
               argmax.canaries_alive();
    }

    void are_of(const std::vector<reference>& rows, std::int64_t depth) {
        const auto sums = sum.download(), means = mean.download(), variances = variance.download(),
                   unbiaseds = unbiased.download();
        const auto mins = min.download(), maxs = max.download();
        const auto argmaxs = argmax.download();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const reference& row = rows[i];
            const double n = static_cast<double>(row.length);
            SCOPED_TRACE(testing::Message() << "row " << i);
            ASSERT_TRUE(test::is_within(sums[i], row.sum, sum_bound(row, depth)));
            ASSERT_TRUE(test::is_within(means[i], row.sum / n, mean_bound(row, depth)));
            ASSERT_TRUE(test::is_within(to_double(mins[i]), row.smallest, 0));
            ASSERT_TRUE(test::is_within(to_double(maxs[i]), row.largest, 0));
            ASSERT_EQ(argmaxs[i], row.argmax);
            ASSERT_TRUE(test::is_within(variances[i], row.squares / n, variance_bound(row, depth, n)));
            if (row.length > 1) {
                ASSERT_TRUE(
                    test::is_within(unbiaseds[i], row.squares / (n - 1), variance_bound(row, depth, n - 1)));
            } else {
                ASSERT_TRUE(std::isnan(unbiaseds[i]));
            }
        }
    }

  private:
    template <class Result>
    static guarded<Result> make(std::int64_t size, std::int64_t stride, bool on_host) {
        using memory = typename guarded<Result>::memory;
        return guarded<Result>(1, size, 0, 0, stride, on_host ? memory::host : memory::device);
    }
};

/// Scratch memory of exactly the bytes that are asked for, 16-byte aligned and no better, between canaries.
class guarded_workspace {
  public:
    explicit guarded_workspace(std::int64_t bytes) : words_(bytes / word_bytes, 2) {
        words_.upload(std::vector<std::int64_t>(static_cast<std::size_t>(bytes / word_bytes)));
    }

    operator std::span<std::byte>() {
        return {reinterpret_cast<std::byte*>(words_.data()),
                static_cast<std::size_t>(words_.vector().size * word_bytes)};
    }

    /// Whether nothing around it was written and it is ready for the next call.
    testing::AssertionResult is_intact() {
        if (!words_.canaries_alive()) return testing::AssertionFailure() << "written outside the workspace";
        const auto words = words_.download();
        const auto tickets = words.begin() + std::min<std::ptrdiff_t>(std::ssize(words), 4096 / word_bytes);
        if (std::any_of(words.begin(), tickets, [](std::int64_t word) { return word != 0; }))
            return testing::AssertionFailure() << "the workspace's first bytes were not left zero";
        return testing::AssertionSuccess();
    }

  private:
    static constexpr std::int64_t word_bytes = 8;
    guarded<std::int64_t> words_;
};

enum class along { rows, columns };

template <class T>
void enqueue(along direction, matrix_view<const T> x, results<T>& y, cuda::stream_ref stream,
             const matrix_reduce_options& options) {
    matrix_reduce_options unbiased = options;
    unbiased.correction = 1;
    if (direction == along::rows) {
        row_sum<T>(x, y.sum.vector(), stream, options);
        row_mean<T>(x, y.mean.vector(), stream, options);
        row_min<T>(x, y.min.vector(), stream, options);
        row_max<T>(x, y.max.vector(), stream, options);
        row_argmax<T>(x, y.argmax.vector(), stream, options);
        row_variance<T>(x, y.variance.vector(), stream, options);
        row_variance<T>(x, y.unbiased.vector(), stream, unbiased);
    } else {
        column_sum<T>(x, y.sum.vector(), stream, options);
        column_mean<T>(x, y.mean.vector(), stream, options);
        column_min<T>(x, y.min.vector(), stream, options);
        column_max<T>(x, y.max.vector(), stream, options);
        column_argmax<T>(x, y.argmax.vector(), stream, options);
        column_variance<T>(x, y.variance.vector(), stream, options);
        column_variance<T>(x, y.unbiased.vector(), stream, unbiased);
    }
}

template <class T>
void compute_on_host(along direction, matrix_view<const T> x, results<T>& y) {
    if (direction == along::rows) {
        host::row_sum<T>(x, y.sum.vector());
        host::row_mean<T>(x, y.mean.vector());
        host::row_min<T>(x, y.min.vector());
        host::row_max<T>(x, y.max.vector());
        host::row_argmax<T>(x, y.argmax.vector());
        host::row_variance<T>(x, y.variance.vector());
        host::row_variance<T>(x, y.unbiased.vector(), {.correction = 1});
    } else {
        host::column_sum<T>(x, y.sum.vector());
        host::column_mean<T>(x, y.mean.vector());
        host::column_min<T>(x, y.min.vector());
        host::column_max<T>(x, y.max.vector());
        host::column_argmax<T>(x, y.argmax.vector());
        host::column_variance<T>(x, y.variance.vector());
        host::column_variance<T>(x, y.unbiased.vector(), {.correction = 1});
    }
}

/// Of each row, or of each column, of the dense row-major elements.
template <class T>
std::vector<reference> references(const std::vector<T>& elements, std::int64_t rows, std::int64_t cols,
                                  along direction) {
    std::vector<reference> all;
    const bool of_rows = direction == along::rows;
    for (std::int64_t i = 0; i < (of_rows ? rows : cols); ++i)
        all.emplace_back(of_rows ? cols : rows, [&](std::int64_t j) {
            return to_double(elements[static_cast<std::size_t>(of_rows ? i * cols + j : j * cols + i)]);
        });
    return all;
}

template <class T>
matrix_reduce_problem problem_of(along direction, const matrix_view<T>& x) {
    return direction == along::rows ? row_problem(x) : column_problem(x);
}

struct shape {
    std::int64_t rows;
    std::int64_t cols;
    std::int64_t row_stride;
    std::int64_t offset = 0;
    std::int64_t col_stride = 1;

    shape(std::int64_t r, std::int64_t c) : rows(r), cols(c), row_stride(c) {}
    shape(std::int64_t r, std::int64_t c, std::int64_t down, std::int64_t at = 0, std::int64_t across = 1)
        : rows(r), cols(c), row_stride(down), offset(at), col_stride(across) {}

    friend std::ostream& operator<<(std::ostream& out, const shape& s) {
        return out << s.rows << " x " << s.cols << ", strides " << s.row_stride << " and " << s.col_stride
                   << ", offset " << s.offset;
    }

    bool has_neighbours() const { return col_stride == 1 || row_stride == 1 || rows <= 1 || cols <= 1; }
};

class matrix_reduce_test : public test::gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream.emplace();
    }

    static const device_traits& device() { return traits_of(current_device()); }

    std::optional<heddle::stream> stream;
};

template <class T>
class matrix_reduce : public matrix_reduce_test {
  protected:
    /// Every operation along rows and columns with every algorithm that takes the shape.
    void check(const shape& s, double low = -1, double high = 1) {
        check(s, random_elements<T>(s.rows * s.cols, low, high));
    }

    void check(const shape& s, const std::vector<T>& elements) {
        SCOPED_TRACE(s);
        guarded<T> x(s.rows, s.cols, s.row_stride, s.offset, s.col_stride);
        x.upload(elements);
        const matrix_view<const T> view = x.matrix();
        for (const along direction : {along::rows, along::columns}) {
            SCOPED_TRACE(direction == along::rows ? "rows" : "columns");
            const auto expected = references(elements, s.rows, s.cols, direction);
            const auto size = static_cast<std::int64_t>(expected.size());
            const matrix_reduce_problem problem = problem_of(direction, view);
            for (const matrix_reduce_algorithm algorithm : every_algorithm()) {
                if (algorithm == matrix_reduce_algorithm::vectorized && !s.has_neighbours()) continue;
                SCOPED_TRACE(to_string(algorithm));
                const std::int64_t depth = matrix_reduce_depth(problem, this->device(), algorithm);
                guarded_workspace scratch(matrix_reduce_workspace_bytes(problem, this->device(), algorithm));
                results<T> y(size, 1 + size % 2);
                enqueue(direction, view, y, *this->stream, {.algorithm = algorithm, .workspace = scratch});
                this->stream->synchronize();
                ASSERT_NO_FATAL_FAILURE(y.are_of(expected, depth));
                ASSERT_TRUE(y.canaries_alive());
                ASSERT_TRUE(scratch.is_intact());
            }
        }
        ASSERT_TRUE(x.untouched());
    }
};

TYPED_TEST_SUITE(matrix_reduce, element_types, test::type_names);

/// Off by one around packets, lanes, warps, blocks and strips.
TYPED_TEST(matrix_reduce, takes_every_shape) {
    const shape shapes[] = {{0, 0},    {0, 5},    {5, 0},     {1, 1},      {1, 7},     {7, 1},
                            {3, 5},    {2, 33},   {33, 2},    {17, 31},    {31, 32},   {33, 33},
                            {64, 64},  {65, 63},  {127, 129}, {128, 128},  {257, 255}, {5, 511},
                            {5, 512},  {9, 513},  {100, 8},   {1000, 3},   {3001, 16}, {7, 1024},
                            {9, 1025}, {3, 2047}, {3, 2049},  {20, 4096},  {1025, 17}, {4099, 5},
                            {1, 1009}, {1009, 1}, {4500, 70}, {1, 100003}, {100003, 1}};
    for (const shape& s : shapes) ASSERT_NO_FATAL_FAILURE(this->check(s));
}

/// Rows and ranges of rows that blocks share: one ticket for one of them, and one for several.
TYPED_TEST(matrix_reduce, shares_long_rows_and_columns_among_blocks) {
    for (const shape& s : {shape{3, 70001}, {70000, 8}, {70001, 3}, {66, 33000}, {300, 17000}})
        ASSERT_NO_FATAL_FAILURE(this->check(s));
}

TYPED_TEST(matrix_reduce, takes_every_alignment_and_padding) {
    for (const std::int64_t offset : {0, 1, 2, 3, 7})
        for (const shape& s : {shape{67, 61, 64},
                               {67, 61, 61},
                               {130, 1001, 1008},
                               {5, 1001, 1003},
                               {2000, 9, 9},
                               {2000, 9, 16},
                               {2, 40009, 40011},
                               {1, 17, 17},
                               {9, 8, 8},
                               {700, 264, 264}})
            ASSERT_NO_FATAL_FAILURE(this->check({s.rows, s.cols, s.row_stride, offset}));
}

TYPED_TEST(matrix_reduce, takes_gaps_between_elements) {
    for (const shape& s : {shape{1, 1000, 0, 0, 3},
                           {33, 65, 140, 1, 2},
                           {1000, 1, 5, 0, 1},
                           {301, 40, 2, 0, 700},
                           {5, 5000, 15001, 1, 3}})
        ASSERT_NO_FATAL_FAILURE(this->check(s));
}

/// The mean's square is far larger than the variance, which a difference of sums would lose.
TYPED_TEST(matrix_reduce, keeps_the_variance_of_large_means) {
    for (const shape& s : {shape{9, 1000}, {100, 70}, {2, 40000}})
        ASSERT_NO_FATAL_FAILURE(this->check(s, 1000, 1010));
}

TYPED_TEST(matrix_reduce, takes_denormals) {
    const double smallest = test::smallest<TypeParam>();
    ASSERT_NO_FATAL_FAILURE(this->check(shape{33, 129}, -9 * smallest, 9 * smallest));
}

TYPED_TEST(matrix_reduce, passes_nan_and_infinity_on) {
    const std::int64_t rows = 40, cols = 517;
    auto elements = random_elements<TypeParam>(rows * cols);
    const auto at = [&](std::int64_t i, std::int64_t j) -> TypeParam& {
        return elements[static_cast<std::size_t>(i * cols + j)];
    };
    const TypeParam infinity = number<TypeParam>(HUGE_VAL), nan = number<TypeParam>(NAN);
    at(3, 400) = at(3, 77) = at(3, 516) = nan;
    at(5, 0) = nan;
    at(6, 100) = infinity;
    at(6, 300) = nan;
    at(7, 20) = at(7, 510) = infinity;
    at(8, 511) = -infinity;
    at(20, 77) = nan;
    guarded<TypeParam> x(rows, cols, cols);
    x.upload(elements);
    for (const along direction : {along::rows, along::columns}) {
        const auto expected = references(elements, rows, cols, direction);
        for (const matrix_reduce_algorithm algorithm : every_algorithm()) {
            SCOPED_TRACE(to_string(algorithm));
            results<TypeParam> y(std::ssize(expected), 1);
            enqueue<TypeParam>(direction, x.matrix(), y, *this->stream, {.algorithm = algorithm});
            this->stream->synchronize();
            const auto sums = y.sum.download(), variances = y.variance.download();
            const auto mins = y.min.download(), maxs = y.max.download();
            const auto argmaxs = y.argmax.download();
            for (std::size_t i = 0; i < expected.size(); ++i) {
                SCOPED_TRACE(i);
                EXPECT_TRUE(test::is_within(to_double(mins[i]), expected[i].smallest, 0));
                EXPECT_TRUE(test::is_within(to_double(maxs[i]), expected[i].largest, 0));
                EXPECT_EQ(argmaxs[i], expected[i].argmax);
                if (!std::isfinite(expected[i].sum)) {
                    EXPECT_TRUE(test::is_within(sums[i], expected[i].sum, 0));
                    EXPECT_TRUE(std::isnan(variances[i]));
                }
            }
        }
    }
}

TYPED_TEST(matrix_reduce, finds_the_first_of_equals) {
    const std::int64_t rows = 50, cols = 3000;
    auto elements = random_elements<TypeParam>(rows * cols, 0, 3);
    for (TypeParam& e : elements) e = number<TypeParam>(std::floor(to_double(e)));
    for (std::int64_t j = 0; j < cols; ++j) {
        const auto place = static_cast<std::size_t>(j);
        elements[place] = number<TypeParam>(-HUGE_VAL);                                 // row 0: all -Inf
        elements[place + 1 * static_cast<std::size_t>(cols)] = number<TypeParam>(NAN);  // row 1: all NaN
        elements[place + 2 * static_cast<std::size_t>(cols)] = number<TypeParam>(j % 2 == 0 ? -0.0 : 0.0);
    }
    guarded<TypeParam> x(rows, cols, cols);
    x.upload(elements);
    for (const along direction : {along::rows, along::columns}) {
        const auto expected = references(elements, rows, cols, direction);
        for (const matrix_reduce_algorithm algorithm : every_algorithm()) {
            SCOPED_TRACE(to_string(algorithm));
            guarded<std::int64_t> y(std::ssize(expected));
            const matrix_reduce_options options{.algorithm = algorithm};
            if (direction == along::rows)
                row_argmax<TypeParam>(x.matrix(), y.vector(), *this->stream, options);
            else
                column_argmax<TypeParam>(x.matrix(), y.vector(), *this->stream, options);
            const auto found = y.download();
            for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(found[i], expected[i].argmax) << i;
        }
    }
}

TYPED_TEST(matrix_reduce, gives_the_same_bits_every_time_and_in_a_graph) {
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{9, 150001}, {30000, 72}}) {
        const auto elements = random_elements<TypeParam>(rows * cols);
        guarded<TypeParam> x(rows, cols, cols);
        x.upload(elements);
        const matrix_view<const TypeParam> view = x.matrix();
        for (const along direction : {along::rows, along::columns}) {
            const std::int64_t size = direction == along::rows ? rows : cols;
            guarded<float> first(size), again(size), transposed_sum(size);
            const auto reduce = [&](guarded<float>& y, const matrix_reduce_options& options = {}) {
                if (direction == along::rows)
                    row_sum<TypeParam>(view, y.vector(), *this->stream, options);
                else
                    column_sum<TypeParam>(view, y.vector(), *this->stream, options);
            };
            workspace scratch(matrix_reduce_workspace_bytes(problem_of(direction, view), this->device()),
                              *this->stream);
            reduce(first);
            this->stream->synchronize();
            const auto expected = first.download();
            if (direction == along::rows)
                column_sum<TypeParam>(transposed(view), transposed_sum.vector(), *this->stream);
            else
                row_sum<TypeParam>(transposed(view), transposed_sum.vector(), *this->stream);
            this->stream->synchronize();
            EXPECT_EQ(transposed_sum.download(), expected);

            const graph captured =
                graph::capture(*this->stream, [&] { reduce(again, {.workspace = scratch}); });
            for (int i = 0; i < 10; ++i) {
                again.upload(std::vector<float>(static_cast<std::size_t>(size), -1));
                if (i % 2 == 0)
                    captured.launch(*this->stream);
                else
                    reduce(again, {.workspace = scratch});
                this->stream->synchronize();
                ASSERT_EQ(again.download(), expected);
            }
        }
    }
}

TYPED_TEST(matrix_reduce, asks_for_a_workspace_that_is_large_enough) {
    guarded<TypeParam> x(2, 100000, 100000);
    guarded<float> y(2);
    const auto bytes = matrix_reduce_workspace_bytes(row_problem(x.matrix()), this->device());
    guarded_workspace scratch(bytes);
    const std::span<std::byte> small =
        std::span<std::byte>(scratch).first(static_cast<std::size_t>(bytes - 1));
    EXPECT_EQ(invalid_argument_of(
                  [&] { row_sum<TypeParam>(x.matrix(), y.vector(), *this->stream, {.workspace = small}); }),
              "row_sum: options.workspace is " + std::to_string(bytes - 1) + ", expected at least " +
                  std::to_string(bytes) + " bytes");
    EXPECT_TRUE(y.untouched());
}

template <class T>
class host_matrix_reduce : public testing::Test {};
TYPED_TEST_SUITE(host_matrix_reduce, element_types, test::type_names);

TYPED_TEST(host_matrix_reduce, takes_every_shape) {
    for (const shape& s : {shape{0, 0},
                           {0, 5},
                           {5, 0},
                           {1, 1},
                           {1, 300},
                           {300, 1},
                           {33, 65},
                           {255, 3},
                           {257, 3},
                           {3, 600},
                           {1000, 100, 101},
                           {33, 65, 140, 1, 2},
                           {301, 40, 2, 0, 700}}) {
        SCOPED_TRACE(s);
        const auto elements = random_elements<TypeParam>(s.rows * s.cols);
        guarded<TypeParam> x(s.rows, s.cols, s.row_stride, s.offset, s.col_stride,
                             guarded<TypeParam>::memory::host);
        x.upload(elements);
        for (const along direction : {along::rows, along::columns}) {
            const auto expected = references(elements, s.rows, s.cols, direction);
            const auto size = static_cast<std::int64_t>(expected.size());
            results<TypeParam> y(size, 1 + size % 2, true);
            compute_on_host<TypeParam>(direction, x.matrix(), y);
            ASSERT_NO_FATAL_FAILURE(y.are_of(expected, 1));  // computed in double, rounded once
            ASSERT_TRUE(y.canaries_alive());
        }
        ASSERT_TRUE(x.untouched());
    }
}

TYPED_TEST(host_matrix_reduce, passes_nan_and_infinity_on) {
    const TypeParam nan = number<TypeParam>(NAN), infinity = number<TypeParam>(HUGE_VAL);
    const TypeParam x[] = {number<TypeParam>(1), nan, infinity, nan};
    TypeParam smallest{}, largest{};
    std::int64_t place = 0;
    const matrix_view<const TypeParam> row{x, 1, 4};
    host::row_min<TypeParam>(row, {&smallest, 1});
    host::row_max<TypeParam>(row, {&largest, 1});
    host::row_argmax<TypeParam>(row, {&place, 1});
    EXPECT_TRUE(std::isnan(to_double(smallest)));
    EXPECT_TRUE(std::isnan(to_double(largest)));
    EXPECT_EQ(place, 1);
}

// All below are checked before any device is asked for: they run everywhere.

const cuda::stream_ref no_stream{cudaStream_t{}};

class matrix_reduce_arguments : public testing::Test {
  protected:
    alignas(16) float x[24]{};
    alignas(16) float y[8]{};
    alignas(16) std::byte scratch[64]{};

    std::string of_rows(matrix_view<const float> matrix, vector_view<float> result,
                        const matrix_reduce_options& options = {}) {
        return invalid_argument_of([&] { row_sum<float>(matrix, result, no_stream, options); });
    }
    std::string of_columns(matrix_view<const float> matrix, vector_view<float> result) {
        return invalid_argument_of([&] { column_max<float>(matrix, result, no_stream); });
    }
    void TearDown() override {
        EXPECT_TRUE(std::ranges::all_of(y, [](float e) { return e == 0; }));
    }
};

TEST_F(matrix_reduce_arguments, fit_each_other) {
    EXPECT_EQ(of_rows({x, 4, 6}, {y, 6}), "row_sum: y.size is 6, expected 4 (x.rows)");
    EXPECT_EQ(of_columns({x, 4, 6}, {y, 4}), "column_max: y.size is 4, expected 6 (x.cols)");
    EXPECT_EQ(of_rows({x, -4, 6}, {y, 4}), "row_sum: x.rows is -4, expected zero or more");
    EXPECT_EQ(of_columns({x, 4, -6}, {y, 4}), "column_max: x.cols is -6, expected zero or more");
    EXPECT_EQ(
        of_rows({x, 4, 6, 5}, {y, 4}),
        "row_sum: x.row_stride is 5, expected at least 6 (a row), or a col_stride of at least a column");
    EXPECT_EQ(of_rows({nullptr, 4, 6}, {y, 4}),
              "row_sum: x.data is null, expected a pointer to its elements");
    EXPECT_EQ(of_rows({x, 4, 6}, {nullptr, 4}),
              "row_sum: y.data is null, expected a pointer to its elements");
    EXPECT_EQ(of_rows({x, 4, 6}, {y, 4, 0}), "row_sum: y.stride is 0, expected one or more");
    EXPECT_EQ(of_rows({x, 4, 6}, {x + 20, 4}),
              "row_sum: y.data is " + address_of(x + 20) + ", expected memory apart from x");
}

TEST_F(matrix_reduce_arguments, have_options_that_fit) {
    EXPECT_EQ(of_rows({x, 4, 6}, {y, 4}, {.algorithm = static_cast<matrix_reduce_algorithm>(99)}),
              "row_sum: options.algorithm is 99, expected an enumerator of matrix_reduce_algorithm");
    EXPECT_EQ(of_rows({x, 4, 6}, {y, 4}, {.workspace = std::span(reinterpret_cast<std::byte*>(x + 4), 64)}),
              "row_sum: options.workspace is " + address_of(x + 4) + ", expected memory apart from x");
    EXPECT_EQ(
        of_rows({x, 4, 6}, {y, 4}, {.workspace = std::span(scratch).subspan(4)}),
        "row_sum: options.workspace is " + address_of(scratch + 4) + ", expected a multiple of 16 bytes");
    EXPECT_EQ(invalid_argument_of([&] {
                  row_variance<float>({x, 4, 6}, {y, 4}, no_stream, {.correction = -1});
              }),
              "row_variance: options.correction is -1, expected zero or more");
}

TEST_F(matrix_reduce_arguments, of_vectorized_have_neighbours) {
    try {
        row_sum<float>({x, 2, 3, 8, 2}, {y, 2}, no_stream,
                       {.algorithm = matrix_reduce_algorithm::vectorized});
        FAIL() << "expected unsupported";
    } catch (const unsupported& error) {
        EXPECT_STREQ(error.what(),
                     "row_sum: vectorized needs a stride of 1, x.row_stride is 8 and x.col_stride 2");
    }
}

TEST_F(matrix_reduce_arguments, of_the_host_are_asked_the_same) {
    EXPECT_EQ(invalid_argument_of([&] {
                  host::row_sum<float>({x, 4, 6}, {y, 5});
              }),
              "host::row_sum: y.size is 5, expected 4 (x.rows)");
    EXPECT_EQ(invalid_argument_of([&] {
                  host::column_variance<float>({x, 4, 6}, {y, 6}, {.correction = -1});
              }),
              "host::column_variance: options.correction is -1, expected zero or more");
}

const device_traits h200_like{.sm_count = 132};

TEST(matrix_reduce_select, wants_neighbours) {
    using enum matrix_reduce_algorithm;
    EXPECT_EQ(select(matrix_reduce_problem{.rows = 10, .cols = 20}, h200_like), vectorized);
    EXPECT_EQ(
        select(matrix_reduce_problem{.rows = 10, .cols = 20, .row_stride = 1, .col_stride = 10}, h200_like),
        vectorized);
    EXPECT_EQ(
        select(matrix_reduce_problem{.rows = 10, .cols = 20, .row_stride = 60, .col_stride = 3}, h200_like),
        coalesced);
    EXPECT_EQ(
        select(matrix_reduce_problem{.rows = 1, .cols = 20, .row_stride = 60, .col_stride = 3}, h200_like),
        vectorized);
}

TEST(matrix_reduce_workspace, is_needed_by_rows_that_blocks_share_only) {
    const auto bytes = [](std::int64_t rows, std::int64_t cols) {
        return matrix_reduce_workspace_bytes({.rows = rows, .cols = cols}, h200_like);
    };
    EXPECT_EQ(bytes(0, 0), 0);
    EXPECT_EQ(bytes(4096, 4096), 0);
    EXPECT_EQ(bytes(1 << 20, 8), 0);
    EXPECT_EQ(bytes(64, 1 << 20), 4096 + 64 * 16 * 16);  // 16 blocks a row, 16 bytes each
    const matrix_view<const float> tall{nullptr, 65536, 1024};
    EXPECT_GT(matrix_reduce_workspace_bytes(column_problem(tall), h200_like), 4096);
    for (const auto algorithm : {matrix_reduce_algorithm::naive, matrix_reduce_algorithm::coalesced})
        EXPECT_EQ(matrix_reduce_workspace_bytes({.rows = 1, .cols = 1 << 20}, h200_like, algorithm), 0);
}

TEST(matrix_reduce_workspace, is_bounded) {
    for (int down = 0; down <= 40; ++down)
        for (int across = 0; across <= 40 && down + across <= 58; ++across) {
            const matrix_view<const float> x{nullptr, std::int64_t{1} << down, std::int64_t{1} << across};
            EXPECT_LT(matrix_reduce_workspace_bytes(row_problem(x), h200_like), 64 << 10);
            EXPECT_LT(matrix_reduce_workspace_bytes(column_problem(x), h200_like), 8 << 20);
        }
}

/// No tree of additions of n elements is flatter than log2(n).
TEST(matrix_reduce_depth, is_no_less_than_a_perfect_tree_has) {
    for (const matrix_reduce_algorithm algorithm : every_algorithm())
        for (const std::size_t element_bytes : {2, 4})
            for (int rows = 0; rows <= 20; rows += 5)
                for (int cols = 0; cols <= 30; ++cols) {
                    const std::int64_t m = std::int64_t{1} << rows, n = std::int64_t{1} << cols;
                    const matrix_reduce_problem dense{m, n, n, 1, element_bytes},
                        across{m, n, 1, m, element_bytes};
                    ASSERT_GE(matrix_reduce_depth(dense, h200_like, algorithm), cols);
                    ASSERT_GE(matrix_reduce_depth(across, h200_like, algorithm), cols);
                    if (algorithm == matrix_reduce_algorithm::vectorized && cols >= 14) {
                        ASSERT_LT(matrix_reduce_depth(dense, h200_like, algorithm), n / 32 + 64);
                        ASSERT_LT(matrix_reduce_depth(across, h200_like, algorithm), n / 32 + 64);
                    }
                }
}

TEST(matrix_reduce_problem, is_checked) {
    EXPECT_EQ(invalid_argument_of([&] { (void)matrix_reduce_workspace_bytes({.rows = -1}, h200_like); }),
              "matrix_reduce_workspace_bytes: problem.rows is -1, expected zero or more");
    EXPECT_EQ(invalid_argument_of([&] { (void)matrix_reduce_depth({.element_bytes = 8}, h200_like); }),
              "matrix_reduce_depth: problem.element_bytes is 8, expected 2 or 4");
}

TEST(matrix_reduce_algorithms, have_names_of_their_own) {
    std::set<std::string_view> names = {"automatic", "unknown"};
    for (const matrix_reduce_algorithm algorithm : matrix_reduce_algorithms()) {
        EXPECT_NE(algorithm, matrix_reduce_algorithm::automatic);
        EXPECT_TRUE(names.insert(to_string(algorithm)).second) << to_string(algorithm);
    }
    EXPECT_EQ(to_string(matrix_reduce_algorithm::automatic), "automatic");
    EXPECT_EQ(to_string(static_cast<matrix_reduce_algorithm>(99)), "unknown");
}

}  // namespace
}  // namespace heddle
