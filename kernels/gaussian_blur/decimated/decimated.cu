// decimated: a large sigma at a cost that does not grow with it. The image is prefiltered and sampled at every d-th pixel,
// d = floor(sigma / 4). The samples are blurred, and the result is interpolated.
//
//   source --decimate--> parts of samples --add_up--> samples --blur--> --interpolate--> destination
//   w x h                                          w / d x h / d                             w x h
//
// The prefilter and the interpolation are one function, the cubic B-spline b(t / d), which is smooth, positive and 4 d
// wide. Its variance is d^2 / 3, so the samples are left a Gaussian of variance (sigma / d)^2 - 2 / 3. Errors:
// docs/accuracy.md.
//
// Only `decimate` meets borders: it reads the source as its border extends it. Sample k is at pixel k d of the source,
// whatever the region is. So a region gets the result of the whole image, except for rounding. A NaN or an infinity
// spreads less than 6 sigma, and an infinity may become a NaN.
//
// It needs a sigma of 8 to 8192 along either axis, and a window of at least 4 sigma. Any alignment will do.
// The smaller sigma is, the more samples there are and the longer it takes.

#include "kernels/device/early_launch.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/gaussian_blur/cost/cost.hpp"
#include "kernels/gaussian_blur/decimated/decimated.hpp"
#include "kernels/gaussian_blur/decimated/samples.cuh"
#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/plan/predict.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

