#pragma once

#include "benchmarks/support/headers.hpp"

#if HEDDLE_HAS_CUDNN

#include "benchmarks/support/layers.hpp"
#include "benchmarks/support/loaded_library.hpp"

#include <cudnn.h>

namespace heddle::bench {

const loaded_library& cudnn_library();

HEDDLE_LOADED(cudnn_library, cudnnActivationForward, cudnnConvolutionForward, cudnnCreate,
              cudnnCreateActivationDescriptor, cudnnCreateConvolutionDescriptor, cudnnCreateFilterDescriptor,
              cudnnCreatePoolingDescriptor, cudnnCreateReduceTensorDescriptor, cudnnCreateTensorDescriptor,
              cudnnDestroyActivationDescriptor, cudnnDestroyConvolutionDescriptor,
              cudnnDestroyFilterDescriptor, cudnnDestroyPoolingDescriptor, cudnnDestroyReduceTensorDescriptor,
              cudnnDestroyTensorDescriptor, cudnnFindConvolutionForwardAlgorithm, cudnnGetErrorString,
              cudnnGetReductionWorkspaceSize, cudnnGetVersion, cudnnPoolingForward, cudnnReduceTensor,
              cudnnSetActivationDescriptor, cudnnSetConvolution2dDescriptor, cudnnSetConvolutionMathType,
              cudnnSetFilter4dDescriptor, cudnnSetPooling2dDescriptor, cudnnSetReduceTensorDescriptor,
              cudnnSetStream, cudnnSetTensor4dDescriptor, cudnnSetTensor4dDescriptorEx, cudnnSoftmaxForward);

inline void check(cudnnStatus_t status, std::source_location where = std::source_location::current()) {
    if (status != CUDNN_STATUS_SUCCESS) fail("cuDNN", cudnnGetErrorString(status), where);
}

/// On stream(); lives until the program ends.
cudnnHandle_t cudnn_handle();

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
using cudnn_reduction =
    cudnn_descriptor<cudnnCreateReduceTensorDescriptor, cudnnDestroyReduceTensorDescriptor>;
using cudnn_convolution =
    cudnn_descriptor<cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor>;

template <class T>
constexpr cudnnDataType_t cudnn_type = std::is_same_v<T, float>  ? CUDNN_DATA_FLOAT
                                       : std::is_same_v<T, half> ? CUDNN_DATA_HALF
                                                                 : CUDNN_DATA_BFLOAT16;

/// The factors of results, and of what was there before.
inline constexpr float cudnn_alpha = 1, cudnn_beta = 0;

/// cuDNN counts in ints.
inline int narrow(std::int64_t extent) {
    if (extent > std::numeric_limits<int>::max()) throw unsupported("more than an int counts");
    return static_cast<int>(extent);
}

/// Describes an n x c or an h x w matrix with these strides; the other two extents are 1.
template <class T>
void set_tensor(const cudnn_tensor& tensor, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
                std::int64_t row_stride, std::int64_t col_stride) {
    const bool is_of_rows = h == 1 && w == 1;  // n x c, or h x w
    const int strides[] = {narrow(is_of_rows ? row_stride : h * row_stride),
                           narrow(is_of_rows ? col_stride : h * row_stride),
                           narrow(is_of_rows ? 1 : row_stride), narrow(is_of_rows ? 1 : col_stride)};
    check(cudnnSetTensor4dDescriptorEx(tensor, cudnn_type<T>, narrow(n), narrow(c), narrow(h), narrow(w),
                                       strides[0], strides[1], strides[2], strides[3]));
}

/// An activation of `size` floats or halves, a multiple of 1024.
template <class T>
class cudnn_elementwise {
    cudnn_tensor tensor_;
    cudnn_activation activation_;

  public:
    cudnn_elementwise(cudnnActivationMode_t mode, std::int64_t size) {
        constexpr int cols = 1024;
        check(cudnnSetTensor4dDescriptor(tensor_, CUDNN_TENSOR_NCHW, cudnn_type<T>, 1, 1,
                                         static_cast<int>(size / cols), cols));
        check(cudnnSetActivationDescriptor(activation_, mode, CUDNN_NOT_PROPAGATE_NAN, 0));
    }
    void operator()(const T* x, T* y) const {
        check(cudnnActivationForward(cudnn_handle(), activation_, &cudnn_alpha, tensor_, x, &cudnn_beta,
                                     tensor_, y));
    }
};

/// The softmax of each row, or its logarithm.
template <class T>
class cudnn_softmax {
    cudnnSoftmaxAlgorithm_t algorithm_;
    cudnn_tensor from_, to_;

