#include "tests/bounds/loss.hpp"
#include "tests/bounds/reduce.hpp"
#include "tests/support/headers.hpp"
#include "tests/support/mapped_buffer.hpp"
#include "tests/support/periodic.hpp"
#include "tests/support/row_operations.hpp"

/// Operations on rows with indices, offsets or counts beyond 32 bits, or beyond the 24 bits of a float.
namespace heddle::test {
namespace {

constexpr std::int64_t two_to_31 = std::int64_t{1} << 31;

/// 17 elements of `many_rows` rows, and 16, are more than 2^31.
constexpr std::int64_t many_rows = (std::int64_t{1} << 27) + 3;
constexpr std::int64_t one_long_row = two_to_31 + 9;

/// The reductions of one row of numbers, in float64.
struct reduced_row {
    double sum = 0;
    double magnitude = 0;  ///< the sum of |x|
    double largest_magnitude = 0;
    double smallest = HUGE_VAL;
    double largest = -HUGE_VAL;
    std::int64_t argmax = -1;
    std::int64_t length = 0;
    double squares = 0;  ///< the sum of squared distances from the mean

    /// element(j) is the j-th of `size`.
    template <class Element>
    reduced_row(std::int64_t size, Element element) : length(size) {
        for (std::int64_t j = 0; j < size; ++j) {
            const double e = element(j);
            sum += e;
            magnitude += std::abs(e);
            largest_magnitude = std::max(largest_magnitude, std::abs(e));
            smallest = std::min(smallest, e);
            if (e > largest) largest = e, argmax = j;
        }
        const double mean = sum / static_cast<double>(size);
        for (std::int64_t j = 0; j < size; ++j) squares += (element(j) - mean) * (element(j) - mean);
    }
};

/// docs/accuracy.md, "Rows and columns of a matrix": `depth` additions of float, and float64's own error.
double sum_bound(const reduced_row& row, std::int64_t depth) {
    return (bounds::of_additions(static_cast<double>(depth), unit_roundoff<float>()) +
            static_cast<double>(row.length) * 0x1p-53) *
           row.magnitude;
}

/// One more division, by a length that was rounded to float.
double mean_bound(const reduced_row& row, std::int64_t depth) {
    return sum_bound(row, depth + 3) / static_cast<double>(row.length) + smallest<float>();
}

double variance_bound(const reduced_row& row, std::int64_t depth, double divisor) {
    return bounds::of_variance(static_cast<double>(depth), static_cast<double>(row.length), row.squares,
                               row.largest_magnitude, divisor) +
           smallest<float>();
}

/// The moments of `count` elements: first, first + step, ...
reduced_row row_of(const periodic<half>& elements, std::int64_t first, std::int64_t step,
                   std::int64_t count) {
    reduced_row row(0, [](std::int64_t) { return 0.0; });
    row.length = count;
    std::int64_t i = 0;
    elements.for_each_of(first, step, count, [&](half element, std::int64_t times) {
        const double e = to_double(element);
        row.sum += e * static_cast<double>(times);
        row.magnitude += std::abs(e) * static_cast<double>(times);
        row.largest_magnitude = std::max(row.largest_magnitude, std::abs(e));
        row.smallest = std::min(row.smallest, e);
        if (e > row.largest) {
            row.largest = e;
            row.argmax = i;
        }
        ++i;
    });
    const double mean = row.sum / static_cast<double>(count);
    elements.for_each_of(first, step, count, [&](half element, std::int64_t times) {
        row.squares += (to_double(element) - mean) * (to_double(element) - mean) * static_cast<double>(times);
    });
    return row;
}

class large_rows : public stream_fixture {
  protected:
    /// Where there is too little memory, skips the test and gives null.
    half* allocate(std::int64_t size) {
        constexpr std::size_t for_results = std::size_t{2} << 30;
        const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(half) + for_results;
        const auto skip = [&] { GTEST_SKIP() << "needs " << (bytes >> 30) + 1 << " GiB of device memory"; };
        if (!has_free_memory(bytes)) {
            skip();
            return nullptr;
        }
        elements_ = device_buffer<half>(size, *stream);
        return elements_.data();
    }

