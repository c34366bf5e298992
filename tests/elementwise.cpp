#include "tests/support/elementwise.hpp"

#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/provoked.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/elementwise.hpp>
#include <heddle/graph.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#if HEDDLE_HAS_CUDNN
#include <cudnn.h>
#endif

namespace heddle {
namespace {

using test::guarded;
using test::invalid_argument_of;
using test::random_elements;

std::vector<elementwise_algorithm> every_algorithm() {
    std::vector<elementwise_algorithm> all(elementwise_algorithms().begin(), elementwise_algorithms().end());
    all.push_back(elementwise_algorithm::automatic);
    return all;
}

/// How an operand of a given shape lies in memory.
struct layout {
    std::int64_t offset = 0;   ///< elements off the allocation's alignment
    std::int64_t padding = 0;  ///< elements after each row (each column of a column-major operand)
    std::int64_t step = 1;     ///< from an element to its neighbour
    bool column_major = false;
};

template <class T>
guarded<T> make(std::int64_t rows, std::int64_t cols, const layout& l) {
    const std::int64_t line = (l.column_major ? rows : cols) * l.step + l.padding;
    return l.column_major ? guarded<T>(rows, cols, l.step, l.offset, line)
                          : guarded<T>(rows, cols, line, l.offset, l.step);
}

/// What a block of the `vectorized` rung takes of a row: 256 threads, each with a packet of 16 bytes.
template <class T>
constexpr std::int64_t tile_elements = std::int64_t{256} * 16 / std::int64_t{sizeof(T)};

template <class T>
std::vector<std::int64_t> sizes() {
    constexpr std::int64_t tile = tile_elements<T>;
    return {0,   1,    2,        3,    7,        31,           32,       33,           255,   256,
            257, 1009, tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile, 2 * tile + 1, 65537, 300007};
}

template <class T>
std::vector<T> sums(const std::vector<T>& x, const std::vector<T>& y) {
    std::vector<T> z(x.size());
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = test::rounded_sum(x[i], y[i]);
    return z;
}

/// The 16-bit types are computed with the fast functions.
template <class T>
constexpr test::sigmoid_accuracy accuracy = sizeof(T) == 2 ? test::fast_functions : test::accurate_functions;

template <class T>
class elementwise : public test::gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (is_set_up()) stream = std::make_unique<heddle::stream>();
    }

    /// Adds with every algorithm of `algorithms`, each into an output of its own, and checks all bytes.
    void check_add(std::int64_t rows, std::int64_t cols, const layout& lx, const layout& ly, const layout& lz,
                   const std::vector<elementwise_algorithm>& algorithms = every_algorithm()) {
        const auto xs = random_elements<T>(rows * cols), ys = random_elements<T>(rows * cols);
        const auto expected = sums(xs, ys);
        guarded<T> x = make<T>(rows, cols, lx), y = make<T>(rows, cols, ly);
        x.upload(xs);
        y.upload(ys);
        for (const elementwise_algorithm algorithm : algorithms) {
            SCOPED_TRACE(to_string(algorithm));
            guarded<T> z = make<T>(rows, cols, lz);
            add<T>(x.matrix(), y.matrix(), z.matrix(), *stream, {.algorithm = algorithm});
            stream->synchronize();
            ASSERT_TRUE(test::are_same(z.download(), expected));
            ASSERT_TRUE(z.canaries_alive());
        }
        ASSERT_TRUE(x.untouched());
        ASSERT_TRUE(y.untouched());
    }

    void check_sigmoid(std::int64_t rows, std::int64_t cols, const layout& lx, const layout& ly,
                       const std::vector<elementwise_algorithm>& algorithms = every_algorithm()) {
        const auto xs = random_elements<T>(rows * cols, -10, 10);
        guarded<T> x = make<T>(rows, cols, lx);
        x.upload(xs);
        for (const elementwise_algorithm algorithm : algorithms) {
            SCOPED_TRACE(to_string(algorithm));
            guarded<T> y = make<T>(rows, cols, ly);
            sigmoid<T>(x.matrix(), y.matrix(), *stream, {.algorithm = algorithm});
            stream->synchronize();
            ASSERT_TRUE(test::are_sigmoids(y.download(), xs, accuracy<T>));
            ASSERT_TRUE(y.canaries_alive());
        }
        ASSERT_TRUE(x.untouched());
    }