  public:
    cudnn_softmax(const matrix_view<T>& x, const matrix_view<T>& y, bool is_logarithm)
        : algorithm_(is_logarithm ? CUDNN_SOFTMAX_LOG : CUDNN_SOFTMAX_ACCURATE) {
        set_tensor<T>(from_, x.rows, x.cols, 1, 1, x.row_stride, x.col_stride);
        set_tensor<T>(to_, y.rows, y.cols, 1, 1, y.row_stride, y.col_stride);
    }
    void operator()(const T* x, T* y) const {
        check(cudnnSoftmaxForward(cudnn_handle(), algorithm_, CUDNN_SOFTMAX_MODE_INSTANCE, &cudnn_alpha,
                                  from_, x, &cudnn_beta, to_, y));
    }
};

/// Reduces a matrix to a row or a column, which is the shape of the result. Sums are in float.
template <class T, class Result>
class cudnn_matrix_reduction {
    cudnn_tensor from_, to_;
    cudnn_reduction how_;
    device_buffer<std::byte> scratch_;

    [[nodiscard]] std::int64_t scratch_bytes() const {
        std::size_t bytes = 0;
        check(cudnnGetReductionWorkspaceSize(cudnn_handle(), how_, from_, to_, &bytes));
        return static_cast<std::int64_t>(bytes);
    }
    cudnn_matrix_reduction& set(cudnnReduceTensorOp_t op, const matrix_view<T>& x,
                                const matrix_view<Result>& y) {
        set_tensor<T>(from_, 1, 1, x.rows, x.cols, x.row_stride, x.col_stride);
        set_tensor<Result>(to_, 1, 1, y.rows, y.cols, y.row_stride, y.col_stride);
        check(cudnnSetReduceTensorDescriptor(how_, op, CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN,
                                             CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES));
        return *this;
    }

  public:
    cudnn_matrix_reduction(cudnnReduceTensorOp_t op, const matrix_view<T>& x, const matrix_view<Result>& y)
        : scratch_(set(op, x, y).scratch_bytes(), stream()) {}
    void operator()(const T* x, Result* y) {
        check(cudnnReduceTensor(cudnn_handle(), how_, nullptr, 0, scratch_.data(), scratch_.size(),
                                &cudnn_alpha, from_, x, &cudnn_beta, to_, y));
    }
};

/// cudnnPoolingForward. `input_pixel` and `output_pixel` are distances between pixels. Padding is the same on both sides.
template <class T>
class cudnn_pool {
    cudnn_tensor input_, output_;
    cudnn_pooling how_;

  public:
    cudnn_pool(const pool_shape& s, std::int64_t input_pixel, std::int64_t output_pixel) {
        const auto describe = [&](const cudnn_tensor& tensor, std::int64_t height, std::int64_t width,
                                  std::int64_t pixel) {
            check(cudnnSetTensor4dDescriptorEx(tensor, cudnn_type<T>, narrow(s.count), narrow(s.channels),
                                               narrow(height), narrow(width), narrow(height * width * pixel),
                                               1, narrow(width * pixel), narrow(pixel)));
        };
        describe(input_, s.height, s.width, input_pixel);
        describe(output_, s.output_height(), s.output_width(), output_pixel);
        const pool_geometry& g = s.geometry;
        const auto mode = s.mode == pool_mode::max              ? CUDNN_POOLING_MAX
                          : s.mode == pool_mode::padded_average ? CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
                                                                : CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING;
        check(cudnnSetPooling2dDescriptor(how_, mode, CUDNN_PROPAGATE_NAN, narrow(g.window.y),
                                          narrow(g.window.x), narrow(g.padding.top), narrow(g.padding.left),
                                          narrow(g.stride.y), narrow(g.stride.x)));
    }
    void operator()(const T* input, T* output) const {
        const cudnnStatus_t status = cudnnPoolingForward(cudnn_handle(), how_, &cudnn_alpha, input_, input,
                                                         &cudnn_beta, output_, output);
        if (status == CUDNN_STATUS_NOT_SUPPORTED) throw unsupported("cudnnPoolingForward does not do it");
        check(status);
    }
};

}  // namespace heddle::bench

#endif