    template <class T>
    void write(T* first, const std::vector<T>& elements) {
        const auto count = static_cast<std::int64_t>(elements.size());
        copy_and_wait(elements, vector_view<T>{first, count}, *stream);
    }

    /// Checks every reduction of x's rows, or of its columns; `expected` are the results at `places`.
    void check_reductions(matrix_view<const half> x, bool of_columns, matrix_reduce_algorithm algorithm,
                          const std::vector<std::int64_t>& places, const std::vector<reduced_row>& expected) {
        SCOPED_TRACE(testing::Message() << (of_columns ? "columns, " : "rows, ") << to_string(algorithm));
        const heddle::stream& s = *stream;
        const matrix_reduce_options options{.algorithm = algorithm};
        const std::int64_t depth = matrix_reduce_depth(of_columns ? column_problem(x) : row_problem(x),
                                                       traits_of(current_device()), algorithm);
        const auto results = [&]<class Result>(Result, auto by_rows, auto by_columns) {
            device_buffer<Result> y(of_columns ? x.cols : x.rows, s);
            fill_bytes(y, std::byte{0xa7}, s);
            (of_columns ? by_columns : by_rows)(x, y, s, options);
            std::vector<double> sampled;
            for (const std::int64_t place : places)
                sampled.push_back(to_double(this->read<Result>(y.data() + place, 1)[0]));
            return sampled;
        };
        const auto sums = results(float{}, row_sum<half>, column_sum<half>);
        const auto means = results(float{}, row_mean<half>, column_mean<half>);
        const auto variances = results(float{}, row_variance<half>, column_variance<half>);
        const auto mins = results(half{}, row_min<half>, column_min<half>);
        const auto maxs = results(half{}, row_max<half>, column_max<half>);
        const auto argmaxs = results(std::int64_t{}, row_argmax<half>, column_argmax<half>);
        for (std::size_t i = 0; i < places.size(); ++i) {
            SCOPED_TRACE(testing::Message() << "result " << places[i]);
            const reduced_row& row = expected[i];
            const auto n = static_cast<double>(row.length);
            EXPECT_TRUE(is_within(sums[i], row.sum, sum_bound(row, depth)));
            EXPECT_TRUE(is_within(means[i], row.sum / n, mean_bound(row, depth)));
            EXPECT_TRUE(is_within(variances[i], row.squares / n, variance_bound(row, depth, n)));
            EXPECT_EQ(mins[i], row.smallest);
            EXPECT_EQ(maxs[i], row.largest);
            EXPECT_EQ(argmaxs[i], static_cast<double>(row.argmax));
        }
    }

  private:
    device_buffer<half> elements_;
};

/// The rows that the tests look at: some before and beyond 2^31 elements, and the last.
std::vector<std::int64_t> places_of(std::int64_t cols) {
    return {0, 1, many_rows / 2, two_to_31 / cols - 1, two_to_31 / cols, two_to_31 / cols + 1, many_rows - 1};
}

/// Widths in packets, and widths that are not.
std::vector<std::int64_t> widths_of(bool is_vectorized) {
    return is_vectorized ? std::vector<std::int64_t>{16, 17} : std::vector<std::int64_t>{17};
}

/// An operation on each row, in place, by one rung. Expected results have bounds.
struct row_operation {
    using expectation = std::pair<std::vector<double>, std::vector<double>>;

