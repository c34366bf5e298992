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

    template <class T>
    T* at(std::int64_t slot) const {
        return reinterpret_cast<T*>(data + slot * size * static_cast<std::int64_t>(sizeof(double)));
    }
    template <class T>
    vector_view<T> vector(std::int64_t slot) const {
        return {at<T>(slot), size};
    }
    template <class T>
    matrix_view<T> matrix(std::int64_t slot) const {
        return {at<T>(slot), side, side};
    }
    template <class T>
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
    return {
        {"sigmoid", [](memory m, stream s) { sigmoid<float>(m.vector<float>(0), m.vector<float>(2), s); }},
        {"sum", [](memory m, stream s) { sum<float>(m.vector<float>(0), m.at<float>(2), s); }},
        {"dot",
         [](memory m, stream s) { dot<float>(m.vector<float>(0), m.vector<float>(1), m.at<float>(2), s); }},
        {"row_sum",
         [](memory m, stream s) {
             row_sum<float>(m.matrix<float>(0), {m.at<float>(2), m.side}, s);
         }},
        {"column_variance",
         [](memory m, stream s) {
             column_variance<float>(m.matrix<float>(0), {m.at<float>(2), m.side}, s);
         }},
        {"softmax", [](memory m, stream s) { softmax<float>(m.matrix<float>(0), m.matrix<float>(2), s); }},
        {"log_softmax",
         [](memory m, stream s) { log_softmax<float>(m.matrix<float>(0), m.matrix<float>(2), s); }},
        {"softmax_gradient",
         [](memory m, stream s) {
             softmax_gradient<float>(m.matrix<float>(0), m.matrix<float>(1), m.matrix<float>(2), s);
         }},
        {"layer_norm",
         [](memory m, stream s) { layer_norm<float>(m.matrix<float>(0), {}, {}, m.matrix<float>(2), s); }},
        {"rms_norm",
         [](memory m, stream s) {
             rms_norm<float>(m.matrix<float>(0), {m.at<float>(1), m.side}, m.matrix<float>(2), s);
         }},
        {"adamw",
         [](memory m, stream s) {
             const parameter<float> p{.master = m.at<float>(2),
                                      .gradient = m.at<float>(0),
                                      .first_moment = m.at<float>(2) + m.size / 2,
                                      .second_moment = m.at<float>(3),
                                      .count = m.size / 2};
             adamw<float>(std::span(&p, 1), s);
         }},
        {"gradient_norm",
         [](memory m, stream s) {
             const parameter<float> p{.gradient = m.at<float>(0), .count = m.size};
             gradient_norm<float>(std::span(&p, 1), m.at<float>(2), s);
         }},
        {"advance", [](memory m, stream s) { advance(m.at<std::int64_t>(2), s); }},
        {"linear",
         [](memory m, stream s) {
             linear<half>(m.matrix<half>(0), m.matrix<half>(1), {m.at<half>(1), m.side}, m.matrix<half>(2), s,
                          {.activation = matmul_activation::relu});
         }},
        {"linear_gradient",
         [](memory m, stream s) {
             linear_gradient<half>(m.matrix<half>(0), m.matrix<half>(1), m.matrix<half>(0), m.matrix<half>(2),
                                   m.matrix<float>(3), {m.at<float>(3) + m.size, m.side}, s,
                                   {.activation_of_x = matmul_activation::relu});
         }},
        {"cross_entropy",
         [](memory m, stream s) {
             cross_entropy<float>(m.matrix<float>(0), {m.at<std::int32_t>(1), m.side},
                                  {m.at<float>(3), m.side}, m.matrix<float>(2), s);
         }},
        {"mean_squared_error",
         [](memory m, stream s) {
             mean_squared_error<float>(m.matrix<float>(0), m.matrix<float>(1), {m.at<float>(3), m.side},
                                       m.matrix<float>(2), s);
         }},
        {"label_hits",
         [](memory m, stream s) {
             label_hits<float>(m.matrix<float>(0), {m.at<std::int32_t>(1), m.side},
                               {m.at<std::int32_t>(2), m.side}, s);
         }},
        {"layer_norm_gradient",
         [](memory m, stream s) {
             layer_norm_gradient<float>(m.matrix<float>(0), {}, m.matrix<float>(1), m.matrix<float>(2),
                                        {m.at<float>(3), m.side}, {}, s);
         }},
        {"transpose",
         [](memory m, stream s) { transpose<float>(m.matrix<float>(0), m.matrix<float>(2), s); }},
        {"to_nhwc",
         [](memory m, stream s) {
             to_nhwc<float>({m.at<float>(0), 2, 32, 16, 16}, {m.at<float>(2), 2, 16, 16, 32}, s);
         }},
        {"conv",
         [](memory m, stream s) {
             conv<float>({m.at<float>(0), 2, 16, 16, 32}, {m.at<float>(1), 32, 3, 3, 1},
                         {m.at<float>(2), 2, 14, 14, 32}, s, {.geometry = {.groups = 32}});
         }},
        {"pool",
         [](memory m, stream s) {
             pool<float>({m.at<float>(0), 2, 16, 16, 32}, {m.at<float>(2), 2, 8, 8, 32}, s,
                         {.geometry = {.window = {2, 2}, .stride = {2, 2}}});
         }},
        {"inclusive_scan",
         [](memory m, stream s) { inclusive_scan<float>(m.vector<float>(0), m.vector<float>(2), s); }},
        {"exclusive_scan",
         [](memory m, stream s) { exclusive_scan<float>(m.vector<float>(0), m.vector<float>(2), s); }},
        {"histogram",
         [](memory m, stream s) {
             histogram(m.vector<std::uint8_t>(0), {m.at<std::int64_t>(2), 256}, s);
         }},
        {"random_uniform",
         [](memory m, stream s) { random_uniform<float>(m.vector<float>(2), 0, 1, {}, s); }},
        {"random_permutation",
         [](memory m, stream s) { random_permutation(m.vector<std::int32_t>(2), {}, s); }},
        {"dropout",
         [](memory m, stream s) { dropout<float>(m.matrix<float>(0), m.matrix<float>(2), 0.5, {}, s); }},
        {"matmul",
         [](memory m, stream s) {
             matmul<float>(m.matrix<float>(0), m.matrix<float>(1), m.matrix<float>(2), s);
         }},
        {"matmul_of_half",
         [](memory m, stream s) {
             matmul<half>(m.matrix<half>(0), m.matrix<half>(1), m.matrix<half>(2), s);
         }},
        {"matmul_with_an_epilogue",
         [](memory m, stream s) {
             matmul<half>(m.matrix<half>(0), m.matrix<half>(1), m.matrix<half>(2), {matmul_activation::relu},
                          s);
         }},
        {"batched_matmul",
         [](memory m, stream s) {
             batched_matmul<half>({m.matrix<half>(0), 2}, {m.matrix<half>(1), 2},
                                  {m.matrix<half>(2), 2, m.size}, s);
         }},
        {"batched_matmul_of_a_list",
         [](memory m, stream s) {
             const std::vector<matmul_operands<half>> products{
                 {m.matrix<half>(0), m.matrix<half>(1), m.matrix<half>(2)},
                 {m.matrix<half>(1), m.matrix<half>(0), m.matrix<half>(3)}};
             batched_matmul<half>(products, s);
         }},
        {"gaussian_blur",
         [](memory m, stream s) { gaussian_blur<float>(m.image<float>(0), m.image<float>(2), 2.0, s); }},
        {"gaussian_blur_of_bytes",
         [](memory m, stream s) {
             gaussian_blur<std::uint8_t>(m.image<std::uint8_t>(0), m.image<std::uint8_t>(2), 2.0, s);
         }},
        {"gaussian_blur_with_scratch_memory",
         [](memory m, stream s) {
             gaussian_blur<float>(m.image<float>(0), m.image<float>(2), 2.0, s,
                                  {.algorithm = gaussian_blur_algorithm::separable});
         }},
        {"box_blur", [](memory m, stream s) { box_blur<float>(m.image<float>(0), m.image<float>(2), 2, s); }},
        {"sobel",
         [](memory m, stream s) {
             sobel<float>(m.image<float>(0), m.image<float>(2), gradient::magnitude, s);
         }},
        {"laplacian", [](memory m, stream s) { laplacian<float>(m.image<float>(0), m.image<float>(2), s); }},
        {"separable_convolution",
         [](memory m, stream s) {
             const std::vector<float> taps(5, 0.2f);
             separable_convolution(m.image<float>(0), m.image<float>(2), taps, taps, s);
         }},
        {"copy", [](memory m, stream s) { copy(m.vector<float>(0), m.vector<float>(2), s); }},
        {"copy_of_rows",
         [](memory m, stream s) {
             copy(matrix_view{m.at<float>(0), 8, 8, 16}, matrix_view{m.at<float>(2), 8, 8, 32}, s);
         }},
        {"copy_and_wait",
         [](memory m, stream s) { copy_and_wait(m.vector<float>(1), m.vector<float>(2), s); }},
        {"fill_zero", [](memory m, stream s) { fill_zero(m.vector<float>(2), s); }},
        {"workspace", [](memory, stream s) { workspace(1 << 20, s); }},
        {"device_buffer", [](memory, stream s) { device_buffer<float>(1 << 20, s); }},
        {"event", [](memory, stream s) { event().record(s); }},
    };
}

}  // namespace heddle::test
