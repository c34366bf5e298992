#include "benchmarks/support/cublas.hpp"

#if HEDDLE_HAS_CUBLAS

namespace heddle::bench {

const loaded_library& cublas_library() {
    static const loaded_library library("cuBLAS", "libcublas.so." HEDDLE_STRING(CUBLAS_VER_MAJOR));
    return library;
}

cublasHandle_t cublas_handle() {
    static const cublasHandle_t handle = [] {
        constexpr std::size_t workspace_bytes = std::size_t{64} << 20;
        cublasHandle_t created = nullptr;
        check(cublasCreate(&created));
        check(cublasSetStream(created, stream().get()));
        void* workspace = nullptr;
        check(cudaMalloc(&workspace, workspace_bytes));
        check(cublasSetWorkspace(created, workspace, workspace_bytes));
        return created;
    }();
    return handle;
}

std::string cublas_version() {
    const auto property = [](libraryPropertyType type) {
        int value = 0;
        check(cublasGetProperty(type, &value));
        return value;
    };
    return fmt::format("{}.{}.{}", property(MAJOR_VERSION), property(MINOR_VERSION), property(PATCH_LEVEL));
}

}  // namespace heddle::bench

#endif
