#pragma once

#include <heddle/device.hpp>
#include <heddle/gaussian_blur.hpp>
#include <heddle/image.hpp>
#include <heddle/rungs.hpp>
#include <heddle/scratch.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {

/// The rungs of sobel and laplacian; kernels/image_filter/README.md is their ladder. For each rung, the list has its
/// name, whether `automatic` may take it, and what it needs of a problem, if anything.
#define HEDDLE_IMAGE_FILTER_RUNGS(RUNG) \
    RUNG(naive, always)                 \
    RUNG(register_window, always, short_rows)

/// The rung that a call asks for; `automatic` leaves the choice to heddle.
enum class image_filter_algorithm { automatic, HEDDLE_IMAGE_FILTER_RUNGS(HEDDLE_ENUMERATOR) };

/// All rungs except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const image_filter_algorithm> image_filter_algorithms();
std::string_view to_string(image_filter_algorithm algorithm);

struct image_filter_options {
    heddle::border border = heddle::border::replicate;
    /// For border::constant, in every channel. It must be a value of the source's type.
    float border_value = 0;
    /// The part of the source for which results are wanted. The destination has its size, and gets the values that the
    /// filter gives there for the whole source. Empty: the whole source.
    std::optional<image_region> region{};
    /// The rung of sobel and laplacian. The other filters choose from the blur's rungs.
    image_filter_algorithm algorithm = image_filter_algorithm::automatic;
    /// Device scratch memory, as in heddle::workspace: at least image_filter_workspace_bytes(), 16-byte aligned, zeroed
    /// before first use, apart from the images. Each call leaves it ready for the next. Sobel and laplacian need none.
    std::span<std::byte> workspace{};
    /// The source of scratch memory without a workspace. With a workspace nothing is allocated.
    heddle::scratch scratch = heddle::scratch::pool;
};

/// The facts on which the workspace of separable_convolution and box_blur depends. Width and height are the
/// destination's.
struct image_filter_problem {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::int64_t channels = 1;
    window_radius radius = 0;
    pixel_type type = pixel_type::f32;
    std::int64_t images = 1;
};

/// The bytes of workspace with which separable_convolution and box_blur run this problem at their fastest, for any region
/// of any source in any layout. A call may need fewer, or none: box_blur_workspace_bytes() tells. 0 for an empty problem.
/// Pure.
/// @throws invalid_argument  a negative width, height or number of images; more than 2^58 values between two passes,
///                           of height + 2 * radius.y rows an image; a radius not 0 to 2^28; channels not 1 to 4; an
///                           unknown type; device.sm_count below 1
std::int64_t image_filter_workspace_bytes(const image_filter_problem& problem, const device_traits& device);

/// The same for calls of separable_convolution() and box_blur() with these arguments, on the stream's device.
/// options.workspace is ignored.
/// @throws as those do
std::int64_t separable_convolution_workspace_bytes(image_batch_view<const float> sources,
                                                   image_batch_view<float> destinations,
                                                   std::span<const float> taps_x,
                                                   std::span<const float> taps_y, cuda::stream_ref stream,
                                                   image_filter_options options = {});
template <class T>
std::int64_t box_blur_workspace_bytes(image_batch_view<const std::type_identity_t<T>> sources,
                                      image_batch_view<T> destinations, window_radius radius,
                                      cuda::stream_ref stream, image_filter_options options = {});
template <class T>
std::int64_t box_blur_workspace_bytes(image_view<const std::type_identity_t<T>> source,
                                      image_view<T> destination, window_radius radius,
                                      cuda::stream_ref stream, image_filter_options options = {}) {
    return box_blur_workspace_bytes<T>(image_batch_view<const T>{source}, image_batch_view<T>{destination},
                                       radius, stream, options);
}

// All filters below take images of 1 to 4 interleaved channels and any row stride, in device memory, or batches of
// them. The destinations must not overlap one another or any source. With a source stride of 0, one source serves
// all. The filters are correlations, as OpenCV's: no window is flipped. docs/accuracy.md bounds the errors. The call
// is enqueued on `stream` and its device. It never synchronises, is safe under stream capture, and allocates only as
// image_filter_options says. Empty images and batches do nothing.
//
// @throws invalid_argument  sizes or counts disagree or are negative, channels not 1 to 4, a null or misaligned
//                           pointer, a stride smaller than what it steps over, an overlap, a region that is not
//                           inside of the source, a border value that the source's type cannot hold, an unknown
//                           enumerator, a workspace that is null, misaligned, too small or overlaps an image, and
//                           what a filter says (nothing is enqueued)
// @throws unsupported       the requested algorithm cannot run this problem, or no rung can without scratch memory;
//                           says why
// @throws cuda_error        the launch or the allocation failed

