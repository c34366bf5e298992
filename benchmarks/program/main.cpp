#include "benchmarks/program/commands.hpp"

#include <CLI/CLI.hpp>

namespace heddle::bench {
namespace {

int fail_with(std::string_view why, int status) {
    std::fflush(stdout);
    fmt::print(stderr, "heddle-bench: {}\n", why);
    return status;
}

int run(int argc, char** argv) {
    CLI::App program("Measures heddle beside the vendor's libraries, and both against what the GPU can do.",
                     "heddle-bench");
    program.set_version_flag("--version", std::string(HEDDLE_VERSION));
    program.require_subcommand(0, 1);
    add_list(program);
    add_run(program);
    add_rung(program);
    add_cliffs(program);
    add_fuzz(program);
    add_conv_roofline(program);
    add_report(program);
    add_compare(program);
    try {
        program.parse(argc, argv);
        if (program.get_subcommands().empty())
            throw usage_error(
                "what to do? list, run, rung, cliffs, conv-roofline, report or compare; --help says more");
    } catch (const CLI::RuntimeError& error) {
        return error.get_exit_code();
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
        return fail_with(std::string(error.what()) + "; --help says more", wrong_usage);
    } catch (const usage_error& error) {
        return fail_with(error.what(), wrong_usage);
    } catch (const std::exception& error) {
        return fail_with(error.what(), failed);
    }
    return 0;
}

}  // namespace
}  // namespace heddle::bench

int main(int argc, char** argv) {
    return heddle::bench::run(argc, argv);
}
