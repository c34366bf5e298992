#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <stdexcept>
#include <string>

#pragma GCC visibility push(default)

namespace heddle {

/// A CUDA call failed. what() gives the status, its meaning, and the place of the check.
class cuda_error : public std::runtime_error {
  public:
    explicit cuda_error(cudaError_t status, std::source_location where = std::source_location::current());

    [[nodiscard]] cudaError_t status() const noexcept { return status_; }

    /// The status' enumerator, such as "cudaErrorMemoryAllocation".
    [[nodiscard]] const char* name() const noexcept { return cudaGetErrorName(status_); }

    [[nodiscard]] const std::source_location& where() const noexcept { return where_; }

    /// True where the context is lost: no later CUDA call of this process can succeed.
    [[nodiscard]] bool is_sticky() const noexcept;

  private:
    cudaError_t status_;
    std::source_location where_;
};

/// An argument is invalid by itself or does not fit the others. Nothing was enqueued.
class invalid_argument : public std::invalid_argument {
  public:
    /// what() reads "matmul: b.rows is 5, expected 4 (a.cols)".
    invalid_argument(std::string operation, std::string argument, std::string value, std::string expected);

    [[nodiscard]] const std::string& operation() const noexcept { return operation_; }
    [[nodiscard]] const std::string& argument() const noexcept { return argument_; }
    [[nodiscard]] const std::string& value() const noexcept { return value_; }
    [[nodiscard]] const std::string& expected() const noexcept { return expected_; }

  private:
    std::string operation_;
    std::string argument_;
    std::string value_;
    std::string expected_;
};

/// The request is valid, but this algorithm or this device cannot run it. what() gives the reason and the value.
/// Nothing was enqueued.
class unsupported : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

namespace detail {
[[noreturn]] void throw_cuda_error(cudaError_t status, std::source_location where);
}  // namespace detail

/// Throws cuda_error unless `status` is cudaSuccess. An error that is not sticky is cleared first. So the next
/// cudaGetLastError() does not report it again.
inline void check(cudaError_t status, std::source_location where = std::source_location::current()) {
    if (status != cudaSuccess) [[unlikely]]
        detail::throw_cuda_error(status, where);
}

}  // namespace heddle

#pragma GCC visibility pop
