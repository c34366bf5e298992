#include "benchmarks/program/scripts.hpp"

#include "benchmarks/program/processes.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

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

}  // namespace heddle::bench