/// destination(x, y) = sum over i and j of taps_x[i] taps_y[j] source(x + i - rx, y + j - ry): OpenCV's sepFilter2D.
///
/// There are 2 rx + 1 and 2 ry + 1 taps of any value, at most 2001 each, in host memory. They are copied before the
/// call returns. A tap of zero still multiplies, so that NaN and infinities under it reach the sum. With a constant
/// border, a row of border pixels may count as the border value times the sum of the taps.
///
/// @throws invalid_argument  an even number of taps, or more than 2001
void separable_convolution(image_batch_view<const float> sources, image_batch_view<float> destinations,
                           std::span<const float> taps_x, std::span<const float> taps_y,
                           cuda::stream_ref stream, const image_filter_options& options = {});
inline void separable_convolution(image_view<const float> source, image_view<float> destination,
                                  std::span<const float> taps_x, std::span<const float> taps_y,
                                  cuda::stream_ref stream, const image_filter_options& options = {}) {
    separable_convolution(image_batch_view<const float>{source}, image_batch_view<float>{destination}, taps_x,
                          taps_y, stream, options);
}

/// destination = the mean of the window of 2 * radius + 1 pixels along x and y: OpenCV's blur.
///
/// Sums are in float. Integers are rounded to nearest; there are no ties, as the number of pixels is odd. The time
/// grows with the radius. T is float, half, uint16_t or uint8_t.
///
/// @throws invalid_argument  a radius that is negative or above 2^28
template <class T>
void box_blur(image_batch_view<const std::type_identity_t<T>> sources, image_batch_view<T> destinations,
              window_radius radius, cuda::stream_ref stream, const image_filter_options& options = {});
template <class T>
void box_blur(image_view<const std::type_identity_t<T>> source, image_view<T> destination,
              window_radius radius, cuda::stream_ref stream, const image_filter_options& options = {}) {
    box_blur<T>(image_batch_view<const T>{source}, image_batch_view<T>{destination}, radius, stream, options);
}

/// The result of sobel: a derivative, or the length of the vector of both.
enum class gradient { x, y, magnitude };

/// destination = the gradient by Sobel's windows of 3 x 3 pixels, not scaled, as in OpenCV's Sobel:
///
///     x: -1 0 1     y: -1 -2 -1     magnitude: sqrt(x^2 + y^2)
///        -2 0 2         0  0  0
///        -1 0 1         1  2  1
///
/// x and y are exact where T is an integer. T must be named in the call; it is float, half, uint16_t or uint8_t.
template <class T>
void sobel(image_batch_view<const std::type_identity_t<T>> sources, image_batch_view<float> destinations,
           heddle::gradient gradient, cuda::stream_ref stream, const image_filter_options& options = {});
template <class T>
void sobel(image_view<const std::type_identity_t<T>> source, image_view<float> destination,
           heddle::gradient gradient, cuda::stream_ref stream, const image_filter_options& options = {}) {
    sobel<T>(image_batch_view<const T>{source}, image_batch_view<float>{destination}, gradient, stream,
             options);
}

/// destination = the sum of the four neighbours minus four times the pixel: OpenCV's Laplacian of aperture 1.
///
///     0  1  0
///     1 -4  1
///     0  1  0
///
/// It is exact where T is an integer. T must be named in the call; it is float, half, uint16_t or uint8_t.
template <class T>
void laplacian(image_batch_view<const std::type_identity_t<T>> sources, image_batch_view<float> destinations,
               cuda::stream_ref stream, const image_filter_options& options = {});
template <class T>
void laplacian(image_view<const std::type_identity_t<T>> source, image_view<float> destination,
               cuda::stream_ref stream, const image_filter_options& options = {}) {
    laplacian<T>(image_batch_view<const T>{source}, image_batch_view<float>{destination}, stream, options);
}

}  // namespace heddle

#pragma GCC visibility pop