    std::string name;
    bool is_vectorized;
    std::function<bool(const matrix_view<half>&)> is_taken;
    std::function<void(const matrix_view<half>&, cuda::stream_ref)> run;
    std::function<expectation(const std::vector<half>&, std::int64_t cols)> expected;
};

void run_norm(norm_operation operation, const matrix_view<half>& x, cuda::stream_ref s,
              const norm_options& options) {
    if (operation == norm_operation::layer_norm)
        layer_norm<half>(x, {}, {}, x, s, options);
    else
        rms_norm<half>(x, {}, x, s, options);
}

std::vector<row_operation> row_operations() {
    using matrix = const matrix_view<half>&;
    std::vector<row_operation> all;
    for (const softmax_algorithm rung : softmax_algorithms())
        for (const bool is_log : {false, true})
            all.push_back({fmt::format("{} {}", is_log ? "log_softmax" : "softmax", to_string(rung)),
                           rung == softmax_algorithm::vectorized, [=](matrix x) { return takes(rung, x, x); },
                           [=](matrix x, cuda::stream_ref s) {
                               (is_log ? log_softmax<half> : softmax<half>)(x, x, s, {.algorithm = rung});
                           },
                           [=](const std::vector<half>& xs, std::int64_t cols) {
                               const expected_softmax of(xs, cols, softmax_steps_of(rung, cols));
                               return is_log ? std::pair(of.log_softmax, of.log_bounds)
                                             : std::pair(of.softmax, of.bounds);
                           }});
    for (const norm_algorithm rung : norm_algorithms())
        for (const norm_operation operation : {norm_operation::layer_norm, norm_operation::rms_norm}) {
            const norm_options options{.algorithm = rung};
            all.push_back({fmt::format("norm {} {}", static_cast<int>(operation), to_string(rung)),
                           rung == norm_algorithm::vectorized,
                           [=](matrix x) { return takes(rung, x, {}, {}, x); },
                           [=](matrix x, cuda::stream_ref s) { run_norm(operation, x, s, options); },
                           [=](const std::vector<half>& xs, std::int64_t cols) {
                               const std::vector<half> none;
                               const expected_norm of(operation, xs, none, none, cols, options.epsilon,
                                                      norm_depth(rung, cols));
                               return std::pair(of.values, of.bounds);
                           }});
        }
    return all;
}

TEST_F(large_rows, of_many_are_in_range) {
    const periodic<half> elements(random_elements<half>(periodic<half>::period, -5, 5));
    half* const data = allocate(many_rows * 17);
    if (data == nullptr) return;
    for (const row_operation& each : row_operations())
        for (const std::int64_t cols : widths_of(each.is_vectorized)) {
            SCOPED_TRACE(testing::Message() << each.name << ", " << cols << " columns");
            const matrix_view<half> x{data, many_rows, cols};
            if (!each.is_taken(x)) continue;
            elements.fill({data, many_rows * cols}, *stream);
            each.run(x, *stream);
            for (const std::int64_t row : places_of(cols)) {
                std::vector<half> xs;
                for (std::int64_t col = 0; col < cols; ++col) xs.push_back(elements[row * cols + col]);
                const auto [values, bounds] = each.expected(xs, cols);
                ASSERT_TRUE(are_within(read<half>(data + row * cols, cols), values, bounds)) << "row " << row;
            }
        }
}

TEST_F(large_rows, losses_of_many) {
    const periodic<half> elements(random_elements<half>(periodic<half>::period, -5, 5));
    half* const data = allocate(many_rows * 17);
    if (data == nullptr) return;
    device_buffer<std::int32_t> labels(many_rows, *stream);
    device_buffer<float> losses(many_rows, *stream);
    fill_bytes(labels, std::byte{0}, *stream);
    for (const loss_algorithm algorithm : loss_algorithms())
        for (const std::int64_t cols : widths_of(algorithm == loss_algorithm::vectorized)) {
            SCOPED_TRACE(testing::Message() << to_string(algorithm) << ", " << cols << " columns");
            const matrix_view<half> x{data, many_rows, cols};
            elements.fill({data, many_rows * cols}, *stream);
            cross_entropy<half>(x, vector_view<const std::int32_t>{labels.data(), many_rows}, losses, x,
                                *stream, {.algorithm = algorithm});
            for (const std::int64_t row : places_of(cols)) {
                std::vector<half> xs;
                for (std::int64_t col = 0; col < cols; ++col) xs.push_back(elements[row * cols + col]);
                const bounds::expected_cross_entropy expected(xs, {0}, cols, {},
                                                              bounds::loss_steps_of(algorithm, cols));
                ASSERT_TRUE(
                    are_within(read<half>(data + row * cols, cols), expected.gradient, expected.bounds))
                    << "row " << row;
                ASSERT_TRUE(
                    are_within(read<float>(losses.data() + row, 1), expected.loss, expected.loss_bounds))
                    << "row " << row;
            }
        }
}

TEST_F(large_rows, reductions_of_many) {
    const periodic<half> elements(random_elements<half>(periodic<half>::period));
    half* const data = allocate(many_rows * 17);
    if (data == nullptr) return;
    elements.fill({data, many_rows * 17}, *stream);
    for (const std::int64_t cols : {16, 17}) {
        SCOPED_TRACE(testing::Message() << cols << " columns");
        const matrix_view<const half> x{data, many_rows, cols};
        const std::vector<std::int64_t> places = places_of(cols);
        std::vector<reduced_row> expected;
        for (const std::int64_t row : places) expected.push_back(row_of(elements, row * cols, 1, cols));
        for (const matrix_reduce_algorithm algorithm : matrix_reduce_algorithms())
            ASSERT_NO_FATAL_FAILURE(check_reductions(x, false, algorithm, places, expected));
    }
}

/// The other rungs have one thread or 8 for each of the few columns.
TEST_F(large_rows, reductions_of_long_columns) {
    const periodic<half> elements(random_elements<half>(periodic<half>::period));
    half* const data = allocate(many_rows * 17);
    if (data == nullptr) return;
    elements.fill({data, many_rows * 17}, *stream);
    for (const std::int64_t cols : {16, 17}) {
        SCOPED_TRACE(testing::Message() << cols << " columns");
        const std::vector<std::int64_t> places = {0, 7, cols - 1};
        std::vector<reduced_row> expected;
        for (const std::int64_t col : places) expected.push_back(row_of(elements, col, cols, many_rows));
        check_reductions({data, many_rows, cols}, true, matrix_reduce_algorithm::vectorized, places,
                         expected);
    }
}

/// One row has more than 2^31 elements. Other rungs have a thread, a warp or a block for it and take minutes.
TEST_F(large_rows, reductions_of_one_long) {
    std::vector<half> period = random_elements<half>(periodic<half>::period);
    const periodic<half> elements(period);
    half* const data = allocate(one_long_row);
    if (data == nullptr) return;
    elements.fill({data, one_long_row}, *stream);
    write(data + one_long_row - 1, {static_cast<half>(2.0f)});
    reduced_row expected = row_of(elements, 0, 1, one_long_row);
    const double last = to_double(elements[one_long_row - 1]), n = static_cast<double>(one_long_row);
    const double square = expected.squares + expected.sum * expected.sum / n - last * last + 4;
    expected.sum += 2 - last;
    expected.magnitude += 2 - std::abs(last);
    expected.squares = square - expected.sum * expected.sum / n;
    expected.largest = expected.largest_magnitude = 2;
    expected.argmax = one_long_row - 1;
    check_reductions({data, 1, one_long_row}, false, matrix_reduce_algorithm::vectorized, {0}, {expected});
}

TEST_F(large_rows, softmax_of_one_long) {
    const periodic<half> elements(random_elements<half>(periodic<half>::period, -25, -20));
    half* const data = allocate(one_long_row);
    if (data == nullptr) return;
    double sum = 1 - std::exp(to_double(elements[one_long_row - 1]));  // the last element is 0
    elements.for_each_of(0, 1, one_long_row, [&](half e, std::int64_t times) {
        sum += static_cast<double>(times) * std::exp(to_double(e));
    });
    constexpr softmax_algorithm vectorized = softmax_algorithm::vectorized;
    for (const bool is_log : {false, true}) {
        const matrix_view<half> x{data, 1, one_long_row};
        elements.fill({data, one_long_row}, *stream);
        write(data + one_long_row - 1, {static_cast<half>(0.0f)});
        if (is_log)
            log_softmax<half>(x, x, *stream, {.algorithm = vectorized});
        else
            softmax<half>(x, x, *stream, {.algorithm = vectorized});
        for (const std::int64_t i : {std::int64_t{0}, two_to_31 - 1, two_to_31, one_long_row - 1}) {
            const half element = i == one_long_row - 1 ? static_cast<half>(0.0f) : elements[i];
            const expected_softmax expected(element, 0, sum, one_long_row,
                                            softmax_steps_of(vectorized, one_long_row));
            EXPECT_TRUE(are_within(read<half>(data + i, 1), is_log ? expected.log_softmax : expected.softmax,
                                   is_log ? expected.log_bounds : expected.bounds))
                << "element " << i << ", log " << is_log;
        }
    }
}

/// The moments of `count` elements that the norms use.
row_moments moments_of(norm_operation operation, const periodic<half>& elements, std::int64_t count) {
    const reduced_row row = row_of(elements, 0, 1, count);
    const auto n = static_cast<double>(count);
    const double mean = row.sum / n, variance = row.squares / n;
    if (operation == norm_operation::layer_norm) return {mean, row.magnitude / n, variance};
    return {0, row.magnitude / n, variance + mean * mean};
}

TEST_F(large_rows, norms_of_one_long) {
    const periodic<half> elements(random_elements<half>(periodic<half>::period, -8, 8));
    half* const data = allocate(one_long_row);
    if (data == nullptr) return;
    const norm_options options{.algorithm = norm_algorithm::vectorized};
    for (const norm_operation operation : {norm_operation::layer_norm, norm_operation::rms_norm}) {
        const matrix_view<half> x{data, 1, one_long_row};
        elements.fill({data, one_long_row}, *stream);
        run_norm(operation, x, *stream, options);
        const row_moments moments = moments_of(operation, elements, one_long_row);
        for (const std::int64_t i : {std::int64_t{0}, two_to_31 - 1, two_to_31, one_long_row - 1}) {
            const expected_norm expected(operation, elements[i], moments, options.epsilon,
                                         norm_depth(options.algorithm, one_long_row));
            EXPECT_TRUE(are_within(read<half>(data + i, 1), expected.values, expected.bounds))
                << "element " << i << ", operation " << static_cast<int>(operation);
        }
    }
}

/// Rows of a matrix, or columns, that lie more than 2^31 elements apart, each in pages of its own. A 32-bit index of
/// them leads to no mapped page.
class large_strides : public large_rows {
  protected:
    static constexpr std::int64_t lines = 5;