namespace heddle::kernels::gaussian_blur {
namespace {

using namespace decimated;

constexpr double samples_per_sigma = 4;
constexpr double min_sigma = 8;     // d = 2
constexpr double max_sigma = 8192;  // 4 d weights are 32 KiB
/// Where the Gaussian of the samples is cut, in its own sigmas: at 4e-5 of its peak.
constexpr double cut = 4.5;

int factor_of(double sigma) {
    return static_cast<int>(sigma / samples_per_sigma);
}

/// The sigma, in samples, of the Gaussian that is left when the prefilter and the interpolation have done theirs.
double sigma_of_samples(double sigma) {
    const double ratio = sigma / factor_of(sigma);
    return std::sqrt(ratio * ratio - 2.0 / 3);
}

int radius_of_samples(double sigma) {
    return static_cast<int>(std::ceil(cut * sigma_of_samples(sigma)));
}

/// Samples that the interpolation of `size` pixels reads, at most: 3 more than the cells they lie in.
std::int64_t most_blurred(std::int64_t size, double sigma) {
    return (size + factor_of(sigma) - 2) / factor_of(sigma) + support;
}

std::int64_t most_samples(std::int64_t size, double sigma) {
    return most_blurred(size, sigma) + 2 * radius_of_samples(sigma);
}

/// The most pixels of the source, as its border extends it, that the samples are made of along one axis.
std::int64_t most_pixels(std::int64_t size, double sigma) {
    return (most_samples(size, sigma) + support - 1) * factor_of(sigma);
}

/// The most values of such a row, which starts at a multiple of 4.
std::int64_t most_row_values(const filter_facts& p) {
    return most_pixels(p.width, p.sigma.x) * p.channels + 3;
}

/// Bands have few rows only if there would be too few blocks: two neighbouring bands both compute parts of the samples
/// between them.
sample_band band_of(const filter_facts& p, std::int64_t wanted_blocks) {
    const int factor = factor_of(p.sigma.y);
    const std::int64_t strips = divide_up(most_row_values(p), tile::values) * p.images;
    const std::int64_t even = most_pixels(p.height, p.sigma.y) * strips / wanted_blocks;
    const int rows = static_cast<int>(std::clamp<std::int64_t>(even, tile::least_rows, tile::rows));
    if (factor <= rows) {
        const int cells = std::min(rows / factor, tile::cells);
        return {cells, 1, cells * factor};
    }
    const int parts = (factor + rows - 1) / rows;
    return {1, parts, (factor + parts - 1) / parts};
}

struct sizes {
    std::int64_t partial;
    std::int64_t samples;
    std::int64_t blurred;
};

/// The most that each takes, in floats.
sizes sizes_of(const filter_facts& p, const sample_band& band) {
    const std::int64_t bands =
        divide_up(most_samples(p.height, p.sigma.y) + support - 1, band.cells) * band.parts;
    const std::int64_t strips = divide_up(most_row_values(p), tile::values);
    const std::int64_t strip_pitch =
        samples_of_strip(factor_of(p.sigma.x), static_cast<int>(p.channels)) * p.channels;
    return {p.images * bands * strips * band.lines() * strip_pitch,
            p.images * most_samples(p.height, p.sigma.y) * most_samples(p.width, p.sigma.x) * p.channels,
            p.images * most_blurred(p.height, p.sigma.y) * most_blurred(p.width, p.sigma.x) * p.channels};
}

/// The samples for `size` pixels from pixel `begin` on, of a line of `source_size` pixels.
sample_axis axis_of(double sigma, std::int64_t begin, std::int64_t size, std::int64_t source_size,
                    border border) {
    sample_axis a{};
    a.factor = factor_of(sigma);
    a.inverse = 1 / static_cast<float>(a.factor);
    a.radius = radius_of_samples(sigma);
    a.phase = static_cast<int>(begin % a.factor);
    const std::int64_t first_blurred = begin / a.factor - 1;
    const std::int64_t last_blurred = (begin + size - 1) / a.factor + 2;
    a.blurred = static_cast<int>(last_blurred - first_blurred + 1);
    a.first = first_blurred - a.radius;
    std::int64_t last = last_blurred + a.radius;
    // Samples that are made of border alone are all equal.
    if (border == border::replicate || border == border::constant) {
        a.first = std::max<std::int64_t>(a.first, -support / 2);
        last = std::min(last, (source_size - 1 + a.factor - 1) / a.factor + support / 2);
    }
    a.count = static_cast<int>(last - a.first + 1);
    a.before = static_cast<int>(first_blurred - a.first);

    const double sigma_left = sigma_of_samples(sigma);
    double sum = 0;
    const auto weight = [&](int i) { return std::exp(-0.5 * (i / sigma_left) * (i / sigma_left)); };
    for (int i = -a.radius; i <= a.radius; ++i) sum += weight(i);
    for (int i = -a.radius; i <= a.radius; ++i) a.taps[i + a.radius] = static_cast<float>(weight(i) / sum);
    return a;
}

/// The parameters that all of its kernels share.
decimation decimation_of(const filter_facts& p, const sample_band& band) {
    decimation d{};
    d.x = axis_of(p.sigma.x, p.x, p.width, p.source_width, p.border);
    d.y = axis_of(p.sigma.y, p.y, p.height, p.source_height, p.border);
    d.band = band;
    d.channels = static_cast<int>(p.channels);
    const std::int64_t first_value = d.x.first_pixel() * d.channels;
    d.lead = static_cast<int>((first_value % 4 + 4) % 4);
    d.first_value = first_value - d.lead;
    const std::int64_t row_values = d.lead + std::int64_t{d.x.cells()} * d.x.factor * d.channels;
    d.strips = static_cast<int>(divide_up(row_values, tile::values));
    d.strip_pitch = samples_of_strip(d.x.factor, d.channels) * d.channels;
    d.bands = d.band.count(d.y);
    return d;
}

bool is_wide(double sigma, std::int64_t radius) {
    return sigma >= min_sigma && sigma <= max_sigma && static_cast<double>(radius) >= 4 * sigma;
}

bool fits_grids(const filter_facts& p) {
    return most_row_values(p) <= max_row_values && p.images <= max_grid_y &&
           most_pixels(p.height, p.sigma.y) <= max_grid_y * tile::least_rows &&
           divide_up(most_samples(p.width, p.sigma.x) * p.channels, tile::threads) <= max_grid_y;
}

/// Whether the pixels around a small picture would cost more than the window.
bool is_small(const filter_facts& p, double taps_per_pixel) {
    const auto pixels = [](std::int64_t size, double sigma) {
        return static_cast<double>(most_pixels(size, sigma));
    };
    return taps_per_pixel * pixels(p.width, p.sigma.x) * pixels(p.height, p.sigma.y) >
           static_cast<double>(p.width) * static_cast<double>(p.height) *
               (2.0 * static_cast<double>(p.radius.x) + 2.0 * static_cast<double>(p.radius.y));
}

}  // namespace

std::string_view decimated_needs(const filter_facts& p, const device_traits& device) {
    static_assert(min_sigma == 8 && max_sigma == 8192);
    if (p.window != window::gaussian) return "takes Gaussians";
    if (!is_wide(p.sigma.x, p.radius.x) || !is_wide(p.sigma.y, p.radius.y))
        return "takes sigmas from 8 to 8192, and radii from 4 sigma on";
    if (p.source_width > max_row_values / p.channels || !fits_grids(p))
        return "takes no more rows, values of a row and images than its grids count";
    if (is_small(p, costs_of(device).decimated_taps_per_pixel))
        return "needs an image that is not small against the window";
    if (blur_tile::shared_bytes(radius_of_samples(p.sigma.x), radius_of_samples(p.sigma.y), p.channels) >
        device.shared_memory_per_block_optin)
        return "needs more shared memory a block than the device has";
    return {};
}

decimated_plan plan_decimated(const filter_facts& p, const device_traits& device) {
    const costs& numbers = costs_of(device);
    const sample_band band = band_of(p, numbers.decimated_blocks);
    const decimation d = decimation_of(p, band);
    const sizes floats = sizes_of(p, band);
    // As many threads for each sample as keep the block busy.
    const int tasks = d.strip_pitch * round_up(band.lines(), tile::lines) / tile::lines;
    const auto lanes =
        static_cast<int>(std::bit_floor(static_cast<unsigned>(std::clamp(tile::threads / tasks, 1, 32))));
    // If there are many tiles, each gets fewer threads, which share more of what they load.
    const launch_extents tiles{divide_up(d.x.blurred, blur_tile::size),
                               divide_up(d.y.blurred, blur_tile::size), p.images};
    const bool are_many = tiles.x * tiles.y * p.images >= numbers.decimated_tiles_per_sm * device.sm_count;
    const int outputs = are_many ? 8 : 4;
    const bool waits = waits_for_grids(device);
    const int quad = 4 * p.value_bytes();
    const auto floats_moved = static_cast<double>(2 * (floats.partial + floats.samples + floats.blurred));
    const std::int64_t bands = std::int64_t{d.strips} * d.bands * p.images;
    return {.samples = d,
            .partial_floats = floats.partial,
            .sample_floats = floats.samples,
            .scratch_bytes = (floats.partial + floats.samples + floats.blurred) * std::int64_t{sizeof(float)},
            .decimate = {.blocks = {d.strips, d.bands, p.images},
                         .threads = {tile::threads},
                         .shared_bytes = shared_bytes_of_decimate(d, p.type),
                         .shared_limit = device.shared_memory_per_block_optin},
            .add_up = {.blocks = {d.y.count, divide_up(std::int64_t{d.x.count} * p.channels, tile::threads),
                                  p.images},
                       .threads = {tile::threads},
                       .begins_early = waits},
            .blur = {.blocks = tiles,
                     .threads = {blur_tile::threads(outputs)},
                     .shared_bytes = blur_tile::shared_bytes(d.x.radius, d.y.radius, p.channels),
                     .shared_limit = device.shared_memory_per_block_optin,
                     .begins_early = waits},
            .interpolate = {.blocks = {divide_up(p.row_values(), tile::values),
                                       divide_up(p.height, tile::out_rows), p.images},
                            .threads = {tile::threads},
                            .begins_early = waits},
            .lanes = lanes,
            .outputs = outputs,
            .aligned_loads = p.source_alignment() >= quad,
            .aligned_stores = p.destination_alignment >= quad,
            .us = predicted_us(
                "decimated", device,
                {.bytes = image_bytes(p) + floats_moved * sizeof(float),
                 .waits = static_cast<double>(divide_up(bands, device.sm_count) * band.rows),
                 .units = static_cast<double>(divide_up(tiles.x * tiles.y * p.images, device.sm_count) *
                                              (d.x.radius + d.y.radius) * p.channels)})};
}

template <class T>
void launch_decimated(const decimated_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    decimation d = plan.samples;
    d.partial = a.intermediate;
    d.samples = d.partial + plan.partial_floats;
    d.blurred = d.samples + plan.sample_floats;
    launch_decimate(plan, d, a, stream);
    launch_blur(plan, d, stream);
    launch_interpolate(plan, d, a, stream);
}

template void launch_decimated(const decimated_plan&, const arguments<float>&, cudaStream_t);
template void launch_decimated(const decimated_plan&, const arguments<half>&, cudaStream_t);
template void launch_decimated(const decimated_plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_decimated(const decimated_plan&, const arguments<std::uint8_t>&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
