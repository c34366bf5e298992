#include "tests/conv/device.hpp"
#include "tests/support/mapped_buffer.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Offsets of more than 2^31 elements: pages are mapped where elements are, and no others.
namespace heddle {
namespace {

class sparse_tensor {
  public:
    explicit sparse_tensor(const tensor_view<half>& lies)
        : view_(lies), range_(lies.count * lies.image_stride * 2) {
        view_.data = reinterpret_cast<half*>(range_.data());
        for_each_pixel([&](half* pixel, std::size_t) {
            range_.map(reinterpret_cast<std::byte*>(pixel) - range_.data(), view_.channels * 2);
        });
    }

    const tensor_view<half>& tensor() const { return view_; }
    filter_view<half> filters() const {
        return {view_.data,     view_.count,      view_.height,     view_.width,
                view_.channels, view_.col_stride, view_.row_stride, view_.image_stride};
    }
    void upload(const std::vector<half>& elements) {
        for_each_pixel([&](half* pixel, std::size_t i) { copy(pixel, &elements[i]); });
    }
    std::vector<half> download() const {
        std::vector<half> elements(
            static_cast<std::size_t>(view_.count * view_.height * view_.width * view_.channels));
        for_each_pixel([&](half* pixel, std::size_t i) { copy(&elements[i], pixel); });
        return elements;
    }

  private:
    void copy(half* to, const half* from) const {
        check(
            cudaMemcpy(to, from, static_cast<std::size_t>(view_.channels) * sizeof(half), cudaMemcpyDefault));
        check(cudaDeviceSynchronize());  // no other stream waits for a copy from pageable memory
    }
    template <class Function>
    void for_each_pixel(Function function) const {
        std::size_t i = 0;
        for (std::int64_t n = 0; n < view_.count; ++n)
            for (std::int64_t y = 0; y < view_.height; ++y)
                for (std::int64_t x = 0; x < view_.width; ++x, i += static_cast<std::size_t>(view_.channels))
                    function(
                        view_.data + n * view_.image_stride + y * view_.row_stride + x * view_.col_stride, i);
    }

    tensor_view<half> view_;
    test::address_range range_;
};

class conv_large_strides : public test::conv_device<test::conv_types<half, half>> {};

TEST_F(conv_large_strides, of_images_rows_and_pixels_are_taken) {
    constexpr std::int64_t far = (std::int64_t{1} << 31) + 8;
    const test::conv_shape s{2, 3, 2, 8, 9, 2, 2, {.padding = {1, 0, 0, 1}}};
    operands p(s);  // what they hold
    for (const bool are_images : {false, true})
        for (const bool are_rows : {false, true})
            for (const bool are_pixels : {false, true}) {
                if (!are_images && !are_rows && !are_pixels) continue;
                SCOPED_TRACE(std::string(are_images ? "images " : "") + (are_rows ? "rows " : "") +
                             (are_pixels ? "pixels" : ""));
                const auto apart = [&](std::int64_t count, std::int64_t height, std::int64_t width,
                                       std::int64_t channels) {
                    tensor_view<half> t{nullptr, count, height, width, channels};
                    if (are_pixels) t.col_stride = far;
                    t.row_stride = width * t.col_stride + (are_rows ? far : 0);
                    t.image_stride = height * t.row_stride + (are_images ? far : 0);
                    return t;
                };
                sparse_tensor input(apart(s.count, s.height, s.width, s.channels)),
                    filters(apart(s.outputs, s.filter_height, s.filter_width, s.channels)),
                    output(apart(s.count, s.output_height(), s.output_width(), s.outputs));
                input.upload(p.xs);
                filters.upload(p.ws);
                test::for_every_conv_plan({.geometry = s.geometry}, [&](const conv_options& options) {
                    const conv_problem problem =
                        conv_problem_of<half>(input.tensor(), filters.filters(), output.tensor(), options);
                    if (!why_not(options.algorithm, problem, traits_of(current_device()), options.variant)
                             .empty())
                        return;
                    output.upload(p.ys);
                    conv<half>(input.tensor(), filters.filters(), output.tensor(), *stream, options);
                    test::synchronize(*stream, "large strides");
                    p.output.upload(output.download());
                    ASSERT_NO_FATAL_FAILURE(p.expect_close(p.expected(options), options));
                });
            }
}

}  // namespace
}  // namespace heddle
