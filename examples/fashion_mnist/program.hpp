#pragma once

#include "examples/fashion_mnist/settings.hpp"

namespace fashion_mnist {

using runner = void (*)(const settings&);

void run_on_cpu(const settings& settings);
void run_on_gpu(const settings& settings);

/// main(): reads the command line and runs it. `on_gpu` is null in the program that has no kernels.
int program(int argc, char** argv, runner on_gpu);

}  // namespace fashion_mnist
