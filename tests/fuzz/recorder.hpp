#pragma once

#include <heddle/error.hpp>
#include <heddle/graph.hpp>
#include <heddle/stream.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace heddle::fuzz {

/// The stream of all work on the GPU, copies too.
inline const heddle::stream& stream() {
    static const heddle::stream of_all;
    return of_all;
}

/// What a problem's calls do besides: they may be captured in a graph, and the bits of all results are collected.
class recorder {
  public:
    bool captures = false;
    std::size_t bits = 0;  ///< a digest

    template <class T>
    void add(const std::vector<T>& results) {
        const auto* const bytes = reinterpret_cast<const char*>(results.data());
        bits = 31 * bits + std::hash<std::string_view>()({bytes, results.size() * sizeof(T)});
    }

    /// Comes before a call.
    void begin() {
        if (captures && !capture_) capture_.emplace(stream());
    }
    /// Runs the calls that were captured.
    void end() {
        if (!capture_) return;
        const auto graph = capture_->finish();
        capture_.reset();
        cudaGraphExec_t executable = nullptr;
        check(cudaGraphInstantiate(&executable, graph.get()));
        const std::unique_ptr<CUgraphExec_st, detail::destroy_graph> owned(executable);
        check(cudaGraphLaunch(executable, stream().get()));
        stream().synchronize();
    }
    /// Drops what was captured before a call threw.
    void stop() { capture_.reset(); }

  private:
    std::optional<detail::stream_capture> capture_;
};

inline recorder& recorded() {
    static recorder of_all;
    return of_all;
}

/// The stream of a call.
inline const heddle::stream& calls() {
    recorded().begin();
    return stream();
}

}  // namespace heddle::fuzz
