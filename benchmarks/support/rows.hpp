#pragma once

#include "benchmarks/support/problem.hpp"
#include <heddle/error.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#include <cuda/stream_ref>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::bench {

using heddle::check;  // and the overloads for the vendor's status types beside it

/// Throws std::runtime_error: a vendor's call failed.
[[noreturn]] void fail(std::string_view library, std::string_view status, std::source_location where);

/// Whether there is a GPU. Where there is none, the device's rows have names but cannot run.
bool has_device();

/// The stream on which all device work of a program runs.
cuda::stream_ref stream();

/// Calls macro(T) for each type whose elements can be added, or for each type of elements.
#define HEDDLE_EACH_ADDED_TYPE(macro) \
    macro(double) macro(float) macro(half) macro(bfloat16) macro(std::int32_t) macro(std::int64_t)
#define HEDDLE_EACH_TYPE(macro) HEDDLE_EACH_ADDED_TYPE(macro) macro(std::uint8_t) macro(std::uint16_t)

template <class T>
inline constexpr std::string_view dtype = std::is_same_v<T, double>          ? "f64"
                                          : std::is_same_v<T, float>         ? "f32"
                                          : std::is_same_v<T, half>          ? "f16"
                                          : std::is_same_v<T, bfloat16>      ? "bf16"
                                          : std::is_same_v<T, std::int32_t>  ? "i32"
                                          : std::is_same_v<T, std::int64_t>  ? "i64"
                                          : std::is_same_v<T, std::uint8_t>  ? "u8"
                                          : std::is_same_v<T, std::uint16_t> ? "u16"
                                                                             : "";

/// Calls f.operator()<T>() with the type of this name, or with the last of them.
template <class T, class... Others, class Function>
auto with_type_named(std::string_view name, Function f) {
    if constexpr (sizeof...(Others) > 0)
        if (name != dtype<T>) return with_type_named<Others...>(name, f);
    return f.template operator()<T>();
}

/// A rung's name as a library's: heddle, or heddle:<rung>.
template <class Algorithm>
std::string implementation(Algorithm algorithm) {
    if (algorithm == Algorithm::automatic) return "heddle";
    return "heddle:" + std::string(to_string(algorithm));
}
/// The same of kernels' first words: heddle:mma_sync-packets.
std::string implementation(std::string_view words);

/// The kinds of a rung's kernels without their tiles: "mma_sync packets", "mma_sync rows". Options take each as a kernel's
/// name. There are none if the kernels differ by their tiles alone.
std::vector<std::string_view> ways_of(std::span<const std::string_view> kernels);

/// What one repetition of a row on the device may take. A call that takes longer is timed once.
inline constexpr std::chrono::duration<double> usual_budget{25e-3};

// What all that times calls on the device shares. All work is on stream().

/// The device is kept busy this long before a timed call, so that the host has enqueued the call and both events when
/// the first event is reached: the time between them has no share of the host's.
inline constexpr std::chrono::microseconds enqueue_time{60};

struct interval {
    event start;
    event stop;

    [[nodiscard]] std::chrono::duration<double> length() const { return elapsed(start, stop); }
};

/// Reads what is not written again: a flush by writing would leave L2 full of lines whose way to memory the
/// timed call then waits for.
void flush_l2();

double median(std::vector<double> values);

namespace detail {

struct measurement {
    double seconds;  ///< of one call
    std::int64_t calls;
};

measurement time_on_device(const std::function<void()>& call, temperature temperature,
                           std::chrono::duration<double> budget = usual_budget);
measurement time_on_host(const std::function<void()>& call);
measurement time_of_enqueueing(const std::function<void()>& call);
void add_row(const problem& problem, std::string_view library, temperature temperature, bool on_device,
             std::function<measurement()> measure);

}  // namespace detail

struct registered_row {
    std::string name;  ///< <op>/<dtype>/<shape>/<library>[:<algorithm>][/hot]
    bench::problem problem;
    bench::temperature temperature;
    bool on_device;
    std::function<detail::measurement()> measure;
};

/// All that were added, in that order. Of rows of one name, the first.
const std::deque<registered_row>& registered_rows();

/// From now on a row of the device makes a call that is not profiled and one that is, and takes no time.
void profile_instead_of_timing();

/// Adds the row <problem>/<library>, and does nothing else. `prepare` runs before each repetition: it makes the
/// operands and returns the call to time, which owns them and enqueues its work on stream().
template <std::invocable Prepare>
void device_row(const problem& problem, std::string_view library, temperature temperature, Prepare prepare,
                std::chrono::duration<double> budget = usual_budget) {
    detail::add_row(problem, library, temperature, true, [prepare, temperature, budget] {
        auto call = prepare();
        return detail::time_on_device(std::ref(call), temperature, budget);
    });
}

/// The same for what a call costs the host: the time in which it enqueues its work on stream() and returns.
template <std::invocable Prepare>
void call_row(const problem& problem, std::string_view library, Prepare prepare) {
    detail::add_row(problem, library, temperature::cold, true, [prepare] {
        auto call = prepare();
        return detail::time_of_enqueueing(std::ref(call));
    });
}

/// The same for a call that computes on the CPU. Its operands stay in the caches that they fit in.
template <std::invocable Prepare>
void host_row(const problem& problem, std::string_view library, Prepare prepare) {
    detail::add_row(problem, library, temperature::cold, false, [prepare] {
        auto call = prepare();
        return detail::time_on_host(std::ref(call));
    });
}

}  // namespace heddle::bench
