#pragma once

#include <heddle/device.hpp>
#include <heddle/image.hpp>
#include <heddle/scratch.hpp>
#include <heddle/tensor.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {

/// The rungs of the blur; kernels/gaussian_blur/README.md is their ladder.
enum class gaussian_blur_algorithm {
    automatic,
    naive,
    separable,
    shared_memory,
    tiled,
    fused,
    mma_xy,
    wgmma_xy,
    mma_xy_by_channel,
    decimated
};

/// All rungs except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const gaussian_blur_algorithm> gaussian_blur_algorithms();
std::string_view to_string(gaussian_blur_algorithm algorithm);
/// The compiled kernels of a rung, or of all rungs for `automatic`, the most general first: "fused ring". The first
/// word names the rung.
std::span<const std::string_view> gaussian_blur_kernels(
    gaussian_blur_algorithm algorithm = gaussian_blur_algorithm::automatic);

/// Standard deviations along x and along y, in pixels. One number stands for both.
struct blur_sigma {
    double x;
    double y;

    constexpr blur_sigma(double both) : x(both), y(both) {}
    constexpr blur_sigma(double along_x, double along_y) : x(along_x), y(along_y) {}
    bool operator==(const blur_sigma&) const = default;
};

/// A window is 2 * x + 1 pixels wide and 2 * y + 1 high. One number stands for both.
struct window_radius {
    std::int64_t x;
    std::int64_t y;

    constexpr window_radius(std::int64_t both) : x(both), y(both) {}
    constexpr window_radius(std::int64_t along_x, std::int64_t along_y) : x(along_x), y(along_y) {}
    bool operator==(const window_radius&) const = default;
};

struct gaussian_blur_options {
    /// Empty: gaussian_radius(sigma).
    std::optional<window_radius> radius{};
    heddle::border border = heddle::border::replicate;
    /// For border::constant, in every channel. It must be a value of the element type.
    float border_value = 0;
    /// The part of the source whose blur is wanted. The destination has its size, and gets the values that a blur of
    /// the whole source has there. They agree to the bit where the kernel is the same, except for `decimated`.
    /// `automatic` may choose another rung for a small part, and `fused` another kernel. Empty: the whole source.
    std::optional<image_region> region{};
    /// Forbids `automatic` the rung `decimated`. `automatic` may choose it under these conditions: both sigmas are 12 to
    /// 8192; no radius below 4 sigma is given; the picture is not small against the window; the batch has at most
    /// 65535 images. Its window is not exactly a Gaussian, but within 5e-4 of the Gaussian's peak.
    bool exact = false;
    gaussian_blur_algorithm algorithm = gaussian_blur_algorithm::automatic;
    /// One of gaussian_blur_kernels(), which belongs to `algorithm` unless that is automatic. Empty: the fastest that
    /// runs.
    std::string_view kernel{};
    /// Device scratch memory, as in heddle::workspace: at least gaussian_blur_workspace_bytes(), 16-byte aligned,
    /// zeroed before first use, apart from the images. Each call leaves it ready for the next.
    std::span<std::byte> workspace{};
    /// The source of scratch memory without a workspace. With a workspace nothing is allocated.
    heddle::scratch scratch = heddle::scratch::pool;
};

/// A blur without its memory: the facts by which a rung is chosen. gaussian_blur_problem_of() makes it.
struct gaussian_blur_problem {
    tensor_layout source{.channels = 1}, destination{.channels = 1};
    pixel_type type = pixel_type::f32;
    /// The radius of the window. The weights beyond it are 0 in float, or the caller cut them off.
    window_radius radius = 0;
    blur_sigma sigma = 1;
    heddle::border border = heddle::border::replicate;
    /// The part of the source that the destination is the blur of. Not given: the whole.
    std::optional<image_region> region{};
    bool exact = false;
    /// Scratch memory is available: a workspace, or the pool. Without it, no rung runs some radii above 1000.
    bool has_scratch = true;

    bool operator==(const gaussian_blur_problem&) const = default;
};

/// The problem of a call of gaussian_blur() with these arguments. Elements are not read; pointers may be null.
/// @throws invalid_argument  as gaussian_blur(), but for pointers and overlaps
template <class T>
gaussian_blur_problem gaussian_blur_problem_of(image_batch_view<const std::type_identity_t<T>> sources,
                                               image_batch_view<T> destinations, blur_sigma sigma,
                                               const gaussian_blur_options& options = {});
