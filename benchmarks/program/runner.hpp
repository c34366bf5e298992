#pragma once

#include "benchmarks/program/selection.hpp"
#include "benchmarks/support/rows.hpp"

namespace heddle::bench {

/// What a row's repetitions gave.
struct outcome {
    const registered_row* row;
    std::vector<double> us = {};  ///< of one call, a number for each repetition
    std::int64_t calls = 0;       ///< that a repetition's time comes from
    std::string error = {};       ///< why it could not run
    bool failed = false;          ///< otherwise than as a rung that cannot run its problem

    [[nodiscard]] double median_us() const;
    /// Half the range of the repetitions, as a share of the median.
    [[nodiscard]] double spread() const;
};

struct run_result {
    std::vector<outcome> outcomes;  ///< of the rows that ran, in the order of the rows
    bool interrupted = false;       ///< by Ctrl-C: after the row that ran, the others did not
    double seconds = 0;
};

/// The GPU fell off, or a kernel left it unusable for the rest of the process.
struct gpu_lost : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What a run that was stopped has measured, by the rows' names. Their pointers to rows are null.
using outcomes_by_name = std::map<std::string, outcome>;

/// Runs the rows by Google Benchmark, the repetitions of all in random order, but for those that are `taken` already. Device
/// rows need a device.
/// @throws gpu_lost
run_result run_rows(const rows& all, int repetitions, const outcomes_by_name& taken = {});

/// The rows that can run here. What others lack (a GPU, a vendor's library) is said on stderr once each.
/// @throws std::runtime_error  none is left
rows runnable(rows all);

}  // namespace heddle::bench
