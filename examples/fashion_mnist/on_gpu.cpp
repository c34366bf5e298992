#include "examples/fashion_mnist/gpu.hpp"
#include "examples/fashion_mnist/program.hpp"
#include "examples/fashion_mnist/run.hpp"

void fashion_mnist::run_on_gpu(const settings& settings) {
    gpu device;
    run(device, settings);
}
