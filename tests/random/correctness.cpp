#include "tests/random/draws.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/graph.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace heddle {
namespace {

using test::drawing;
using test::guarded;
using test::row_layout;

/// Where sequences begin: at every place in a block, where the number of the block passes 32 bits, and where places wrap.
constexpr std::uint64_t offsets[] = {0, 1, 2, 3, 7, (std::uint64_t{1} << 34) - 5, ~std::uint64_t{0} - 300};

philox draw_generator(drawing& draw) {
    const auto seed = static_cast<std::uint64_t>(draw(0, std::numeric_limits<std::int64_t>::max()));
    return {.seed = seed, .offset = draw(0, 2) == 0 ? ~seed : static_cast<std::uint64_t>(draw(0, 1 << 20))};
}

template <class T>
class random_numbers : public test::random_test {
  protected:
    void check_all(std::int64_t rows, std::int64_t cols, const row_layout& x, const row_layout& y,
                   const philox& generator) {
        ASSERT_NO_FATAL_FAILURE(this->template check<T>(test::draw_uniform{}, rows, cols, x, y, generator));
        ASSERT_NO_FATAL_FAILURE(this->template check<T>(test::draw_normal{}, rows, cols, x, y, generator));
        ASSERT_NO_FATAL_FAILURE(this->template check<T>(test::draw_bernoulli{}, rows, cols, x, y, generator));
        ASSERT_NO_FATAL_FAILURE(this->template check<T>(test::draw_dropout{}, rows, cols, x, y, generator));
    }
};
using element_types = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(random_numbers, element_types, test::type_names);

TYPED_TEST(random_numbers, are_the_cpu_s_at_every_size_and_alignment) {
    // A block of `vectorized` takes 256 packets of so few elements.
    constexpr std::int64_t tile = 256 * 16 / std::int64_t{sizeof(TypeParam)};
    for (const std::int64_t size :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{5},
          std::int64_t{31}, std::int64_t{257}, tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile + 1})
        for (const std::int64_t alignment : {0, 1, 2, 3, 7})
            ASSERT_NO_FATAL_FAILURE(this->check_all(1, size, {.offset = 1}, {.offset = alignment},
                                                    {.seed = 5, .offset = static_cast<std::uint64_t>(size)}));
}

TYPED_TEST(random_numbers, are_the_cpu_s_at_every_offset) {
    for (const std::uint64_t offset : offsets)
        for (const std::int64_t alignment : {0, 1, 2, 3}) {
            const row_layout layout{.offset = alignment};
            ASSERT_NO_FATAL_FAILURE(
                this->check_all(1, 1009, layout, layout, {.seed = ~offset, .offset = offset}));
            ASSERT_NO_FATAL_FAILURE(
                this->check_all(37, 33, layout, {.padding = 1}, {.seed = 9, .offset = offset}));
        }
}

TYPED_TEST(random_numbers, of_drawn_problems_take_every_plan) {
    constexpr int draws = 60;  // of each type
    drawing draw;
    for (int i = 0; i < draws; ++i) {
        SCOPED_TRACE(testing::Message() << "draw " << i);
        const test::row_shape shape = test::draw_row_shape(draw);
        const row_layout x = draw_row_layout(draw), y = draw_row_layout(draw);
        ASSERT_NO_FATAL_FAILURE(this->check_all(shape.rows, shape.cols, x, y, draw_generator(draw)));
    }
}

// Where places and addresses agree, a thread's packets are drawn together, but for the ends of a row.
TYPED_TEST(random_numbers, of_many_packets_a_thread) {
    ASSERT_NO_FATAL_FAILURE(this->check_all(1, 3000007, {}, {.offset = 1}, {.seed = 3, .offset = 2}));
    ASSERT_NO_FATAL_FAILURE(
        this->check_all(701, 4099, {.padding = 2}, {.padding = 1}, {.seed = 4, .offset = 1}));
    for (const std::int64_t lead : {0, 3, 4}) {
        const row_layout layout{.offset = lead};
        ASSERT_NO_FATAL_FAILURE(this->check_all(1, 3000007, layout, layout,
                                                {.seed = 5, .offset = static_cast<std::uint64_t>(lead)}));
    }
    // The number of the block passes 32 bits within a thread's packets.
    ASSERT_NO_FATAL_FAILURE(
        this->check_all(1, 3000000, {}, {}, {.seed = 6, .offset = (std::uint64_t{1} << 34) - 1400000}));
    ASSERT_NO_FATAL_FAILURE(
        this->check_all(1, 3000000, {}, {}, {.seed = 6, .offset = (std::uint64_t{1} << 33) - 1400000}));
    ASSERT_NO_FATAL_FAILURE(
        this->check_all(701, 4100, {.padding = 4}, {.padding = 12}, {.seed = 4, .offset = 8}));
    ASSERT_NO_FATAL_FAILURE(this->check_all(701, 4100, {.offset = 1, .padding = 4}, {.padding = 4}, {}));
}

