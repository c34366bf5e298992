#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/random.hpp"
#include "tests/support/rows.hpp"
#include <heddle/elementwise.cuh>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace heddle::test {
namespace {

struct leaky {
    float slope;
    __device__ float operator()(float x) const { return x < 0 ? slope * x : x; }
};

struct rotated_sum {
    __device__ std::uint8_t operator()(std::uint8_t x, std::uint8_t y) const {
        return static_cast<std::uint8_t>(x + 3 * y);
    }
};

struct rotated {
    __device__ std::uint8_t operator()(std::uint8_t x) const { return static_cast<std::uint8_t>(5 * x); }
};

struct mixed {
    __device__ double operator()(double x, double y, double z) const { return x < y ? z : -z; }
};

using transform_test = gpu_test;

TEST_F(transform_test, applies_a_functor_of_ones_own) {
    const stream s;
    for (const std::int64_t offset : {0, 1}) {
        const std::int64_t size = 10007;
        const auto xs = random_elements<float>(size);
        guarded<float> x(size, offset), y(size, offset);
        x.upload(xs);
        transform<float>(leaky{0.25f}, x.vector(), y.vector(), s);
        s.synchronize();
        const auto ys = y.download();
        for (std::size_t i = 0; i < ys.size(); ++i) ASSERT_EQ(ys[i], xs[i] < 0 ? 0.25f * xs[i] : xs[i]);
        EXPECT_TRUE(y.canaries_alive());
    }
}

TEST_F(transform_test, takes_bytes_and_two_inputs) {
    const stream s;
    const std::int64_t rows = 33, cols = 1001, stride = 1008;
    const auto xs = random_elements<std::uint8_t>(rows * cols, 0, 255),
               ys = random_elements<std::uint8_t>(rows * cols, 0, 255);
    guarded<std::uint8_t> x(rows, cols, stride), y(rows, cols, stride), z(rows, cols, stride);
    x.upload(xs);
    y.upload(ys);
    transform<std::uint8_t>(rotated_sum{}, x.matrix(), y.matrix(), z.matrix(), s);
    s.synchronize();
    const auto zs = z.download();
    for (std::size_t i = 0; i < zs.size(); ++i)
        ASSERT_EQ(zs[i], static_cast<std::uint8_t>(xs[i] + 3 * ys[i]));
    EXPECT_TRUE(z.canaries_alive());
}

// Packets of the inputs are put together of two, by any number of bytes, also where rows differ in it.
TEST_F(transform_test, takes_bytes_that_begin_anywhere) {
    const stream s;
    constexpr std::int64_t rows = 3, packet = 16;
    for (const std::int64_t cols : {255, 256, 257, 10007})
        for (const std::int64_t of_output : {0, 5})
            for (std::int64_t offset = 0; offset < packet; ++offset) {
                SCOPED_TRACE(testing::Message()
                             << cols << " columns, output at " << of_output << ", input at " << offset);
                const auto xs = random_elements<std::uint8_t>(rows * cols, 0, 255),
                           ys = random_elements<std::uint8_t>(rows * cols, 0, 255);
                const row_layout alike{.offset = of_output, .padding = (packet - cols % packet) % packet};
                auto x = make_rows<std::uint8_t>(rows, cols, {.offset = offset, .padding = 1}),
                     y = make_rows<std::uint8_t>(rows, cols, alike);
                x.upload(xs);
                transform<std::uint8_t>(rotated{}, x.matrix(), y.matrix(), s);
                s.synchronize();
                const auto once = y.download();
                for (std::size_t i = 0; i < once.size(); ++i)
                    ASSERT_EQ(once[i], static_cast<std::uint8_t>(5 * xs[i])) << "element " << i;

                y.upload(ys);
                transform<std::uint8_t>(rotated_sum{}, y.matrix(), x.matrix(), y.matrix(), s);
                s.synchronize();
                const auto twice = y.download();
                for (std::size_t i = 0; i < twice.size(); ++i)
                    ASSERT_EQ(twice[i], static_cast<std::uint8_t>(ys[i] + 3 * xs[i])) << "element " << i;
                EXPECT_TRUE(y.canaries_alive());
            }
}

TEST_F(transform_test, takes_three_inputs_in_place) {
    const stream s;
    const std::int64_t size = 4099;
    const auto xs = random_elements<double>(size), ys = random_elements<double>(size),
               zs = random_elements<double>(size);
    guarded<double> x(size), y(size), z(size);
    x.upload(xs);
    y.upload(ys);
    z.upload(zs);
    transform<double>(mixed{}, x.vector(), y.vector(), z.vector(), z.vector(), s);
    s.synchronize();
    const auto out = z.download();
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], xs[i] < ys[i] ? zs[i] : -zs[i]);
    EXPECT_TRUE(z.canaries_alive());
}

struct alignas(16) pair {
    double first = 0, second = 0;
};
struct swapped_sum {
    __device__ pair operator()(pair x, pair y) const { return {x.second + y.first, x.first + y.second}; }
};
struct ordered {
    __device__ std::uint8_t operator()(std::uint8_t x, std::uint8_t y, std::uint8_t z) const {
        return static_cast<std::uint8_t>(x + 3 * y + 5 * z);
    }
};

