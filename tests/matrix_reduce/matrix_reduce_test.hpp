#pragma once

#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/guarded_workspace.hpp"
#include "tests/support/matrix_reduce.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"
#include "tests/support/rows.hpp"
#include <heddle/device.hpp>
#include <heddle/matrix_reduce.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

namespace heddle::test {

inline std::vector<matrix_reduce_algorithm> every_algorithm() {
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
struct matrix_results {
    guarded<float> sum, mean, variance, unbiased;
    guarded<T> min, max;
    guarded<std::int64_t> argmax;

    matrix_results(std::int64_t size, std::int64_t stride, bool on_host = false)
        : sum(make<float>(size, stride, on_host)),
          mean(make<float>(size, stride, on_host)),
          variance(make<float>(size, stride, on_host)),
          unbiased(make<float>(size, stride, on_host)),
          min(make<T>(size, stride, on_host)),
          max(make<T>(size, stride, on_host)),
          argmax(make<std::int64_t>(size, stride, on_host)) {}

    /// And nothing beside them was written.
    void are_of(const std::vector<reduced_row>& rows, std::int64_t depth) {
        const auto read = [](auto& result) {
            auto [elements, canaries_alive] = result.inspect();
            EXPECT_TRUE(canaries_alive);
            return elements;
        };
        const auto sums = read(sum), means = read(mean), variances = read(variance),
                   unbiaseds = read(unbiased);
        const auto mins = read(min), maxs = read(max);
        const auto argmaxs = read(argmax);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const reduced_row& row = rows[i];
            const double n = static_cast<double>(row.length);
            // A trace for each row takes longer than all else.
            ASSERT_TRUE(is_within(sums[i], row.sum, sum_bound(row, depth))) << "row " << i;
            ASSERT_TRUE(is_within(means[i], row.sum / n, mean_bound(row, depth))) << "row " << i;
            ASSERT_TRUE(is_within(to_double(mins[i]), row.smallest, 0)) << "row " << i;
            ASSERT_TRUE(is_within(to_double(maxs[i]), row.largest, 0)) << "row " << i;
            ASSERT_EQ(argmaxs[i], row.argmax) << "row " << i;
            ASSERT_TRUE(is_within(variances[i], row.squares / n, variance_bound(row, depth, n)))
                << "row " << i;
            if (row.length > 1) {
                ASSERT_TRUE(is_within(unbiaseds[i], row.squares / (n - 1), variance_bound(row, depth, n - 1)))
                    << "row " << i;
            } else {
                ASSERT_TRUE(std::isnan(unbiaseds[i])) << "row " << i;
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

enum class along { rows, columns };

template <class T>
void enqueue(along direction, matrix_view<const T> x, matrix_results<T>& y, cuda::stream_ref stream,
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

/// References for each row, or for each column, of the dense row-major elements.
template <class T>
std::vector<reduced_row> references(const std::vector<T>& elements, std::int64_t rows, std::int64_t cols,
                                    along direction) {
    std::vector<reduced_row> all;
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

struct matrix_shape {
    std::int64_t rows;
    std::int64_t cols;
    std::int64_t row_stride;
    std::int64_t offset = 0;
    std::int64_t col_stride = 1;

    matrix_shape(std::int64_t r, std::int64_t c) : rows(r), cols(c), row_stride(c) {}
    matrix_shape(std::int64_t r, std::int64_t c, std::int64_t down, std::int64_t at = 0,
                 std::int64_t across = 1)
        : rows(r), cols(c), row_stride(down), offset(at), col_stride(across) {}

    friend std::ostream& operator<<(std::ostream& out, const matrix_shape& s) {
        return out << s.rows << " x " << s.cols << ", strides " << s.row_stride << " and " << s.col_stride
                   << ", offset " << s.offset;
    }
};

class matrix_reduce_test : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream.emplace();
    }

    static const device_traits& device() { return traits_of(current_device()); }

    std::optional<heddle::stream> stream;
};

template <class T>
class reduced_matrix : public matrix_reduce_test {
  protected:
    /// Every operation along rows and columns with every algorithm that takes the shape.
    void check(const matrix_shape& s, double low = -1, double high = 1) {
        check(s, random_elements<T>(s.rows * s.cols, low, high));
    }

    void check(const matrix_shape& s, const std::vector<T>& elements) {
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
                if (!why_not(algorithm, problem, this->device()).empty()) continue;
                SCOPED_TRACE(to_string(algorithm));
                const std::int64_t depth = matrix_reduce_depth(problem, this->device(), algorithm);
                guarded_workspace scratch(matrix_reduce_workspace_bytes(problem, this->device(), algorithm));
                matrix_results<T> y(size, 1 + size % 2);
                enqueue(direction, view, y, *this->stream, {.algorithm = algorithm, .workspace = scratch});
                this->stream->synchronize();
                ASSERT_NO_FATAL_FAILURE(y.are_of(expected, depth));
                ASSERT_TRUE(scratch.is_intact());
            }
        }
        ASSERT_TRUE(x.untouched());
    }
};

}  // namespace heddle::test
