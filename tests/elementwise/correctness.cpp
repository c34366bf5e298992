#include "tests/bounds/elementwise.hpp"
#include "tests/support/headers.hpp"

// What tests/fuzz does not draw.
namespace heddle::test {
namespace {

template <class T>
class elementwise : public gpu_test {};
using element_types = testing::Types<double, float, half, bfloat16>;
TYPED_TEST_SUITE(elementwise, element_types, type_names);

class elementwise_of_floats : public gpu_test {
  protected:
    static std::vector<float> sums(const std::vector<float>& x, const std::vector<float>& y) {
        std::vector<float> z(x.size());
        for (std::size_t i = 0; i < z.size(); ++i) z[i] = x[i] + y[i];
        return z;
    }
};
using large_elementwise = elementwise_of_floats;

TYPED_TEST(elementwise, sigmoid_is_exact_at_its_limits) {
    using T = TypeParam;
    const heddle::stream stream;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const auto most = static_cast<T>(static_cast<compute_type<T>>(bounds::largest<T>()));
    const auto least = static_cast<T>(static_cast<compute_type<T>>(smallest<T>()));
    const std::vector<T> xs = {T(infinity), most, T(-infinity), T(-to_double(most)), T(0.0f), least};
    const double expected[] = {1, 1, 0, 0, 0.5, 0.5};
    const auto size = static_cast<std::int64_t>(xs.size());
    guarded<T> x(size), y(size);
    x.upload(xs);
    sigmoid<T>(x.vector(), y.vector(), stream);
    stream.synchronize();
    const auto ys = y.download();
    for (std::size_t i = 0; i < ys.size(); ++i) EXPECT_EQ(to_double(ys[i]), expected[i]) << i;
}

/// A row, a column or an element of memory has strides of 0.
struct spread {
    std::int64_t row_stride, col_stride;
};

// From 2^22 packets on, `vectorized` has blocks of 1024 threads for two full inputs, and of 256 for one beside a
// broadcast. The shapes have whole blocks, a packet that is cut, and several rows in a block.
TEST_F(large_elementwise, takes_wide_blocks_and_others) {
    const heddle::stream stream;
    constexpr std::pair<std::int64_t, std::int64_t> shapes[] = {
        {1, (1 << 24) + 5}, {(1 << 14) + 1, 1032}, {(1 << 19) + 3, 36}};
    for (const auto& [rows, cols] : shapes)
        for (const spread& s : {spread{cols, 1}, {0, 1}, {1, 0}, {0, 0}}) {
            SCOPED_TRACE(testing::Message()
                         << rows << " x " << cols << ", strides " << s.row_stride << ", " << s.col_stride);
            const auto xs = random_elements<float>(rows * cols), from = random_elements<float>(rows * cols);
            guarded<float> x(rows, cols, cols + 4), sum(rows, cols, cols + 8), fused(rows, cols, cols + 8),
                memory(rows * cols);
            x.upload(xs);
            memory.upload(from);
            const matrix_view<float> y{memory.data(), rows, cols, s.row_stride, s.col_stride};
            add<float>(x.matrix(), y, sum.matrix(), stream);
            fused_multiply_add<float>(x.matrix(), x.matrix(), y, fused.matrix(), stream);
            stream.synchronize();
            std::vector<float> ys(xs.size()), expected(xs.size());
            for (std::size_t i = 0; i < xs.size(); ++i) {
                const auto at = static_cast<std::int64_t>(i);
                ys[i] = from[static_cast<std::size_t>(at / cols * s.row_stride + at % cols * s.col_stride)];
                expected[i] = std::fma(xs[i], xs[i], ys[i]);
            }
            EXPECT_TRUE(are_same(sum.download(), sums(xs, ys)));
            EXPECT_TRUE(are_same(fused.download(), expected));
            EXPECT_TRUE(sum.canaries_alive() && fused.canaries_alive());
        }
}

TEST_F(large_elementwise, takes_more_rows_than_a_grid_is_high) {
    const heddle::stream stream;
    // A block of `vectorized` takes 256 threads' elements of one row, or one row for each 32 of them.
    constexpr std::pair<std::int64_t, std::int64_t> shapes[] = {{65535 + 2, 513}, {4 * 65535 + 3, 33}};
    for (const auto& [rows, cols] : shapes) {
        const auto xs = random_elements<float>(rows * cols);
        const auto expected = sums(xs, xs);
        guarded<float> x(rows, cols, cols, 1);  // where nothing is aligned, a thread takes one element
        x.upload(xs);
        for (const elementwise_algorithm algorithm : with_automatic(elementwise_algorithms())) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols << ' ' << to_string(algorithm));
            guarded<float> z(rows, cols, cols + 2);
            add<float>(x.matrix(), x.matrix(), z.matrix(), stream, {.algorithm = algorithm});
            stream.synchronize();
            EXPECT_TRUE(are_same(z.download(), expected));
            EXPECT_TRUE(z.canaries_alive());
        }
    }
}

TEST_F(large_elementwise, turns_over_more_squares_than_a_grid_is_high) {
    const heddle::stream stream;
    constexpr std::int64_t rows = 64 * std::int64_t{65535} + 70, cols = 16;
    std::vector<half> xs(rows * cols);
    for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = static_cast<half>(static_cast<float>(i % 2039));
    guarded<half> x(rows, cols, 1, 0, rows), y(rows, cols, cols);
    x.upload(xs);
    relu<half>(x.matrix(), y.matrix(), stream);
    stream.synchronize();
    EXPECT_TRUE(are_same(y.download(), xs));
    EXPECT_TRUE(y.canaries_alive());
}

TEST_F(large_elementwise, takes_more_than_2_to_31_elements) {
    constexpr std::int64_t size = (std::int64_t{1} << 31) + 9;
    if (!has_free_memory((size + 1) * sizeof(half))) GTEST_SKIP() << "needs 4 GiB of device memory";

    const heddle::stream stream;
    device_buffer<half> x(size, stream);
    const auto at = [&](std::int64_t i) {
        std::array<half, 1> element{};
        copy_and_wait(vector_view<const half>{x.data() + i, 1}, element, stream);
        return static_cast<float>(element[0]);
    };
    for (const elementwise_algorithm algorithm : with_automatic(elementwise_algorithms())) {
        SCOPED_TRACE(to_string(algorithm));
        fill_bytes(x, std::byte{0x3c}, stream);
        const float before = at(0);
        add<half>(x, x, vector_view<half>(x), stream, {.algorithm = algorithm});
        for (const std::int64_t i :
             {std::int64_t{0}, size / 2, (std::int64_t{1} << 31) - 1, std::int64_t{1} << 31, size - 1})
            EXPECT_EQ(at(i), 2 * before) << "element " << i;

        // Three elements, the last of them beyond 2^31.
        const vector_view<half> strided{x.data(), 3, (std::int64_t{1} << 30) + 2};
        add<half>(strided, strided, strided, stream, {.algorithm = algorithm});
        EXPECT_EQ(at(2 * strided.stride), 4 * before);
        EXPECT_EQ(at(2 * strided.stride - 1), 2 * before);
    }
}

}  // namespace
}  // namespace heddle::test