    /// `length` elements in each line, taken from `xs` line by line.
    void place(std::int64_t length, std::int64_t stride, const std::vector<half>& xs) {
        constexpr auto size = static_cast<std::int64_t>(sizeof(half));
        range_.emplace(((lines - 1) * stride + length) * size);
        data_ = reinterpret_cast<half*>(range_->data());
        for (std::int64_t line = 0; line < lines; ++line) range_->map(line * stride * size, length * size);
        upload(length, stride, xs);
    }
    void upload(std::int64_t length, std::int64_t stride, const std::vector<half>& xs) {
        for (std::int64_t line = 0; line < lines; ++line)
            write<half>(data_ + line * stride,
                        {xs.begin() + line * length, xs.begin() + (line + 1) * length});
    }
    std::vector<half> download(std::int64_t length, std::int64_t stride) {
        std::vector<half> all;
        for (std::int64_t line = 0; line < lines; ++line) {
            const std::vector<half> of_line = read<half>(data_ + line * stride, length);
            all.insert(all.end(), of_line.begin(), of_line.end());
        }
        return all;
    }

    /// Transposes a row-major matrix.
    static std::vector<half> transposed(const std::vector<half>& xs, std::int64_t rows, std::int64_t cols) {
        std::vector<half> turned;
        for (std::int64_t col = 0; col < cols; ++col)
            for (std::int64_t row = 0; row < rows; ++row)
                turned.push_back(xs[static_cast<std::size_t>(row * cols + col)]);
        return turned;
    }

