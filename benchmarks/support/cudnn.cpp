#include "benchmarks/support/cudnn.hpp"

#if HEDDLE_HAS_CUDNN

namespace heddle::bench {

const loaded_library& cudnn_library() {
    static const loaded_library library("cuDNN", "libcudnn.so." HEDDLE_STRING(CUDNN_MAJOR));
    return library;
}

cudnnHandle_t cudnn_handle() {
    static const cudnnHandle_t handle = [] {
        cudnnHandle_t created = nullptr;
        check(cudnnCreate(&created));
        check(cudnnSetStream(created, stream().get()));
        return created;
    }();
    return handle;
}

std::string cudnn_version() {
    const auto version = cudnnGetVersion();
    return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

}  // namespace heddle::bench

#endif
