#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::bench {

/// "; did you mean tiled? There are: naive, tiled, ...", of the different names among these.
std::string suggestion(std::string_view given, const std::vector<std::string_view>& names);

}  // namespace heddle::bench
