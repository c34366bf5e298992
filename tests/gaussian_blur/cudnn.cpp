#include "tests/gaussian_blur/rungs.hpp"

#include <cudnn.h>

namespace heddle::test {
namespace {

void cudnn_blur(const problem& p, const float* source, const float* window, float* destination,
                cudaStream_t stream) {
    const auto succeeds = [](cudnnStatus_t status) { ASSERT_EQ(status, CUDNN_STATUS_SUCCESS); };
    cudnnHandle_t handle{};
    cudnnTensorDescriptor_t image{};
    cudnnFilterDescriptor_t filter{};
    cudnnConvolutionDescriptor_t convolution{};
    const int n = static_cast<int>(2 * p.radius.x + 1), radius = static_cast<int>(p.radius.x);
    succeeds(cudnnCreate(&handle));
    succeeds(cudnnSetStream(handle, stream));
    succeeds(cudnnCreateTensorDescriptor(&image));
    succeeds(cudnnSetTensor4dDescriptor(image, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1,
                                        static_cast<int>(p.height), static_cast<int>(p.width)));
    succeeds(cudnnCreateFilterDescriptor(&filter));
    succeeds(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, n, n));
    succeeds(cudnnCreateConvolutionDescriptor(&convolution));
    succeeds(cudnnSetConvolution2dDescriptor(convolution, radius, radius, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                             CUDNN_DATA_FLOAT));
    succeeds(cudnnSetConvolutionMathType(convolution, CUDNN_FMA_MATH));
    const float one = 1, zero = 0;
    succeeds(cudnnConvolutionForward(handle, &one, image, source, filter, window, convolution,
                                     CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, nullptr, 0, &zero, image,
                                     destination));
    check(cudaStreamSynchronize(stream));
    (void)cudnnDestroyConvolutionDescriptor(convolution);
    (void)cudnnDestroyFilterDescriptor(filter);
    (void)cudnnDestroyTensorDescriptor(image);
    (void)cudnnDestroy(handle);
}

TEST_P(gaussian_blur_rung, agrees_with_a_convolution_of_cudnn) {
    for (const std::int64_t radius : {1, 2, 5, 9}) {
        const problem p{641, 483, 1, radius};
        SCOPED_TRACE(text(p));
        const std::vector<double> taps = bounds::gaussian(p.sigma.x, radius);
        std::vector<float> products;
        for (const double down : taps)
            for (const double across : taps) products.push_back(static_cast<float>(down * across));
        const std::vector<float> elements = random_elements<float>(p.elements(), 0, 1);
        guarded_images<float> source(p, layout::tight), ours(p, layout::tight), theirs(p, layout::tight);
        guarded<float> window(static_cast<std::int64_t>(products.size()));
        source.upload(elements);
        window.upload(products);
        // cuDNN pads with zeros.
        if (!blur<float>(p, source.batch(), ours.batch(), {.radius = radius, .border = border::constant},
                         GetParam()))
            continue;
        ASSERT_NO_FATAL_FAILURE(
            cudnn_blur(p, source.view().data, window.data(), theirs.view().data, stream->get()));
        // The sum over n * n products in any order is within n * n units of roundoff, their rounded weights
        // and the products' own add two; all values are positive and at most 1.
        const auto n = static_cast<double>(2 * radius + 1);
        const double allowed = bound<float>(p, 1)(1) + (n * n + 2) * unit_roundoff<float>();
        const std::vector<float> our_values = ours.download(), their_values = theirs.download();
        for (std::size_t i = 0; i < our_values.size(); ++i)
            ASSERT_TRUE(is_within(double{our_values[i]}, double{their_values[i]}, allowed)) << i;
    }
}

}  // namespace
}  // namespace heddle::test
