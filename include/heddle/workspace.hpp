#pragma once

#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle {

/// Where an operation without a workspace takes scratch memory that makes it faster.
///
/// pool: from heddle's pool of the stream's device (memory_pool::scratch_of), stream-ordered: nothing is synchronised. Where
/// the pool gets no more memory, the call goes on as with none, if a rung can: its bits are those of such a call then.
/// none: it takes none. A call that needs some then throws unsupported.
///
/// Where the stream is being captured, the memory belongs to the graph: it has nodes that allocate and free it. Of a
/// cudaGraph_t with such nodes one executable may exist at a time; it cannot be cloned, its nodes and edges cannot be
/// deleted, and it becomes a child of another graph by moving there alone. Pass a workspace, or none, where that is too little.
enum class scratch { pool, none };

/// Device scratch memory for operations' options, zeroed once, stream-ordered, when it is made;
/// of the stream's device.
///
/// Every operation leaves it ready for the next, so one workspace serves any number of calls, but on one
/// stream at a time. The stream must outlive it.
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
