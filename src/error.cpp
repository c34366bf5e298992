#include "src/format.hpp"
#include <heddle/error.hpp>

#include <utility>

namespace heddle {
namespace {

// Whether the context is lost after this status. The CUDA reference says that the process must then be restarted, or
// that memory or a link is broken. A probe of the context would need a call that is cheap and safe during stream
// capture, and would still be a guess.
bool loses_context(cudaError_t status) noexcept {
    switch (status) {
        case cudaErrorIllegalAddress:
        case cudaErrorLaunchTimeout:
        case cudaErrorAssert:
        case cudaErrorHardwareStackError:
        case cudaErrorIllegalInstruction:
        case cudaErrorMisalignedAddress:
        case cudaErrorInvalidAddressSpace:
        case cudaErrorInvalidPc:
        case cudaErrorLaunchFailure:
        case cudaErrorTensorMemoryLeak:
        case cudaErrorECCUncorrectable:
        case cudaErrorNvlinkUncorrectable:
        case cudaErrorContained:
        case cudaErrorExternalDevice:
        case cudaErrorMpsClientTerminated:
            return true;
        default:
            return false;
    }
}

std::string explain_driver() {
    int supported = 0;  // 1000 * major + 10 * minor; remains 0 without a driver
    if (cudaDriverGetVersion(&supported) != cudaSuccess) (void)cudaGetLastError();
    const std::string needed =
        detail::format("CUDA {}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    if (supported == 0) return detail::format("no NVIDIA driver is loaded; {} needs R580 or newer", needed);
    return detail::format("the NVIDIA driver is too old: it supports CUDA {}.{}, and {} needs R580 or newer",
                          supported / 1000, supported % 1000 / 10, needed);
}

std::string explain(cudaError_t status) {
    switch (status) {
        case cudaErrorInsufficientDriver:
            return explain_driver();
        case cudaErrorNoDevice:
            return "no CUDA device is visible";
        default:
            return cudaGetErrorString(status);
    }
}

std::string describe(cudaError_t status, const std::source_location& where) {
    std::string text = detail::format("{}: {} ({}:{}, {})", cudaGetErrorName(status), explain(status),
                                      where.file_name(), where.line(), where.function_name());
    if (loses_context(status))
        text += "; the context is lost: every later CUDA call of this process fails too";
    return text;
}

}  // namespace

cuda_error::cuda_error(cudaError_t status, std::source_location where)
    : std::runtime_error(describe(status, where)), status_(status), where_(where) {}

bool cuda_error::is_sticky() const noexcept {
    return loses_context(status_);
}

invalid_argument::invalid_argument(std::string operation, std::string argument, std::string value,
                                   std::string expected)
    : std::invalid_argument(
          detail::format("{}: {} is {}, expected {}", operation, argument, value, expected)),
      operation_(std::move(operation)),
      argument_(std::move(argument)),
      value_(std::move(value)),
      expected_(std::move(expected)) {}

void detail::throw_cuda_error(cudaError_t status, std::source_location where) {
    (void)cudaGetLastError();
    throw cuda_error(status, where);
}

}  // namespace heddle
