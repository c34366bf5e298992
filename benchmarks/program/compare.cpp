#include "benchmarks/program/commands.hpp"
#include "benchmarks/program/scripts.hpp"

namespace heddle::bench {

void add_compare(CLI::App& program) {
    CLI::App* const command = program.add_subcommand(
        "compare", "Tell from two records of the headline, OLD and NEW, which rows became faster or slower");
    command->prefix_command();
    command->callback([command] { become_script("compare.py", command->remaining()); });
}

}  // namespace heddle::bench
