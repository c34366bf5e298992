#include "examples/support/program.hpp"

#include "examples/support/file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace examples {

void print_text(std::string_view text) {
    constexpr const char* name = "standard output";
    if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size() || std::fflush(stdout) != 0)
        fail(name, std::strerror(errno));
    if (std::ferror(stdout) != 0) fail(name, "could not be written");
}

int run_program(const char* name, const std::function<int()>& body) {
    try {
        const int status = body();
        print_text("");
        return status;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", name, error.what());
        return EXIT_FAILURE;
    }
}

}  // namespace examples
