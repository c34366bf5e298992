#include "kernels/device/driver_function.hpp"
#include "src/ignore.hpp"
#include "src/require.hpp"
#include <heddle/device.hpp>
#include <heddle/error.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <utility>

namespace heddle {
namespace {

device_traits query(int device) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device));
    return {
        .device = device,
        .name = properties.name,
        .compute_capability_major = properties.major,
        .compute_capability_minor = properties.minor,
        .sm_count = properties.multiProcessorCount,
        .max_threads_per_sm = properties.maxThreadsPerMultiProcessor,
        .registers_per_sm = properties.regsPerMultiprocessor,
        .shared_memory_per_sm = properties.sharedMemPerMultiprocessor,
        .shared_memory_per_block = properties.sharedMemPerBlock,
        .shared_memory_per_block_optin = properties.sharedMemPerBlockOptin,
        .l2_bytes = static_cast<std::size_t>(properties.l2CacheSize),
        .global_memory_bytes = properties.totalGlobalMem,
    };
}

/// One entry per device, filled at its first use.
class traits_table {
  public:
    traits_table() {
        check(cudaGetDeviceCount(&count_));
        entries_ = std::make_unique<entry[]>(static_cast<std::size_t>(count_));
    }

    const device_traits& at(int device) {
        detail::require(device >= 0 && device < count_, "traits_of", "device", device, "0 to {}", count_ - 1);
        entry& wanted = entries_[static_cast<std::size_t>(device)];
        std::call_once(wanted.filled, [&] { wanted.traits = query(device); });
        return wanted.traits;
    }

  private:
    struct entry {
        std::once_flag filled;
        device_traits traits;
    };
    int count_ = 0;
    std::unique_ptr<entry[]> entries_;
};

}  // namespace

int device_count() noexcept {
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
    (void)cudaGetLastError();
    return 0;
}

int current_device() {
    int device = 0;
    check(cudaGetDevice(&device));
    return device;
}

int device_of(cuda::stream_ref stream) {
    const cudaStream_t handle = stream.get();
    if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread)
        return current_device();
    // Capture forbids cudaStreamGetDevice, but not these driver calls. Their statuses have the runtime's numbers.
    using kernels::driver_function;
    static const auto context_of = driver_function<decltype(cuStreamGetCtx)>("cuStreamGetCtx", 9020);
    static const auto device_of_context =
        driver_function<decltype(cuCtxGetDevice_v2)>("cuCtxGetDevice", 13000);
    CUcontext context = nullptr;
    check(static_cast<cudaError_t>(context_of(handle, &context)));
    CUdevice device = 0;
    check(static_cast<cudaError_t>(device_of_context(&device, context)));
    return device;
}

const device_traits& traits_of(int device) {
    static traits_table table;
    return table.at(device);
}

device_guard::device_guard(int device) : former_(current_device()) {
    check(cudaSetDevice(device));
}

device_guard::~device_guard() {
    detail::ignore(cudaSetDevice(former_));
}

}  // namespace heddle