    std::unique_ptr<heddle::stream> stream;
};

TYPED_TEST_SUITE(elementwise, test::element_types, test::type_names);

TYPED_TEST(elementwise, takes_vectors_of_every_size) {
    for (const std::int64_t size : sizes<TypeParam>()) {
        SCOPED_TRACE(size);
        const auto xs = random_elements<TypeParam>(size), ys = random_elements<TypeParam>(size);
        const auto expected = sums(xs, ys);
        guarded<TypeParam> x(size), y(size);
        x.upload(xs);
        y.upload(ys);
        for (const elementwise_algorithm algorithm : every_algorithm()) {
            SCOPED_TRACE(to_string(algorithm));
            guarded<TypeParam> sum(size), curve(size);
            add<TypeParam>(x.vector(), y.vector(), sum.vector(), *this->stream, {.algorithm = algorithm});
            sigmoid<TypeParam>(x.vector(), curve.vector(), *this->stream, {.algorithm = algorithm});
            this->stream->synchronize();
            ASSERT_TRUE(test::are_same(sum.download(), expected));
            ASSERT_TRUE(test::are_sigmoids(curve.download(), xs, accuracy<TypeParam>));
            ASSERT_TRUE(sum.canaries_alive());
            ASSERT_TRUE(curve.canaries_alive());
        }
    }
}

TYPED_TEST(elementwise, takes_every_alignment) {
    const std::int64_t size = tile_elements<TypeParam> + 5;
    for (std::int64_t x = 0; x < 4; ++x)
        for (std::int64_t y = 0; y < 4; ++y)
            for (std::int64_t z = 0; z < 4; ++z) {
                SCOPED_TRACE(testing::Message() << "offsets " << x << ' ' << y << ' ' << z);
                ASSERT_NO_FATAL_FAILURE(
                    this->check_add(1, size, {.offset = x}, {.offset = y}, {.offset = z},
                                    {elementwise_algorithm::grid_stride, elementwise_algorithm::vectorized}));
                if (z == 0) {
                    ASSERT_NO_FATAL_FAILURE(this->check_sigmoid(1, size, {.offset = x}, {.offset = y},
                                                                {elementwise_algorithm::vectorized}));
                }
            }
}

TYPED_TEST(elementwise, takes_strided_vectors) {
    const std::int64_t size = 1013;
    for (const std::int64_t x_stride : {1, 2, 16})
        for (const std::int64_t y_stride : {1, 3})
            for (const std::int64_t z_stride : {1, 2, 5}) {
                SCOPED_TRACE(testing::Message() << x_stride << ' ' << y_stride << ' ' << z_stride);
                const auto xs = random_elements<TypeParam>(size), ys = random_elements<TypeParam>(size);
                guarded<TypeParam> x(1, size, 0, 0, x_stride), y(1, size, 0, 1, y_stride);
                x.upload(xs);
                y.upload(ys);
                for (const elementwise_algorithm algorithm : every_algorithm()) {
                    SCOPED_TRACE(to_string(algorithm));
                    guarded<TypeParam> z(1, size, 0, 0, z_stride);
                    add<TypeParam>(x.vector(), y.vector(), z.vector(), *this->stream,
                                   {.algorithm = algorithm});
                    this->stream->synchronize();
                    ASSERT_TRUE(test::are_same(z.download(), sums(xs, ys)));
                    ASSERT_TRUE(z.canaries_alive());
                }
            }
}

TYPED_TEST(elementwise, takes_matrices_of_any_shape_and_padding) {
    constexpr std::int64_t tile = tile_elements<TypeParam>;
    const std::pair<std::int64_t, std::int64_t> shapes[] = {
        {1, 1},   {0, 5},     {5, 0},     {1, 257},       {257, 1},       {33, 130},
        {64, 64}, {65536, 3}, {3, 65536}, {19, tile - 1}, {19, tile + 1}, {1021, 61}};
    for (const auto& [rows, cols] : shapes)
        for (const std::int64_t padding : {0, 1, 3, 8}) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols << ", padding " << padding);
            ASSERT_NO_FATAL_FAILURE(
                this->check_add(rows, cols, {.padding = padding}, {}, {.padding = padding}));
            ASSERT_NO_FATAL_FAILURE(this->check_sigmoid(rows, cols, {}, {.offset = 1, .padding = padding}));
        }
    ASSERT_NO_FATAL_FAILURE(
        this->check_add(37, 91, {.offset = 1, .padding = 7}, {.padding = 2}, {.offset = 3, .padding = 5}));
}

