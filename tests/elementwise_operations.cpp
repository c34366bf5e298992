#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/operations.hpp"
#include "tests/support/provoked.hpp"
#include "tests/support/random.hpp"
#include <heddle/elementwise.hpp>
#include <heddle/host.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace heddle {
namespace {

using operation = elementwise_operation;
using test::guarded;
using test::random_elements;

constexpr double low = -1.5, high = 2.25, alpha = -1.25;  // exact in every type

/// The operation's function, with vectors or matrices and what follows them: (stream, options) or nothing.
template <class T, class View, class... Target>
void call_on_device(operation op, const View (&in)[3], const View& out, const Target&... target) {
    const auto& [x, y, z] = in;
    switch (op) {
        case operation::add:
            return add<T>(x, y, out, target...);
        case operation::subtract:
            return subtract<T>(x, y, out, target...);
        case operation::multiply:
            return multiply<T>(x, y, out, target...);
        case operation::scale:
            return scale<T>(alpha, x, out, target...);
        case operation::axpy:
            return axpy<T>(alpha, x, out, target...);
        case operation::fused_multiply_add:
            return fused_multiply_add<T>(x, y, z, out, target...);
        case operation::clamp:
            return clamp<T>(x, low, high, out, target...);
        case operation::abs:
            return abs<T>(x, out, target...);
        case operation::exp:
            return exp<T>(x, out, target...);
        case operation::sigmoid:
            return sigmoid<T>(x, out, target...);
        case operation::tanh:
            return tanh<T>(x, out, target...);
        case operation::relu:
            return relu<T>(x, out, target...);
        case operation::gelu:
            return gelu<T>(x, out, target...);
        case operation::gelu_tanh:
            return gelu_tanh<T>(x, out, target...);
        case operation::silu:
            return silu<T>(x, out, target...);
        case operation::sigmoid_derivative:
            return sigmoid_derivative<T>(x, out, target...);
        case operation::tanh_derivative:
            return tanh_derivative<T>(x, out, target...);
        case operation::relu_derivative:
            return relu_derivative<T>(x, out, target...);
        case operation::gelu_derivative:
            return gelu_derivative<T>(x, out, target...);
        case operation::gelu_tanh_derivative:
            return gelu_tanh_derivative<T>(x, out, target...);
        case operation::silu_derivative:
            return silu_derivative<T>(x, out, target...);
    }
}

template <class T, class View>
void call_on_host(operation op, const View (&in)[3], const View& out) {
    const auto& [x, y, z] = in;
    switch (op) {
        case operation::add:
            return host::add<T>(x, y, out);
        case operation::subtract:
            return host::subtract<T>(x, y, out);
        case operation::multiply:
            return host::multiply<T>(x, y, out);
        case operation::scale:
            return host::scale<T>(alpha, x, out);
        case operation::axpy:
            return host::axpy<T>(alpha, x, out);
        case operation::fused_multiply_add:
            return host::fused_multiply_add<T>(x, y, z, out);
        case operation::clamp:
            return host::clamp<T>(x, low, high, out);
        case operation::abs:
            return host::abs<T>(x, out);
        case operation::exp:
            return host::exp<T>(x, out);
        case operation::sigmoid:
            return host::sigmoid<T>(x, out);
        case operation::tanh:
            return host::tanh<T>(x, out);
        case operation::relu:
            return host::relu<T>(x, out);
        case operation::gelu:
            return host::gelu<T>(x, out);
        case operation::gelu_tanh:
            return host::gelu_tanh<T>(x, out);
        case operation::silu:
            return host::silu<T>(x, out);
        case operation::sigmoid_derivative:
            return host::sigmoid_derivative<T>(x, out);
        case operation::tanh_derivative:
            return host::tanh_derivative<T>(x, out);
        case operation::relu_derivative:
            return host::relu_derivative<T>(x, out);
        case operation::gelu_derivative:
            return host::gelu_derivative<T>(x, out);
        case operation::gelu_tanh_derivative:
            return host::gelu_tanh_derivative<T>(x, out);
        case operation::silu_derivative:
            return host::silu_derivative<T>(x, out);
    }
}

/// Random elements, and at the front what is special.
template <class T>
std::vector<T> inputs(std::int64_t size) {
    std::vector<T> x = random_elements<T>(size, -12, 12);
    const double infinity = std::numeric_limits<double>::infinity();
    const double most = static_cast<double>(test::largest<T>());
    const double denormal = test::smallest<T>();
    const double specials[] = {0.0,       -0.0, infinity, -infinity, std::nan(""), most, -most, denormal,
                               -denormal, 1.0,  -1.0,     5.0,       -5.0,         20.0, -20.0, 50.0,
                               -50.0,     88.5, -88.5,    104.0,     -104.0,       1e-3, -1e-3};
    for (std::size_t i = 0; i < std::min(std::size(specials), x.size()); ++i) {
        if constexpr (std::is_same_v<T, double>)
            x[i] = specials[i];
        else
            x[i] = static_cast<T>(static_cast<float>(specials[i]));
    }
    return x;
}

/// Two inputs beside the specials of the first that leave sums and products finite where those are.
template <class T>
std::vector<T> partners(std::int64_t size) {
    return random_elements<T>(size, 0.5, 2);
}

template <class T>
void expect_right(operation op, const std::vector<T>& actual, const std::array<std::vector<T>, 3>& in,
                  bool fast) {
    const test::operation_accuracy accuracy{test::unit_roundoff<compute_type<T>>(), fast};
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const auto at = [&](std::size_t k) { return static_cast<long double>(test::to_double(in[k][i])); };
        const auto expected = op == operation::clamp
                                  ? test::expect(op, accuracy, at(0), 0, 0, low, high)
                                  : test::expect(op, accuracy, at(0), at(1), at(2), alpha, 0);
        ASSERT_TRUE(test::is_expected(actual[i], expected))
            << to_string(op) << " at " << test::to_double(in[0][i]) << ", element " << i;
    }
}

