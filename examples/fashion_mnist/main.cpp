#include "examples/fashion_mnist/program.hpp"

int main(int argc, char** argv) {
    return fashion_mnist::program(argc, argv, fashion_mnist::run_on_gpu);
}
