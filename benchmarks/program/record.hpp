#pragma once

#include "benchmarks/limits.hpp"
#include "benchmarks/program/gpu_watcher.hpp"
#include "benchmarks/program/json_file.hpp"
#include "benchmarks/program/runner.hpp"

#include <string>
#include <vector>

namespace heddle::bench {

inline constexpr int record_schema = 1;

/// The ceilings among what has run.
ceilings ceilings_of(const std::vector<outcome>& outcomes);

/// The record of one process's run. Its ceilings are no rows of it, but where they are peers in the headline. That one's rows
/// have the names of their peers, and `processes`: the repetitions, of this process.
json record_of(const run_result& result, const gpu_watcher& watcher, const std::string& commit,
               bool of_headline);

/// The record of several processes' runs of the headline. It is complete where each is.
json merged(const std::vector<json>& records);

/// What the sources are: as given, by HEDDLE_COMMIT, as git said when the program was built, or "unknown".
std::string commit_or(const std::string& given);

}  // namespace heddle::bench
