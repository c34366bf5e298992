#pragma once

#include "tests/matmul/operands.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/random.hpp"
#include <heddle/batched_matmul.hpp>
#include <heddle/device.hpp>
#include <heddle/matmul.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

// Products of one shape, at a stride.
namespace heddle::test {

struct batch_shape {
    shape s;
    std::int64_t count;
    layouts lie{};
    std::int64_t gap = 0;  ///< elements between a matrix and the next
    bool one_a = false;    ///< serves all
    bool one_b = false;
};

inline std::string text(const batch_shape& of) {
    return std::to_string(of.count) + " of " + text(of.s) + ", gap " + std::to_string(of.gap) +
           (of.one_a ? ", one a" : "") + (of.one_b ? ", one b" : "");
}

/// Matrix after matrix in guarded memory. Their elements are given and taken in row-major order, without gaps; what lies between
/// is NaN.
template <class T>
class batched_matrix {
  public:
    batched_matrix(std::int64_t rows, std::int64_t cols, const layout& how, std::int64_t count,
                   std::int64_t gap, bool is_one = false)
        : view_{{nullptr, rows, cols}, count, 0},
          stored_(is_one ? 1 : count),
          span_(span_of(rows, cols, how)),
          memory_(stored_, span_, lines_of(rows, cols, how) * line_of(rows, cols, how) + gap, how.offset) {
        const std::int64_t line = line_of(rows, cols, how);
        view_.first = {memory_.data(), rows, cols, how.is_transposed ? how.step : line,
                       how.is_transposed ? line : how.step};
        if (!is_one) view_.stride = lines_of(rows, cols, how) * line + gap;
    }

    const batch_view<T>& view() const { return view_; }
    std::int64_t size() const { return stored_ * view_.first.rows * view_.first.cols; }

    void upload(const std::vector<T>& elements) {
        std::vector<T> all(static_cast<std::size_t>(stored_ * span_), nothing());
        for_each([&](std::size_t at, std::size_t i) { all[at] = elements[i]; });
        memory_.upload(all);
    }
    void clear() { memory_.upload(std::vector<T>(static_cast<std::size_t>(stored_ * span_), nothing())); }

    /// Nothing between and around the matrices has been written.
    std::vector<T> download() {
        EXPECT_TRUE(memory_.canaries_alive());
        std::vector<T> all = memory_.download(), elements(static_cast<std::size_t>(size()));
        for_each([&](std::size_t at, std::size_t i) {
            elements[i] = all[at];
            all[at] = nothing();
        });
        std::size_t written = 0;
        for (const T& between : all) written += std::isnan(to_double(between)) ? 0 : 1;
        EXPECT_EQ(written, 0);
        return elements;
    }
    bool untouched() { return memory_.untouched(); }

  private:
    static T nothing() { return T(std::numeric_limits<float>::quiet_NaN()); }
    static std::int64_t line_of(std::int64_t rows, std::int64_t cols, const layout& how) {
        return (how.is_transposed ? rows : cols) * how.step + how.padding;
    }
    static std::int64_t lines_of(std::int64_t rows, std::int64_t cols, const layout& how) {
        return how.is_transposed ? cols : rows;
    }
    static std::int64_t span_of(std::int64_t rows, std::int64_t cols, const layout& how) {
        const std::int64_t length = how.is_transposed ? rows : cols;
        return (lines_of(rows, cols, how) - 1) * line_of(rows, cols, how) + (length - 1) * how.step + 1;
    }

    template <class Function>
    void for_each(Function function) const {
        const matrix_view<T>& m = view_.first;
        std::size_t i = 0;
        for (std::int64_t each = 0; each < stored_; ++each)
            for (std::int64_t row = 0; row < m.rows; ++row)
                for (std::int64_t col = 0; col < m.cols; ++col)
                    function(static_cast<std::size_t>(each * span_ + row * m.row_stride + col * m.col_stride),
                             i++);
    }

    batch_view<T> view_;
    std::int64_t stored_;
    std::int64_t span_;
    guarded<T> memory_;
};

template <class Out, class In>
struct batch_operands {
    batch_shape of;
    batched_matrix<In> a, b;
    batched_matrix<Out> c;
    std::vector<In> as, bs;
    std::vector<Out> cs;

