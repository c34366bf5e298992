#pragma once

#include <heddle_baselines.hpp>

#if HEDDLE_HAS_CUDNN

#include "benchmarks/support/loaded_library.hpp"
#include "benchmarks/support/rows.hpp"

#include <cudnn.h>

#include <memory>
#include <source_location>
#include <string>
#include <type_traits>

namespace heddle::bench {

const loaded_library& cudnn_library();

HEDDLE_LOADED(cudnn_library, cudnnActivationForward);
HEDDLE_LOADED(cudnn_library, cudnnConvolutionForward);
HEDDLE_LOADED(cudnn_library, cudnnCreate);
HEDDLE_LOADED(cudnn_library, cudnnCreateActivationDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnCreateConvolutionDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnCreateFilterDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnCreatePoolingDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnCreateReduceTensorDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnCreateTensorDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnDestroyActivationDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnDestroyConvolutionDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnDestroyFilterDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnDestroyPoolingDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnDestroyReduceTensorDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnDestroyTensorDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnFindConvolutionForwardAlgorithm);
HEDDLE_LOADED(cudnn_library, cudnnGetErrorString);
HEDDLE_LOADED(cudnn_library, cudnnGetReductionWorkspaceSize);
HEDDLE_LOADED(cudnn_library, cudnnGetVersion);
HEDDLE_LOADED(cudnn_library, cudnnPoolingForward);
HEDDLE_LOADED(cudnn_library, cudnnReduceTensor);
HEDDLE_LOADED(cudnn_library, cudnnSetActivationDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnSetConvolution2dDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnSetConvolutionMathType);
HEDDLE_LOADED(cudnn_library, cudnnSetFilter4dDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnSetPooling2dDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnSetReduceTensorDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnSetStream);
HEDDLE_LOADED(cudnn_library, cudnnSetTensor4dDescriptor);
HEDDLE_LOADED(cudnn_library, cudnnSoftmaxForward);

inline void check(cudnnStatus_t status, std::source_location where = std::source_location::current()) {
    if (status != CUDNN_STATUS_SUCCESS) fail("cuDNN", cudnnGetErrorString(status), where);
}

/// On stream(); lives until the program ends.
cudnnHandle_t cudnn_handle();

std::string cudnn_version();

/// A cuDNN descriptor that destroys itself.
template <const auto& Create, const auto& Destroy>
class cudnn_descriptor {
    template <class Handle>
    static Handle handle_of(const loaded_function<cudnnStatus_t(Handle*)>&);
    using handle = decltype(handle_of(Create));

    struct destroy {
        void operator()(handle descriptor) const noexcept { (void)Destroy(descriptor); }
    };
    std::unique_ptr<std::remove_pointer_t<handle>, destroy> handle_;

  public:
    cudnn_descriptor() {
        handle created = nullptr;
        check(Create(&created));
        handle_.reset(created);
    }
    operator handle() const noexcept { return handle_.get(); }
};

using cudnn_tensor = cudnn_descriptor<cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using cudnn_filter = cudnn_descriptor<cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using cudnn_activation = cudnn_descriptor<cudnnCreateActivationDescriptor, cudnnDestroyActivationDescriptor>;
using cudnn_pooling = cudnn_descriptor<cudnnCreatePoolingDescriptor, cudnnDestroyPoolingDescriptor>;
using cudnn_convolution =
    cudnn_descriptor<cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor>;

/// An activation of `size` floats or halves, a multiple of 1024.
template <class T>
class cudnn_elementwise {
    cudnn_tensor tensor_;
    cudnn_activation activation_;

  public:
    cudnn_elementwise(cudnnActivationMode_t mode, std::int64_t size) {
        constexpr int cols = 1024;
        constexpr cudnnDataType_t type = std::is_same_v<T, float> ? CUDNN_DATA_FLOAT : CUDNN_DATA_HALF;
        check(cudnnSetTensor4dDescriptor(tensor_, CUDNN_TENSOR_NCHW, type, 1, 1,
                                         static_cast<int>(size / cols), cols));
        check(cudnnSetActivationDescriptor(activation_, mode, CUDNN_NOT_PROPAGATE_NAN, 0));
    }
    void operator()(const T* x, T* y) const {
        const float alpha = 1, beta = 0;
        check(cudnnActivationForward(cudnn_handle(), activation_, &alpha, tensor_, x, &beta, tensor_, y));
    }
};

}  // namespace heddle::bench

#endif
