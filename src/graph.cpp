#include "src/ignore.hpp"
#include "src/require.hpp"
#include <heddle/error.hpp>
#include <heddle/graph.hpp>
#include <heddle/stream.hpp>

namespace heddle {

void detail::destroy_graph::operator()(cudaGraph_t handle) const noexcept {
    ignore(cudaGraphDestroy(handle));
}

void detail::destroy_graph::operator()(cudaGraphExec_t handle) const noexcept {
    ignore(cudaGraphExecDestroy(handle));
}

// Thread-local capture neither forbids the calls of other threads nor fails because of them.
detail::stream_capture::stream_capture(cuda::stream_ref stream) : stream_(stream) {
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
}

detail::stream_capture::~stream_capture() {
    if (!capturing_) return;
    cudaGraph_t partial = nullptr;
    ignore(cudaStreamEndCapture(stream_.get(), &partial));
    if (partial != nullptr) destroy_graph{}(partial);
}

std::unique_ptr<CUgraph_st, detail::destroy_graph> detail::stream_capture::finish() {
    capturing_ = false;  // a capture is over even if EndCapture fails
    cudaGraph_t captured = nullptr;
    check(cudaStreamEndCapture(stream_.get(), &captured));
    return std::unique_ptr<CUgraph_st, destroy_graph>(captured);
}

graph::graph(CUgraph_st& captured) {
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, &captured));
    handle_.reset(executable);
}

void graph::launch(cuda::stream_ref stream) const {
    detail::require(get() != nullptr, "graph::launch", "the graph", "moved from", "one that has a handle");
    const detail::stream_device call_device(stream);
    check(cudaGraphLaunch(get(), stream.get()));
}

}  // namespace heddle
