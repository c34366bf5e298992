#include "benchmarks/operations.hpp"
#include "benchmarks/support/cub_scan.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/buffer.hpp>
#include <heddle/host.hpp>
#include <heddle/scan.hpp>
#include <heddle/workspace.hpp>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::bench {
namespace {

enum class kind { inclusive, exclusive };

/// Each element is read once and written once.
template <class T>
problem vector(kind kind, std::int64_t size) {
    const std::string_view op = kind == kind::inclusive ? "inclusive_scan" : "exclusive_scan";
    const double bytes = sizeof(T) * static_cast<double>(size);
    return {fmt::format("{}/{}/{}", op, dtype<T>, size), bytes, bytes};
}

/// `call` takes x, y and scratch memory, of as many bytes as `scratch_bytes` says.
template <class T, class ScratchBytes, class Call>
void row(const problem& problem, std::string_view library, temperature temperature, std::int64_t size,
         ScratchBytes scratch_bytes, Call call) {
    device_row(problem, library, temperature, [size, scratch_bytes, call] {
        return [call, x = random_on_device<T>(size), y = device_buffer<T>(size, stream()),
                scratch = workspace(scratch_bytes(), stream())]() mutable { call(x, y, scratch); };
    });
}

template <class T>
void heddle_scan(kind kind, std::int64_t size, temperature temperature,
                 scan_algorithm algorithm = scan_algorithm::automatic) {
    const auto bytes = [size, algorithm] {
        const vector_layout lies{size, 1, sizeof(T)};
        return scan_workspace_bytes({lies, lies}, traits_of(current_device()), algorithm);
    };
    row<T>(vector<T>(kind, size), implementation(algorithm), temperature, size, bytes,
           [kind, algorithm](auto& x, auto& y, auto& scratch) {
               const scan_options options{.algorithm = algorithm, .workspace = scratch};
               if (kind == kind::inclusive)
                   inclusive_scan<T>(x, y, stream(), options);
               else
                   exclusive_scan<T>(x, y, stream(), options);
           });
}

template <class T>
void cub_scan(kind kind, std::int64_t size, temperature temperature) {
    const auto count = static_cast<std::int32_t>(size);
    row<T>(
        vector<T>(kind, size), "cub", temperature, size, [count] { return cub_scan_scratch_bytes<T>(count); },
        [kind, count](auto& x, auto& y, auto& scratch) {
            if (kind == kind::inclusive)
                cub_inclusive_scan<T>(x.data(), y.data(), count, scratch);
            else
                cub_exclusive_scan<T>(x.data(), y.data(), count, scratch);
        });
}

template <class T>
void scans(kind kind, std::int64_t size, temperature temperature) {
    heddle_scan<T>(kind, size, temperature);
    cub_scan<T>(kind, size, temperature);
}

/// Addresses that differ modulo 16: elements are moved one by one.
void misaligned_scan(std::int64_t size) {
    problem problem = vector<float>(kind::inclusive, size);
    problem.name += "-misaligned";
    device_row(problem, "heddle", temperature::cold, [size] {
        const std::int64_t bytes = scan_workspace_bytes({{size}, {size}}, traits_of(current_device()));
        return [size, x = random_on_device<float>(size + 1), y = device_buffer<float>(size, stream()),
                scratch = workspace(bytes, stream())]() mutable {
            inclusive_scan<float>({x.data() + 1, size}, vector_view<float>(y), stream(),
                                  {.workspace = scratch});
        };
    });
}

void host_scan(std::int64_t size) {
    host_row(vector<float>(kind::inclusive, size), "host", [size] {
        return [x = random_on_host<float>(size), y = std::vector<float>(static_cast<std::size_t>(size)),
                size]() mutable {
            host::inclusive_scan<float>(vector_view{x.data(), size}, vector_view{y.data(), size});
            benchmark::DoNotOptimize(y.data());
        };
    });
}

}  // namespace

void register_scan() {
    for (const int exponent : {10, 16, 20, 24, 28})
        scans<float>(kind::inclusive, std::int64_t{1} << exponent, temperature::cold);
    for (const int exponent : {10, 24})
        scans<float>(kind::inclusive, std::int64_t{1} << exponent, temperature::hot);

    constexpr std::int64_t medium = 1 << 20;
    constexpr std::int64_t large = 1 << 28;
    for (const std::int64_t size : {std::int64_t{1} << 24, large}) {
        scans<std::int32_t>(kind::inclusive, size, temperature::cold);
        scans<float>(kind::exclusive, size, temperature::cold);
    }
    scans<double>(kind::inclusive, large, temperature::cold);
    heddle_scan<std::int64_t>(kind::inclusive, large, temperature::cold);
    misaligned_scan(large);

    for (const std::int64_t size : {medium, large})
        for (const auto algorithm : scan_algorithms())
            heddle_scan<float>(kind::inclusive, size, temperature::cold, algorithm);

    host_scan(medium);
}

}  // namespace heddle::bench
