#include <heddle/version.hpp>

namespace heddle {

std::string_view version() noexcept {
    return HEDDLE_VERSION;
}

}  // namespace heddle
