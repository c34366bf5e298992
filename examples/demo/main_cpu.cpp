// The same on the CPU alone: it needs no kernels, so it is built in a minute.
#include "examples/demo/demonstrate.hpp"

int main(int argc, char** argv) {
    return demo::demonstrate(argc, argv, nullptr);
}
