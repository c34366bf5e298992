#pragma once

#include <heddle/device.hpp>
#include <heddle/rungs.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace heddle {

/// The rungs of the histogram; kernels/histogram/README.md is their ladder. For each rung, the list has its name,
/// whether `automatic` may take it, and what it needs of a problem, if anything.
#define HEDDLE_HISTOGRAM_RUNGS(RUNG)      \
    RUNG(naive, never)                    \
    RUNG(cached, always)                  \
    RUNG(shared_memory, always, few_bins) \
    RUNG(vectorized, is_quicker_in_parts, parted_bins, unit_stride)

/// The rung that a call asks for; `automatic` leaves the choice to heddle.
enum class histogram_algorithm { automatic, HEDDLE_HISTOGRAM_RUNGS(HEDDLE_ENUMERATOR) };

/// All rungs except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const histogram_algorithm> histogram_algorithms();
std::string_view to_string(histogram_algorithm algorithm);

struct histogram_options {
    histogram_algorithm algorithm = histogram_algorithm::automatic;
};

/// The facts by which a histogram is planned. histogram_problem_of() makes it.
struct histogram_problem {
    vector_layout x{.element_bytes = 1};
    std::int64_t bins = 256;

    bool operator==(const histogram_problem&) const = default;
};

/// The problem of a call with these arguments. Elements are not read; pointers may be null.
/// @throws invalid_argument  as histogram(), but for pointers, overlaps and a range
histogram_problem histogram_problem_of(vector_view<const std::uint8_t> x, vector_view<std::int64_t> counts);
histogram_problem histogram_problem_of(vector_view<const float> x, vector_view<std::int64_t> counts);

/// The largest number of bins that shared_memory keeps in an SM.
inline constexpr std::int64_t histogram_max_shared_bins = 12288;
/// The largest number of bins that vectorized takes, by parts that fit an SM.
inline constexpr std::int64_t histogram_max_parted_bins = std::int64_t{1} << 20;

/// The rung that `automatic` chooses. Pure.
/// @throws invalid_argument  a size that is negative or above 2^58, no bins, elements not of 1 or 4 bytes, an offset
///                           other than 0 to 255, device.sm_count below 1
histogram_algorithm select(const histogram_problem& problem, const device_traits& device);

/// The reason, as in `unsupported`, why a rung cannot run a problem; empty if it can, and for `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(histogram_algorithm algorithm, const histogram_problem& problem,
                    const device_traits& device);

/// counts[b] = the number of elements of x that are b. `counts` has 256 elements; their former values are ignored.
///
/// x is a vector of any stride in device memory; counts has stride 1 and does not overlap x. Counts are exact, up to
/// 2^63. The call is enqueued on `stream` and its device, after a memset. It never synchronises or allocates, and is
/// safe under stream capture. Up to 256 bins, data of one value takes no longer than random data.
///
/// @throws invalid_argument  a negative size, a stride below 1, a null or misaligned pointer, counts of a stride
///                           other than 1 or of another size, an overlap, an unknown algorithm (nothing is enqueued)
/// @throws unsupported       the chosen algorithm cannot hold so many bins, or `vectorized` was requested and the
///                           stride is not 1
/// @throws cuda_error        the memset or the launch failed
void histogram(vector_view<const std::uint8_t> x, vector_view<std::int64_t> counts, cuda::stream_ref stream,
               const histogram_options& options = {});

/// counts[b] = the number of elements of x in bin b of counts.size equal parts of [lower, upper).
///
/// Elements outside of the range, and NaN, are ignored. An element inside is in bin (x - lower) * (bins / (upper -
/// lower)), rounded down, and at most bins - 1. This is computed in float; the factor is computed in double and
/// rounded to float. So an element near the border of two bins may be counted in either. There must be at least one
/// bin. All else is as for uint8.
///
/// @throws invalid_argument  lower or upper that are not finite, upper <= lower, upper - lower or bins / (upper -
///                           lower) beyond the largest float; and as for uint8
void histogram(vector_view<const float> x, float lower, float upper, vector_view<std::int64_t> counts,
               cuda::stream_ref stream, const histogram_options& options = {});

}  // namespace heddle

#pragma GCC visibility pop
