#include "benchmarks/support/rows.hpp"

#include "benchmarks/support/kernels.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/device.hpp>
#include <heddle/error.hpp>
#include <heddle/stream.hpp>

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <exception>
#include <set>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::bench {

bool has_device() {
    static const bool present = device_count() > 0;
    return present;
}

namespace {
bool is_profiled = false;
std::deque<registered_row> all_rows;  // whose elements stay where they are
}  // namespace

void profile_instead_of_timing() {
    is_profiled = true;
}

cuda::stream_ref stream() {
    static const heddle::stream benchmark_stream;
    return benchmark_stream;
}

void fail(std::string_view library, std::string_view status, std::source_location where) {
    throw std::runtime_error(fmt::format("{}: {} ({}:{})", library, status, where.file_name(), where.line()));
}

namespace detail {
namespace {

using seconds = std::chrono::duration<double>;
using clock = std::chrono::steady_clock;

constexpr seconds host_budget{100e-3};
constexpr std::int64_t most_cold_calls = 100;
constexpr std::size_t most_host_calls = 100;
constexpr std::int64_t most_hot_calls = 2000;
/// Fewer than a stream holds: none of them waits for the device.
constexpr std::int64_t calls_a_batch = 200;

/// The device is kept busy this long before a cold call, so that the host has enqueued the call and both
/// events when the first event is reached: the time between them has no share of the host's.
constexpr std::chrono::microseconds enqueue_time{60};

struct interval {
    event start;
    event stop;

    [[nodiscard]] seconds length() const { return elapsed(start, stop); }
};

/// Not stream_ref::wait(), which does nothing where a host compiler builds it (CCCL 3.0.1).
void synchronize() {
    check(cudaStreamSynchronize(stream().get()));
}

std::int64_t calls_within(seconds budget, seconds call, std::int64_t most) {
    return std::clamp(static_cast<std::int64_t>(budget / call), std::int64_t{1}, most);
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Reads what is not written again: a flush by writing would leave L2 full of lines whose way to memory the
/// timed call then waits for.
void flush_l2() {
    static const device_buffer<std::byte> zeros = [] {
        device_buffer<std::byte> scratch(4 * static_cast<std::int64_t>(traits_of(current_device()).l2_bytes),
                                         stream());
        fill_zero(scratch, stream());
        return scratch;
    }();
    read(zeros.data(), static_cast<std::int64_t>(zeros.size()), stream());
}

measurement time_cold(const std::function<void()>& call, seconds budget) {
    static std::array<interval, most_cold_calls> intervals;
    const auto time = [&](interval& interval) {
        flush_l2();
        spin(enqueue_time, stream());
        interval.start.record(stream());
        call();
        interval.stop.record(stream());
    };

    const auto begin = clock::now();
    time(intervals.front());
    synchronize();
    const std::int64_t calls = calls_within(budget, clock::now() - begin, most_cold_calls);
    const std::span taken = std::span(intervals).first(calls);
    for (interval& interval : taken.subspan(1)) time(interval);
    synchronize();

    std::vector<double> times;
    for (const interval& interval : taken) times.push_back(interval.length().count());
    return {median(std::move(times)), calls};
}

measurement time_hot(const std::function<void()>& call, seconds budget) {
    static interval batch;
    const auto time = [&](const std::int64_t calls) -> seconds {
        batch.start.record(stream());
        for (std::int64_t index = 0; index < calls; ++index) call();
        batch.stop.record(stream());
        synchronize();
        return batch.length() / calls;
    };

    const seconds estimate = time(1);
    const std::int64_t calls = calls_within(budget, estimate, most_hot_calls);
    return {calls == 1 ? estimate.count() : time(calls).count(), calls};
}

/// One call for a profiler to see.
void profile(const std::function<void()>& call) {
    check(cudaProfilerStart());
    call();
    synchronize();
    check(cudaProfilerStop());
}

}  // namespace

measurement time_on_device(const std::function<void()>& call, temperature temperature, seconds budget) {
    call();  // loads the kernels
    synchronize();
    if (is_profiled) {
        profile(call);
        return {0, 1};
    }
    return temperature == temperature::cold ? time_cold(call, budget) : time_hot(call, budget);
}

measurement time_on_host(const std::function<void()>& call) {
    call();  // touches the pages, starts the threads
    std::vector<double> times;
    const auto begin = clock::now();
    for (auto now = begin; times.empty() || (now - begin < host_budget && times.size() < most_host_calls);) {
        call();
        const auto end = clock::now();
        times.push_back(seconds(end - now).count());
        now = end;
    }
    const auto calls = static_cast<std::int64_t>(times.size());
    return {median(std::move(times)), calls};
}

measurement time_of_enqueueing(const std::function<void()>& call) {
    call();  // loads the kernels
    std::vector<double> times;
    for (const auto begin = clock::now(); times.empty() || clock::now() - begin < usual_budget;) {
        synchronize();
        const auto batch = clock::now();
        for (std::int64_t index = 0; index < calls_a_batch; ++index) call();
        times.push_back(seconds(clock::now() - batch).count() / static_cast<double>(calls_a_batch));
    }
    synchronize();
    const std::int64_t calls = std::ssize(times) * calls_a_batch;
    return {median(std::move(times)), calls};
}

void add_row(const problem& problem, std::string_view library, temperature temperature, bool on_device,
             std::function<measurement()> measure) {
    // The top rung of a ladder is also the one beside the peers.
    static std::set<std::string> names;
    const std::string_view suffix = temperature == temperature::hot ? "/hot" : "";
    const auto [name, is_new] = names.insert(fmt::format("{}/{}{}", problem.name, library, suffix));
    if (is_new) all_rows.push_back({*name, problem, temperature, on_device, std::move(measure)});
}

}  // namespace detail

const std::deque<registered_row>& registered_rows() {
    return all_rows;
}

}  // namespace heddle::bench
