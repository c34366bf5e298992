// Operations of every kind, on real data, beside the vendor's: on the GPU, or on the CPU where there is no GPU.
#include "examples/demo/demonstrate.hpp"

int main(int argc, char** argv) {
    return demo::demonstrate(argc, argv, demo::run_on_gpu);
}
