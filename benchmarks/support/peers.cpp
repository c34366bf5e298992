#include "benchmarks/support/peers.hpp"

#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/cudnn.hpp"
#include "benchmarks/support/loaded_library.hpp"
#include "benchmarks/support/npp.hpp"

#include <cub/version.cuh>
#include <dlfcn.h>

#if HEDDLE_HAS_NPP
#include <npp.h>
#endif
#if HEDDLE_HAS_OPENBLAS
#include <cblas.h>
#endif
#if HEDDLE_HAS_OPENCV
#include <opencv2/core/utility.hpp>
#endif

namespace heddle::bench {
namespace {

std::string version_of(auto major, auto minor, auto patch) {
    return fmt::format("{}.{}.{}", major, minor, patch);
}

/// A library that is loaded when the program runs.
struct loaded_peer {
    std::string_view name;  ///< of rows
    const loaded_library& (*library)();
    std::string (*version)();
};

std::vector<loaded_peer> loaded_peers() {
    return {
#if HEDDLE_HAS_CUBLAS
        {"cublas", cublas_library,
         [] {
             const auto property = [](libraryPropertyType type) {
                 int value = 0;
                 check(cublasGetProperty(type, &value));
                 return value;
             };
             return version_of(property(MAJOR_VERSION), property(MINOR_VERSION), property(PATCH_LEVEL));
         }},
#endif
#if HEDDLE_HAS_CUDNN
            {"cudnn", cudnn_library,
             [] {
                 const auto version = cudnnGetVersion();
                 return version_of(version / 10000, version % 10000 / 100, version % 100);
             }},
#endif
#if HEDDLE_HAS_NPP
            {"npp", npp_library, [] {
                 const NppLibraryVersion& version = *nppGetLibVersion();
                 return version_of(version.major, version.minor, version.build);
             }},
#endif
    };
}

}  // namespace

loaded_library::loaded_library(const char* title, const char* file)
    : title_(title), handle_(dlopen(file, RTLD_NOW | RTLD_GLOBAL)) {
    if (handle_ == nullptr) why_missing_ = fmt::format("{} is missing: {}", title, dlerror());
}

void* loaded_library::find(const char* function) const {
    if (!is_present()) throw std::runtime_error(why_missing_);
    void* const address = dlsym(handle_, function);
    if (address == nullptr) throw std::runtime_error(fmt::format("{} has no function {}", title_, function));
    return address;
}

std::map<std::string, std::string> peer_versions() {
    std::map<std::string, std::string> versions;
    versions["cub"] = version_of(CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    for (const loaded_peer& peer : loaded_peers())
        if (peer.library().is_present()) versions[std::string(peer.name)] = peer.version();
#if HEDDLE_HAS_OPENBLAS
    versions["openblas"] = openblas_get_config();
#endif
#if HEDDLE_HAS_OPENCV
    versions["opencv"] = cv::getVersionString();
#endif
    return versions;
}

std::string why_missing(std::string_view library) {
    for (const loaded_peer& peer : loaded_peers())
        if (library.find(peer.name) != library.npos && !peer.library().is_present())
            return peer.library().why_missing();
    return "";
}

#if HEDDLE_HAS_CUBLAS
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
#endif

#if HEDDLE_HAS_CUDNN
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
#endif

#if HEDDLE_HAS_NPP
/// The library of the filters, with NPP's core, which it needs.
const loaded_library& npp_library() {
    static const loaded_library library("NPP", "libnppif.so." HEDDLE_STRING(NPP_VER_MAJOR));
    return library;
}

const NppStreamContext& npp_context() {
    static const NppStreamContext context = [] {
        cudaDeviceProp properties{};
        check(cudaGetDeviceProperties(&properties, current_device()));
        NppStreamContext filled{};
        filled.hStream = stream().get();
        filled.nCudaDeviceId = current_device();
        filled.nMultiProcessorCount = properties.multiProcessorCount;
        filled.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
        filled.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
        filled.nSharedMemPerBlock = properties.sharedMemPerBlock;
        filled.nCudaDevAttrComputeCapabilityMajor = properties.major;
        filled.nCudaDevAttrComputeCapabilityMinor = properties.minor;
        check(cudaStreamGetFlags(filled.hStream, &filled.nStreamFlags));
        return filled;
    }();
    return context;
}
#endif

}  // namespace heddle::bench
