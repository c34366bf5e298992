#pragma once

#include <cuda/stream_ref>

#include <cstddef>
#include <string>

#pragma GCC visibility push(default)

namespace heddle {

/// The facts about a device by which kernels are chosen. A plain aggregate, so that tests can describe any device.
struct device_traits {
    int device = 0;
    std::string name = {};
    int compute_capability_major = 0;
    int compute_capability_minor = 0;
    int sm_count = 0;
    int max_threads_per_sm = 0;
    int registers_per_sm = 0;
    std::size_t shared_memory_per_sm = 0;           ///< bytes
    std::size_t shared_memory_per_block = 0;        ///< bytes that a kernel may use by default
    std::size_t shared_memory_per_block_optin = 0;  ///< bytes that a kernel may opt in to
    std::size_t l2_bytes = 0;
    std::size_t global_memory_bytes = 0;

    /// Whether the device has at least this compute capability.
    [[nodiscard]] constexpr bool has_compute_capability(int major, int minor) const noexcept {
        return compute_capability_major > major ||
               (compute_capability_major == major && compute_capability_minor >= minor);
    }
};

/// The number of visible devices. 0 where there is no device, or no driver that can serve this program. Never throws.
[[nodiscard]] int device_count() noexcept;

/// The calling thread's current device.
/// @throws cuda_error  no device
[[nodiscard]] int current_device();

/// The traits of a device. They never change: the first call for a device asks the driver; later calls only read the
/// stored answer and allocate nothing. The reference stays valid. Safe to call from any thread and during stream
/// capture.
/// @throws invalid_argument  no such device
/// @throws cuda_error        no device at all, or the query failed
[[nodiscard]] const device_traits& traits_of(int device);

/// The device that a stream belongs to. For the legacy and the per-thread default stream, which belong to every
/// device, it is the calling thread's current device. Safe during stream capture. `stream` must exist, as CUDA does
/// not detect one that does not.
/// @throws cuda_error  no device
[[nodiscard]] int device_of(cuda::stream_ref stream);

/// Makes a device the calling thread's current one, and restores the former one at the end of the scope.
class device_guard {
  public:
    /// @throws cuda_error  no such device
    explicit device_guard(int device);
    ~device_guard();
    device_guard(const device_guard&) = delete;
    device_guard& operator=(const device_guard&) = delete;

  private:
    int former_;
};

}  // namespace heddle

#pragma GCC visibility pop
