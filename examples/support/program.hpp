#pragma once

#include <fmt/format.h>

#include <functional>
#include <string_view>
#include <utility>

namespace examples {

/// Written to standard output at once.
/// @throws std::runtime_error  where it did not arrive
void print_text(std::string_view text);

/// As fmt::print(), by print_text().
template <class... Values>
void print(fmt::format_string<Values...> text, Values&&... values) {
    print_text(fmt::format(text, std::forward<Values>(values)...));
}

/// What main() returns: the status of `body`, or EXIT_FAILURE once it is said why it threw.
/// It is a failure, too, where what was printed by any means did not arrive.
int run_program(const char* name, const std::function<int()>& body);

}  // namespace examples
