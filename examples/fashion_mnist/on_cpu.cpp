#include "examples/fashion_mnist/cpu.hpp"
#include "examples/fashion_mnist/program.hpp"
#include "examples/fashion_mnist/run.hpp"

void fashion_mnist::run_on_cpu(const settings& settings) {
    cpu device;
    run(device, settings);
}
