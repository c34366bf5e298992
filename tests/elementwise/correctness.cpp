#include "tests/elementwise/elementwise.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/graph.hpp>

#include <heddle_baselines.hpp>

#include <algorithm>
#include <array>
#include <utility>

#if HEDDLE_HAS_CUDNN
#include <cudnn.h>
#endif

namespace heddle {
namespace {

using test::accuracy_of;
using test::every_algorithm;
using test::guarded;
using test::random_elements;
using test::row_layout;
using test::sums;
using test::tile_elements;

template <class T>
using elementwise = test::elementwise<T>;
TYPED_TEST_SUITE(elementwise, test::element_types, test::type_names);

TYPED_TEST(elementwise, takes_vectors_of_every_size) {
    for (const std::int64_t size : test::sizes<TypeParam>()) {
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
            ASSERT_TRUE(test::are_sigmoids(curve.download(), xs, accuracy_of<TypeParam>));
            ASSERT_TRUE(sum.canaries_alive());
            ASSERT_TRUE(curve.canaries_alive());
        }
    }
}

TYPED_TEST(elementwise, of_drawn_problems_takes_every_plan) {
    constexpr int draws = 50;  // of each type
    test::drawing draw;
    const auto draw_layout = [&] {
        return row_layout{.offset = draw(0, 3) == 0 ? draw(0, 8) : 0,
                          .padding = draw(0, 1) == 0 ? draw(0, 9) : 8 * draw(0, 2),
                          .step = draw(0, 5) == 0 ? draw(2, 3) : 1,
                          .column_major = draw(0, 5) == 0};
    };
    for (int i = 0; i < draws; ++i) {
        // Long rows and long columns, of few others and of many.
        std::int64_t rows = draw(1, std::int64_t{1} << draw(1, 14));
        std::int64_t cols = draw(1, std::max<std::int64_t>(1, 30000 / rows));
        if (draw(0, 1) == 0) std::swap(rows, cols);
        const row_layout x = draw_layout(), y = draw_layout();
        SCOPED_TRACE(testing::Message() << "draw " << i << ": " << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check_add(rows, cols, x, y, draw_layout()));
        ASSERT_NO_FATAL_FAILURE(this->check_sigmoid(rows, cols, x, y));
    }
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
        EXPECT_TRUE(test::are_sigmoids(x.download(), xs, accuracy_of<TypeParam>));
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
            EXPECT_TRUE(test::are_sigmoids(x.download(), xs, accuracy_of<TypeParam>));
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
            test::sigmoid_bound<TypeParam>(input, test::exact_sigmoid(xs[i]), accuracy_of<TypeParam>));
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

TEST_F(large_elementwise, takes_wide_blocks) {
    const heddle::stream stream;
    // From 2^22 packets on, `vectorized` has blocks of 1024 threads: whole ones, a cut packet, several rows each.
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

}  // namespace
}  // namespace heddle
