#pragma once

#include "benchmarks/support/headers.hpp"

#include <CLI/CLI.hpp>

namespace heddle::bench {

/// The parts of <op>/<dtype>/<shape>/<library>[:<rung>][/hot], which are those of a registered row's name.
struct row_name {
    std::string_view operation;
    std::string_view type;
    std::string_view shape;
    std::string_view library;
    std::string_view rung;  ///< empty for the plain call
    bench::temperature temperature;
};

row_name parts_of(const registered_row& row);

/// Whether it is a library of the CPU: host, openblas, opencv.
bool is_on_cpu(std::string_view library);
/// A library of others on the GPU that computes the same: neither heddle's nor a copy or a bare launch.
bool is_vendor(std::string_view library);

/// Which rows a user wants: those that fit each of the filters that are given.
struct selection {
    std::vector<std::string> operations = {};  ///< of rows, or the files of benchmarks/
    std::vector<std::string> types = {};
    std::vector<std::string> rungs = {};
    std::vector<std::string> libraries = {};
    std::vector<std::string> sizes = {};  ///< a shape, or one of its parts, such as 4096 or r5
    std::string filter = {};              ///< a regular expression that has to match somewhere in the name
    bool headline = false;

    /// Whether anything is asked for.
    [[nodiscard]] bool is_filtered() const;
};

void add_filters(CLI::App& command, selection& wanted);

using rows = std::vector<const registered_row*>;

/// Chooses from all rows of all operations, which it registers. The ceilings are among them where they are asked for.
/// @throws usage_error  a filter that nothing matches
rows selected_rows(const selection& wanted);

/// The registered ceilings that the limits of these rows depend on, and the times of their transfers: of those that are
/// measured at several footprints the nearest below and above.
rows needed_ceilings(const rows& all);

/// The extents in a shape that is written as MxNxK, where each word of capitals stands for one; those that no integer holds are
/// the greatest. Nothing where it is written otherwise.
std::optional<std::vector<std::int64_t>> extents_in(std::string_view text, std::string_view form);

/// Registers the rows of all operations, of those that are not yet.
void register_all_rows();

}  // namespace heddle::bench
