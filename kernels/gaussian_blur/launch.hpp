#pragma once

#include "kernels/gaussian_blur/taps.hpp"
#include <heddle/device.hpp>
#include <heddle/gaussian_blur.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace heddle::kernels::gaussian_blur {

/// Images of equal width, height and channels, none of them 0.
template <class T>
struct arguments {
    image_view<const T> source;
    image_view<T> destination;
    gaussian_blur::taps taps;
    heddle::border border;
    T border_value;
    /// For separable and shared_memory: the rows filtered along x. Rows start at multiples of 16 bytes and
    /// have room to the next one.
    float* intermediate = nullptr;
    std::int64_t intermediate_stride = 0;
};

/// shared_memory and fused count the values of a row in 32 bits, and twice a row's in border.cuh.
inline constexpr std::int64_t max_row_values = std::int64_t{1} << 29;

/// Shared memory of an SM that CUDA keeps for itself, for each resident block.
inline constexpr std::int64_t shared_bytes_reserved = 1024;

/// Whether shared_memory can run this problem.
bool shared_memory_fits(const gaussian_blur_problem& problem, const device_traits& device);
/// How many blocks of `fused` an SM holds at once, at least; 0 where it cannot run this problem.
int fused_blocks_per_sm(const gaussian_blur_problem& problem, const device_traits& device);

/// Needs taps.has_table().
template <class T>
void launch_naive(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
template <class T>
void launch_separable(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
/// Needs shared_memory_fits().
template <class T>
void launch_shared_memory(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
/// Needs fused_blocks_per_sm() > 0.
template <class T>
void launch_fused(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);

/// The two kinds of `fused`: radius up to max_register_radius(channels), and above.
constexpr int max_register_radius(std::int64_t channels) {
    return channels == 1 ? 16 : 8;
}
int fused_ring_blocks_per_sm(const gaussian_blur_problem& problem, const device_traits& device);
template <class T>
void launch_fused_ring(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);

}  // namespace heddle::kernels::gaussian_blur
