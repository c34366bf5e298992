// A user's function in the epilogue of matmul. It computes attention scores, C = A B^T / sqrt(k), with ALiBi and a
// causal mask, which heddle lacks.
#include <heddle/heddle.hpp>
#include <heddle/matmul.cuh>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

namespace {

/// The further back a key is, the less it counts; later keys do not count.
struct causal_alibi {
    float slope;

    __host__ __device__ float operator()(float score, std::int64_t query, std::int64_t key) const {
        return key > query ? -10000.0f : score - slope * static_cast<float>(query - key);
    }
};

int run() {
    if (heddle::device_count() == 0) {
        std::printf("no CUDA device: there is nothing to launch on\n");
        return EXIT_SUCCESS;
    }
    constexpr std::int64_t length = 1000, width = 64;
    std::vector<heddle::half> queries(length * width), keys(length * width);
    for (std::int64_t i = 0; i < length * width; ++i) {
        queries[i] = heddle::half(static_cast<float>(i % 17 - 8) / 8);
        keys[i] = heddle::half(static_cast<float>(i % 13 - 6) / 8);
    }
    const heddle::stream stream;
    heddle::device_buffer<heddle::half> a(length * width, stream), b(length * width, stream);
    heddle::device_buffer<float> c(length * length, stream);
    heddle::copy(queries, a, stream);
    heddle::copy(keys, b, stream);

    const causal_alibi function{0.0625f};
    const float alpha = 1 / std::sqrt(static_cast<float>(width));
    heddle::matmul<float, heddle::half>(heddle::matrix_view{a.data(), length, width},
                                        transposed(heddle::matrix_view{b.data(), length, width}),
                                        heddle::matrix_view{c.data(), length, length}, {}, function, stream,
                                        {.alpha = alpha});
    std::vector<float> scores(length * length);
    heddle::copy_and_wait(c, scores, stream);

    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < length; ++i)
        for (std::int64_t j = 0; j < length; ++j) {
            float sum = 0;
            for (std::int64_t k = 0; k < width; ++k)
                sum += static_cast<float>(queries[i * width + k]) * static_cast<float>(keys[j * width + k]);
            wrong += !(std::abs(scores[i * length + j] - function(alpha * sum, i, j)) < 1e-3f);
        }
    std::printf("%lld attention scores, %lld of them wrong\n", static_cast<long long>(length * length),
                static_cast<long long>(wrong));
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main() {
    try {
        return run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "custom_epilogue: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
