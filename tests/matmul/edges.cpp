#include "tests/matmul/rungs.hpp"
#include "tests/support/headers.hpp"

// Infinities in the pieces of elements, and more elements than an int counts.
namespace heddle::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// The pieces of an element must not make NaN: 0 * Inf, Inf - Inf, or a piece rounded up beyond the largest number.
TEST_F(matmul_device, tf32x3_has_the_infinities_and_nans_of_fmas) {
    const shape s{70, 66, 40};
    const std::vector<float> specials = {infinity, -infinity, std::bit_cast<float>(0x7fffffffu),
                                         std::numeric_limits<float>::max(), 0};
    std::vector<float> as = random_elements<float>(s.m * s.k, -1000, 1000);
    std::vector<float> bs = random_elements<float>(s.k * s.n, -1000, 1000);
    for (std::size_t i = 0; i < as.size(); i += 67) as[i] = specials[i % specials.size()];
    for (std::size_t i = 0; i < bs.size(); i += 203) bs[i] = specials[i % specials.size()];
    operands<float> p(s, as, bs);
    p.multiply(*stream, {.algorithm = matmul_algorithm::tf32x3});
    const std::vector<float> actual = p.c.download();
    EXPECT_TRUE(p.c.canaries_alive());
    for (std::int64_t i = 0; i < s.m; ++i)
        for (std::int64_t j = 0; j < s.n; ++j) {
            float sum = 0;
            for (std::int64_t k = 0; k < s.k; ++k)
                sum = std::fma(as[static_cast<std::size_t>(i * s.k + k)],
                               bs[static_cast<std::size_t>(k * s.n + j)], sum);
            const float of_c = actual[static_cast<std::size_t>(i * s.n + j)];
            if (std::isnan(sum))
                ASSERT_TRUE(std::isnan(of_c)) << i << ", " << j;
            else if (std::isinf(sum))
                ASSERT_EQ(of_c, sum) << i << ", " << j;
            else
                ASSERT_TRUE(std::isfinite(of_c)) << i << ", " << j;
        }
}

TEST_F(matmul_device, takes_more_elements_than_an_int_counts) {
    const shape s{69000, 8, 32000};  // A has 2.2e9 elements
    const std::int64_t size = s.m * s.k;
    if (!has_free_memory(static_cast<std::size_t>(size) * sizeof(float) * 3 / 2))
        GTEST_SKIP() << "needs 13 GB free";
    float* a = nullptr;
    check(cudaMalloc(reinterpret_cast<void**>(&a), static_cast<std::size_t>(size) * sizeof(float)));
    check(cudaMemsetAsync(a, 0, static_cast<std::size_t>(size) * sizeof(float), stream->get()));
    const std::vector<float> last = random_elements<float>(s.k);
    check(cudaMemcpyAsync(a + (s.m - 1) * s.k, last.data(), last.size() * sizeof(float), cudaMemcpyDefault,
                          stream->get()));
    const std::vector<float> b_elements = random_elements<float>(s.k * s.n);
    guarded<float> b(s.k, s.n, s.n), c(s.m, s.n, s.n);
    b.upload(b_elements);
    matmul<float>(matrix_view<const float>{a, s.m, s.k}, b.matrix(), c.matrix(), *stream);
    stream->synchronize();
    const std::vector<float> actual = c.download();
    check(cudaFree(a));
    const std::size_t before_last = actual.size() - static_cast<std::size_t>(s.n);
    for (std::size_t i = 0; i < before_last; ++i) ASSERT_EQ(actual[i], 0) << i;
    const std::vector<float> row(actual.begin() + static_cast<std::ptrdiff_t>(before_last), actual.end());
    expect_close({1, s.n, s.k}, row, reference({1, s.n, s.k}, last, b_elements, row, 1, 0), fma_bound);
}

/// There are more tiles than blocks, down C or across it.
TEST_F(matmul_device, stream_goes_from_tile_to_tile) {
    for (const shape& s : {shape{50000, 130, 9}, {130, 50000, 9}, {70001, 65, 48}, {3, 90001, 17}})
        for (const int bits : {0, 3}) {
            operands<float> p(s, transposed_by(bits, 1));
            const reference expected = p.expected();
            for (const std::string_view kernel :
                 matmul_kernels(element_type::f32, matmul_algorithm::stream)) {
                SCOPED_TRACE(text(s) + ' ' + std::string(kernel));
                p.multiply(*stream, {.kernel = kernel});
                expect_close(s, p.c.download(), expected, fma_bound);
                p.expect_intact();
            }
        }
}

/// A warp has a tile or a slice of one, and k comes in one step or several. The plan takes slices for few tiles.
TEST_F(matmul_device, packed_takes_tiles_slices_and_steps) {
    std::vector<shape> shapes = {{1, 1, 1}, {3, 61, 1}, {700, 900, 100}, {1500, 1300, 3}};
    for (const std::int64_t tile : {16, 32, 64})
        for (const std::int64_t side : {tile - 1, tile, tile + 1})
            for (const std::int64_t k :
                 {std::int64_t{2}, std::int64_t{45}, std::int64_t{171}, std::int64_t{309}})
                shapes.push_back({side, 2 * tile + 1 - side % 3, k});
    for (const shape& s : shapes)
        for (const int bits : {0, 3}) {
            operands<float> p(s, transposed_by(bits, 1));
            const reference expected = p.expected();
            for (const std::string_view kernel :
                 matmul_kernels(element_type::f32, matmul_algorithm::packed)) {
                SCOPED_TRACE(text(s) + ' ' + std::string(kernel));
                p.multiply(*stream, {.kernel = kernel});
                expect_close(s, p.c.download(), expected, fma_bound);
                p.expect_intact();
            }
        }
}

}  // namespace
}  // namespace heddle::test