TEST_F(transform_test, turns_over_elements_of_1_and_of_16_bytes) {
    const stream s;
    const std::int64_t rows = 77, cols = 131;
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    {
        const auto xs = random_elements<std::uint8_t>(rows * cols, 0, 255),
                   ys = random_elements<std::uint8_t>(rows * cols, 0, 255),
                   zs = random_elements<std::uint8_t>(rows * cols, 0, 255);
        guarded<std::uint8_t> x(rows, cols, 1, 0, rows + 1), y(rows, cols, cols),
            z(rows, cols, 2, 1, 2 * rows), out(rows, cols, cols + 2);
        x.upload(xs);
        y.upload(ys);
        z.upload(zs);
        transform<std::uint8_t>(ordered{}, x.matrix(), y.matrix(), z.matrix(), out.matrix(), s);
        const auto result = out.download();
        for (std::size_t i = 0; i < result.size(); ++i)
            ASSERT_EQ(result[i], static_cast<std::uint8_t>(xs[i] + 3 * ys[i] + 5 * zs[i]));
        EXPECT_TRUE(out.canaries_alive());
    }
    std::vector<pair> xs(at(rows * cols)), ys(at(rows * cols));
    for (std::int64_t i = 0; i < rows * cols; ++i) {
        xs[at(i)] = {static_cast<double>(i), static_cast<double>(-3 * i)};
        ys[at(i)] = {static_cast<double>(7 * i), static_cast<double>(i * i)};
    }
    guarded<pair> x(rows, cols, 1, 0, rows), y(rows, cols, 1, 3, rows + 5), out(rows, cols, cols);
    x.upload(xs);
    y.upload(ys);
    transform<pair>(swapped_sum{}, x.matrix(), y.matrix(), out.matrix(), s);
    const auto result = out.download();
    for (std::size_t i = 0; i < result.size(); ++i) {
        ASSERT_EQ(result[i].first, xs[i].second + ys[i].first);
        ASSERT_EQ(result[i].second, xs[i].first + ys[i].second);
    }
    EXPECT_TRUE(out.canaries_alive());
}

TEST_F(transform_test, takes_rows_columns_and_elements_for_matrices) {
    const stream s;
    for (const std::int64_t cols : {128, 77}) {  // in packets, and not
        const std::int64_t rows = 33, size = rows * cols;
        const auto xs = random_elements<std::uint8_t>(size, 0, 255),
                   row = random_elements<std::uint8_t>(cols, 0, 255),
                   column = random_elements<std::uint8_t>(rows, 0, 255),
                   element = random_elements<std::uint8_t>(1, 0, 255);
        guarded<std::uint8_t> x(rows, cols, cols), r(cols), c(rows), e(1), by_both(rows, cols, cols),
            by_element(rows, cols, cols);
        x.upload(xs);
        r.upload(row);
        c.upload(column);
        e.upload(element);
        transform<std::uint8_t>(ordered{}, x.matrix(), as_rows(r.vector(), rows),
                                as_columns(c.vector(), cols), by_both.matrix(), s);
        transform<std::uint8_t>(rotated_sum{}, x.matrix(), {e.data(), rows, cols, 0, 0}, by_element.matrix(),
                                s);
        s.synchronize();
        const auto both = by_both.download(), one = by_element.download();
        for (std::int64_t i = 0; i < size; ++i) {
            const auto at = [](std::int64_t place) { return static_cast<std::size_t>(place); };
            ASSERT_EQ(both[at(i)], static_cast<std::uint8_t>(xs[at(i)] + 3 * row[at(i % cols)] +
                                                             5 * column[at(i / cols)]));
            ASSERT_EQ(one[at(i)], static_cast<std::uint8_t>(xs[at(i)] + 3 * element[0]));
        }
        EXPECT_TRUE(by_both.canaries_alive() && by_element.canaries_alive());
    }
}

TEST_F(transform_test, fills_packets_of_a_single_element) {
    const stream s;
    const std::int64_t rows = 19, cols = 23;
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    std::vector<pair> xs(at(rows * cols)), ys(at(rows));
    for (std::int64_t i = 0; i < rows * cols; ++i)
        xs[at(i)] = {static_cast<double>(i), static_cast<double>(-3 * i)};
    for (std::int64_t i = 0; i < rows; ++i)
        ys[at(i)] = {static_cast<double>(7 * i), static_cast<double>(i * i)};
    guarded<pair> x(rows, cols, cols), y(rows), out(rows, cols, cols);
    x.upload(xs);
    y.upload(ys);
    transform<pair>(swapped_sum{}, x.matrix(), as_columns(y.vector(), cols), out.matrix(), s);
    const auto result = out.download();
    for (std::int64_t i = 0; i < rows * cols; ++i) {
        ASSERT_EQ(result[at(i)].first, xs[at(i)].second + ys[at(i / cols)].first);
        ASSERT_EQ(result[at(i)].second, xs[at(i)].first + ys[at(i / cols)].second);
    }
    EXPECT_TRUE(out.canaries_alive());
}

TEST(transform_arguments, are_checked_as_those_of_add) {
    float x[8] = {}, y[8] = {};
    EXPECT_THROW(
        transform<float>(leaky{1}, vector_view<float>{x, 7}, vector_view<float>{y, 8}, cudaStream_t{}),
        invalid_argument);
    EXPECT_THROW(
        transform<float>(leaky{1}, vector_view<float>{x, 7}, vector_view<float>{x + 1, 7}, cudaStream_t{}),
        invalid_argument);
    EXPECT_NO_THROW(transform<float>(leaky{1}, vector_view<float>{nullptr, 0}, vector_view<float>{nullptr, 0},
                                     cudaStream_t{}));
}

}  // namespace
}  // namespace heddle::test
