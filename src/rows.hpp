#pragma once

#include <heddle/device.hpp>

#include <cstdint>

/// What operations on the rows of a matrix go by.
namespace heddle::detail {

/// Neighbours of a column-major matrix are in different rows: where these are enough to fill the device, a thread a row reads
/// what its neighbours' lines have.
template <class Problem>
bool has_many_rows(const Problem& problem, const device_traits& device) {
    constexpr int share = 16;  // of all threads: so many hide the latency of loads
    return problem.rows >= std::int64_t{device.sm_count} * device.max_threads_per_sm / share;
}
template <class Problem>
bool has_few_rows(const Problem& problem, const device_traits& device) {
    return !has_many_rows(problem, device);
}

}  // namespace heddle::detail
