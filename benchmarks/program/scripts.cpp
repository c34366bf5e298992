#include "benchmarks/program/commands.hpp"
#include "benchmarks/program/processes.hpp"

namespace heddle::bench {

void become_script(const std::string& name, const std::vector<std::string>& arguments) {
    const std::filesystem::path installed =
        std::filesystem::path(own_program()).parent_path() / HEDDLE_REPORT_FROM_PROGRAM / name;
    const std::filesystem::path script =
        std::filesystem::exists(installed) ? installed : std::filesystem::path(HEDDLE_REPORT_SOURCES) / name;
    if (!std::filesystem::exists(script))
        throw std::runtime_error(fmt::format("{} is not installed: it is neither {} nor {}", name,
                                             installed.lexically_normal().string(), script.string()));
    std::vector<std::string> command = {"python3", script.string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    become(command);
    throw std::runtime_error(fmt::format("cannot run python3: {}", std::strerror(errno)));
}

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

void add_compare(CLI::App& program) {
    CLI::App* const command = program.add_subcommand(
        "compare", "Tell from two records of the headline, OLD and NEW, which rows became faster or slower");
    command->prefix_command();
    command->callback([command] { become_script("compare.py", command->remaining()); });
}

}  // namespace heddle::bench
