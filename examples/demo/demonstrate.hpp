#pragma once

#include "examples/demo/run.hpp"

namespace demo {

using runner = image(const work& work, table& table);

/// The whole program, from its arguments to its exit status. It uses `run_on_gpu`; it runs on the CPU where that is
/// null, where there is no GPU, or where the arguments ask for it.
int demonstrate(int argc, char** argv, runner* run_on_gpu);

}  // namespace demo
