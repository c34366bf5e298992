#pragma once

#include <heddle/device.hpp>
#include <heddle/rungs.hpp>
#include <heddle/scratch.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {

/// The rungs of the scans (prefix sums) of a vector; kernels/scan/README.md is their ladder. For each rung, the list
/// has its name, when `automatic` may take it, and what it needs of a problem, if anything.
#define HEDDLE_SCAN_RUNGS(RUNG)             \
    RUNG(naive, never)                      \
    RUNG(reduce_then_scan, without_scratch) \
    RUNG(look_back, always)

/// The rung that a call asks for; `automatic` leaves the choice to heddle.
enum class scan_algorithm { automatic, HEDDLE_SCAN_RUNGS(HEDDLE_ENUMERATOR) };

/// All rungs except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const scan_algorithm> scan_algorithms();
std::string_view to_string(scan_algorithm algorithm);

struct scan_options {
    scan_algorithm algorithm = scan_algorithm::automatic;
    /// Device scratch memory, as in heddle::workspace: at least scan_workspace_bytes(), 16-byte aligned, zeroed before
    /// first use, apart from x and y. Each call leaves it ready for the next.
    std::span<std::byte> workspace{};
    /// The source of scratch memory without a workspace. With a workspace nothing is allocated.
    heddle::scratch scratch = heddle::scratch::pool;
};

/// The facts by which a scan is planned. scan_problem_of() makes it.
struct scan_problem {
    vector_layout x{}, y{};
    /// Scratch memory is available: a workspace, or the pool.
    bool has_scratch = true;

    bool operator==(const scan_problem&) const = default;
};

/// The problem of a call with these arguments. Elements are not read; pointers may be null.
/// @throws invalid_argument  sizes disagree, a negative size, a stride below 1
template <class T>
scan_problem scan_problem_of(vector_view<const std::type_identity_t<T>> x, vector_view<T> y,
                             const scan_options& options = {});

/// The rung that `automatic` chooses. Pure; throws as scan_workspace_bytes().
scan_algorithm select(const scan_problem& problem, const device_traits& device);

/// The reason, as in `unsupported`, why a rung cannot run a problem; empty if it can, and for `automatic`. Pure; throws
/// as scan_workspace_bytes().
std::string why_not(scan_algorithm algorithm, const scan_problem& problem, const device_traits& device);

/// The bytes of workspace that a scan of this problem needs, for any strides and alignment; 0 where one block does it
/// all. Pure.
/// @throws invalid_argument  a size that is negative or above 2^58, sizes that disagree, an element size other than 4
///                           or 8 bytes, an offset other than 0 to 255, device.sm_count below 1, an unknown algorithm
std::int64_t scan_workspace_bytes(const scan_problem& problem, const device_traits& device,
                                  scan_algorithm algorithm = scan_algorithm::automatic);

/// The same for a scan of x on the stream's device; options.workspace is ignored.
template <class T>
std::int64_t scan_workspace_bytes(vector_view<const T> x, cuda::stream_ref stream,
                                  const scan_options& options = {}) {
    return scan_workspace_bytes({layout_of(x), layout_of(x)}, traits_of(device_of(stream)),
                                options.algorithm);
}

/// The largest number of additions from any element to any prefix sum. The error of a floating-point y[i] is at most
/// depth * u / (1 - depth * u) * (|x[0]| + ... + |x[i]|), where u is the unit roundoff of T. Pure; throws as
/// scan_workspace_bytes().
std::int64_t scan_depth(const scan_problem& problem, const device_traits& device,
                        scan_algorithm algorithm = scan_algorithm::automatic);

/// y[i] = x[0] + ... + x[i].
///
/// x and y are vectors of one size in device memory, of any strides; y is x, or apart from it. The order of the
/// additions depends on the size, the strides and the alignment of x and y, the rung and the device alone. So the
/// same call gives the same bits each time. scan_depth() bounds the error. y may decrease even where x is positive,
/// as neighbours are rounded separately. Integers wrap. Strides of 1, and addresses of x and y that agree modulo 16
/// bytes, are fastest. The call is enqueued on `stream` and its device. It never synchronises, is safe under stream
/// capture, and allocates only as scan_options says. T is float, double, int32_t or int64_t.
///
/// @throws invalid_argument  sizes disagree, a negative size, a stride below 1, a null or misaligned pointer, a
///                           partial overlap, a workspace that overlaps x or y, is null, misaligned or too
///                           small, an unknown algorithm (nothing is enqueued)
/// @throws unsupported       the requested algorithm needs scratch memory, and scratch is none
/// @throws cuda_error        the launch or the allocation failed
template <class T>
void inclusive_scan(vector_view<const std::type_identity_t<T>> x, vector_view<T> y, cuda::stream_ref stream,
                    const scan_options& options = {});

/// y[0] = 0; y[i] = x[0] + ... + x[i - 1]. All else is as for inclusive_scan().
template <class T>
void exclusive_scan(vector_view<const std::type_identity_t<T>> x, vector_view<T> y, cuda::stream_ref stream,
                    const scan_options& options = {});

}  // namespace heddle

#pragma GCC visibility pop
