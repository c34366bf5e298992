// The launches and the memory of a layer. The CUDA runtime is a recording one, so this runs without a GPU.
#include "tests/support/headers.hpp"
#include "tests/support/recording_runtime.hpp"

namespace heddle::test {
namespace {

using algorithm = linear_gradient_algorithm;

/// A layer with a dx by matmul's fused, on the device of the recording runtime.
template <class T>
struct layer {
    std::int64_t batch = 4096, in = 1024, out = 1024;

    matrix_view<const T> x() const { return {far_address<T>(0), batch, in}; }
    matrix_view<const T> weights() const { return {far_address<T>(1), out, in}; }
    matrix_view<const T> gradient() const { return {far_address<T>(2), batch, out}; }
    vector_view<const T> bias() const { return {far_address<T>(3), out}; }
    matrix_view<T> y() const { return {far_address<T>(4), batch, out}; }
    matrix_view<T> dx() const { return {far_address<T>(5), batch, in}; }
    matrix_view<float> dweights() const { return {far_address<float>(6), out, in}; }
    vector_view<float> dbias() const { return {far_address<float>(7), out}; }
};

class linear_calls : public testing::Test {
  protected:
    recording_runtime& runtime = recording_runtime::instance();
    const cuda::stream_ref stream{recording_runtime::stream_of(0)};

    void SetUp() override {
        if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "built without the kernels of Hopper";
        runtime = {};
    }

    template <class Call>
    std::ptrdiff_t launches_of(Call call) {
        runtime.calls.clear();
        call();
        return runtime.count("launch");
    }

    template <class T>
    std::ptrdiff_t launches_of_dx(const layer<T>& of, const linear_gradient_options& options) {
        return launches_of([&] {
            linear_gradient<T>(of.x(), of.weights(), of.gradient(), of.dx(), {}, {}, stream, options);
        });
    }
};

TEST_F(linear_calls, are_one_kernel_with_bias_and_activation) {
    const layer<half> of;
    EXPECT_EQ(launches_of([&] {
                  linear<half>(of.x(), of.weights(), of.bias(), of.y(), stream,
                               {.activation = matmul_activation::gelu});
              }),
              1);
    EXPECT_EQ(runtime.count("cudaMallocFromPoolAsync"), 0);
}

TEST_F(linear_calls, have_no_kernel_for_a_derivative_that_is_fused) {
    constexpr auto relu = matmul_activation::relu;
    const layer<bfloat16> of;
    EXPECT_EQ(launches_of_dx(of, {}), 1);
    EXPECT_EQ(launches_of_dx(of, {.activation_of_x = relu}), 1);
    EXPECT_EQ(launches_of_dx(of, {.algorithm = algorithm::fused, .activation_of_x = relu}), 1);
    EXPECT_EQ(launches_of_dx(of, {.algorithm = algorithm::separate, .activation_of_x = relu}), 2);
    EXPECT_EQ(launches_of_dx(layer<bfloat16>{4096, 1024, 1001}, {.activation_of_x = relu}),
              launches_of_dx(layer<bfloat16>{4096, 1024, 1001}, {}) + 1)
        << "where the gradient has to be copied";
}

TEST_F(linear_calls, take_no_memory_but_their_workspace) {
    const layer<half> of{1 << 16, 72, 40};  // its sums over the batch are split
    const auto run = [&](const linear_gradient_options& options) {
        return launches_of([&] {
            linear_gradient<half>(of.x(), of.weights(), of.gradient(), of.dx(), of.dweights(), of.dbias(),
                                  stream, options);
        });
    };
    linear_gradient_options options{.activation_of_x = matmul_activation::tanh};
    const std::ptrdiff_t of_pool = run(options);
    EXPECT_GT(runtime.count("cudaMallocFromPoolAsync"), 0);
    EXPECT_GT(runtime.count("cudaFreeAsync"), 0);

    const std::int64_t bytes = linear_gradient_workspace_bytes<half>(
        of.x(), of.weights(), of.gradient(), of.dx(), of.dweights(), of.dbias(), stream, options);
    ASSERT_GT(bytes, 0);
    options.workspace = {far_address<std::byte>(8), static_cast<std::size_t>(bytes)};
    EXPECT_EQ(run(options), of_pool);
    EXPECT_EQ(runtime.count("cudaMallocFromPoolAsync"), 0);

    options.workspace = {};
    options.scratch = scratch::none;
    run(options);
    EXPECT_EQ(runtime.count("cudaMallocFromPoolAsync"), 0);
}

TEST_F(linear_calls, enqueue_nothing_where_a_workspace_is_too_small) {
    const layer<half> of{1 << 16, 72, 40};
    linear_gradient_options options{.activation_of_x = matmul_activation::relu};
    const std::int64_t bytes = linear_gradient_workspace_bytes<half>(
        of.x(), of.weights(), of.gradient(), of.dx(), of.dweights(), of.dbias(), stream, options);
    options.workspace = {far_address<std::byte>(8), static_cast<std::size_t>(bytes - 16)};
    EXPECT_EQ(launches_of([&] {
                  EXPECT_THROW(linear_gradient<half>(of.x(), of.weights(), of.gradient(), of.dx(),
                                                     of.dweights(), of.dbias(), stream, options),
                               invalid_argument);
              }),
              0);
}

}  // namespace
}  // namespace heddle::test
