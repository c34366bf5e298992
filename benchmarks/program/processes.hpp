#pragma once

#include "benchmarks/program/json_file.hpp"

namespace heddle::bench {

/// The program that runs.
std::string own_program();

/// Runs this program with these arguments, without its standard output, and gives its exit status: 128 and the signal's
/// number where one ended it.
/// @throws std::runtime_error  it cannot be started
int run_again(const std::vector<std::string>& arguments);

struct process_output {
    std::string text;  ///< of standard output and error
    int status;        ///< the exit status, as run_again() has it
};

/// What a command, which is looked up on PATH, prints and ends with. Nothing where there is no such program.
std::optional<process_output> output_of(std::vector<std::string> command);

/// Becomes another program, which is looked up on PATH. Returns only where it cannot.
void become(const std::vector<std::string>& command);

/// Becomes python3 with a script of benchmarks/report: the installed one, or where the program was not installed that of the
/// sources. Returns never.
/// @throws std::runtime_error  there is no such script, or no python3
[[noreturn]] void become_script(const std::string& name, const std::vector<std::string>& arguments);

/// Runs this program with these arguments under ncu, prints what the longest kernel of the profiled call does, and says in a
/// sentence what limits it.
/// @throws std::runtime_error  there is no ncu on PATH, or no right to profile
void profile_again(const std::vector<std::string>& arguments);

/// The records of the headline from so many processes, one after the other; fewer where Ctrl-C ended the run.
/// @throws std::runtime_error  a process left no record
std::vector<json> headline_of_processes(int processes, int repetitions, const std::string& commit);

}  // namespace heddle::bench
