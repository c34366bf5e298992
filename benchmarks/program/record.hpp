#pragma once

#include "benchmarks/limits.hpp"
#include "benchmarks/program/gpu_watcher.hpp"
#include "benchmarks/program/json_file.hpp"
#include "benchmarks/program/runner.hpp"

namespace heddle::bench {

inline constexpr int record_schema = 1;

/// The ceilings among what has run.
ceilings ceilings_of(const std::vector<outcome>& outcomes);

struct record_contents {
    bool is_headline = false;  ///< rows have the names of their peers; ceilings that are peers are rows
    bool has_samples = false;  ///< rows have `processes`: the time of each repetition, of this process
};

/// The record of one process's run of so many repetitions.
json record_of(const run_result& result, int repetitions, const gpu_watcher& watcher,
               const std::string& commit, record_contents contents);

/// Why a run of this commit on this machine cannot go on with the record; empty where it can.
std::string why_not_resumed(const json& before, const gpu_watcher& watcher, const std::string& commit);

/// What the incomplete record has measured.
outcomes_by_name taken(const json& before);

/// The record of a run that went on with the incomplete record.
json resumed(const json& before, json record);

/// The record of several processes' runs of the headline. It is complete where each is.
json merged(const std::vector<json>& records);

/// The name of a record's row.
std::string name_of(const json& row);

/// What the sources are: as given, by HEDDLE_COMMIT, as git said when the program was built, or "unknown".
std::string commit_or(const std::string& given);

}  // namespace heddle::bench
