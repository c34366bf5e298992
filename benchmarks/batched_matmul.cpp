#include "benchmarks/operation.hpp"
#include "benchmarks/support/cublas.hpp"

namespace heddle::bench {
namespace {

struct batch {
    std::int64_t count;
    std::int64_t size;
};

constexpr std::string_view bf16 = "bf16", f32 = "f32", tf32 = "tf32";

/// Batches A, B and C. `type` names the precision of the elements.
template <class T>
auto products_of(const batch& b, std::string_view type) {
    const std::int64_t elements = b.size * b.size;
    const auto as_batch = [b, elements](T* data) {
        return batch_view<T>{{data, b.size, b.size}, b.count, elements};
    };
    const auto factor = random_elements<T>(b.count * elements, as_batch);
    row_case of(fmt::format("batched_matmul/{}/{}x{}x{}x{}", type, b.count, b.size, b.size, b.size), factor,
                factor, result_elements<T>(b.count * elements, as_batch));
    of.problem.operations = 2 * static_cast<double>(b.count * elements) * static_cast<double>(b.size);
    of.problem.set_unit_of_products(type);
    return of;
}

template <class T>
void rows(const batch& batch, std::string_view type, temperature temperature) {
    const auto of = products_of<T>(batch, type);
    of.row("heddle", temperature, [type](auto a, auto b, auto c) {
        batched_matmul<T>(a, b, c, stream(), {.precision = type == tf32 ? precision::tf32 : precision::fp32});
    });
#if HEDDLE_HAS_CUBLAS
    of.row("cublas", temperature, [type](auto a, auto b, auto c) {
        gemm(vendor_product<T, T>{.a = a.first,
                                  .b = b.first,
                                  .c = c.first,
                                  .batches = c.count,
                                  .a_stride = a.stride,
                                  .b_stride = b.stride,
                                  .c_stride = c.stride,
                                  .is_tf32 = type == tf32});
    });
#endif
}

struct shape {
    std::int64_t m, n, k;
};

/// All are different, so that each is a group of its own for cuBLAS.
constexpr std::array<shape, 16> mixed = {{{256, 512, 2048},
                                          {512, 1024, 768},
                                          {2048, 256, 1024},
                                          {768, 768, 512},
                                          {1024, 2048, 256},
                                          {384, 640, 1536},
                                          {1536, 1024, 512},
                                          {640, 256, 1280},
                                          {512, 2048, 1024},
                                          {1024, 384, 2048},
                                          {256, 256, 256},
                                          {1280, 1536, 384},
                                          {2048, 768, 640},
                                          {896, 512, 896},
                                          {768, 1280, 1024},
                                          {256, 1792, 512}}};

problem mixed_products() {
    problem result{.name = fmt::format("batched_matmul/bf16/mixed_{}", mixed.size()),
                   .unit = unit::tensor_bf16};
    for (const auto& [m, n, k] : mixed) {
        result.bytes_read += sizeof(bfloat16) * static_cast<double>(m * k + k * n);
        result.bytes_written += sizeof(bfloat16) * static_cast<double>(m * n);
        result.operations += 2 * static_cast<double>(m * n * k);
    }
    return result;
}

/// `prepare` takes the operands and returns the call.
void mixed_row(std::string_view library, temperature temperature, auto prepare) {
    device_row(mixed_products(), library, temperature, [prepare] {
        std::vector<device_buffer<bfloat16>> buffers;
        std::vector<matmul_operands<bfloat16>> operands;
        for (const auto& [m, n, k] : mixed) {
            const bfloat16* const a = buffers.emplace_back(random_on_device<bfloat16>(m * k)).data();
            const bfloat16* const b = buffers.emplace_back(random_on_device<bfloat16>(k * n)).data();
            bfloat16* const c = buffers.emplace_back(device_buffer<bfloat16>(m * n, stream())).data();
            operands.push_back({{a, m, k}, {b, k, n}, {c, m, n}});
        }
        return [buffers = std::move(buffers), call = prepare(operands)]() mutable { call(); };
    });
}

#if HEDDLE_HAS_CUBLAS
/// Each product is a group. cuBLAS's matrices are column-major, so that it computes C' = B' A'.
struct cublas_groups {
    std::vector<cublasOperation_t> as_they_lie;
    std::vector<std::int64_t> rows, cols, depth, sizes;
    std::vector<float> ones, zeros;
    device_buffer<const void*> a, b;
    device_buffer<void*> c;

    explicit cublas_groups(const std::vector<matmul_operands<bfloat16>>& operands)
        : as_they_lie(operands.size(), CUBLAS_OP_N),
          sizes(operands.size(), 1),
          ones(operands.size(), 1),
          zeros(operands.size(), 0),
          a(pointers<const void*>(operands, [](const auto& p) { return p.a.data; })),
          b(pointers<const void*>(operands, [](const auto& p) { return p.b.data; })),
          c(pointers<void*>(operands, [](const auto& p) { return p.c.data; })) {
        for (const auto& p : operands) {
            rows.push_back(p.c.rows);
            cols.push_back(p.c.cols);
            depth.push_back(p.a.cols);
        }
    }

    void operator()() const {
        check(cublasGemmGroupedBatchedEx_64(
            cublas_handle(), as_they_lie.data(), as_they_lie.data(), cols.data(), rows.data(), depth.data(),
            ones.data(), b.data(), CUDA_R_16BF, cols.data(), a.data(), CUDA_R_16BF, depth.data(),
            zeros.data(), c.data(), CUDA_R_16BF, cols.data(), static_cast<std::int64_t>(sizes.size()),
            sizes.data(), CUBLAS_COMPUTE_32F));
    }

  private:
    template <class Pointer, class Member>
    static device_buffer<Pointer> pointers(const std::vector<matmul_operands<bfloat16>>& operands,
                                           Member member) {
        std::vector<Pointer> on_host;
        for (const auto& p : operands) on_host.push_back(member(p));
        device_buffer<Pointer> result(static_cast<std::int64_t>(on_host.size()), stream());
        check(cudaMemcpyAsync(result.data(), on_host.data(), on_host.size() * sizeof(Pointer),
                              cudaMemcpyDefault, stream().get()));
        check(cudaStreamSynchronize(stream().get()));
        return result;
    }
};
#endif

}  // namespace

void register_batched_matmul() {
    const auto of_each_type = [](const batch& of, temperature temperature) {
        rows<bfloat16>(of, bf16, temperature);
        rows<float>(of, f32, temperature);
        rows<float>(of, tf32, temperature);
    };
    for (const batch& of : {batch{64, 256}, {512, 64}, {16, 1024}, {128, 128}}) of_each_type(of, cold);
    for (const batch& of : {batch{64, 256}, {128, 128}}) of_each_type(of, hot);
    for (const auto temperature : {cold, hot}) {
        mixed_row("heddle", temperature, [](const auto& operands) {
            return [operands] { batched_matmul<bfloat16>(operands, stream()); };
        });
#if HEDDLE_HAS_CUBLAS
        mixed_row("cublas", temperature, [](const auto& operands) { return cublas_groups(operands); });
#endif
    }
}

}  // namespace heddle::bench
