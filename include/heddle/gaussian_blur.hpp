#pragma once

#include <heddle/device.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace heddle {

/// The rungs of the blur; kernels/gaussian_blur/README.md is their ladder.
enum class gaussian_blur_algorithm { automatic, naive, separable, shared_memory, fused };

/// All rungs, without `automatic`: what tests, benchmarks and pages go through.
std::span<const gaussian_blur_algorithm> gaussian_blur_algorithms();
std::string_view to_string(gaussian_blur_algorithm algorithm);

/// What stands for the pixels outside of an image `abcd`.
enum class border {
    replicate,  ///< aaaa|abcd|dddd
    reflect,    ///< dcba|abcd|dcba
    wrap,       ///< abcd|abcd|abcd
    constant    ///< vvvv|abcd|vvvv, v = border_value
};

struct gaussian_blur_options {
    /// The window is 2 * radius + 1 pixels wide and high. Not given: gaussian_radius(sigma).
    std::optional<std::int64_t> radius{};
    heddle::border border = heddle::border::replicate;
    /// For border::constant, in every channel; a value of the element type.
    float border_value = 0;
    gaussian_blur_algorithm algorithm = gaussian_blur_algorithm::automatic;
    /// Device scratch memory of at least gaussian_blur_workspace_bytes(), aligned to 16 bytes. Empty: taken
    /// from the device's pool, stream-ordered, for the call's duration, where the rung needs any.
    std::span<std::byte> workspace{};
};

/// What the choice of a rung depends on.
struct gaussian_blur_problem {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::int64_t channels = 1;
    std::int64_t radius = 0;
};

/// The rung that `automatic` stands for. Pure.
/// @throws invalid_argument  a negative width, height or radius; channels not 1, 3 or 4
gaussian_blur_algorithm select(const gaussian_blur_problem& problem, const device_traits& device);

/// The workspace, in bytes, that this rung needs for this problem; 0 where it needs none. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::int64_t gaussian_blur_workspace_bytes(
    const gaussian_blur_problem& problem, const device_traits& device,
    gaussian_blur_algorithm algorithm = gaussian_blur_algorithm::automatic);

/// The radius at which the Gaussian is cut where none is given: ceil(4 sigma), past which less than 7e-5 of
/// it lies.
/// @throws invalid_argument  sigma not positive and finite, or above 2^26
std::int64_t gaussian_radius(double sigma);

/// destination = source convolved with a Gaussian of standard deviation `sigma` pixels in both directions.
///
/// The weights exp(-i^2 / (2 sigma^2)), i = -radius..radius, are computed in double and normalised to sum 1.
/// Images have 1, 3 or 4 interleaved channels and any row stride, in device memory; source and destination
/// must not overlap. The radius may exceed the image. Sums are in float; uint8 results are rounded to
/// nearest, halves to even; errors in docs/accuracy.md. Enqueued on `stream`; never synchronises; safe under
/// stream capture; allocates only as gaussian_blur_options says. Empty images do nothing. T is float or
/// uint8_t.
///
/// @throws invalid_argument  sizes disagree or are negative, channels not 1, 3 or 4, a null or misaligned
///                           pointer, a stride smaller than a row, an overlap, sigma not positive and finite,
///                           a radius that is negative or above 2^28, a border value that T cannot hold, an
///                           unknown border or algorithm, a workspace that is too small, misaligned or
///                           overlaps an image (nothing is enqueued)
/// @throws unsupported       the algorithm that was asked for cannot run this problem on this device; says
///                           why
/// @throws cuda_error        the launch or the allocation failed
template <class T>
void gaussian_blur(image_view<const std::type_identity_t<T>> source, image_view<T> destination, double sigma,
                   cuda::stream_ref stream, const gaussian_blur_options& options = {});

}  // namespace heddle