TYPED_TEST(elementwise, takes_transposed_operands_all_or_some) {
    const layout rows{.padding = 3};
    const layout columns{.padding = 5, .column_major = true};

    ASSERT_NO_FATAL_FAILURE(this->check_add(61, 130, columns, columns, columns));
    ASSERT_NO_FATAL_FAILURE(this->check_add(61, 130, columns, rows, rows));
    ASSERT_NO_FATAL_FAILURE(this->check_add(61, 130, rows, columns, rows));
    ASSERT_NO_FATAL_FAILURE(this->check_add(61, 130, rows, rows, columns));
    ASSERT_NO_FATAL_FAILURE(this->check_add(61, 130, columns, columns, rows));
    ASSERT_NO_FATAL_FAILURE(this->check_sigmoid(61, 130, columns, columns));
    ASSERT_NO_FATAL_FAILURE(this->check_sigmoid(61, 130, columns, rows));
    // A single row or column lies side by side whichever way it is called.
    ASSERT_NO_FATAL_FAILURE(this->check_add(1, 130, rows, rows, {.column_major = true}));
    ASSERT_NO_FATAL_FAILURE(this->check_add(130, 1, {.column_major = true}, {}, {}));
}

TYPED_TEST(elementwise, takes_gaps_between_columns) {
    ASSERT_NO_FATAL_FAILURE(this->check_add(31, 70, {.step = 2}, {.padding = 1}, {.padding = 1, .step = 3}));
    ASSERT_NO_FATAL_FAILURE(this->check_sigmoid(31, 70, {.step = 3, .column_major = true}, {.step = 2}));
}

TYPED_TEST(elementwise, works_in_place) {
    const std::int64_t rows = 37, cols = tile_elements<TypeParam> + 3;
    const auto xs = random_elements<TypeParam>(rows * cols), ys = random_elements<TypeParam>(rows * cols);
    for (const elementwise_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        const elementwise_options options{.algorithm = algorithm};
        guarded<TypeParam> x(rows, cols, cols + 1), y(rows, cols, cols);
        y.upload(ys);

        x.upload(xs);
        add<TypeParam>(x.matrix(), y.matrix(), x.matrix(), *this->stream, options);
        EXPECT_TRUE(test::are_same(x.download(), sums(xs, ys)));
        x.upload(xs);
        add<TypeParam>(y.matrix(), x.matrix(), x.matrix(), *this->stream, options);
        EXPECT_TRUE(test::are_same(x.download(), sums(xs, ys)));
        x.upload(xs);
        add<TypeParam>(x.matrix(), x.matrix(), x.matrix(), *this->stream, options);
        EXPECT_TRUE(test::are_same(x.download(), sums(xs, xs)));
        x.upload(xs);
        sigmoid<TypeParam>(x.matrix(), x.matrix(), *this->stream, options);
        EXPECT_TRUE(test::are_sigmoids(x.download(), xs, accuracy<TypeParam>));
        EXPECT_TRUE(x.canaries_alive());
        EXPECT_TRUE(y.untouched());
    }
}

TYPED_TEST(elementwise, works_between_column_ranges_of_one_matrix) {
    const std::int64_t rows = 29, cols = 17, stride = 3 * cols;
    for (const elementwise_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<TypeParam> m(rows, stride, stride);
        auto elements = random_elements<TypeParam>(rows * stride);
        m.upload(elements);
        const auto range = [&](std::int64_t i) {
            return matrix_view<TypeParam>{m.data() + i * cols, rows, cols, stride};
        };
        add<TypeParam>(range(0), range(2), range(1), *this->stream, {.algorithm = algorithm});
        for (std::int64_t at = 0; at < rows * stride; ++at) {
            const auto i = static_cast<std::size_t>(at);
            if (at % stride / cols == 1)
                elements[i] = test::rounded_sum(elements[i - cols], elements[i + cols]);
        }
        EXPECT_TRUE(test::are_same(m.download(), elements));
        EXPECT_TRUE(m.canaries_alive());
    }
}

