#pragma once

#include <heddle/device.hpp>

#include <cuda/stream_ref>
#include <cuda_runtime_api.h>

#include <chrono>
#include <memory>
#include <optional>

#pragma GCC visibility push(default)

namespace heddle {

struct event_options {
    bool timing = true;          ///< elapsed() needs it; an event without it is cheaper
    bool blocking_sync = false;  ///< synchronize() yields the CPU instead of spinning
};

/// A point in a stream's work. It owns its handle, get(), and is move-only. It converts to nothing. A moved-from event
/// has no handle: get() is null, and members that need one throw invalid_argument.
class event {
  public:
    /// Makes an event on the current device; record() moves it to the device of its stream.
    /// @throws cuda_error  no device, out of resources
    explicit event(const event_options& options = {});

    [[nodiscard]] cudaEvent_t get() const noexcept { return handle_.get(); }

    /// Marks the end of all work enqueued on `stream` so far. Recording again moves the mark. On a stream of another
    /// device than before, it gives the event a new handle. The event may outlive the stream.
    void record(cuda::stream_ref stream);

    /// Waits on the host until the recorded work is done; returns at once if nothing was recorded.
    /// @throws cuda_error  also for failures of work enqueued before
    void synchronize() const;

    /// Whether the recorded work is done; true if nothing was recorded.
    [[nodiscard]] bool is_done() const;

  private:
    struct destroy {
        void operator()(cudaEvent_t handle) const noexcept;
    };
    std::unique_ptr<CUevent_st, destroy> handle_;
    event_options options_;
    int device_;
};

/// The time on the device from `start` to `stop`, with a resolution of about half a microsecond. Both must have
/// timing, be recorded on one device, and be done.
/// @throws cuda_error  cudaErrorNotReady if one is not done yet
[[nodiscard]] std::chrono::duration<float, std::milli> elapsed(const event& start, const event& stop);

struct stream_options {
    bool non_blocking = true;  ///< does not synchronise with the legacy default stream
    int priority = 0;          ///< lower numbers run first; clamped to what the device offers
};

/// A queue of device work. It owns its handle and is move-only. The destructor does not wait: enqueued work still runs. A
/// moved-from stream has no handle: get() is null, and members that need one throw invalid_argument. So does the
/// conversion to stream_ref, so that no work is enqueued on the legacy default stream by mistake.
class stream {
  public:
    /// Makes a stream on the current device.
    /// @throws cuda_error  no device, out of resources
    explicit stream(const stream_options& options = {});

    [[nodiscard]] cudaStream_t get() const noexcept { return handle_.get(); }
    /// @throws invalid_argument  the stream was moved from
    operator cuda::stream_ref() const;

    /// Waits on the host until all work enqueued so far is done.
    /// @throws cuda_error  also for failures of that work
    void synchronize() const;

    /// Work enqueued from now on waits until the work that `mark` records is done. The host does not wait.
    void wait(const event& mark);

    /// Whether all work enqueued so far is done.
    [[nodiscard]] bool is_done() const;

  private:
    struct destroy {
        void operator()(cudaStream_t handle) const noexcept;
    };
    std::unique_ptr<CUstream_st, destroy> handle_;
};

namespace detail {

/// Makes the device of a stream the current one, and restores the former one at the end. Every call does this first.
class stream_device {
  public:
    explicit stream_device(cuda::stream_ref stream);

    [[nodiscard]] const device_traits& traits() const noexcept { return traits_; }

  private:
    const device_traits& traits_;
    std::optional<device_guard> guard_;
};

}  // namespace detail
}  // namespace heddle

#pragma GCC visibility pop
