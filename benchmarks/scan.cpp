#include "benchmarks/operation.hpp"
#include "benchmarks/support/cub.hpp"

#include <benchmark/benchmark.h>

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

/// `call` takes x, y and scratch memory. `scratch_bytes` returns its size.
template <class T>
void row(const problem& problem, std::string_view library, temperature temperature, std::int64_t size,
         auto scratch_bytes, auto call) {
    operand_row(problem, library, temperature, call, random_vector<T>(size), result_vector<T>(size),
                scratch{scratch_bytes});
}

template <class T>
void heddle_scan(kind kind, std::int64_t size, temperature temperature,
                 scan_algorithm algorithm = scan_algorithm::automatic) {
    const auto bytes = [size, algorithm] {
        const vector_layout lies{size, 1, sizeof(T)};
        return scan_workspace_bytes({lies, lies}, traits_of(current_device()), algorithm);
    };
    row<T>(vector<T>(kind, size), implementation(algorithm), temperature, size, bytes,
           [kind, algorithm](auto x, auto y, auto scratch) {
               const scan_options options{.algorithm = algorithm, .workspace = scratch};
               if (kind == kind::inclusive)
                   inclusive_scan<T>(x, y, stream(), options);
               else
                   exclusive_scan<T>(x, y, stream(), options);
           });
}

template <class T>
void scans(kind kind, std::int64_t size, temperature temperature) {
    heddle_scan<T>(kind, size, temperature);
    const auto count = static_cast<std::int32_t>(size);
    row<T>(
        vector<T>(kind, size), "cub", temperature, size, [count] { return cub_scan_scratch_bytes<T>(count); },
        [kind, count](auto x, auto y, auto scratch) {
            (kind == kind::inclusive ? cub_inclusive_scan<T> : cub_exclusive_scan<T>)(x.data, y.data, count,
                                                                                      scratch);
        });
}

/// The addresses differ modulo 16, so that elements are moved one by one.
void misaligned_scan(std::int64_t size) {
    problem problem = vector<float>(kind::inclusive, size);
    problem.name += "-misaligned";
    operand_row(
        problem, "heddle", cold,
        [size](auto x, auto y, auto scratch) {
            inclusive_scan<float>({x.data + 1, size}, y, stream(), {.workspace = scratch});
        },
        random_vector<float>(size + 1), result_vector<float>(size), scratch{[size] {
            return scan_workspace_bytes({{size}, {size}}, traits_of(current_device()));
        }});
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

    host_operand_row(
        vector<float>(kind::inclusive, medium), "host",
        [](auto x, auto y) {
            host::inclusive_scan<float>(x, y);
            benchmark::DoNotOptimize(y.data);
        },
        random_vector<float>(medium), result_vector<float>(medium));
}

}  // namespace heddle::bench