template <class T>
gaussian_blur_problem gaussian_blur_problem_of(image_view<const std::type_identity_t<T>> source,
                                               image_view<T> destination, blur_sigma sigma,
                                               const gaussian_blur_options& options = {}) {
    return gaussian_blur_problem_of<T>(image_batch_view<const T>{source}, image_batch_view<T>{destination},
                                       sigma, options);
}

/// The rung that `automatic` chooses. Pure.
/// @throws invalid_argument  a problem that gaussian_blur_problem_of() does not make; more than 2^58 values between two
///                           passes, of height + 2 * radius.y rows an image; device.sm_count below 1
/// @throws unsupported       there is no scratch memory, and every rung needs some
gaussian_blur_algorithm select(const gaussian_blur_problem& problem, const device_traits& device);

/// The reason why a rung, or this kernel of it, cannot run a problem on a device, in the words of `unsupported`. Empty
/// where the rung can run it, and for `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm or kernel
std::string why_not(gaussian_blur_algorithm algorithm, const gaussian_blur_problem& problem,
                    const device_traits& device, std::string_view kernel = {});

/// The bytes of workspace with which this rung can run this problem; 0 where it needs none or cannot run it. A rung that is
/// named takes no more for a region of this size at another place of the source. problem.has_scratch does not count. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::int64_t gaussian_blur_workspace_bytes(
    const gaussian_blur_problem& problem, const device_traits& device,
    gaussian_blur_algorithm algorithm = gaussian_blur_algorithm::automatic);

/// The same for a call of gaussian_blur() with these arguments, on the stream's device. options.workspace is ignored.
/// @throws as gaussian_blur() does
template <class T>
std::int64_t gaussian_blur_workspace_bytes(image_batch_view<const std::type_identity_t<T>> sources,
                                           image_batch_view<T> destinations, blur_sigma sigma,
                                           cuda::stream_ref stream,
                                           const gaussian_blur_options& options = {});
template <class T>
std::int64_t gaussian_blur_workspace_bytes(image_view<const std::type_identity_t<T>> source,
                                           image_view<T> destination, blur_sigma sigma,
                                           cuda::stream_ref stream,
                                           const gaussian_blur_options& options = {}) {
    return gaussian_blur_workspace_bytes<T>(image_batch_view<const T>{source},
                                            image_batch_view<T>{destination}, sigma, stream, options);
}

/// The radius at which the Gaussian is cut where none is given: ceil(4 sigma). Less than 7e-5 of the Gaussian lies
/// beyond it.
/// @throws invalid_argument  sigma not positive and finite, or above 2^26
std::int64_t gaussian_radius(double sigma);

/// Each destination = its source convolved with a Gaussian of standard deviations `sigma`, in one launch or a
/// few for the whole batch.
///
/// The weights exp(-i^2 / (2 sigma^2)), i = -radius..radius, are computed in double and normalised to sum 1, for x
/// and for y. Images have 1 to 4 channels, interleaved or in planes (planar()), and any row stride, in device memory.
/// The destinations must not overlap one another or any source. With a source stride of 0, one source serves all. The
/// radius may exceed the image. Sums are in float; integers are rounded to nearest, halves to even. docs/accuracy.md
/// bounds the errors. The call is enqueued on `stream` and its device. It never synchronises, is safe under stream
/// capture, and allocates only as gaussian_blur_options says. Empty images and batches do nothing. T is float, half,
/// uint16_t or uint8_t.
///
/// @throws invalid_argument  sizes or counts disagree or are negative, channels not 1 to 4, a null or misaligned
///                           pointer, a stride smaller than what it steps over, an overlap, a region that is not
///                           inside of the source, sigma not positive and finite, a radius that is negative or above
///                           2^28, a border value that T cannot hold, an unknown border, algorithm or kernel, a
///                           workspace that is null, misaligned, too small or overlaps an image (nothing is enqueued)
/// @throws unsupported       the algorithm, or the kernel of it, that was asked for cannot run this problem on this
///                           device, or no rung can without scratch memory; says what it needs
/// @throws cuda_error        the launch or the allocation failed
template <class T>
void gaussian_blur(image_batch_view<const std::type_identity_t<T>> sources, image_batch_view<T> destinations,
                   blur_sigma sigma, cuda::stream_ref stream, const gaussian_blur_options& options = {});

/// The same for one image.
template <class T>
void gaussian_blur(image_view<const std::type_identity_t<T>> source, image_view<T> destination,
                   blur_sigma sigma, cuda::stream_ref stream, const gaussian_blur_options& options = {}) {
    gaussian_blur<T>(image_batch_view<const T>{source}, image_batch_view<T>{destination}, sigma, stream,
                     options);
}

}  // namespace heddle

#pragma GCC visibility pop
