#include "benchmarks/operation.hpp"
#include "benchmarks/support/cub.hpp"

#include <benchmark/benchmark.h>

namespace heddle::bench {
namespace {

enum class kind { inclusive, exclusive };

template <class T>
auto scan_of(kind kind, std::int64_t size, std::string_view layout = "") {
    return row_case(
        fmt::format("{}clusive_scan/{}/{}{}", kind == kind::inclusive ? "in" : "ex", dtype<T>, size, layout),
        random_vector<T>(size), result_vector<T>(size));
}

template <class T>
void heddle_scan(kind kind, std::int64_t size, temperature temperature,
                 scan_algorithm algorithm = scan_algorithm::automatic) {
    const auto bytes = [size, algorithm] {
        const vector_layout lies{size, 1, sizeof(T)};
        return scan_workspace_bytes({lies, lies}, traits_of(current_device()), algorithm);
    };
    const auto scan = kind == kind::inclusive ? inclusive_scan<T> : exclusive_scan<T>;
    scan_of<T>(kind, size)
        .with(scratch{bytes})
        .row(implementation(algorithm), temperature, [scan, algorithm](auto x, auto y, auto scratch) {
            scan(x, y, stream(), {.algorithm = algorithm, .workspace = scratch});
        });
}

template <class T>
void scans(kind kind, std::int64_t size, temperature temperature) {
    heddle_scan<T>(kind, size, temperature);
    const auto count = static_cast<std::int32_t>(size);
    scan_of<T>(kind, size)
        .with(scratch{[count] { return cub_scan_scratch_bytes<T>(count); }})
        .row("cub", temperature, [kind, count](auto x, auto y, auto scratch) {
            cub_scan(kind == kind::inclusive, x.data, y.data, count, scratch);
        });
}

/// The addresses differ modulo 16, so that elements are moved one by one.
void misaligned_scan(std::int64_t size) {
    const auto bytes = [size] { return scan_workspace_bytes({{size}, {size}}, traits_of(current_device())); };
    row_case(scan_of<float>(kind::inclusive, size, "-misaligned").problem, random_vector<float>(size + 1),
             result_vector<float>(size), scratch{bytes})
        .row("heddle", cold, [size](auto x, auto y, auto scratch) {
            inclusive_scan<float>({x.data + 1, size}, y, stream(), {.workspace = scratch});
        });
}

}  // namespace

void register_scan() {
    for (const int exponent : {10, 16, 20, 24, 28})
        scans<float>(kind::inclusive, std::int64_t{1} << exponent, cold);
    for (const int exponent : {10, 24}) scans<float>(kind::inclusive, std::int64_t{1} << exponent, hot);

    constexpr std::int64_t medium = 1 << 20, large = 1 << 28;
    for (const std::int64_t size : {std::int64_t{1} << 24, large}) {
        scans<std::int32_t>(kind::inclusive, size, cold);
        scans<float>(kind::exclusive, size, cold);
    }
    scans<double>(kind::inclusive, large, cold);
    heddle_scan<std::int64_t>(kind::inclusive, large, cold);
    misaligned_scan(large);

    for (const std::int64_t size : {medium, large})
        for (const auto algorithm : scan_algorithms())
            heddle_scan<float>(kind::inclusive, size, cold, algorithm);

    scan_of<float>(kind::inclusive, medium).host_row("host", [](auto x, auto y) {
        host::inclusive_scan<float>(x, y);
        benchmark::DoNotOptimize(y.data);
    });
}

}  // namespace heddle::bench