class random_integers : public test::random_test {};

TEST_F(random_integers, are_the_cpu_s) {
    drawing draw;
    for (const std::int64_t size : {0, 1, 2, 15, 16, 17, 31, 1000, 4095, 4097, 300007})
        for (const std::int64_t alignment : {0, 1, 5, 15})
            for (const std::int64_t step : {1, 3}) {
                const row_layout y{.offset = alignment, .step = step};
                const philox generator = draw_generator(draw);
                ASSERT_NO_FATAL_FAILURE(check<std::uint32_t>(test::draw_bits{}, 1, size, {}, y, generator));
                ASSERT_NO_FATAL_FAILURE(
                    check<std::uint8_t>(test::draw_bernoulli{}, 1, size, {}, y, generator));
                ASSERT_NO_FATAL_FAILURE(
                    check<std::uint8_t>(test::draw_bernoulli{}, 3, size / 3, {}, y, generator));
            }
}

TEST_F(random_integers, of_many_packets_a_thread) {
    for (const std::int64_t lead : {0, 1, 4}) {
        const row_layout y{.offset = lead};
        const philox generator{.seed = 7, .offset = 4};
        ASSERT_NO_FATAL_FAILURE(check<std::uint32_t>(test::draw_bits{}, 1, 3000007, {}, y, generator));
        ASSERT_NO_FATAL_FAILURE(check<std::uint8_t>(test::draw_bernoulli{}, 1, 3000007, {}, y, generator));
    }
}

TEST_F(random_integers, are_philox_s_known_answer) {
    for (const random_algorithm algorithm : test::every_algorithm()) {
        guarded<std::uint32_t> y(4);
        random_bits(y.vector(), {}, *stream, {.algorithm = algorithm});
        EXPECT_EQ(y.download(), (std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    }
}

class random_permutations : public test::random_test {};

TEST_F(random_permutations, are_the_cpu_s_and_have_each_number_once) {
    drawing draw;
    for (const std::int64_t size :
         {0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 255, 256, 257, 60000, 65536, 65537, (1 << 20) + 7})
        for (const std::int64_t stride : {1, 3}) {
            SCOPED_TRACE(testing::Message() << size << ", stride " << stride);
            const philox generator = draw_generator(draw);
            guarded<std::int32_t> y(1, size, 0, 1, stride);
            guarded<std::int32_t> expected(1, size, 0, 1, stride, guarded<std::int32_t>::memory::host);
            random_permutation(y.vector(), generator, *stream);
            host::random_permutation(expected.vector(), generator);
            auto [numbers, canaries_alive] = y.inspect();
            ASSERT_EQ(numbers, expected.download());
            ASSERT_TRUE(canaries_alive);
            std::ranges::sort(numbers);
            std::vector<std::int32_t> all(numbers.size());
            std::iota(all.begin(), all.end(), 0);
            ASSERT_EQ(numbers, all);
        }
}

class random_sequences : public test::random_test {};

/// What the CPU draws with an offset in host memory.
std::vector<std::uint32_t> bits_from(std::uint64_t seed, std::uint64_t offset, std::size_t size) {
    std::vector<std::uint32_t> result(size);
    host::random_bits({result.data(), std::ssize(result)},
                      {.seed = seed, .offset = 5, .device_offset = &offset});
    return result;
}

TEST_F(random_sequences, go_on_in_a_graph_that_is_launched_again) {
    constexpr std::int64_t size = 1003;
    constexpr std::uint64_t seed = 77;
    for (const random_algorithm algorithm : test::every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<std::uint32_t> y(size);
        guarded<std::int32_t> permutation(size);
        device_buffer<std::uint64_t> offset(1, *stream);
        fill_bytes(offset, std::byte{0}, *stream);
        const philox generator{.seed = seed, .offset = 5, .device_offset = offset.data()};
        // The next launch draws at the place that the first two words of this one make.
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

}  // namespace
}  // namespace heddle
