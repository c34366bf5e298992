#include "benchmarks/program/runner.hpp"

#include "benchmarks/program/interrupt.hpp"
#include "benchmarks/program/progress.hpp"
#include "benchmarks/program/row_name.hpp"
#include "benchmarks/support/peers.hpp"
#include <heddle/device.hpp>
#include <heddle/error.hpp>
#include <heddle/memory_pool.hpp>

#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace heddle::bench {
namespace {

/// Why no later call can succeed either; nothing where the device is well. A failed call's own error has been taken.
std::optional<std::string> why_lost() {
    (void)cudaGetLastError();
    const cudaError_t status = cudaDeviceSynchronize();
    if (status == cudaSuccess) return std::nullopt;
    return cudaGetErrorString(status);
}

/// Rows report themselves; Google Benchmark's own reports are not needed.
class silent_reporter : public benchmark::BenchmarkReporter {
  public:
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>&) override {}
};

class session {
  public:
    session(const rows& all, int repetitions)
        : repetitions_(static_cast<std::size_t>(repetitions)), progress_(all.size(), repetitions) {
        for (const registered_row* row : all) outcomes_.push_back({row});
    }

    run_result run() {
        std::array<std::string, 3> arguments = {"heddle-bench", "--benchmark_enable_random_interleaving=true",
                                                fmt::format("--benchmark_repetitions={}", repetitions_)};
        std::array<char*, 4> pointers = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                                         nullptr};
        int count = static_cast<int>(arguments.size());
        benchmark::Initialize(&count, pointers.data());
        benchmark::ClearRegisteredBenchmarks();
        for (outcome& outcome : outcomes_)
            benchmark::RegisterBenchmark(
                outcome.row->name.c_str(),
                [this, &outcome](benchmark::State& state) { repetition(state, outcome); })
                ->UseManualTime()
                ->Iterations(1);

        const interruptible_scope interruptible;
        const auto begin = std::chrono::steady_clock::now();
        silent_reporter reporter;
        benchmark::RunSpecifiedBenchmarks(&reporter, ".");
        progress_.clear();
        if (lost_) throw gpu_lost(*lost_);
        run_result result;
        result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        result.interrupted = was_interrupted();
        for (outcome& outcome : outcomes_)
            if (!outcome.us.empty() || !outcome.error.empty()) result.outcomes.push_back(std::move(outcome));
        return result;
    }

  private:
    std::size_t repetitions_;
    progress progress_;
    std::vector<outcome> outcomes_;
    std::optional<std::string> lost_;

    /// To Google Benchmark every repetition is a success of one iteration: it ends the program where some of a row are not.
    void repetition(benchmark::State& state, outcome& outcome) {
        const bool had_error = !outcome.error.empty();
        if (!was_interrupted() && !lost_ && !had_error) {
            progress_.begin(outcome.row->name);
            measure(outcome);
        }
        progress_.end(!had_error && (!outcome.error.empty() || outcome.us.size() == repetitions_));
        for (auto _ : state) state.SetIterationTime(1);
    }

    void measure(outcome& outcome) {
        try {
            const detail::measurement measured = measured_of(*outcome.row);
            outcome.us.push_back(1e6 * measured.seconds);
            outcome.calls = measured.calls;
        } catch (const unsupported& error) {
            outcome.error = error.what();
        } catch (const std::exception& error) {
            outcome.error = error.what();
            outcome.failed = true;
            if (outcome.row->on_device)
                if (const auto why = why_lost())
                    lost_ = fmt::format("the GPU is lost, in {}: {}", outcome.row->name, *why);
        }
    }

    static detail::measurement measured_of(const registered_row& row) {
        if (row.on_device &&
            row.problem.bytes() > static_cast<double>(traits_of(current_device()).global_memory_bytes))
            throw unsupported("more memory than the device has");
        return row.measure();
    }
};

}  // namespace

double outcome::median_us() const {
    return median(us);
}

double outcome::spread() const {
    const auto [least, greatest] = std::ranges::minmax(us);
    return (greatest - least) / 2 / median_us();
}

run_result run_rows(const rows& all, int repetitions) {
    // Rows reuse the memory of the rows before.
    if (has_device()) memory_pool::of_device(current_device()).set_release_threshold(SIZE_MAX);
    return session(all, repetitions).run();
}

rows runnable(rows all) {
    std::map<std::string, std::size_t> left_out;
    std::erase_if(all, [&](const registered_row* row) {
        std::string why;
        if (row->on_device) why = has_device() ? why_missing(parts_of(*row).library) : "no GPU";
        if (!why.empty()) ++left_out[why];
        return !why.empty();
    });
    for (const auto& [why, count] : left_out)
        if (!all.empty() || left_out.size() > 1)
            fmt::print(stderr, "heddle-bench: {}; {} {} left out\n", why, count,
                       count == 1 ? "row is" : "rows are");
    if (all.empty())
        throw std::runtime_error(left_out.empty() ? std::string("there is no row to run")
                                                  : left_out.begin()->first + "; no row is left to run");
    return all;
}

}  // namespace heddle::bench
