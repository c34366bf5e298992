#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#pragma GCC visibility push(default)

namespace heddle {

/// A device's memory pool. A handle: it owns nothing and copies freely. All sizes are in bytes.
class memory_pool {
  public:
    /// The device's default pool, from which device_buffer allocates. heddle changes none of its attributes.
    /// @throws cuda_error  no such device
    [[nodiscard]] static memory_pool of_device(int device);

    /// heddle's own pool, from which operations without a workspace take scratch memory. There is one for each device
    /// and process. It is made at its first use and lives until the process ends. No stream waits for memory that
    /// another frees.
    ///
    /// The pool keeps the memory that it has reserved. So calls with synchronisations between them do not take memory
    /// from the system again. trim() gives unused memory back; after set_release_threshold(), each synchronisation
    /// does. A few blocks of 4096 bytes stay in use, as many as streams were busy at one time.
    /// @throws cuda_error  no such device
    [[nodiscard]] static memory_pool scratch_of(int device);

    [[nodiscard]] cudaMemPool_t get() const noexcept { return handle_; }

    /// The bytes of unused memory that the pool keeps when a stream, event or device is synchronised. Memory above
    /// that goes back to the system. The driver's default is 0: every synchronisation empties the pool. heddle's own
    /// pool begins with the largest number.
    void set_release_threshold(std::size_t bytes);
    [[nodiscard]] std::size_t release_threshold() const;

    /// Gives unused memory back to the system until at most `keep_bytes` are reserved.
    void trim(std::size_t keep_bytes = 0);

    [[nodiscard]] std::size_t bytes_in_use() const;
    [[nodiscard]] std::size_t bytes_reserved() const;

    /// The highest bytes_in_use() and bytes_reserved() since the last reset_peaks().
    [[nodiscard]] std::size_t peak_bytes_in_use() const;
    [[nodiscard]] std::size_t peak_bytes_reserved() const;
    void reset_peaks();

  private:
    explicit memory_pool(cudaMemPool_t handle) noexcept : handle_(handle) {}

    cudaMemPool_t handle_;
};

}  // namespace heddle

#pragma GCC visibility pop
