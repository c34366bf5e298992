#pragma once

#include <string>
#include <vector>

namespace heddle::bench {

/// Becomes python3 with a script of benchmarks/report: the installed one, or where the program was not installed that of the
/// sources. Returns never.
/// @throws std::runtime_error  there is no such script, or no python3
[[noreturn]] void become_script(const std::string& name, const std::vector<std::string>& arguments);

}  // namespace heddle::bench
