#pragma once

#include <heddle/error.hpp>
#include <heddle/types.hpp>

#include <cuda/stream_ref>

#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::bench {

using heddle::check;  // and the overloads for the vendor's status types beside it

/// Throws std::runtime_error: a vendor's call failed.
[[noreturn]] void fail(std::string_view library, std::string_view status, std::source_location where);

/// Whether there is a GPU. Where there is none, the device's rows have names but cannot run.
bool has_device();

/// The stream on which all device work of a program runs.
cuda::stream_ref stream();

template <class T>
inline constexpr std::string_view dtype = "";
template <>
inline constexpr std::string_view dtype<double> = "f64";
template <>
inline constexpr std::string_view dtype<float> = "f32";
template <>
inline constexpr std::string_view dtype<half> = "f16";
template <>
inline constexpr std::string_view dtype<bfloat16> = "bf16";
template <>
inline constexpr std::string_view dtype<std::int32_t> = "i32";
template <>
inline constexpr std::string_view dtype<std::int64_t> = "i64";
template <>
inline constexpr std::string_view dtype<std::uint8_t> = "u8";
template <>
inline constexpr std::string_view dtype<std::uint16_t> = "u16";

/// One case of the report. All its rows do this work, whichever library computes it.
struct problem {
    std::string name;       ///< <op>/<dtype>/<shape>
    double bytes = 0;       ///< read and written by one call, each element once; 0 where none need be
    double operations = 0;  ///< floating-point, of the cheapest algorithm; 0 where they cannot be the limit
};

/// Work on tensor cores: by its operations or by its bytes, whichever takes longer on an H200 (989 TFLOP/s, 4.8 TB/s).
inline problem tensor_problem(std::string name, double bytes, double operations) {
    constexpr double operations_a_byte = 989e12 / 4.8e12;
    if (operations > operations_a_byte * bytes) return {std::move(name), 0, operations};
    return {std::move(name), bytes, 0};
}

/// A rung's name as a library's: heddle, or heddle:<rung>.
template <class Algorithm>
std::string implementation(Algorithm algorithm) {
    if (algorithm == Algorithm::automatic) return "heddle";
    return "heddle:" + std::string(to_string(algorithm));
}

enum class temperature {
    cold,  ///< the median of single calls, L2 flushed before each
    hot    ///< calls back to back, their time divided by their number; the row's name ends in /hot
};

namespace detail {

struct measurement {
    double seconds;  ///< of one call
    std::int64_t calls;
};

measurement time_on_device(const std::function<void()>& call, temperature temperature);
measurement time_on_host(const std::function<void()>& call);
measurement time_of_enqueueing(const std::function<void()>& call);
void add_row(const problem& problem, std::string_view library, std::string_view suffix, bool on_device,
             std::function<measurement()> measure);

}  // namespace detail

struct registered_row {
    std::string name;  ///< <op>/<dtype>/<shape>/<library>[:<algorithm>][/hot]
    bench::problem problem;
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
void device_row(const problem& problem, std::string_view library, temperature temperature, Prepare prepare) {
    detail::add_row(problem, library, temperature == temperature::hot ? "/hot" : "", true,
                    [prepare, temperature] {
                        auto call = prepare();
                        return detail::time_on_device(std::ref(call), temperature);
                    });
}

/// The same for what a call costs the host: the time in which it enqueues its work on stream() and returns.
template <std::invocable Prepare>
void call_row(const problem& problem, std::string_view library, Prepare prepare) {
    detail::add_row(problem, library, "", true, [prepare] {
        auto call = prepare();
        return detail::time_of_enqueueing(std::ref(call));
    });
}

/// The same for a call that computes on the CPU. Its operands stay in the caches that they fit in.
template <std::invocable Prepare>
void host_row(const problem& problem, std::string_view library, Prepare prepare) {
    detail::add_row(problem, library, "", false, [prepare] {
        auto call = prepare();
        return detail::time_on_host(std::ref(call));
    });
}

}  // namespace heddle::bench