/// What axpy adds to is its second input.
template <class T>
std::vector<T> contents_before(operation op, const std::array<std::vector<T>, 3>& in) {
    return op == operation::axpy ? in[1] : std::vector<T>();
}

template <class T>
class elementwise_on_host : public testing::Test {};
template <class T>
class elementwise_on_device : public test::gpu_test {};

using types = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(elementwise_on_host, types, test::type_names);
TYPED_TEST_SUITE(elementwise_on_device, types, test::type_names);

TYPED_TEST(elementwise_on_host, gives_every_operation_within_its_bound) {
    using T = TypeParam;
    for (const std::int64_t size : {1, 23, 4099}) {
        const std::array<std::vector<T>, 3> in{inputs<T>(size), partners<T>(size), partners<T>(size)};
        for (const operation op : elementwise_operations()) {
            auto memory = in;
            std::vector<T> out = contents_before(op, in);
            out.resize(static_cast<std::size_t>(size));
            const auto view = [&](std::vector<T>& v) { return vector_view<T>{v.data(), size}; };
            call_on_host<T>(op, {view(memory[0]), view(memory[1]), view(memory[2])}, view(out));
            ASSERT_NO_FATAL_FAILURE(expect_right(op, out, in, false));
        }
    }
}

TYPED_TEST(elementwise_on_device, gives_every_operation_within_its_bound) {
    using T = TypeParam;
    const stream s;
    // Packets alone, edges, addresses that no packet fits, rows with gaps.
    struct shape {
        std::int64_t rows, cols, row_stride, offset;
    };
    for (const shape& each : {shape{1, 4096, 4096, 0}, shape{1, 8209, 8209, 0}, shape{1, 5003, 5003, 1},
                              shape{37, 130, 144, 0}, shape{300, 3, 5, 1}}) {
        const std::int64_t size = each.rows * each.cols;
        const std::array<std::vector<T>, 3> in{inputs<T>(size), partners<T>(size), partners<T>(size)};
        const auto make = [&] { return guarded<T>(each.rows, each.cols, each.row_stride, each.offset); };
        guarded<T> x = make(), y = make(), z = make();
        x.upload(in[0]);
        y.upload(in[1]);
        z.upload(in[2]);
        for (const elementwise_algorithm algorithm : elementwise_algorithms())
            for (const operation op : elementwise_operations()) {
                SCOPED_TRACE(to_string(algorithm));
                guarded<T> out = make();
                if (op == operation::axpy) out.upload(in[1]);
                const elementwise_options options{.algorithm = algorithm};
                call_on_device<T>(op, {x.matrix(), y.matrix(), z.matrix()}, out.matrix(), s, options);
                s.synchronize();
                ASSERT_NO_FATAL_FAILURE(expect_right(op, out.download(), in, sizeof(T) == 2));
                ASSERT_TRUE(out.canaries_alive()) << to_string(op);
            }
        ASSERT_TRUE(x.untouched() && y.untouched() && z.untouched());
    }
}

TEST(elementwise_scalars, clamp_takes_an_ordered_range_of_numbers) {
    float x = 0, y = 7;
    const vector_view<float> vx{&x, 1}, vy{&y, 1};
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(test::invalid_argument_of([&] { host::clamp<float>(vx, 2, 1, vy); }),
              "host::clamp: high is 1, expected at least 2 (low)");
    EXPECT_EQ(test::invalid_argument_of([&] { host::clamp<float>(vx, nan, 1, vy); }),
              "host::clamp: low is nan, expected a number");
    EXPECT_EQ(test::invalid_argument_of([&] { clamp<float>(vx, 0, nan, vy, cudaStream_t{}); }),
              "clamp: high is nan, expected at least 0 (low)");
    EXPECT_EQ(y, 7);
}

TEST(elementwise_operations, have_names_and_inputs) {
    for (const operation op : elementwise_operations()) {
        EXPECT_FALSE(to_string(op).empty());
        EXPECT_GE(input_count(op), 1);
        EXPECT_LE(input_count(op), 3);
    }
}

}  // namespace
}  // namespace heddle
