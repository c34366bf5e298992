// The program on the CPU alone. It has no kernels, so it builds quickly.
#include "examples/fashion_mnist/program.hpp"

int main(int argc, char** argv) {
    return fashion_mnist::program(argc, argv, nullptr);
}
