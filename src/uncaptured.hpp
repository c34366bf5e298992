#pragma once

#include "src/ignore.hpp"

#include <cuda_runtime_api.h>

namespace heddle::detail {

/// For calls of CUDA that belong to no capture: while this lives, the thread may make them also where a stream is being
/// captured that they have nothing to do with.
class uncaptured {
  public:
    /// Where it fails, as after a kernel that faulted, the calls that follow say so themselves.
    uncaptured() noexcept {
        const cudaError_t status = cudaThreadExchangeStreamCaptureMode(&mode_);
        is_exchanged_ = status == cudaSuccess;
        ignore(status);
    }
    ~uncaptured() {
        if (is_exchanged_) ignore(cudaThreadExchangeStreamCaptureMode(&mode_));
    }
    uncaptured(const uncaptured&) = delete;
    uncaptured& operator=(const uncaptured&) = delete;

  private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
    bool is_exchanged_ = false;
};

}  // namespace heddle::detail