    half* data_ = nullptr;

  private:
    std::optional<address_range> range_;
};

constexpr std::int64_t lengths[] = {24, 513, 4096, 20000, 140001};
constexpr std::int64_t strides[] = {two_to_31 + 8, two_to_31 + (std::int64_t{1} << 22) + 5};

TEST_F(large_strides, of_softmax_and_norms) {
    for (const std::int64_t length : lengths)
        for (const std::int64_t stride : strides) {
            const auto xs = random_elements<half>(lines * length, -5, 5);
            place(length, stride, xs);
            const std::vector<half> across = transposed(xs, lines, length);
            for (const bool are_columns : {false, true}) {
                const std::int64_t cols = are_columns ? lines : length;
                const matrix_view<half> x = are_columns ? matrix_view<half>{data_, length, lines, 1, stride}
                                                        : matrix_view<half>{data_, lines, length, stride};
                const std::vector<half>& elements = are_columns ? across : xs;  // row by row
                const auto results = [&] {
                    const auto all = download(length, stride);
                    upload(length, stride, xs);
                    return are_columns ? transposed(all, lines, length) : all;
                };
                SCOPED_TRACE(testing::Message() << x.rows << " x " << cols << ", strides " << x.row_stride
                                                << ' ' << x.col_stride);
                for (const row_operation& each : row_operations()) {
                    if (!each.is_taken(x)) continue;
                    SCOPED_TRACE(each.name);
                    const auto [values, bounds] = each.expected(elements, cols);
                    each.run(x, *stream);
                    ASSERT_TRUE(are_within(results(), values, bounds));
                }
            }
        }
}

TEST_F(large_strides, of_reductions) {
    for (const std::int64_t length : lengths)
        for (const std::int64_t stride : strides) {
            const auto xs = random_elements<half>(lines * length);
            place(length, stride, xs);
            for (const bool are_columns : {false, true})
                for (const bool along_lines : {false, true}) {
                    const matrix_view<const half> x =
                        are_columns ? matrix_view<const half>{data_, length, lines, 1, stride}
                                    : matrix_view<const half>{data_, lines, length, stride};
                    SCOPED_TRACE(testing::Message() << x.rows << " x " << x.cols << ", strides "
                                                    << x.row_stride << ' ' << x.col_stride);
                    std::vector<std::int64_t> places;
                    std::vector<reduced_row> expected;
                    const auto element = [&](std::int64_t line, std::int64_t i) {
                        return to_double(xs[static_cast<std::size_t>(line * length + i)]);
                    };
                    for (const std::int64_t i : {std::int64_t{0}, lines / 2, lines - 1, length - 1}) {
                        if (along_lines && i >= lines) continue;
                        places.push_back(i);
                        expected.emplace_back(along_lines ? length : lines, [&](std::int64_t j) {
                            return along_lines ? element(i, j) : element(j, i);
                        });
                    }
                    for (const matrix_reduce_algorithm algorithm : matrix_reduce_algorithms())
                        ASSERT_NO_FATAL_FAILURE(
                            check_reductions(x, are_columns == along_lines, algorithm, places, expected));
                }
        }
}

/// More than 2^24 elements for each thread, where a float that counts them, or to which they are added, stops growing.
constexpr std::int64_t more_than_float_counts = 25178169;

TEST_F(large_rows, variance_of_more_elements_than_float_counts) {
    // Their squares are 1.5625. Added to 2^24 and more they count as 2, and to 2^25 as nothing.
    std::vector<half> period = random_elements<half>(periodic<half>::period);
    for (half& e : period) e = static_cast<half>(to_double(e) < 0 ? -1.25f : 1.25f);
    const periodic<half> elements(period);
    constexpr std::int64_t warps = 8;  // warps of `coalesced` that share a column
    constexpr std::int64_t rows = warps * more_than_float_counts;
    half* const data = allocate(2 * rows);
    if (data == nullptr) return;
    elements.fill({data, 2 * rows}, *stream);
    const auto check = [&](bool of_columns, matrix_view<const half> x, matrix_reduce_algorithm algorithm,
                           const reduced_row& expected) {
        device_buffer<float> y(of_columns ? x.cols : x.rows, *stream);
        const matrix_reduce_options options{.algorithm = algorithm};
        if (of_columns)
            column_variance<half>(x, y, *stream, options);
        else
            row_variance<half>(x, y, *stream, options);
        const std::int64_t depth = matrix_reduce_depth(of_columns ? column_problem(x) : row_problem(x),
                                                       traits_of(current_device()), algorithm);
        const auto n = static_cast<double>(expected.length);
        EXPECT_TRUE(
            is_within(read<float>(y.data(), 1)[0], expected.squares / n, variance_bound(expected, depth, n)))
            << to_string(algorithm);
    };
    check(false, {data, 1, more_than_float_counts}, matrix_reduce_algorithm::naive,
          row_of(elements, 0, 1, more_than_float_counts));
    check(true, {data, rows, 2}, matrix_reduce_algorithm::coalesced, row_of(elements, 0, 2, rows));
    check(true, {data, rows, 2}, matrix_reduce_algorithm::vectorized, row_of(elements, 0, 2, rows));
}

TEST_F(large_rows, sums_of_more_elements_than_float_counts) {
    const periodic<half> elements(random_elements<half>(periodic<half>::period, 1, 2));
    half* const data = allocate(more_than_float_counts);
    if (data == nullptr) return;
    elements.fill({data, more_than_float_counts}, *stream);
    const matrix_reduce_options naive{.algorithm = matrix_reduce_algorithm::naive};
    const matrix_view<half> x{data, 1, more_than_float_counts};
    const reduced_row row = row_of(elements, 0, 1, more_than_float_counts);
    const std::int64_t depth =
        matrix_reduce_depth(row_problem(x), traits_of(current_device()), naive.algorithm);
    device_buffer<float> sum(1, *stream), mean(1, *stream);
    row_sum<half>(x, sum, *stream, naive);
    row_mean<half>(x, mean, *stream, naive);
    EXPECT_TRUE(is_within(read<float>(sum.data(), 1)[0], row.sum, sum_bound(row, depth)));
    EXPECT_TRUE(is_within(read<float>(mean.data(), 1)[0], row.sum / static_cast<double>(row.length),
                          mean_bound(row, depth)));

    for (const norm_operation operation : {norm_operation::layer_norm, norm_operation::rms_norm}) {
        const norm_options options{.algorithm = norm_algorithm::naive};
        elements.fill({data, more_than_float_counts}, *stream);
        run_norm(operation, x, *stream, options);
        const expected_norm expected(operation, elements[0],
                                     moments_of(operation, elements, more_than_float_counts), options.epsilon,
                                     norm_depth(options.algorithm, more_than_float_counts));
        EXPECT_TRUE(are_within(read<half>(data, 1), expected.values, expected.bounds))
            << "operation " << static_cast<int>(operation);
    }
}

TEST_F(large_rows, softmax_of_more_elements_than_float_counts) {
    half* const data = allocate(more_than_float_counts);
    if (data == nullptr) return;
    const matrix_view<half> x{data, 1, more_than_float_counts};
    fill_zero(vector_view<half>{data, more_than_float_counts}, *stream);
    log_softmax<half>(x, x, *stream, {.algorithm = softmax_algorithm::naive});
    const expected_softmax expected(half{}, 0, static_cast<double>(more_than_float_counts),
                                    more_than_float_counts,
                                    softmax_steps_of(softmax_algorithm::naive, more_than_float_counts));
    EXPECT_TRUE(are_within(read<half>(data + more_than_float_counts - 1, 1), expected.log_softmax,
                           expected.log_bounds));
}

}  // namespace
}  // namespace heddle::test
