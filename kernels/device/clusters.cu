#include "kernels/device/clusters.hpp"

#include <cuda_runtime_api.h>

namespace heddle::kernels {
namespace {

constexpr int threads = 1024;  // half of what a multiprocessor takes

/// Is never launched.
__global__ void __launch_bounds__(threads) nothing() {}

}  // namespace

cudaError_t count_clusters_of_16(int& count) {
    constexpr int blocks = 16;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {blocks, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = {blocks, 1, 1};
    config.blockDim = {threads, 1, 1};
    config.attrs = &attribute;
    config.numAttrs = 1;
    const cudaError_t status =
        cudaFuncSetAttribute(nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    return status == cudaSuccess ? cudaOccupancyMaxActiveClusters(&count, nothing, &config) : status;
}

}  // namespace heddle::kernels
