#pragma once

#include <heddle/device.hpp>
#include <heddle/scratch.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace heddle {

/// The rungs of the scans (prefix sums) of a vector; kernels/scan/README.md is their ladder.
enum class scan_algorithm { automatic, naive, reduce_then_scan, look_back };

/// All rungs, without `automatic`: what tests, benchmarks and pages go through.
std::span<const scan_algorithm> scan_algorithms();
std::string_view to_string(scan_algorithm algorithm);

struct scan_options {
    scan_algorithm algorithm = scan_algorithm::automatic;
    /// Device scratch memory, zeroed before its first use (heddle::workspace is), of at least
    /// scan_workspace_bytes(), 16-byte aligned, apart from x and y; ready for the next call when this one is
    /// done.
    std::span<std::byte> workspace{};
    /// Without a workspace, scratch memory that makes the call faster comes, stream-ordered, from heddle's pool of the stream's
    /// device (memory_pool::scratch_of); with a workspace nothing is allocated. scratch::none forbids it: then the call plans
    /// without scratch memory, and a rung that needs some throws unsupported.
    heddle::scratch scratch = heddle::scratch::pool;
};

/// A scan without its memory: what its plan depends on. scan_problem_of() makes it.
struct scan_problem {
    vector_layout x{}, y{};
    /// Scratch memory is there: given, or from the pool.
    bool has_scratch = true;

    bool operator==(const scan_problem&) const = default;
};

/// The problem of a call with these arguments. What the views point to is not read; they may be null.
/// @throws invalid_argument  sizes disagree, a negative size, a stride below 1
template <class T>
scan_problem scan_problem_of(vector_view<const std::type_identity_t<T>> x, vector_view<T> y,
                             const scan_options& options = {});

/// The rung that `automatic` stands for. Pure; throws as scan_workspace_bytes().
scan_algorithm select(const scan_problem& problem, const device_traits& device);

/// Why a rung cannot run a problem on a device, as `unsupported` says it; empty where it can, as all rungs can, and of
/// `automatic`. Pure; throws as scan_workspace_bytes().
std::string why_not(scan_algorithm algorithm, const scan_problem& problem, const device_traits& device);

/// The workspace, in bytes, that a scan of this problem needs, whatever its strides and alignment; 0 where one
/// block does it all. Pure.
/// @throws invalid_argument  a size that is negative or above 2^58, sizes that disagree, an element size other than 4 or 8
///                           bytes, an offset other than 0 to 255, device.sm_count below 1, an unknown algorithm
std::int64_t scan_workspace_bytes(const scan_problem& problem, const device_traits& device,
                                  scan_algorithm algorithm = scan_algorithm::automatic);

/// The same for a scan of x on the stream's device; options.workspace counts for nothing.
template <class T>
std::int64_t scan_workspace_bytes(vector_view<const T> x, cuda::stream_ref stream,
                                  const scan_options& options = {}) {
    return scan_workspace_bytes({layout_of(x), layout_of(x)}, traits_of(device_of(stream)),
                                options.algorithm);
}

/// The most additions that any one element goes through on its way to any prefix sum. A floating-point y[i]
/// is off by at most depth * u / (1 - depth * u) * (|x[0]| + ... + |x[i]|), u being the unit roundoff of T.
/// Pure; throws as scan_workspace_bytes().
std::int64_t scan_depth(const scan_problem& problem, const device_traits& device,
                        scan_algorithm algorithm = scan_algorithm::automatic);

/// y[i] = x[0] + ... + x[i].
///
/// x and y are vectors of one size in device memory, of any strides; y is x, or apart from it. The order of
/// the additions depends on the size, the strides and the alignment of x and y, the rung and the device alone,
/// so the same call gives the same bits each time; scan_depth() bounds the error. y need not rise where x is
/// positive: neighbours are rounded apart. Integers wrap. Strides of 1 and addresses of x and y that agree
/// modulo 16 bytes are fastest. Enqueued on `stream` and its device; never synchronises; safe under stream capture; allocates
/// only as scan_options says. T is float, double, int32_t or int64_t.
///
/// @throws invalid_argument  sizes disagree, a negative size, a stride below 1, a null or misaligned pointer, a
///                           partial overlap, a workspace that overlaps x or y, is null, misaligned or too
///                           small, an unknown algorithm (nothing is enqueued)
/// @throws unsupported       the algorithm that was asked for needs scratch memory, and scratch is none
/// @throws cuda_error        the launch or the allocation failed
template <class T>
void inclusive_scan(vector_view<const std::type_identity_t<T>> x, vector_view<T> y, cuda::stream_ref stream,
                    const scan_options& options = {});

/// y[0] = 0; y[i] = x[0] + ... + x[i - 1]. All else is as for inclusive_scan().
template <class T>
void exclusive_scan(vector_view<const std::type_identity_t<T>> x, vector_view<T> y, cuda::stream_ref stream,
                    const scan_options& options = {});

}  // namespace heddle
