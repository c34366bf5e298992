#pragma once

#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/scratch.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <span>

#pragma GCC visibility push(default)

namespace heddle {

/// Device scratch memory for the options of operations, on the device of its stream. The constructor allocates and
/// zeroes it, stream-ordered.
///
/// Every operation leaves it ready for the next one. So one workspace serves any number of calls, on one stream at a
/// time. The stream must outlive it, as for a device_buffer.
class workspace {
  public:
    /// @throws invalid_argument  bytes < 0
    /// @throws cuda_error        out of memory, no device
    workspace(std::int64_t bytes, cuda::stream_ref stream) : storage_(bytes, stream) {
        fill_zero(storage_, stream);
    }

    [[nodiscard]] std::byte* data() noexcept { return storage_.data(); }
    [[nodiscard]] std::size_t bytes() const noexcept { return storage_.size(); }
    operator std::span<std::byte>() noexcept { return {storage_.data(), storage_.size()}; }

  private:
    device_buffer<std::byte> storage_;
};

}  // namespace heddle

#pragma GCC visibility pop
