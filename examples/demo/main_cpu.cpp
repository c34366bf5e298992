// The demo on the CPU alone. It has no kernels, so it builds quickly.
#include "examples/demo/demonstrate.hpp"

int main(int argc, char** argv) {
    return demo::demonstrate(argc, argv, nullptr);
}
