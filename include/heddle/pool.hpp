#pragma once

#include <heddle/conv.hpp>
#include <heddle/device.hpp>
#include <heddle/rungs.hpp>
#include <heddle/tensor.hpp>
#include <heddle/types.hpp>

#include <cuda/stream_ref>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {

/// The rungs of pooling; kernels/pool/README.md is their ladder. For each kernel, the list has its rung, its own name
/// where the rung has several, and when `automatic` may take it.
#define HEDDLE_POOL_RUNGS(RUNG, KERNELS, KERNEL) \
    RUNG(naive, never)                           \
    KERNELS(vectorized)                          \
    KERNEL(vectorized, window, always)           \
    KERNEL(vectorized, block, has_large_windows)

/// The rung that a call asks for; `automatic` leaves the choice to heddle.
enum class pool_algorithm {
    automatic,
    HEDDLE_POOL_RUNGS(HEDDLE_ENUMERATOR, HEDDLE_ENUMERATOR, HEDDLE_NOTHING)
};

/// All rungs except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const pool_algorithm> pool_algorithms();
std::string_view to_string(pool_algorithm algorithm);

/// The compiled kernels of a rung, or of all rungs for `automatic`: "vectorized window". The first word names the rung.
std::span<const std::string_view> pool_kernels(pool_algorithm algorithm = pool_algorithm::automatic);

/// The value that a window of pixels gives.
enum class pool_mode {
    max,             ///< the largest pixel, NaN if one is NaN; -infinity for an empty window
    average,         ///< the sum over the number of pixels; NaN for an empty window
    padded_average,  ///< the sum over the size of the window: padding counts as pixels that are zero
};

/// The window of output pixel (y, x) begins at input pixel (y * stride.y - padding.top, x * stride.x - padding.left).
struct pool_geometry {
    conv_steps window{};
    conv_steps stride{};
    conv_padding padding{};

    bool operator==(const pool_geometry&) const = default;
};

constexpr std::int64_t pool_output_height(std::int64_t height, const pool_geometry& g) {
    return conv_output_extent(height, g.window.y, g.padding.top + g.padding.bottom, g.stride.y, 1);
}
constexpr std::int64_t pool_output_width(std::int64_t width, const pool_geometry& g) {
    return conv_output_extent(width, g.window.x, g.padding.left + g.padding.right, g.stride.x, 1);
}

struct pool_options {
    pool_mode mode = pool_mode::max;
    pool_geometry geometry{};
    pool_algorithm algorithm = pool_algorithm::automatic;
    /// One of pool_kernels(), which belongs to `algorithm` unless that is automatic. Empty: the plan chooses.
    std::string_view kernel{};
};

/// The facts by which a call of pool() is planned. pool_problem_of() makes it.
struct pool_problem {
    tensor_layout input{}, output{};
    pool_mode mode = pool_mode::max;
    pool_geometry geometry{};

    bool operator==(const pool_problem&) const = default;
};

/// The problem of a call of pool() with these arguments. Elements are not read; pointers may be null.
/// @throws invalid_argument  as pool(), but for pointers and overlaps
template <class T>
pool_problem pool_problem_of(tensor_view<const std::type_identity_t<T>> input, tensor_view<T> output,
                             const pool_options& options = {});

/// The rung that `automatic` chooses. Pure.
/// @throws invalid_argument  a problem that pool_problem_of() does not make; device.sm_count below 1
pool_algorithm select(const pool_problem& problem, const device_traits& device);

/// The reason why a rung cannot run a problem on a device. It is always empty, as every rung runs any problem. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm or kernel
std::string why_not(pool_algorithm algorithm, const pool_problem& problem, const device_traits& device,
                    std::string_view kernel = {});

/// output(n, y, x, c) = the largest, or the average, of the pixels of channel c in the window of (y, x).
///
/// Tensors are of float, half or bfloat16 in device memory, at any address and with any strides that give each element
/// its own. The output has pool_output_height() x pool_output_width() pixels and as many channels as the
/// input, which it does not overlap. Padding may be wider than the window. Nothing is done where there are no images
/// or no channels. Averages are summed in float32, or in float64 by `naive`, and rounded to T (docs/accuracy.md); a
/// maximum is exact. The call is enqueued on `stream` and its device. It never synchronises or allocates, and is safe
/// under stream capture. The same call gives the same bits each time.
///
/// @throws invalid_argument  counts, channels or extents that disagree or are negative; a window larger than the
///                           padded image; windows or strides below one, padding below zero; view strides by which
///                           elements share an address, a null or misaligned pointer, an overlap; an unknown mode or
///                           algorithm, or a kernel that the algorithm does not have (nothing is enqueued)
/// @throws cuda_error        the launch failed
template <class T>
void pool(tensor_view<const std::type_identity_t<T>> input, tensor_view<T> output, cuda::stream_ref stream,
          const pool_options& options = {});

/// pool() of whole images: the output has one pixel for each image. The geometry in the options is ignored.
/// @throws as pool(), and for images without pixels
template <class T>
void global_pool(tensor_view<const std::type_identity_t<T>> input, tensor_view<T> output,
                 cuda::stream_ref stream, pool_options options = {}) {
    options.geometry = {.window = {input.height, input.width}};
    pool<T>(input, output, stream, options);
}

}  // namespace heddle

#pragma GCC visibility pop
