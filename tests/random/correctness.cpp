#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

class random_test : public stream_fixture {};

/// Normal numbers are the CPU's except for some bits. All rungs draw the same numbers. A call that begins n places
/// later draws the tail of the numbers from the start.
template <class T>
class random_normal_numbers : public random_test {};
using element_types = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(random_normal_numbers, element_types, type_names);

TYPED_TEST(random_normal_numbers, are_the_same_of_every_rung_and_offset) {
    constexpr std::int64_t size = 10007;
    std::vector<TypeParam> all;
    for (const random_algorithm algorithm : with_automatic(random_algorithms())) {
        SCOPED_TRACE(to_string(algorithm));
        for (const std::int64_t from : {0, 1, 2, 3, 4, 5, 4096, 9999}) {
            guarded<TypeParam> y(size - from, from % 3);
            random_normal<TypeParam>(y.vector(), 0.5f, 1.5f,
                                     {.seed = 11, .offset = 4 + static_cast<std::uint64_t>(from)},
                                     *this->stream, {.algorithm = algorithm});
            const auto drawn = y.download();
            if (all.empty()) all = drawn;
            ASSERT_TRUE(are_same(drawn, {all.begin() + from, all.end()})) << from;
        }
    }
}

class random_sequences : public random_test {};

/// The CPU's numbers for an offset in host memory.
std::vector<std::uint32_t> bits_from(std::uint64_t seed, std::uint64_t offset, std::size_t size) {
    std::vector<std::uint32_t> result(size);
    host::random_bits({result.data(), std::ssize(result)},
                      {.seed = seed, .offset = 5, .device_offset = &offset});
    return result;
}

TEST_F(random_sequences, go_on_in_a_graph_that_is_launched_again) {
    constexpr std::int64_t size = 1003;
    constexpr std::uint64_t seed = 77;
    for (const random_algorithm algorithm : with_automatic(random_algorithms())) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<std::uint32_t> y(size);
        guarded<std::int32_t> permutation(size);
        device_buffer<std::uint64_t> offset(1, *stream);
        fill_bytes(offset, std::byte{0}, *stream);
        const philox generator{.seed = seed, .offset = 5, .device_offset = offset.data()};
        // The next launch draws at the place that the first two words of this launch make.
        const graph captured = graph::capture(*stream, [&] {
            random_bits(y.vector(), generator, *stream, {.algorithm = algorithm});
            random_permutation(permutation.vector(), generator, *stream);
            heddle::check(cudaMemcpyAsync(offset.data(), y.data(), sizeof(std::uint64_t), cudaMemcpyDefault,
                                          stream->get()));
        });
        std::uint64_t place = 0;
        for (int launch = 0; launch < 3; ++launch) {
            captured.launch(*stream);
            const auto drawn = y.download();
            ASSERT_EQ(drawn, bits_from(seed, place, drawn.size())) << launch;
            std::vector<std::int32_t> expected(static_cast<std::size_t>(size));
            host::random_permutation({expected.data(), size}, {.seed = seed, .offset = place + 5});
            ASSERT_EQ(permutation.download(), expected);
            place = drawn[0] | std::uint64_t{drawn[1]} << 32;
        }
    }
}

class large_random : public random_test {};

TEST_F(large_random, takes_more_rows_than_a_grid_is_high) {
    constexpr std::int64_t rows = 3 * 65535 + 4, cols = 7;
    const philox generator{.seed = 8};
    std::vector<float> expected(rows * cols);
    host::random_uniform<float>(vector_view<float>{expected.data(), rows * cols}, -1, 2.5f, generator);
    for (const random_algorithm algorithm : with_automatic(random_algorithms())) {
        guarded<float> y(rows, cols, cols + 2);
        random_uniform<float>(y.matrix(), -1, 2.5f, generator, *stream, {.algorithm = algorithm});
        ASSERT_TRUE(are_same(y.download(), expected)) << to_string(algorithm);
    }
}

TEST_F(large_random, takes_more_elements_than_32_bits_count) {
    constexpr std::int64_t size = (std::int64_t{1} << 32) + 77, tail = 1000;
    if (!has_free_memory(5 * (std::size_t{1} << 30))) GTEST_SKIP() << "needs 5 GiB of device memory";
    device_buffer<std::uint8_t> y(size, *stream);
    for (const random_algorithm algorithm : with_automatic(random_algorithms())) {
        fill_bytes(y, std::byte{9}, *stream);
        random_bernoulli<std::uint8_t>(y, 0.5, {.seed = 1, .offset = 2}, *stream, {.algorithm = algorithm});
        std::vector<std::uint8_t> last(tail), expected(tail);
        heddle::check(
            cudaMemcpyAsync(last.data(), y.data() + (size - tail), tail, cudaMemcpyDefault, stream->get()));
        stream->synchronize();
        host::random_bernoulli<std::uint8_t>(
            vector_view<std::uint8_t>{expected.data(), tail}, 0.5,
            {.seed = 1, .offset = 2 + static_cast<std::uint64_t>(size - tail)});
        EXPECT_EQ(last, expected) << to_string(algorithm);
    }
}

std::vector<std::uint32_t> bits_of(std::int64_t size, const philox& generator) {
    std::vector<std::uint32_t> result(static_cast<std::size_t>(size));
    host::random_bits({result.data(), size}, generator);
    return result;
}

TEST(host_random_bits, are_philox_s_known_answer) {
    EXPECT_EQ(bits_of(4, {}), (std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(host_random_bits, go_on_where_an_offset_says) {
    const auto all = bits_of(50000, {.seed = 3, .offset = ~std::uint64_t{0} - 100});
    for (const std::int64_t from : {1, 2, 3, 4, 101, 16384, 40000})
        EXPECT_EQ(bits_of(50000 - from,
                          {.seed = 3, .offset = ~std::uint64_t{0} - 100 + static_cast<std::uint64_t>(from)}),
                  (std::vector<std::uint32_t>{all.begin() + from, all.end()}));
    const std::uint64_t offset = 7;
    EXPECT_EQ(bits_of(9, {.seed = 1, .offset = 2, .device_offset = &offset}),
              bits_of(9, {.seed = 1, .offset = 9}));
}

}  // namespace
}  // namespace heddle::test
