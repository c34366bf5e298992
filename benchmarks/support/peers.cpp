#include "benchmarks/support/peers.hpp"

#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/cudnn.hpp"
#include "benchmarks/support/npp.hpp"

#include <cub/version.cuh>

#if HEDDLE_HAS_OPENBLAS
#include <cblas.h>
#endif
#if HEDDLE_HAS_OPENCV
#include <opencv2/core/utility.hpp>
#endif

namespace heddle::bench {

std::map<std::string, std::string> peer_versions() {
    std::map<std::string, std::string> versions;
    versions["cub"] = fmt::format("{}.{}.{}", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
#if HEDDLE_HAS_CUBLAS
    if (cublas_library().is_present()) versions["cublas"] = cublas_version();
#endif
#if HEDDLE_HAS_CUDNN
    if (cudnn_library().is_present()) versions["cudnn"] = cudnn_version();
#endif
#if HEDDLE_HAS_NPP
    if (npp_library().is_present()) versions["npp"] = npp_version();
#endif
#if HEDDLE_HAS_OPENBLAS
    versions["openblas"] = openblas_get_config();
#endif
#if HEDDLE_HAS_OPENCV
    versions["opencv"] = cv::getVersionString();
#endif
    return versions;
}

std::string why_missing([[maybe_unused]] std::string_view library) {
    [[maybe_unused]] const auto needs = [library](std::string_view name) {
        return library.find(name) != library.npos;
    };
#if HEDDLE_HAS_CUBLAS
    if (needs("cublas") && !cublas_library().is_present()) return cublas_library().why_missing();
#endif
#if HEDDLE_HAS_CUDNN
    if (needs("cudnn") && !cudnn_library().is_present()) return cudnn_library().why_missing();
#endif
#if HEDDLE_HAS_NPP
    if (needs("npp") && !npp_library().is_present()) return npp_library().why_missing();
#endif
    return "";
}

}  // namespace heddle::bench
