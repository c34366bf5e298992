#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::bench {

inline constexpr std::string_view by_list = "heddle-bench list prints the names";

/// "; did you mean tiled?" where a name differs in at most a third of the letters given, and else what tells the names.
std::string suggestion(std::string_view given, const std::vector<std::string_view>& names,
                       std::string_view otherwise = "--help names them");

}  // namespace heddle::bench
