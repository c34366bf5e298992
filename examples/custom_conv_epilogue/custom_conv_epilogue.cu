// A user's function in the epilogue of conv. The images of the layer have different widths and are padded to the
// widest. The function is a hard swish, which heddle lacks. Beyond each image's own width it makes zeros, the padding
// of the next layer.
#include <heddle/conv.cuh>
#include <heddle/heddle.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

namespace {

constexpr std::int64_t images = 3;

struct hard_swish_of_valid_pixels {
    std::int64_t widths[images];

    __host__ __device__ float operator()(float value, std::int64_t image, std::int64_t, std::int64_t x,
                                         std::int64_t) const {
        const float gate = value / 6 + 0.5f;
        return x >= widths[image] ? 0 : value * (gate < 0 ? 0 : gate > 1 ? 1 : gate);
    }
};

/// A call is checked before it needs a device.
bool refuses_a_wrong_shape() {
    heddle::half memory[64] = {};
    try {
        heddle::conv<heddle::half>(heddle::tensor_view<const heddle::half>{memory, 1, 2, 2, 4},
                                   heddle::filter_view<const heddle::half>{memory + 16, 4, 1, 1, 4},
                                   heddle::tensor_view{memory + 32, 1, 2, 1, 4}, {},
                                   hard_swish_of_valid_pixels{}, cudaStream_t{});
    } catch (const heddle::invalid_argument&) {
        return true;
    }
    return false;
}

int run() {
    if (!refuses_a_wrong_shape()) return EXIT_FAILURE;
    if (heddle::device_count() == 0) {
        std::printf("no CUDA device: there is nothing to launch on\n");
        return EXIT_SUCCESS;
    }
    constexpr std::int64_t height = 24, width = 40, channels = 64, outputs = 72;
    const auto elements = [](std::int64_t count, int period) {
        std::vector<heddle::half> result(static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i)
            result[static_cast<std::size_t>(i)] =
                heddle::half(static_cast<float>(i % period - period / 2) / static_cast<float>(period));
        return result;
    };
    const std::vector<heddle::half> pixels = elements(images * height * width * channels, 17),
                                    weights = elements(outputs * 3 * 3 * channels, 23);
    const heddle::conv_options options{.geometry = {.padding = {1, 1, 1, 1}}};
    const hard_swish_of_valid_pixels function{{40, 31, 17}};

    const auto pixels_at = [&](const heddle::half* data) {
        return heddle::tensor_view{data, images, height, width, channels};
    };
    const auto filters_at = [&](const heddle::half* data) {
        return heddle::filter_view{data, outputs, std::int64_t{3}, std::int64_t{3}, channels};
    };
    const auto outputs_at = [&](float* data) {
        return heddle::tensor_view{data, images, height, width, outputs};
    };
    std::vector<float> expected(images * height * width * outputs), actual(expected.size());
    heddle::host::conv<float, heddle::half>(pixels_at(pixels.data()), filters_at(weights.data()),
                                            outputs_at(expected.data()), options);

    const heddle::stream stream;
    heddle::device_buffer<heddle::half> input(std::ssize(pixels), stream),
        filters(std::ssize(weights), stream);
    heddle::device_buffer<float> output(std::ssize(actual), stream);
    heddle::copy(pixels, input, stream);
    heddle::copy(weights, filters, stream);
    heddle::conv<float, heddle::half>(pixels_at(input.data()), filters_at(filters.data()),
                                      outputs_at(output.data()), {}, function, stream, options);
    heddle::copy_and_wait(output, actual, stream);

    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < std::ssize(actual); ++i) {
        const auto at = static_cast<std::size_t>(i);
        const std::int64_t pixel = i / outputs;
        const float value = function(expected[at], pixel / (height * width), pixel / width % height,
                                     pixel % width, i % outputs);
        wrong += !(std::abs(actual[at] - value) < 1e-3f);
    }
    std::printf("%lld elements, %lld of them wrong\n", static_cast<long long>(actual.size()),
                static_cast<long long>(wrong));
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main() {
    try {
        return run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "custom_conv_epilogue: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
