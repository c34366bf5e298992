#pragma once

#include <fmt/core.h>

#include <string>

namespace heddle::detail {

std::string format_arguments(fmt::string_view text, fmt::format_args arguments);

/// fmt::format(), with its code compiled once: fmt is header-only here, so that who links heddle needs none.
template <class... Arguments>
std::string format(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    return format_arguments(text, fmt::make_format_args(arguments...));
}

}  // namespace heddle::detail
