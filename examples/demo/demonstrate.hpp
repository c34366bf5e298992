#pragma once

#include "examples/demo/run.hpp"

namespace demo {

using runner = image(const work& work, table& table);

/// The whole program, from its arguments to its exit status: with `run_on_gpu`, or on the CPU where it is null,
/// where there is no GPU, or where the arguments ask for it.
int demonstrate(int argc, char** argv, runner* run_on_gpu);

}  // namespace demo
