#include "benchmarks/program/processes.hpp"

#include "benchmarks/program/commands.hpp"
#include "benchmarks/program/progress.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace heddle::bench {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& arguments) {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// Waits for its end.
int exit_status_of(pid_t process) {
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A new folder for what processes hand over; it goes with its contents.
class scratch_folder {
  public:
    scratch_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "heddle-bench-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
            throw std::runtime_error(fmt::format("cannot make {}: {}", name, std::strerror(errno)));
        path = name;
    }
    ~scratch_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;

    std::filesystem::path path;
};

}  // namespace

std::string own_program() {
    return std::filesystem::read_symlink("/proc/self/exe").string();
}

int run_again(const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {own_program()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t process = 0;
    const int error = posix_spawn(&process, command.front().c_str(), &actions, nullptr,
                                  pointers_to(command).data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        throw std::runtime_error(fmt::format("cannot run {}: {}", command.front(), std::strerror(error)));
    return exit_status_of(process);
}

std::optional<process_output> output_of(std::vector<std::string> command) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
        throw std::runtime_error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    pid_t process = 0;
    const int error = posix_spawnp(&process, command.front().c_str(), &actions, nullptr,
                                   pointers_to(command).data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    process_output output{};
    std::array<char, 4096> part{};
    for (ssize_t count = 0; error == 0 && (count = read(ends[0], part.data(), part.size())) != 0;) {
        if (count > 0)
            output.text.append(part.data(), static_cast<std::size_t>(count));
        else if (errno != EINTR)
            break;
    }
    close(ends[0]);
    if (error != 0) return std::nullopt;
    output.status = exit_status_of(process);
    return output;
}

void become(const std::vector<std::string>& command) {
    std::vector<std::string> arguments = command;
    std::fflush(nullptr);
    execvp(arguments.front().c_str(), pointers_to(arguments).data());
}

std::vector<json> headline_of_processes(int processes, int repetitions, const std::string& commit) {
    const scratch_folder folder;
    const interruptible_scope interruptible;
    std::vector<json> records;
    for (int process = 1; process <= processes && !was_interrupted(); ++process) {
        fmt::print(stderr, "process {} of {}\n", process, processes);
        const std::filesystem::path file = folder.path / fmt::format("{}.json", process);
        const int status = run_again({"run", "--headline", "--repetitions", std::to_string(repetitions),
                                      "--commit", commit, "--output", file.string()});
        const bool may_have_record = status == 0 || status == failed || status == interrupted;
        if (!may_have_record || !std::filesystem::exists(file)) {
            if (was_interrupted()) break;
            throw std::runtime_error(
                fmt::format("process {} of {} ended with {} and left no record", process, processes, status));
        }
        records.push_back(read_record(file));
    }
    return records;
}

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
