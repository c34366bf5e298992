#pragma once

#include "benchmarks/support/headers.hpp"

#include <CLI/CLI.hpp>

namespace heddle::bench {

/// The program's exit statuses beside 0.
enum exit_status { failed = 1, wrong_usage = 2, interrupted = 130 };

/// What a user asked for does not exist or does not fit: one line, and exit status 2.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline constexpr std::string_view by_list = "heddle-bench list prints the names";

/// "; did you mean tiled?" where a name differs in at most a third of the letters given, and else what tells the names.
std::string suggestion(std::string_view given, const std::vector<std::string_view>& names,
                       std::string_view otherwise = "--help names them");

/// Each adds its subcommand, whose callback does the work: it throws usage_error, another std::exception (one line, exit
/// status 1), or CLI::RuntimeError with an exit status where it has already said why.
void add_list(CLI::App& program);
void add_run(CLI::App& program);
void add_rung(CLI::App& program);
void add_cliffs(CLI::App& program);
void add_fuzz(CLI::App& program);
void add_conv_roofline(CLI::App& program);
void add_report(CLI::App& program);
void add_compare(CLI::App& program);

}  // namespace heddle::bench
