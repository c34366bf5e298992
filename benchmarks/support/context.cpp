#include "benchmarks/support/context.hpp"

#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/cudnn.hpp"
#include "benchmarks/support/npp.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/device.hpp>

#include <benchmark/benchmark.h>
#include <cub/version.cuh>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <fstream>
#include <string>

#if HEDDLE_HAS_OPENBLAS
#include <cblas.h>
#endif
#if HEDDLE_HAS_OPENCV
#include <opencv2/core/utility.hpp>
#endif

namespace heddle::bench {
namespace {

std::string cpu_name() {
    std::ifstream cpus("/proc/cpuinfo");
    for (std::string line; std::getline(cpus, line);)
        if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
    return "unknown";
}

/// As CUDA counts: 1000 * major + 10 * minor.
std::string cuda_version(int number) {
    return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

}  // namespace

void add_context() {
    using benchmark::AddCustomContext;
    int version = 0;
    check(cudaRuntimeGetVersion(&version));
    AddCustomContext("cuda_runtime", cuda_version(version));
    AddCustomContext("cub",
                     fmt::format("{}.{}.{}", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION));
    AddCustomContext("cpu", cpu_name());
    if (has_device()) {
        const device_traits& device = traits_of(current_device());
        AddCustomContext("gpu_name", device.name);
        AddCustomContext("gpu_sm_count", std::to_string(device.sm_count));
        AddCustomContext("gpu_l2_bytes", std::to_string(device.l2_bytes));
        check(cudaDriverGetVersion(&version));
        AddCustomContext("cuda_of_driver", cuda_version(version));
    }
#if HEDDLE_HAS_CUBLAS
    AddCustomContext("cublas", cublas_version());
#endif
#if HEDDLE_HAS_CUDNN
    AddCustomContext("cudnn", cudnn_version());
#endif
#if HEDDLE_HAS_NPP
    AddCustomContext("npp", npp_version());
#endif
#if HEDDLE_HAS_OPENBLAS
    AddCustomContext("openblas", openblas_get_config());
#endif
#if HEDDLE_HAS_OPENCV
    AddCustomContext("opencv", cv::getVersionString());
#endif
}

}  // namespace heddle::bench