    explicit batch_operands(const batch_shape& shape)
        : of(shape),
          a(of.s.m, of.s.k, of.lie.a, of.count, of.gap, of.one_a),
          b(of.s.k, of.s.n, of.lie.b, of.count, of.gap, of.one_b),
          c(of.s.m, of.s.n, of.lie.c, of.count, of.gap),
          as(random_elements<In>(a.size())),
          bs(random_elements<In>(b.size())),
          cs(random_elements<Out>(c.size())) {
        a.upload(as);
        b.upload(bs);
        c.clear();
    }

    /// Where beta is 0, C holds NaN.
    void multiply(const stream& on, const matmul_options& options) {
        if (options.beta == 0)
            c.clear();
        else
            c.upload(cs);
        batched_matmul<Out, In>(a.view(), b.view(), c.view(), on, options);
        synchronize(on, std::string(to_string(options.algorithm)) + " " + text(of));
    }

    matmul_problem problem(const matmul_options& options) const {
        const matrix_view<Out>& first = c.view().first;
        matmul_problem result = matmul_problem_of<Out, In>(a.view().first, b.view().first, first, options);
        if (of.count == 1) return result;
        const bool is_turned = first.rows > 1 && first.cols > 1 && first.col_stride > first.row_stride;
        result.batches = of.count;
        result.a_stride = (is_turned ? b.view().stride : a.view().stride);
        result.b_stride = (is_turned ? a.view().stride : b.view().stride);
        result.c_stride = c.view().stride;
        return options.algorithm == matmul_algorithm::automatic ? joined(result) : result;
    }
    /// Where a batch shares B, and all rows of A and of C are one stride apart, the product of all rows.
    matmul_problem joined(matmul_problem p) const {
        const std::int64_t rows = p.c.rows, a_step = rows == 1 ? p.a_stride : p.a.row_stride,
                           c_step = rows == 1 ? c.view().stride : p.c.row_stride;
        const bool overlaps =
            a_step <= (p.a.cols - 1) * p.a.col_stride && p.a.col_stride < of.count * p.a_stride;
        if (p.b_stride != 0 || p.a_stride == 0 || p.a_stride != rows * a_step ||
            c.view().stride != rows * c_step || overlaps)
            return p;
        p.a.rows = p.c.rows = of.count * rows;
        p.a.row_stride = a_step;
        p.c.row_stride = c_step;
        p.batches = 1;
        p.a_stride = p.c_stride = 0;
        return p;
    }
    std::string why_not(const matmul_options& options) const {
        return heddle::why_not(options.algorithm, problem(options), traits_of(current_device()),
                               options.variant);
    }

    std::vector<reference> expected(float alpha, float beta) const {
        std::vector<reference> all;
        for (std::int64_t i = 0; i < of.count; ++i)
            all.emplace_back(of.s, part(as, of.one_a ? 0 : i, of.s.m * of.s.k),
                             part(bs, of.one_b ? 0 : i, of.s.k * of.s.n), part(cs, i, of.s.m * of.s.n),
                             double{alpha}, double{beta});
        return all;
    }
    /// Within the bound of the rung that the options stand for.
    void expect_close(const std::vector<reference>& expected, const matmul_options& options) {
        const matmul_algorithm runs = options.algorithm == matmul_algorithm::automatic
                                          ? select(problem(options), traits_of(current_device()))
                                          : options.algorithm;
        const std::vector<Out> actual = c.download();
        for (std::int64_t i = 0; i < of.count; ++i) {
            SCOPED_TRACE("product " + std::to_string(i));
            ASSERT_NO_FATAL_FAILURE(test::expect_close(of.s, part(actual, i, of.s.m * of.s.n),
                                                       expected[static_cast<std::size_t>(i)],
                                                       bound_of<Out, In>(runs)));
        }
    }
    void expect_intact() {
        EXPECT_TRUE(a.untouched());
        EXPECT_TRUE(b.untouched());
    }

  private:
    /// One matrix of several, of `size` elements.
    template <class T>
    static std::vector<T> part(const std::vector<T>& all, std::int64_t index, std::int64_t size) {
        const auto begin = all.begin() + index * size;
        return std::vector<T>(begin, begin + size);
    }
};

}  // namespace heddle::test
