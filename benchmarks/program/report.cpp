#include "benchmarks/program/commands.hpp"
#include "benchmarks/program/json_file.hpp"
#include "benchmarks/program/scripts.hpp"

#include <memory>
#include <string>
#include <vector>

namespace heddle::bench {

void add_report(CLI::App& program) {
    CLI::App* const command =
        program.add_subcommand("report", "Make one HTML page of a record; needs Python with matplotlib");
    const auto record = std::make_shared<std::string>();
    command->add_option("record", *record, "what heddle-bench run wrote")->required()->type_name("RECORD");
    const auto output = std::make_shared<std::string>();
    command
        ->add_option("-o,--output", *output, "the page; RECORD with the suffix .html where nothing is said")
        ->type_name("PAGE");
    command->allow_extras()->footer(
        "What else is given goes to the script: --pictures DIR, --incomplete, ...");
    command->callback([command, record, output] {
        std::vector<std::string> arguments = {*record};
        if (!output->empty()) arguments.insert(arguments.end(), {"--output", *output});
        for (const std::string& extra : command->remaining()) arguments.push_back(extra);
        become_script("report.py", arguments);
    });
}

}  // namespace heddle::bench