// Real and imaginary parts, for one.
TYPED_TEST(elementwise, works_between_planes_of_one_interleaved_matrix) {
    const std::int64_t rows = 23, cols = 41, stride = 2 * cols + 4;
    for (const elementwise_algorithm algorithm :
         {elementwise_algorithm::naive, elementwise_algorithm::grid_stride,
          elementwise_algorithm::automatic}) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<TypeParam> m(rows, 2 * cols, stride);
        auto elements = random_elements<TypeParam>(rows * 2 * cols);
        m.upload(elements);
        const matrix_view<TypeParam> real{m.data(), rows, cols, stride, 2},
            imaginary{m.data() + 1, rows, cols, stride, 2};
        add<TypeParam>(real, real, imaginary, *this->stream, {.algorithm = algorithm});
        for (std::size_t i = 0; i < elements.size(); i += 2)
            elements[i + 1] = test::rounded_sum(elements[i], elements[i]);
        EXPECT_TRUE(test::are_same(m.download(), elements));
        EXPECT_TRUE(m.canaries_alive());
    }
}

TYPED_TEST(elementwise, adds_special_values_and_every_bit_pattern) {
    std::vector<TypeParam> xs, ys;
    for (const TypeParam x : test::special_values<TypeParam>())
        for (const TypeParam y : test::special_values<TypeParam>()) {
            xs.push_back(x);
            ys.push_back(y);
        }
    auto patterns = test::bit_patterns<TypeParam>();
    xs.insert(xs.end(), patterns.begin(), patterns.end());
    std::ranges::shuffle(patterns, std::mt19937_64(test::seed()));
    ys.insert(ys.end(), patterns.begin(), patterns.end());

    const auto size = static_cast<std::int64_t>(xs.size());
    guarded<TypeParam> x(size), y(size);
    x.upload(xs);
    y.upload(ys);
    for (const elementwise_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<TypeParam> z(size);
        add<TypeParam>(x.vector(), y.vector(), z.vector(), *this->stream, {.algorithm = algorithm});
        EXPECT_TRUE(test::are_same(z.download(), sums(xs, ys)));
    }
}

TYPED_TEST(elementwise, sigmoid_is_within_its_bound_everywhere) {
    const auto xs = test::sigmoid_inputs<TypeParam>();
    const auto size = static_cast<std::int64_t>(xs.size());
    guarded<TypeParam> x(size);
    x.upload(xs);
    for (const elementwise_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<TypeParam> y(size);
        sigmoid<TypeParam>(x.vector(), y.vector(), *this->stream, {.algorithm = algorithm});
        EXPECT_TRUE(test::are_sigmoids(y.download(), xs, accuracy<TypeParam>));
    }
}

TYPED_TEST(elementwise, sigmoid_is_exact_at_its_limits) {
    const auto values = test::special_values<TypeParam>();
    const auto size = static_cast<std::int64_t>(values.size());
    guarded<TypeParam> x(size), y(size);
    x.upload(values);
    sigmoid<TypeParam>(x.vector(), y.vector(), *this->stream);
    const auto results = y.download();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double input = test::to_double(values[i]), output = test::to_double(results[i]);
        SCOPED_TRACE(input);
        if (std::isnan(input)) {
            EXPECT_TRUE(std::isnan(output));
        } else if (std::abs(input) >= 1e4) {  // the largest numbers and the infinities
            EXPECT_EQ(output, input > 0 ? 1 : 0);
        } else if (std::abs(input) < test::unit_roundoff<TypeParam>()) {  // zeros and denormals
            EXPECT_EQ(output, 0.5);
        }
    }
}

TYPED_TEST(elementwise, replays_from_a_graph) {
    const std::int64_t size = 5003;
    for (const elementwise_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<TypeParam> x(size), y(size), z(size);
        const auto graph = graph::capture(*this->stream, [&] {
            add<TypeParam>(x.vector(), y.vector(), z.vector(), *this->stream, {.algorithm = algorithm});
            sigmoid<TypeParam>(x.vector(), x.vector(), *this->stream, {.algorithm = algorithm});
        });
        EXPECT_TRUE(z.untouched()) << "a captured call ran";
        for (int replay = 0; replay < 2; ++replay) {
            const auto xs = random_elements<TypeParam>(size), ys = random_elements<TypeParam>(size);
            x.upload(xs);
            y.upload(ys);
            graph.launch(*this->stream);
            this->stream->synchronize();
            EXPECT_TRUE(test::are_same(z.download(), sums(xs, ys)));
            EXPECT_TRUE(test::are_sigmoids(x.download(), xs, accuracy<TypeParam>));
        }
    }
}

