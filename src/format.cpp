#include "src/format.hpp"

#include <fmt/format.h>

namespace heddle::detail {

std::string format_arguments(fmt::string_view text, fmt::format_args arguments) {
    return fmt::vformat(text, arguments);
}

}  // namespace heddle::detail
