#pragma once

#include <fmt/format.h>

#include <functional>
#include <string_view>
#include <utility>

namespace examples {

/// Writes to standard output, and flushes it.
/// @throws std::runtime_error  where the output was not written
void print_text(std::string_view text);

/// Formats as fmt::print() does, and writes by print_text().
template <class... Values>
void print(fmt::format_string<Values...> text, Values&&... values) {
    print_text(fmt::format(text, std::forward<Values>(values)...));
}

/// The return value of main(): the status of `body`, or EXIT_FAILURE after its exception was printed. It is also
/// EXIT_FAILURE where any printed output was not written.
int run_program(const char* name, const std::function<int()>& body);

}  // namespace examples
