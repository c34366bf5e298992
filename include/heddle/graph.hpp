#pragma once

#include <cuda/stream_ref>
#include <cuda_runtime_api.h>

#include <concepts>
#include <memory>
#include <utility>

#pragma GCC visibility push(default)

namespace heddle {
namespace detail {

struct destroy_graph {
    void operator()(cudaGraph_t handle) const noexcept;
    void operator()(cudaGraphExec_t handle) const noexcept;
};

/// Captures a stream for its lifetime. The capture is discarded unless finish() took it.
class stream_capture {
  public:
    explicit stream_capture(cuda::stream_ref stream);
    ~stream_capture();
    stream_capture(const stream_capture&) = delete;
    stream_capture& operator=(const stream_capture&) = delete;

    std::unique_ptr<CUgraph_st, destroy_graph> finish();

  private:
    cuda::stream_ref stream_;
    bool capturing_ = true;
};

}  // namespace detail

/// Work captured from a stream, which one call launches again. It owns its handle and is move-only. It keeps the captured
/// pointers, not the memory behind them: buffers must outlive its launches. The captured stream need not outlive it.
class graph {
  public:
    /// Runs `body`, which enqueues work on `stream`; the work is recorded, not run. If `body` throws, the capture is
    /// discarded and the exception goes on. The stream is then usable as before.
    ///
    /// During the capture, the calling thread may not make CUDA calls that synchronise or allocate outside of a stream.
    /// @throws cuda_error  the legacy default stream, a stream that is captured already, a call that cannot be captured
    template <std::invocable Body>
    [[nodiscard]] static graph capture(cuda::stream_ref stream, Body&& body) {
        detail::stream_capture session(stream);
        std::forward<Body>(body)();
        return graph(*session.finish());
    }

    [[nodiscard]] cudaGraphExec_t get() const noexcept { return handle_.get(); }

    /// Enqueues the captured work on any stream of the device. Launches of one graph run one after another.
    /// The graph must live until they are done.
    /// @throws invalid_argument  the graph was moved from
    /// @throws cuda_error        the launch failed
    void launch(cuda::stream_ref stream) const;

  private:
    explicit graph(CUgraph_st& captured);

    std::unique_ptr<CUgraphExec_st, detail::destroy_graph> handle_;
};

}  // namespace heddle

#pragma GCC visibility pop
