// The same on the CPU alone: it needs no kernels, so it is soon built.
#include "examples/demo/demonstrate.hpp"

int main(int argc, char** argv) {
    return demo::demonstrate(argc, argv, nullptr);
}
