#include "src/ignore.hpp"
#include "src/require.hpp"
#include <heddle/buffer.hpp>
#include <heddle/error.hpp>
#include <heddle/stream.hpp>

#include <cuda_runtime_api.h>

#include <limits>

namespace heddle::detail {
namespace {

std::size_t byte_count(std::int64_t size, std::size_t element_bytes) {
    // The limit is that of int64, not of size_t: views count elements and bytes in int64.
    const std::int64_t most =
        std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(element_bytes);
    require(size >= 0 && size <= most, "buffer", "size", size, "0 to {}", most);
    return static_cast<std::size_t>(size) * element_bytes;
}

/// Memory from allocate(pointer, bytes); null where there are no elements.
template <class Allocate>
void* allocated(std::int64_t size, std::size_t element_bytes, Allocate allocate) {
    void* data = nullptr;
    if (const std::size_t bytes = byte_count(size, element_bytes)) allocate(&data, bytes);
    return data;
}

}  // namespace

void* device_memory::allocate(std::int64_t size, std::size_t element_bytes) {
    return allocated(size, element_bytes, [this](void** data, std::size_t bytes) {
        const stream_device call_device(stream);
        device = call_device.traits().device;
        check(cudaMallocAsync(data, bytes, stream.get()));
    });
}

void device_memory::operator()(void* data) const noexcept {
    int current = device;
    ignore(cudaGetDevice(&current));
    if (current != device) ignore(cudaSetDevice(device));
    ignore(cudaFreeAsync(data, stream.get()));
    if (current != device) ignore(cudaSetDevice(current));
}

void* pinned_memory::allocate(std::int64_t size, std::size_t element_bytes) const {
    return allocated(size, element_bytes, [](void** data, std::size_t bytes) {
        check(cudaHostAlloc(data, bytes, cudaHostAllocDefault));
    });
}

void pinned_memory::operator()(void* data) const noexcept {
    ignore(cudaFreeHost(data));
}

void* managed_memory::allocate(std::int64_t size, std::size_t element_bytes) const {
    return allocated(size, element_bytes, [](void** data, std::size_t bytes) {
        check(cudaMallocManaged(data, bytes, cudaMemAttachGlobal));
    });
}

void managed_memory::operator()(void* data) const noexcept {
    ignore(cudaFree(data));
}

}  // namespace heddle::detail