#if HEDDLE_HAS_CUDNN
template <class T>
constexpr cudnnDataType_t cudnn_type = std::is_same_v<T, double>  ? CUDNN_DATA_DOUBLE
                                       : std::is_same_v<T, float> ? CUDNN_DATA_FLOAT
                                       : std::is_same_v<T, half>  ? CUDNN_DATA_HALF
                                                                  : CUDNN_DATA_BFLOAT16;

template <class T>
void cudnn_sigmoid(const T* x, T* y, int size, cudaStream_t stream) {
    cudnnHandle_t handle{};
    cudnnTensorDescriptor_t tensor{};
    cudnnActivationDescriptor_t activation{};
    ASSERT_EQ(cudnnCreate(&handle), CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(cudnnSetStream(handle, stream), CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(cudnnCreateTensorDescriptor(&tensor), CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, cudnn_type<T>, 1, 1, 1, size),
              CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(cudnnCreateActivationDescriptor(&activation), CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(cudnnSetActivationDescriptor(activation, CUDNN_ACTIVATION_SIGMOID, CUDNN_PROPAGATE_NAN, 0),
              CUDNN_STATUS_SUCCESS);
    const std::conditional_t<std::is_same_v<T, double>, double, float> one = 1, zero = 0;
    ASSERT_EQ(cudnnActivationForward(handle, activation, &one, tensor, x, &zero, tensor, y),
              CUDNN_STATUS_SUCCESS);
    check(cudaStreamSynchronize(stream));
    (void)cudnnDestroyActivationDescriptor(activation);
    (void)cudnnDestroyTensorDescriptor(tensor);
    (void)cudnnDestroy(handle);
}

TYPED_TEST(elementwise, sigmoid_agrees_with_cudnn) {
    // Our side's bound is the theory's. cuDNN documents none: its side's is an assumption of this test. It is
    // two units of roundoff for the 16-bit types, and 16 for the others, which allows fast functions, and
    // absolute, which allows the form by tanh.
    constexpr double cudnn_error = (sizeof(TypeParam) == 2 ? 2 : 16) * test::unit_roundoff<TypeParam>();
    constexpr std::int64_t size = 100003;
    const auto xs = random_elements<TypeParam>(size, -20, 20);
    guarded<TypeParam> x(size), ours(size), theirs(size);
    x.upload(xs);
    sigmoid<TypeParam>(x.vector(), ours.vector(), *this->stream);
    ASSERT_NO_FATAL_FAILURE(
        cudnn_sigmoid(x.data(), theirs.data(), static_cast<int>(size), this->stream->get()));
    const auto our_results = ours.download(), their_results = theirs.download();
    for (std::size_t i = 0; i < xs.size(); ++i) {
        const double input = test::to_double(xs[i]), output = test::to_double(our_results[i]);
        const auto our_error = static_cast<double>(
            test::sigmoid_bound<TypeParam>(input, test::exact_sigmoid(xs[i]), accuracy<TypeParam>));
        ASSERT_TRUE(test::is_within(output, test::to_double(their_results[i]), our_error + cudnn_error))
            << "sigmoid(" << input << ")";
    }
}
#else
TEST(elementwise_beside_cudnn, sigmoid_agrees) {
    GTEST_SKIP() << "cuDNN is not installed";
}
#endif

class large_elementwise : public test::gpu_test {};

TEST_F(large_elementwise, takes_more_rows_than_a_grid_is_high) {
    const heddle::stream stream;
    // A block of `vectorized` takes 256 threads' elements of one row, or one row for each 64 of them.
    constexpr std::pair<std::int64_t, std::int64_t> shapes[] = {{65535 + 2, 257}, {4 * 65535 + 3, 33}};
    for (const auto& [rows, cols] : shapes) {
        const auto xs = random_elements<float>(rows * cols);
        const auto expected = sums(xs, xs);
        guarded<float> x(rows, cols, cols, 1);  // where nothing is aligned, a thread takes one element
        x.upload(xs);
        for (const elementwise_algorithm algorithm : every_algorithm()) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols << ' ' << to_string(algorithm));
            guarded<float> z(rows, cols, cols + 2);
            add<float>(x.matrix(), x.matrix(), z.matrix(), stream, {.algorithm = algorithm});
            EXPECT_TRUE(test::are_same(z.download(), expected));
            EXPECT_TRUE(z.canaries_alive());
        }
    }
}

TEST_F(large_elementwise, takes_wide_blocks) {
    const heddle::stream stream;
    // Of 2^22 packets and more, `vectorized` has blocks of 1024 threads: whole ones, a cut packet, several rows each.
    constexpr std::pair<std::int64_t, std::int64_t> shapes[] = {
        {1, (1 << 24) + 5}, {(1 << 14) + 1, 1032}, {(1 << 19) + 3, 36}};
    for (const auto& [rows, cols] : shapes) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        const auto xs = random_elements<float>(rows * cols);
        guarded<float> x(rows, cols, cols + 4);
        x.upload(xs);
        guarded<float> z(rows, cols, cols + 8);
        add<float>(x.matrix(), x.matrix(), z.matrix(), stream);
        EXPECT_TRUE(test::are_same(z.download(), sums(xs, xs)));
        EXPECT_TRUE(z.canaries_alive());
    }
}

