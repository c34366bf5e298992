#include "benchmarks/program/runner.hpp"

#include "benchmarks/program/progress.hpp"
#include "benchmarks/program/selection.hpp"
#include "benchmarks/support/peers.hpp"

#include <benchmark/benchmark.h>

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
    session(std::vector<outcome> outcomes, std::size_t repetitions)
        : repetitions_(repetitions), outcomes_(std::move(outcomes)) {
        std::size_t rows = 0, runs = 0;
        for (const outcome& outcome : outcomes_) {
            rows += missing(outcome) > 0 ? 1 : 0;
            runs += missing(outcome);
        }
        progress_.emplace(rows, runs);
    }

    run_result run() {
        std::array<std::string, 2> arguments = {"heddle-bench",
                                                "--benchmark_enable_random_interleaving=true"};
        std::array<char*, 3> pointers = {arguments[0].data(), arguments[1].data(), nullptr};
        int count = static_cast<int>(arguments.size());
        benchmark::Initialize(&count, pointers.data());
        benchmark::ClearRegisteredBenchmarks();
        for (outcome& outcome : outcomes_)
            if (missing(outcome) > 0)
                benchmark::RegisterBenchmark(
                    outcome.row->name.c_str(),
                    [this, &outcome](benchmark::State& state) { repetition(state, outcome); })
                    ->UseManualTime()
                    ->Iterations(1)
                    ->Repetitions(static_cast<int>(missing(outcome)));

        const interruptible_scope interruptible;
        const auto begin = std::chrono::steady_clock::now();
        silent_reporter reporter;
        if (std::ranges::any_of(outcomes_, [this](const outcome& o) { return missing(o) > 0; }))
            benchmark::RunSpecifiedBenchmarks(&reporter, ".");
        progress_->clear();
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
    std::vector<outcome> outcomes_;
    std::optional<progress> progress_;
    std::optional<std::string> lost_;

    [[nodiscard]] std::size_t missing(const outcome& outcome) const {
        return repetitions_ - std::min(repetitions_, outcome.us.size());
    }

    /// To Google Benchmark every repetition is a success of one iteration: it ends the program where some of a row are not.
    void repetition(benchmark::State& state, outcome& outcome) {
        const bool had_error = !outcome.error.empty();
        if (!was_interrupted() && !lost_ && !had_error) {
            progress_->begin(outcome.row->name);
            measure(outcome);
        }
        progress_->end(!had_error && (!outcome.error.empty() || outcome.us.size() == repetitions_));
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

run_result run_rows(const rows& all, int repetitions, const outcomes_by_name& taken) {
    // Rows reuse the memory of the rows before.
    if (has_device()) memory_pool::of_device(current_device()).set_release_threshold(SIZE_MAX);
    std::vector<outcome> outcomes;
    for (const registered_row* row : all) {
        const auto before = taken.find(row->name);
        outcomes.push_back(before == taken.end() ? outcome{row} : before->second);
        outcomes.back().row = row;
    }
    return session(std::move(outcomes), static_cast<std::size_t>(repetitions)).run();
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
