#pragma once

#include <heddle/heddle.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace heddle::test {

/// Room for a few operands of 128 x 128 elements of any type, in memory that the test chooses.
struct operand_memory {
    static constexpr std::int64_t side = 128, size = side * side;
    static constexpr std::int64_t slots = 4;
    static constexpr std::int64_t bytes = slots * size * static_cast<std::int64_t>(sizeof(double));

    std::byte* data;

    template <class T = float>
    T* at(std::int64_t slot) const {
        return reinterpret_cast<T*>(data + slot * size * static_cast<std::int64_t>(sizeof(double)));
    }
    template <class T = float>
    vector_view<T> vector(std::int64_t slot) const {
        return {at<T>(slot), size};
    }
    /// An element for each row of a matrix.
    template <class T = float>
    vector_view<T> line(std::int64_t slot) const {
        return {at<T>(slot), side};
    }
    template <class T = float>
    matrix_view<T> matrix(std::int64_t slot) const {
        return {at<T>(slot), side, side};
    }
    template <class T = float>
    image_view<T> image(std::int64_t slot) const {
        return {at<T>(slot), side, side};
    }
};

struct named_call {
    std::string name;  ///< letters and underscores
    std::function<void(const operand_memory&, cuda::stream_ref)> run;
};

/// A call of every function that launches kernels of its own kind, and of every wrapper that enqueues work. Slots 0
/// and 1 are read, the others written.
inline std::vector<named_call> calls_of_all_kinds() {
    using memory = const operand_memory&;
    using stream = cuda::stream_ref;
    std::vector<named_call> all;
    const auto add = [&](const char* name, auto run) { all.push_back({name, run}); };
    add("sigmoid", [](memory m, stream s) { sigmoid<float>(m.vector(0), m.vector(2), s); });
    add("sum", [](memory m, stream s) { sum<float>(m.vector(0), m.at(2), s); });
    add("dot", [](memory m, stream s) { dot<float>(m.vector(0), m.vector(1), m.at(2), s); });
    add("row_sum", [](memory m, stream s) { row_sum<float>(m.matrix(0), m.line(2), s); });
    add("column_variance", [](memory m, stream s) { column_variance<float>(m.matrix(0), m.line(2), s); });
    add("softmax", [](memory m, stream s) { softmax<float>(m.matrix(0), m.matrix(2), s); });
    add("log_softmax", [](memory m, stream s) { log_softmax<float>(m.matrix(0), m.matrix(2), s); });
    add("softmax_gradient",
        [](memory m, stream s) { softmax_gradient<float>(m.matrix(0), m.matrix(1), m.matrix(2), s); });
    add("layer_norm", [](memory m, stream s) { layer_norm<float>(m.matrix(0), {}, {}, m.matrix(2), s); });
    add("rms_norm", [](memory m, stream s) { rms_norm<float>(m.matrix(0), m.line(1), m.matrix(2), s); });
    add("adamw", [](memory m, stream s) {
        const parameter<float> p{.master = m.at(2),
                                 .gradient = m.at(0),
                                 .first_moment = m.at(2) + m.size / 2,
                                 .second_moment = m.at(3),
                                 .count = m.size / 2};
        adamw<float>(std::span(&p, 1), s);
    });
    add("gradient_norm", [](memory m, stream s) {
        const parameter<float> p{.gradient = m.at(0), .count = m.size};
        gradient_norm<float>(std::span(&p, 1), m.at(2), s);
    });
    add("advance", [](memory m, stream s) { advance(m.at<std::int64_t>(2), s); });
    add("linear", [](memory m, stream s) {
        linear<half>(m.matrix<half>(0), m.matrix<half>(1), m.line<half>(1), m.matrix<half>(2), s,
                     {.activation = matmul_activation::relu});
    });
    add("linear_gradient", [](memory m, stream s) {
        linear_gradient<half>(m.matrix<half>(0), m.matrix<half>(1), m.matrix<half>(0), m.matrix<half>(2),
                              m.matrix(3), {m.at(3) + m.size, m.side}, s,
                              {.activation_of_x = matmul_activation::relu});
    });
    add("cross_entropy", [](memory m, stream s) {
        cross_entropy<float>(m.matrix(0), m.line<std::int32_t>(1), m.line(3), m.matrix(2), s);
    });
    add("mean_squared_error", [](memory m, stream s) {
        mean_squared_error<float>(m.matrix(0), m.matrix(1), m.line(3), m.matrix(2), s);
    });
    add("label_hits", [](memory m, stream s) {
        label_hits<float>(m.matrix(0), m.line<std::int32_t>(1), m.line<std::int32_t>(2), s);
    });
    add("layer_norm_gradient", [](memory m, stream s) {
        layer_norm_gradient<float>(m.matrix(0), {}, m.matrix(1), m.matrix(2), m.line(3), {}, s);
    });
    add("transpose", [](memory m, stream s) { transpose<float>(m.matrix(0), m.matrix(2), s); });
    add("to_nhwc", [](memory m, stream s) {
        to_nhwc<float>({m.at(0), 2, 32, 16, 16}, {m.at(2), 2, 16, 16, 32}, s);
    });
    add("conv", [](memory m, stream s) {
        conv<float>({m.at(0), 2, 16, 16, 32}, {m.at(1), 32, 3, 3, 1}, {m.at(2), 2, 14, 14, 32}, s,
                    {.geometry = {.groups = 32}});
    });
    add("pool", [](memory m, stream s) {
        pool<float>({m.at(0), 2, 16, 16, 32}, {m.at(2), 2, 8, 8, 32}, s,
                    {.geometry = {.window = {2, 2}, .stride = {2, 2}}});
    });
    add("inclusive_scan", [](memory m, stream s) { inclusive_scan<float>(m.vector(0), m.vector(2), s); });
    add("exclusive_scan", [](memory m, stream s) { exclusive_scan<float>(m.vector(0), m.vector(2), s); });
    add("histogram", [](memory m, stream s) {
        histogram(m.vector<std::uint8_t>(0), {m.at<std::int64_t>(2), 256}, s);
    });
    add("random_uniform", [](memory m, stream s) { random_uniform<float>(m.vector(2), 0, 1, {}, s); });
    add("random_permutation",
        [](memory m, stream s) { random_permutation(m.vector<std::int32_t>(2), {}, s); });
    add("dropout", [](memory m, stream s) { dropout<float>(m.matrix(0), m.matrix(2), 0.5, {}, s); });
    add("matmul", [](memory m, stream s) { matmul<float>(m.matrix(0), m.matrix(1), m.matrix(2), s); });
    add("matmul_of_half",
        [](memory m, stream s) { matmul<half>(m.matrix<half>(0), m.matrix<half>(1), m.matrix<half>(2), s); });
    add("matmul_with_an_epilogue", [](memory m, stream s) {
        matmul<half>(m.matrix<half>(0), m.matrix<half>(1), m.matrix<half>(2), {matmul_activation::relu}, s);
    });
    add("batched_matmul", [](memory m, stream s) {
        batched_matmul<half>({m.matrix<half>(0), 2}, {m.matrix<half>(1), 2}, {m.matrix<half>(2), 2, m.size},
                             s);
    });
    add("batched_matmul_of_a_list", [](memory m, stream s) {
        const std::vector<matmul_operands<half>> products{
            {m.matrix<half>(0), m.matrix<half>(1), m.matrix<half>(2)},
            {m.matrix<half>(1), m.matrix<half>(0), m.matrix<half>(3)}};
        batched_matmul<half>(products, s);
    });
    add("gaussian_blur", [](memory m, stream s) { gaussian_blur<float>(m.image(0), m.image(2), 2.0, s); });
    add("gaussian_blur_of_bytes", [](memory m, stream s) {
        gaussian_blur<std::uint8_t>(m.image<std::uint8_t>(0), m.image<std::uint8_t>(2), 2.0, s);
    });
    add("gaussian_blur_with_scratch_memory", [](memory m, stream s) {
        gaussian_blur<float>(m.image(0), m.image(2), 2.0, s,
                             {.algorithm = gaussian_blur_algorithm::separable});
    });
    add("box_blur", [](memory m, stream s) { box_blur<float>(m.image(0), m.image(2), 2, s); });
    add("sobel", [](memory m, stream s) { sobel<float>(m.image(0), m.image(2), gradient::magnitude, s); });
    add("laplacian", [](memory m, stream s) { laplacian<float>(m.image(0), m.image(2), s); });
    add("separable_convolution", [](memory m, stream s) {
        const std::vector<float> taps(5, 0.2f);
        separable_convolution(m.image(0), m.image(2), taps, taps, s);
    });
    add("copy", [](memory m, stream s) { copy(m.vector(0), m.vector(2), s); });
    add("copy_of_rows", [](memory m, stream s) {
        copy(matrix_view{m.at(0), 8, 8, 16}, matrix_view{m.at(2), 8, 8, 32}, s);
    });
    add("copy_and_wait", [](memory m, stream s) { copy_and_wait(m.vector(1), m.vector(2), s); });
    add("fill_zero", [](memory m, stream s) { fill_zero(m.vector(2), s); });
    add("workspace", [](memory, stream s) { workspace(1 << 20, s); });
    add("device_buffer", [](memory, stream s) { device_buffer<float>(1 << 20, s); });
    add("event", [](memory, stream s) { event().record(s); });
    return all;
}

}  // namespace heddle::test
