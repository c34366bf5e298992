#pragma once

#include <cuda/stream_ref>

#include <cstddef>
#include <string>

namespace heddle {

/// The facts about a device that the choice of a kernel depends on. A plain aggregate: a test can describe a
/// device that it does not have.
struct device_traits {
    int device = 0;
    std::string name = {};
    int compute_capability_major = 0;
    int compute_capability_minor = 0;
    int sm_count = 0;
    int max_threads_per_sm = 0;
    int registers_per_sm = 0;
    std::size_t shared_memory_per_sm = 0;           ///< bytes
    std::size_t shared_memory_per_block = 0;        ///< bytes that a kernel may use without asking
    std::size_t shared_memory_per_block_optin = 0;  ///< bytes that a kernel may ask for
    std::size_t l2_bytes = 0;
    std::size_t global_memory_bytes = 0;

    /// Whether the device has at least this compute capability.
    [[nodiscard]] constexpr bool has_compute_capability(int major, int minor) const noexcept {
        return compute_capability_major > major ||
               (compute_capability_major == major && compute_capability_minor >= minor);
    }
};

/// The number of visible devices; 0 where there is none, or no driver that can serve this program. Never
/// throws.
[[nodiscard]] int device_count() noexcept;

/// The calling thread's current device.
/// @throws cuda_error  no device
[[nodiscard]] int current_device();

/// The traits of a device. They never change: the first call for a device asks the driver, later ones only
/// read what it answered and allocate nothing. The reference stays valid. Safe to call from any thread and
/// during stream capture.
/// @throws invalid_argument  no such device
/// @throws cuda_error        no device at all, or the query failed
[[nodiscard]] const device_traits& traits_of(int device);

/// The device that a stream belongs to. The legacy and the per-thread default stream belong to every device: of these it is
/// the calling thread's current one. Safe during stream capture.
/// `stream` exists: CUDA does not say what else does.
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
