#include "benchmarks/support/context.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/device.hpp>
#include <heddle/memory_pool.hpp>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
    using namespace heddle;
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    try {
        bench::add_context();
        if (bench::has_device())  // rows reuse the memory of the rows before
            memory_pool::of_device(current_device()).set_release_threshold(SIZE_MAX);
        else
            fmt::print(stderr, "No GPU: only the rows of the host are run.\n");
        bench::register_rows();
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return bench::any_row_failed() ? 1 : 0;
}
