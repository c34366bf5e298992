#include "examples/demo/vendor.hpp"

#include <heddle/device.hpp>
#include <heddle/error.hpp>

#include <fmt/format.h>
#include <heddle_baselines.hpp>

#include <stdexcept>

#if HEDDLE_HAS_CUBLAS
#include <cublas_v2.h>
#endif
#if HEDDLE_HAS_CUDNN
#include <cudnn.h>

#include <memory>
#include <type_traits>
#endif
#if HEDDLE_HAS_NPP
#include <nppi_filtering_functions.h>
#endif

namespace demo::vendor {

[[maybe_unused]] constexpr float one = 1, zero = 0;

#if HEDDLE_HAS_CUBLAS
namespace {

void require(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw std::runtime_error(fmt::format("cuBLAS: {}", cublasGetStatusString(status)));
}

cublasHandle_t cublas_on(cuda::stream_ref stream) {
    static const cublasHandle_t handle = [] {
        cublasHandle_t created = nullptr;
        require(cublasCreate(&created));
        return created;
    }();
    require(cublasSetStream(handle, stream.get()));
    return handle;
}

}  // namespace

call sgemm(const float* a, const float* b, float* c, int size, cuda::stream_ref stream) {
    // A row-major matrix is the transpose of a column-major one: C' = B' A'.
    return [=, handle = cublas_on(stream)] {
        require(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, b, size, a, size, &zero,
                            c, size));
    };
}

call sgeam(const float* x, const float* y, float* z, int size, int row_stride, cuda::stream_ref stream) {
    return [=, handle = cublas_on(stream)] {
        require(cublasSgeam(handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, &one, x, row_stride, &one, y,
                            row_stride, z, row_stride));
    };
}

call transposing_sgeam(const float* x, float* y, int size, cuda::stream_ref stream) {
    return [=, handle = cublas_on(stream)] {
        require(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, size, size, &one, x, size, &zero, y, size, y,
                            size));
    };
}

call sgemv(along direction, const float* x, const float* ones, float* sums, int size,
           cuda::stream_ref stream) {
    // cuBLAS reads the matrix as X'.
    const cublasOperation_t operation = direction == along::rows ? CUBLAS_OP_T : CUBLAS_OP_N;
    return [=, handle = cublas_on(stream)] {
        require(cublasSgemv(handle, operation, size, size, &one, x, size, ones, 1, &zero, sums, 1));
    };
}
#else
call sgemm(const float*, const float*, float*, int, cuda::stream_ref) {
    return {};
}
call sgeam(const float*, const float*, float*, int, int, cuda::stream_ref) {
    return {};
}
call transposing_sgeam(const float*, float*, int, cuda::stream_ref) {
    return {};
}
call sgemv(along, const float*, const float*, float*, int, cuda::stream_ref) {
    return {};
}
#endif

#if HEDDLE_HAS_CUDNN
namespace {

void require(cudnnStatus_t status) {
    if (status != CUDNN_STATUS_SUCCESS)
        throw std::runtime_error(fmt::format("cuDNN: {}", cudnnGetErrorString(status)));
}

cudnnHandle_t cudnn_on(cuda::stream_ref stream) {
    static const cudnnHandle_t handle = [] {
        cudnnHandle_t created = nullptr;
        require(cudnnCreate(&created));
        return created;
    }();
    require(cudnnSetStream(handle, stream.get()));
    return handle;
}

}  // namespace

call softmax(const float* x, float* y, int size, cuda::stream_ref stream) {
    cudnnTensorDescriptor_t created = nullptr;
    require(cudnnCreateTensorDescriptor(&created));
    const std::shared_ptr<std::remove_pointer_t<cudnnTensorDescriptor_t>> matrix(
        created, cudnnDestroyTensorDescriptor);
    require(cudnnSetTensor4dDescriptor(created, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, size, size, 1, 1));
    return [=, handle = cudnn_on(stream)] {
        require(cudnnSoftmaxForward(handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_INSTANCE, &one,
                                    matrix.get(), x, &zero, matrix.get(), y));
    };
}
#else
call softmax(const float*, float*, int, cuda::stream_ref) {
    return {};
}
#endif

#if HEDDLE_HAS_NPP
namespace {

NppStreamContext context_of(cuda::stream_ref stream) {
    NppStreamContext context{};
    context.hStream = stream.get();
    context.nCudaDeviceId = heddle::current_device();
    cudaDeviceProp properties{};
    heddle::check(cudaGetDeviceProperties(&properties, context.nCudaDeviceId));
    context.nMultiProcessorCount = properties.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    context.nSharedMemPerBlock = properties.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = properties.major;
    context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
    heddle::check(cudaStreamGetFlags(stream.get(), &context.nStreamFlags));
    return context;
}

}  // namespace

call gauss(heddle::image_view<const std::uint8_t> source, heddle::image_view<std::uint8_t> destination,
           std::span<const float> taps, cuda::stream_ref stream) {
    if (source.channels != 3) return {};
    return [=, context = context_of(stream)] {
        const NppiSize size{static_cast<int>(source.width), static_cast<int>(source.height)};
        const NppStatus status = nppiFilterGaussAdvancedBorder_8u_C3R_Ctx(
            source.data, static_cast<int>(source.row_stride), size, {0, 0}, destination.data,
            static_cast<int>(destination.row_stride), size, static_cast<int>(taps.size()), taps.data(),
            NPP_BORDER_REPLICATE, context);
        if (status != NPP_SUCCESS)
            throw std::runtime_error(fmt::format("NPP: status {}", static_cast<int>(status)));
    };
}
#else
call gauss(heddle::image_view<const std::uint8_t>, heddle::image_view<std::uint8_t>, std::span<const float>,
           cuda::stream_ref) {
    return {};
}
#endif

}  // namespace demo::vendor
