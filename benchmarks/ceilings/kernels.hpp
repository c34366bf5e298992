#pragma once

#include <heddle/device.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <span>

/// Kernels that do nothing but reach one ceiling of the device. They run on the current one.
namespace heddle::bench {

enum class access { read, write, copy };

/// One of the ways in which bytes are read and written 16 at a time. Which is the fastest depends on the device and on how
/// many there are.
struct access_variant {
    int packets = 1;  ///< of 16 bytes, in flight a thread
    bool resident =
        false;  ///< as many blocks as the device holds go over the bytes, else there is one for each part
    bool streams = false;       ///< the caches give up first what was read and written
    bool begins_early = false;  ///< while the kernel before ends, and waits for it then
    /// Every second call goes from the end to the beginning, and finds in L2 what the call before read last.
    bool turns = false;
};

/// All that differ from one another, on this device, but for `turns`.
std::span<const access_variant> access_variants(const device_traits& device);

/// `bytes` are a multiple of 16. `from` is read unless the access is a write; `to` is written unless it is a read, of which
/// it has to hold 16 bytes that may change. `backwards`: from the end to the beginning.
void access_memory(access access, const access_variant& variant, const std::byte* from, std::byte* to,
                   std::int64_t bytes, bool backwards, cuda::stream_ref stream);

/// Fills the device with threads that read shared memory and do nothing else. The bytes that they read.
double shared_memory_bytes(const device_traits& device);
void read_shared_memory(unsigned* sink, cuda::stream_ref stream);

/// Fills the device with chains of fused multiply-adds, of float or of double, and nothing else. Two operations each. Those
/// of double are not the tensor cores', where the device has such for it.
template <class T>
double fma_operations(const device_traits& device);
template <class T>
void fma_chains(T* sink, cuda::stream_ref stream);

void launch_nothing(cuda::stream_ref stream);

enum class tensor_type { tf32, f16, bf16 };

/// Products on tensor cores by mma.sync, of random operands in registers. The way to the full rate on compute capability 8
/// and 12.
double mma_operations(tensor_type type, const device_traits& device);
void mma_products(tensor_type type, float* sink, cuda::stream_ref stream);

/// Products on tensor cores by wgmma, of random operands in shared memory. Compute capability 9.0.
double wgmma_operations(tensor_type type, const device_traits& device);
void wgmma_products(tensor_type type, float* sink, cuda::stream_ref stream);

}  // namespace heddle::bench
