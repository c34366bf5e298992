#include "benchmarks/support/ceilings.hpp"
#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/batched_matmul.hpp>
#include <heddle/buffer.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::bench {
namespace {

struct batch {
    std::int64_t count;
    std::int64_t size;
};

problem products(const batch& b) {
    const double elements =
        static_cast<double>(b.count) * static_cast<double>(b.size) * static_cast<double>(b.size);
    return {fmt::format("batched_matmul/bf16/{}x{}x{}x{}", b.count, b.size, b.size, b.size),
            sizeof(bfloat16) * 3 * elements, 2 * elements * static_cast<double>(b.size)};
}

/// `call` takes the batches a, b and c.
template <class Call>
void row(const batch& of, std::string_view library, temperature temperature, Call call) {
    device_row(products(of), library, temperature, [of, call] {
        const std::int64_t elements = of.size * of.size;
        return [=, a = random_on_device<bfloat16>(of.count * elements),
                b = random_on_device<bfloat16>(of.count * elements),
                c = device_buffer<bfloat16>(of.count * elements, stream())]() mutable {
            const auto batch_of = [&](bfloat16* data) {
                return batch_view<bfloat16>{{data, of.size, of.size}, of.count, elements};
            };
            call(batch_of(a.data()), batch_of(b.data()), batch_of(c.data()));
        };
    });
}

}  // namespace

void register_rows() {
    copy_ceiling();
    for (const auto temperature : {temperature::cold, temperature::hot})
        for (const batch& of : {batch{64, 256}, {512, 64}, {16, 1024}, {128, 128}}) {
            row(of, "heddle", temperature,
                [](auto a, auto b, auto c) { batched_matmul<bfloat16>(a, b, c, stream()); });
#if HEDDLE_HAS_CUBLAS
            row(of, "cublas", temperature, [](auto a, auto b, auto c) {
                const float one = 1, zero = 0;
                const std::int64_t n = c.first.cols;
                // Column-major for cuBLAS, hence the transposed product: C' = B' A'.
                check(cublasGemmStridedBatchedEx_64(
                    cublas_handle(), CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b.first.data, CUDA_R_16BF, n,
                    b.stride, a.first.data, CUDA_R_16BF, n, a.stride, &zero, c.first.data, CUDA_R_16BF, n,
                    c.stride, c.count, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
            });
#endif
        }
}

}  // namespace heddle::bench