TEST_F(large_elementwise, takes_more_than_2_to_31_elements) {
    constexpr std::int64_t size = (std::int64_t{1} << 31) + 9;
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total));
    if (free < (size + 1) * sizeof(half)) GTEST_SKIP() << "needs 4 GiB of device memory";

    const heddle::stream stream;
    device_buffer<half> x(size, stream);
    const auto at = [&](std::int64_t i) {
        std::array<half, 1> element{};
        copy_and_wait(vector_view<const half>{x.data() + i, 1}, element, stream);
        return static_cast<float>(element[0]);
    };
    for (const elementwise_algorithm algorithm : every_algorithm()) {
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

// All below are checked before any device is asked for: they run everywhere.

const cuda::stream_ref no_stream{cudaStream_t{}};

class elementwise_arguments : public testing::Test {
  protected:
    using host = guarded<float>;

    host x{4, 6, 6, 0, 1, host::memory::host};
    host y{4, 6, 6, 0, 1, host::memory::host};
    host z{4, 6, 6, 0, 1, host::memory::host};

    template <class View>
    std::string message(View vx, View vy, View vz, elementwise_options options = {}) {
        const std::string text = invalid_argument_of([&] { add<float>(vx, vy, vz, no_stream, options); });
        EXPECT_TRUE(x.untouched() && y.untouched() && z.untouched());
        return text;
    }
};

TEST_F(elementwise_arguments, shapes_must_agree) {
    const auto m = [](host& h, std::int64_t rows, std::int64_t cols) {
        return matrix_view<float>{h.data(), rows, cols, 6};
    };
    EXPECT_EQ(message(m(x, 3, 6), m(y, 4, 6), m(z, 4, 6)), "add: x.rows is 3, expected 4 (z.rows)");
    EXPECT_EQ(message(m(x, 4, 6), m(y, 4, 5), m(z, 4, 6)), "add: y.cols is 5, expected 6 (z.cols)");
    const auto v = [](host& h, std::int64_t size) { return vector_view<float>{h.data(), size}; };
    EXPECT_EQ(message(v(x, 7), v(y, 8), v(z, 8)), "add: x.size is 7, expected 8 (z.size)");
    EXPECT_EQ(invalid_argument_of([&] { sigmoid<float>(v(x, 7), v(y, 8), no_stream); }),
              "sigmoid: x.size is 7, expected 8 (y.size)");
}

TEST_F(elementwise_arguments, extents_are_not_negative) {
    const matrix_view<float> rows{z.data(), -1, 6, 6}, cols{z.data(), 4, -2, 6};
    EXPECT_EQ(message(rows, rows, rows), "add: z.rows is -1, expected zero or more");
    EXPECT_EQ(message(cols, cols, cols), "add: z.cols is -2, expected zero or more");
    const vector_view<float> v{z.data(), -3};
    EXPECT_EQ(message(v, v, v), "add: z.size is -3, expected zero or more");
}

TEST_F(elementwise_arguments, pointers_are_neither_null_nor_misaligned) {
    const matrix_view<float> null{nullptr, 4, 6};
    EXPECT_EQ(message(null, y.matrix(), z.matrix()),
              "add: x.data is null, expected a pointer to its elements");
    EXPECT_EQ(message(x.matrix(), y.matrix(), null),
              "add: z.data is null, expected a pointer to its elements");
    auto* const off = reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(y.data()) + 2);
    const matrix_view<float> odd{off, 4, 6};
    EXPECT_EQ(message(x.matrix(), odd, z.matrix()),
              "add: y.data is " + test::address_of(off) + ", expected a multiple of 4 bytes");
}

