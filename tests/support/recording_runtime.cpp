#include "tests/support/recording_runtime.hpp"

#include "tests/support/headers.hpp"

#include <cuda.h>

namespace {

using heddle::test::recording_runtime;

recording_runtime& runtime() {
    return recording_runtime::instance();
}

cudaError_t enqueue(const char* function, cudaStream_t stream, dim3 blocks = {}) {
    runtime().calls.push_back({function, runtime().current, stream, blocks});
    return cudaSuccess;
}

CUresult encode(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
    return CUDA_SUCCESS;
}

/// A stream's handle is also its context.
CUresult context_of(CUstream stream, CUcontext* context) {
    *context = reinterpret_cast<CUcontext>(stream);
    return CUDA_SUCCESS;
}

CUresult device_of(CUdevice* device, CUcontext context) {
    *device = recording_runtime::device_of(reinterpret_cast<cudaStream_t>(context));
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
    *count = recording_runtime::devices;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
    *device = runtime().current;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    runtime().current = device;
    return cudaSuccess;
}

/// An H100's properties, except the number of multiprocessors.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    std::memset(properties, 0, sizeof *properties);
    std::strcpy(properties->name, "recording");
    properties->major = 9;
    properties->multiProcessorCount = recording_runtime::sm_count(device);
    properties->maxThreadsPerMultiProcessor = 2048;
    properties->regsPerMultiprocessor = 65536;
    properties->sharedMemPerMultiprocessor = 233472;
    properties->sharedMemPerBlock = 49152;
    properties->sharedMemPerBlockOptin = 232448;
    properties->l2CacheSize = 50 << 20;
    properties->totalGlobalMem = std::size_t{80} << 30;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
    *value = 1 << 30;  // the widest pitch, the one attribute that is asked for
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
    return enqueue("cudaFuncSetAttribute", nullptr);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
    std::memset(attributes, 0, sizeof *attributes);
    attributes->maxThreadsPerBlock = 1024;  // as for a kernel that is compiled for the device
    return enqueue("cudaFuncGetAttributes", nullptr);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void*, void**) {
    if (runtime().status_of_launches != cudaSuccess) {
        ++runtime().refused;
        return runtime().status_of_launches;
    }
    return enqueue("launch", config->stream, config->gridDim);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
    const std::string_view asked = name;
    *function = asked == "cuTensorMapEncodeTiled" ? reinterpret_cast<void*>(&encode)
                : asked == "cuStreamGetCtx"       ? reinterpret_cast<void*>(&context_of)
                : asked == "cuCtxGetDevice"       ? reinterpret_cast<void*>(&device_of)
                                                  : nullptr;
    *result = *function == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
    return cudaSuccess;
}

cudaError_t cudaMallocAsync(void** data, std::size_t bytes, cudaStream_t stream) {
    *data = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    return enqueue("cudaMallocAsync", stream);
}

cudaError_t cudaMallocFromPoolAsync(void** data, std::size_t bytes, cudaMemPool_t, cudaStream_t stream) {
    if (!runtime().has_pool_memory) return cudaErrorMemoryAllocation;
    *data = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    return enqueue("cudaMallocFromPoolAsync", stream);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
    static char handle;
    *pool = reinterpret_cast<cudaMemPool_t>(&handle);
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
    return cudaSuccess;
}

cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
    std::free(data);
    return enqueue("cudaFreeAsync", stream);
}

cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t stream) {
    return enqueue("cudaMemsetAsync", stream);
}

cudaError_t cudaMemset2DAsync(void*, std::size_t, int, std::size_t, std::size_t, cudaStream_t stream) {
    return enqueue("cudaMemset2DAsync", stream);
}

cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t stream) {
    return enqueue("cudaMemcpyAsync", stream);
}

cudaError_t cudaMemcpy2DAsync(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t,
                              cudaMemcpyKind, cudaStream_t stream) {
    return enqueue("cudaMemcpy2DAsync", stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t) {
    return cudaSuccess;
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
    *id = reinterpret_cast<std::uintptr_t>(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
    *status = runtime().is_capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) {
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
    static char handle;
    *graph = reinterpret_cast<cudaGraph_t>(&handle);
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
    *executable = reinterpret_cast<cudaGraphExec_t>(graph);
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t) {
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t stream) {
    return enqueue("cudaGraphLaunch", stream);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    static char handles[64];
    static int count = 0;
    *event = reinterpret_cast<cudaEvent_t>(&handles[count++ % 64]);
    return enqueue("cudaEventCreate", nullptr);
}

cudaError_t cudaEventDestroy(cudaEvent_t) {
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t) {
    return runtime().are_events_done ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t stream) {
    return enqueue("cudaEventRecord", stream);
}
}
