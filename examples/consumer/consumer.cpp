// Adds two vectors on the GPU, or on the CPU where there is none.
#include <heddle/heddle.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
    const std::vector<float> x(1'000'000, 1.5f), y(1'000'000, 2.25f);
    std::vector<float> z(1'000'000);
    const auto size = static_cast<std::int64_t>(z.size());
    const bool has_gpu = heddle::device_count() > 0;
    if (has_gpu) {
        const heddle::stream stream;
        heddle::device_buffer<float> a(size, stream), b(size, stream);
        heddle::copy(x, a, stream);
        heddle::copy(y, b, stream);
        heddle::add<float>(a, b, a, stream);
        heddle::copy_and_wait(a, z, stream);
    } else {
        heddle::host::add<float>({x.data(), size}, {y.data(), size}, heddle::vector_view{z.data(), size});
    }
    const auto right = std::count(z.begin(), z.end(), 3.75f);
    if (right != size) return 1;
    std::printf("1.5 + 2.25 = 3.75, a million times, on the %s\n", has_gpu ? "GPU" : "CPU");
}
