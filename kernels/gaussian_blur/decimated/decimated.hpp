#pragma once

#include "kernels/gaussian_blur/plan/grids.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"

#include <cstdint>

namespace heddle::kernels::gaussian_blur {

/// Along an axis, a pixel adds to so many samples, and a result is made of so many.
inline constexpr int samples_of_pixel = 4;
/// The largest radius of the Gaussian that the samples are filtered with. sigma / d is largest, and below 6, where d = 2:
/// 4.5 * sqrt(36 - 2 / 3).
inline constexpr int most_sample_radius = 27;

/// The samples along one axis. Sample k is at pixel k * factor of the source.
struct sample_axis {
    int factor;          ///< d
    float inverse;       ///< 1 / d
    std::int64_t first;  ///< the first computed sample; those beyond the ends are equal to the outer ones
    int count;
    int before;   ///< samples from `first` to the first blurred one
    int blurred;  ///< blurred samples, from the one before the region's first cell on
    int phase;    ///< of the region's first pixel in its cell
    int radius;   ///< of the Gaussian
    static constexpr int most_taps = round_up(2 * most_sample_radius + 1, 4);
    float taps[most_taps];

    /// The cells that add to the samples. Sample first + i is made of the cells i..i + 3 of them.
    __host__ __device__ int cells() const { return count + samples_of_pixel - 1; }
    __host__ __device__ std::int64_t first_pixel() const { return (first - samples_of_pixel / 2) * factor; }
};

/// Rows that a block of `decimate` takes: whole cells, or, where parts > 1, a part of one.
struct sample_band {
    int cells;
    int parts;
    int rows;

    /// Lines of samples that it adds to.
    __host__ __device__ int lines() const { return cells + samples_of_pixel - 1; }
    __host__ __device__ int count(const sample_axis& y) const {
        return (y.cells() + cells - 1) / cells * parts;
    }
};

/// The parameters that all kernels of `decimated` share.
struct decimation {
    static constexpr int strip_values = 512;

    sample_axis x;
    sample_axis y;
    sample_band band;
    int bands;
    int strips;       ///< of strip_values values each
    int strip_pitch;  ///< the most samples that a strip's rows add to, times channels
    int channels;
    std::int64_t first_value;  ///< where the strips begin in a row of the source: a multiple of 4
    int lead;                  ///< values from there to x.first_pixel()
    float* partial;            ///< images x bands x strips x band.lines() x strip_pitch
    float* samples;            ///< images x y.count x x.count x channels
    float* blurred;            ///< images x y.blurred x x.blurred x channels
};

struct decimated_plan {
    decimation samples;           ///< without its pointers
    std::int64_t partial_floats;  ///< room for `partial` in scratch memory, at most
    std::int64_t sample_floats;   ///< room for `samples`, which follow `partial`
    std::int64_t scratch_bytes;
    kernel_grid decimate;
    kernel_grid add_up;
    kernel_grid blur;
    kernel_grid interpolate;
    int lanes;    ///< threads of `decimate` that share a sample
    int outputs;  ///< of a thread of `blur`
    bool aligned_loads;
    bool aligned_stores;
    double us;  ///< predicted
};

}  // namespace heddle::kernels::gaussian_blur
