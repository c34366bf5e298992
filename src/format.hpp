#pragma once

#include <fmt/core.h>

#include <string>

namespace heddle::detail {

std::string format_arguments(fmt::string_view text, fmt::format_args arguments);

/// fmt::format(), but its code is compiled only once. fmt is used header-only, so users of heddle need no fmt.
template <class... Arguments>
std::string format(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    return format_arguments(text, fmt::make_format_args(arguments...));
}

}  // namespace heddle::detail
