#include "src/uncaptured.hpp"
#include <heddle/error.hpp>
#include <heddle/memory_pool.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <mutex>

namespace heddle {
namespace {

// All attributes of the pool that are sizes have 64 bits.
std::size_t get_attribute(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    std::uint64_t value = 0;
    check(cudaMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

void set_attribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, std::uint64_t value) {
    check(cudaMemPoolSetAttribute(pool, attribute, &value));
}

cudaMemPool_t create(int device) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {.type = cudaMemLocationTypeDevice, .id = device};
    cudaMemPool_t created = nullptr;
    check(cudaMemPoolCreate(&created, &properties));
    set_attribute(created, cudaMemPoolAttrReleaseThreshold, std::numeric_limits<std::uint64_t>::max());
    int may_wait = 0;  // the pool grows rather than let a stream wait for another stream's free
    check(cudaMemPoolSetAttribute(created, cudaMemPoolReuseAllowInternalDependencies, &may_wait));
    return created;
}

}  // namespace

memory_pool memory_pool::of_device(int device) {
    cudaMemPool_t handle = nullptr;
    check(cudaDeviceGetDefaultMemPool(&handle, device));
    return memory_pool(handle);
}

memory_pool memory_pool::scratch_of(int device) {
    // Never destroyed: at the end of the process, static objects are destroyed when CUDA may be gone already.
    static auto& mutex = *new std::mutex;
    static auto& pools = *new std::map<int, cudaMemPool_t>;
    const std::lock_guard lock(mutex);
    auto found = pools.find(device);
    if (found == pools.end()) {
        const detail::uncaptured scope;
        found = pools.emplace(device, create(device)).first;
    }
    return memory_pool(found->second);
}

void memory_pool::set_release_threshold(std::size_t bytes) {
    set_attribute(handle_, cudaMemPoolAttrReleaseThreshold, bytes);
}

std::size_t memory_pool::release_threshold() const {
    return get_attribute(handle_, cudaMemPoolAttrReleaseThreshold);
}

void memory_pool::trim(std::size_t keep_bytes) {
    check(cudaMemPoolTrimTo(handle_, keep_bytes));
}

std::size_t memory_pool::bytes_in_use() const {
    return get_attribute(handle_, cudaMemPoolAttrUsedMemCurrent);
}

std::size_t memory_pool::bytes_reserved() const {
    return get_attribute(handle_, cudaMemPoolAttrReservedMemCurrent);
}

std::size_t memory_pool::peak_bytes_in_use() const {
    return get_attribute(handle_, cudaMemPoolAttrUsedMemHigh);
}

std::size_t memory_pool::peak_bytes_reserved() const {
    return get_attribute(handle_, cudaMemPoolAttrReservedMemHigh);
}

void memory_pool::reset_peaks() {
    set_attribute(handle_, cudaMemPoolAttrUsedMemHigh, 0);
    set_attribute(handle_, cudaMemPoolAttrReservedMemHigh, 0);
}

}  // namespace heddle
