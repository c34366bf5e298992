#pragma once

#include "src/ignore.hpp"
#include <heddle/error.hpp>

#include <cuda_runtime_api.h>

namespace heddle::detail {

/// For calls of CUDA that belong to no capture: while this lives, the thread may make them also where a stream is being
/// captured that they have nothing to do with.
class uncaptured {
  public:
    uncaptured() { check(cudaThreadExchangeStreamCaptureMode(&mode_)); }
    ~uncaptured() { ignore(cudaThreadExchangeStreamCaptureMode(&mode_)); }
    uncaptured(const uncaptured&) = delete;
    uncaptured& operator=(const uncaptured&) = delete;

  private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace heddle::detail
