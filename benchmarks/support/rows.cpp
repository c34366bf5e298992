#include "benchmarks/support/rows.hpp"

#include "benchmarks/support/kernels.hpp"

#include <cuda_profiler_api.h>

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

std::string implementation(std::string_view words) {
    std::string name = fmt::format("heddle:{}", words);
    std::ranges::replace(name, ' ', '-');
    return name;
}

std::vector<std::string_view> ways_of(std::span<const std::string_view> kernels) {
    std::vector<std::string_view> ways;
    for (const std::string_view kernel : kernels) {
        const std::size_t last = kernel.rfind(' ') + 1;  // a tile's word begins with a digit
        const bool has_tile = last > 0 && kernel[last] >= '0' && kernel[last] <= '9';
        const std::string_view way = has_tile ? kernel.substr(0, last - 1) : kernel;
        if (way.find(' ') != way.npos && (ways.empty() || ways.back() != way)) ways.push_back(way);
    }
    return ways;
}

cuda::stream_ref stream() {
    static const heddle::stream benchmark_stream;
    return benchmark_stream;
}

void fail(std::string_view library, std::string_view status, std::source_location where) {
    throw std::runtime_error(fmt::format("{}: {} ({}:{})", library, status, where.file_name(), where.line()));
}

void flush_l2() {
    static const device_buffer<std::byte> zeros = [] {
        device_buffer<std::byte> scratch(4 * static_cast<std::int64_t>(traits_of(current_device()).l2_bytes),
                                         stream());
        fill_zero(scratch, stream());
        return scratch;
    }();
    read(zeros.data(), static_cast<std::int64_t>(zeros.size()), stream());
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
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

/// Not stream_ref::wait(), which does nothing where a host compiler builds it (CCCL 3.0.1).
void synchronize() {
    check(cudaStreamSynchronize(stream().get()));
}

std::int64_t calls_within(seconds budget, seconds call, std::int64_t most) {
    return std::clamp(static_cast<std::int64_t>(budget / call), std::int64_t{1}, most);
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

/// Calls one after the other, with no time of the host's between them: the device is kept busy until the host has
/// enqueued them, in batches that its queue holds. Where the device takes far longer for a call than the host, it is
/// enough that the host is ahead, and one batch has all.
measurement time_hot(const std::function<void()>& call, seconds budget) {
    // A call may be several launches, each of which takes the host about 2 us: these are fewer than the queue holds.
    constexpr seconds most_of_enqueueing{2e-3};
    constexpr double far = 4;
    static interval batch;
    seconds of_host{0};  // the host's time of enqueueing a call
    const auto time = [&](std::int64_t calls, seconds busy) {
        spin(std::chrono::duration_cast<std::chrono::nanoseconds>(busy), stream());
        batch.start.record(stream());
        const auto begin = clock::now();
        for (std::int64_t index = 0; index < calls; ++index) call();
        of_host = seconds(clock::now() - begin) / static_cast<double>(calls);
        batch.stop.record(stream());
        synchronize();
        return batch.length();
    };

    const seconds estimate = time(1, enqueue_time);
    const std::int64_t calls = calls_within(budget, estimate, most_hot_calls);
    if (calls == 1) return {estimate.count(), 1};
    if (estimate > far * of_host) return {(time(calls, enqueue_time) / calls).count(), calls};
    seconds total{0};
    for (std::int64_t done = 0; done < calls;) {
        const std::int64_t in_queue = calls_within(most_of_enqueueing, of_host, calls_a_batch);
        const std::int64_t now = std::min(in_queue, calls - done);
        total += time(now, enqueue_time + 2 * now * of_host);
        done += now;
    }
    return {total.count() / static_cast<double>(calls), calls};
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
