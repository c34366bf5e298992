#include "benchmarks/headline.hpp"
#include "benchmarks/program/commands.hpp"
#include "benchmarks/program/selection.hpp"

#include <fmt/format.h>

#include <memory>

namespace heddle::bench {

void add_list(CLI::App& program) {
    CLI::App* const command =
        program.add_subcommand("list", "Print the names of the rows; of the headline each row and its peer");
    const auto wanted = std::make_shared<selection>();
    add_filters(*command, *wanted);
    command->callback([wanted] {
        const rows all = selected_rows(*wanted);
        if (!wanted->headline) {
            for (const registered_row* row : all) fmt::print("{}\n", row->name);
            return;
        }
        for (const headline_row& entry : headline())
            for (const registered_row* row : all)
                if (row->name == entry.name)
                    fmt::print("{} {}\n", entry.name,
                               library_lacking_for(entry.peer).empty() ? entry.peer : "-");
    });
}

}  // namespace heddle::bench
