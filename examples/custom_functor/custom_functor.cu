// A leaky ReLU, which heddle lacks. It is as fast as heddle's own operations: heddle::transform takes any functor of
// one to three inputs.
#include <heddle/elementwise.cuh>
#include <heddle/heddle.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

namespace {

struct leaky_relu {
    float slope;
    __host__ __device__ float operator()(float x) const { return x < 0 ? slope * x : x; }
};

int run() {
    if (heddle::device_count() == 0) {
        std::printf("no CUDA device: there is nothing to launch on\n");
        return EXIT_SUCCESS;
    }
    constexpr std::int64_t size = 1'000'003;  // any size: the last packet of 16 bytes is not full
    std::vector<float> values(size), results(size);
    for (std::int64_t i = 0; i < size; ++i) values[i] = static_cast<float>(i % 2001 - 1000) / 100;

    const leaky_relu function{0.01f};
    const heddle::stream stream;
    heddle::device_buffer<float> x(size, stream), y(size, stream);
    heddle::copy(values, x, stream);
    heddle::transform<float>(function, x, y, stream);
    heddle::copy_and_wait(y, results, stream);

    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < size; ++i) wrong += !(results[i] == function(values[i]));
    std::printf("leaky ReLU of %lld numbers, %lld of them wrong\n", static_cast<long long>(size),
                static_cast<long long>(wrong));
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main() {
    try {
        return run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "custom_functor: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
