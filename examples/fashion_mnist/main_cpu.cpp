// The same on the CPU alone: it needs no kernels, so it is soon built.
#include "examples/fashion_mnist/program.hpp"

int main(int argc, char** argv) {
    return fashion_mnist::program(argc, argv, nullptr);
}
