#include "src/ignore.hpp"
#include "src/require.hpp"
#include <heddle/error.hpp>
#include <heddle/stream.hpp>

namespace heddle {
namespace {

bool is_done(cudaError_t status) {
    if (status == cudaErrorNotReady) return false;
    check(status);
    return true;
}

/// The handle of a stream or an event. It must not be null: a null stream would be CUDA's legacy default stream.
template <class Owner>
auto handle_of(const char* operation, const char* name, const Owner& owner) {
    detail::require(owner.get() != nullptr, operation, name, "moved from", "one that has a handle");
    return owner.get();
}

}  // namespace

detail::stream_device::stream_device(cuda::stream_ref stream) : traits_(traits_of(device_of(stream))) {
    if (traits_.device != current_device()) guard_.emplace(traits_.device);
}

event::event(const event_options& options) : options_(options), device_(current_device()) {
    unsigned flags = cudaEventDefault;
    if (!options.timing) flags |= cudaEventDisableTiming;
    if (options.blocking_sync) flags |= cudaEventBlockingSync;
    cudaEvent_t created = nullptr;
    check(cudaEventCreateWithFlags(&created, flags));
    handle_.reset(created);
}

void event::record(cuda::stream_ref stream) {
    (void)handle_of("event::record", "the event", *this);
    const detail::stream_device call_device(stream);
    if (call_device.traits().device != device_) *this = event(options_);
    check(cudaEventRecord(get(), stream.get()));
}

void event::synchronize() const {
    check(cudaEventSynchronize(handle_of("event::synchronize", "the event", *this)));
}

bool event::is_done() const {
    return heddle::is_done(cudaEventQuery(handle_of("event::is_done", "the event", *this)));
}

void event::destroy::operator()(cudaEvent_t handle) const noexcept {
    detail::ignore(cudaEventDestroy(handle));
}

std::chrono::duration<float, std::milli> elapsed(const event& start, const event& stop) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, handle_of("elapsed", "start", start),
                               handle_of("elapsed", "stop", stop)));
    return std::chrono::duration<float, std::milli>(milliseconds);
}

stream::stream(const stream_options& options) {
    const unsigned flags = options.non_blocking ? cudaStreamNonBlocking : cudaStreamDefault;
    cudaStream_t created = nullptr;
    check(cudaStreamCreateWithPriority(&created, flags, options.priority));
    handle_.reset(created);
}

stream::operator cuda::stream_ref() const {
    return cuda::stream_ref{handle_of("stream_ref", "the stream", *this)};
}

void stream::synchronize() const {
    check(cudaStreamSynchronize(handle_of("stream::synchronize", "the stream", *this)));
}

void stream::wait(const event& mark) {
    check(cudaStreamWaitEvent(handle_of("stream::wait", "the stream", *this),
                              handle_of("stream::wait", "mark", mark), cudaEventWaitDefault));
}

bool stream::is_done() const {
    return heddle::is_done(cudaStreamQuery(handle_of("stream::is_done", "the stream", *this)));
}

void stream::destroy::operator()(cudaStream_t handle) const noexcept {
    detail::ignore(cudaStreamDestroy(handle));
}

}  // namespace heddle