TEST_F(elementwise_arguments, strides_step_over_a_row) {
    const matrix_view<float> narrow{z.data(), 4, 6, 5};
    EXPECT_EQ(message(x.matrix(), y.matrix(), narrow),
              "add: z.row_stride is 5, expected at least 6 (a row), or a col_stride of at least a column");
    const matrix_view<float> no_step{x.data(), 4, 6, 6, 0};
    EXPECT_EQ(message(no_step, y.matrix(), z.matrix()), "add: x.col_stride is 0, expected one or more");
    const vector_view<float> v{z.data(), 4}, backwards{x.data(), 4, -1};
    EXPECT_EQ(message(backwards, v, v), "add: x.stride is -1, expected one or more");
}

TEST_F(elementwise_arguments, bytes_are_countable) {
    constexpr std::int64_t huge = std::int64_t{1} << 62;
    const vector_view<float> v{z.data(), huge};
    EXPECT_EQ(message(v, v, v),
              "add: z.size is 4611686018427387904, expected an extent whose bytes fit 63 bits");
    const matrix_view<float> m{z.data(), huge, 8};
    EXPECT_EQ(message(m, m, m),
              "add: z.rows is 4611686018427387904, expected an extent whose bytes fit 63 bits");
}

TEST_F(elementwise_arguments, an_output_overlaps_no_input_in_part) {
    const matrix_view<float> low{z.data(), 3, 6}, high{z.data() + 6, 3, 6};
    EXPECT_EQ(message(low, low, high),
              "add: z is a view that overlaps an input in part, expected exactly x or apart from it");
    const matrix_view<float> apart{y.data(), 3, 6};
    EXPECT_EQ(message(apart, low, high),
              "add: z is a view that overlaps an input in part, expected exactly y or apart from it");
    EXPECT_EQ(invalid_argument_of([&] { sigmoid<float>(high, low, no_stream); }),
              "sigmoid: y is a view that overlaps an input in part, expected exactly x or apart from it");
}

TEST_F(elementwise_arguments, the_algorithm_is_one_of_the_enumerators) {
    const auto unknown = static_cast<elementwise_algorithm>(99);
    EXPECT_EQ(message(x.matrix(), y.matrix(), z.matrix(), {.algorithm = unknown}),
              "add: options.algorithm is 99, expected an enumerator of elementwise_algorithm");
    EXPECT_EQ(invalid_argument_of(
                  [&] { sigmoid<float>(x.matrix(), z.matrix(), no_stream, {.algorithm = unknown}); }),
              "sigmoid: options.algorithm is 99, expected an enumerator of elementwise_algorithm");
}

TEST_F(elementwise_arguments, empty_views_may_be_null) {
    const vector_view<float> v{};
    EXPECT_NO_THROW(add<float>(v, v, v, no_stream));
    EXPECT_NO_THROW(sigmoid<float>(v, v, no_stream));
    const matrix_view<float> no_rows{nullptr, 0, 6}, no_cols{nullptr, 6, 0};
    EXPECT_NO_THROW(add<float>(no_rows, no_rows, no_rows, no_stream));
    EXPECT_NO_THROW(sigmoid<float>(no_cols, no_cols, no_stream));
}

TEST(elementwise_select, takes_packets_for_every_shape) {
    const device_traits device{.sm_count = 1};
    EXPECT_EQ(select(elementwise_problem{.rows = 1, .cols = 1000}, device),
              elementwise_algorithm::vectorized);
    EXPECT_EQ(select(elementwise_problem{.rows = 1000, .cols = 3}, device),
              elementwise_algorithm::vectorized);
}

TEST(elementwise_algorithms, have_names_of_their_own) {
    std::set<std::string_view> names = {"automatic", "unknown"};
    for (const elementwise_algorithm algorithm : elementwise_algorithms()) {
        EXPECT_NE(algorithm, elementwise_algorithm::automatic);
        EXPECT_TRUE(names.insert(to_string(algorithm)).second) << to_string(algorithm);
    }
    EXPECT_EQ(to_string(elementwise_algorithm::automatic), "automatic");
    EXPECT_EQ(to_string(static_cast<elementwise_algorithm>(99)), "unknown");
}

}  // namespace
}  // namespace heddle
