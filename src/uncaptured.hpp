#pragma once

#include "src/ignore.hpp"

#include <cuda_runtime_api.h>

namespace heddle::detail {

/// While this lives, the thread may make CUDA calls that a stream capture would otherwise forbid. Such calls must have
/// nothing to do with the captured stream.
class uncaptured {
  public:
    /// A failure, as after a kernel's fault, is ignored: the calls that follow report it.
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
