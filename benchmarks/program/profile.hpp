#pragma once

#include <string>
#include <vector>

namespace heddle::bench {

/// Runs this program with these arguments under ncu, prints what the longest kernel of the profiled call does, and says in a
/// sentence what limits it.
/// @throws std::runtime_error  there is no ncu on PATH, or no right to profile
void profile_again(const std::vector<std::string>& arguments);

}  // namespace heddle::bench
