#include "benchmarks/program/commands.hpp"

namespace heddle::bench {

// Until benchmarks/cliffs has it.
void add_cliffs(CLI::App&) {}

}  // namespace heddle::bench
