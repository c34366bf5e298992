#include "tests/random/draws.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace heddle {
namespace {

using test::guarded;
using test::to_double;

template <class T>
class random_edges : public test::random_test {};
using element_types = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(random_edges, element_types, test::type_names);

/// The numbers that a call draws, n places on, are the tail of those that it draws from the start.
TYPED_TEST(random_edges, an_offset_gives_the_tail) {
    constexpr std::int64_t size = 10007;
    const auto check = [&](const auto& draw) {
        for (const random_algorithm algorithm : test::every_algorithm()) {
            SCOPED_TRACE(to_string(algorithm));
            const auto numbers = [&](std::int64_t from) {
                guarded<TypeParam> x(1, size - from, size), y(size - from, from % 3);
                x.upload(std::vector<TypeParam>(static_cast<std::size_t>(size - from),
                                                static_cast<TypeParam>(1.0f)));
                draw.on_device(matrix_view<const TypeParam>(x.matrix()), y.matrix(),
                               {.seed = 11, .offset = 4 + static_cast<std::uint64_t>(from)}, *this->stream,
                               {.algorithm = algorithm});
                return y.download();
            };
            const auto all = numbers(0);
            for (const std::int64_t from : {1, 2, 3, 4, 5, 4096, 9999})
                ASSERT_TRUE(test::are_same(numbers(from), {all.begin() + from, all.end()})) << from;
        }
    };
    check(test::draw_uniform{});
    check(test::draw_normal{});
    check(test::draw_bernoulli{});
    check(test::draw_dropout{});
}

/// Where the nearest number is outside, and around zero, whose sign counts.
TYPED_TEST(random_edges, uniform_numbers_stay_in_their_range) {
    const double next = 1 + 2 * test::unit_roundoff<TypeParam>(), tiny = test::smallest<TypeParam>();
    for (const auto& [low, high] : std::vector<std::pair<double, double>>{{1, next},
                                                                          {-next, -1},
                                                                          {-1, 0},
                                                                          {-0.0, 1},
                                                                          {-tiny, tiny},
                                                                          {0, tiny},
                                                                          {-3 * tiny, 5 * tiny},
                                                                          {tiny / 2, 3 * tiny},
                                                                          {-1, tiny / 4}})
        for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}})
            ASSERT_NO_FATAL_FAILURE(this->template check<TypeParam>(test::draw_uniform{low, high}, 1, 5003,
                                                                    {}, {}, {.seed = 12, .offset = offset}));
}

TYPED_TEST(random_edges, bernoulli_is_never_and_always) {
    for (const double p : {0.0, 0x1p-32, 1 - 0x1p-32, 1.0})
        ASSERT_NO_FATAL_FAILURE(
            this->template check<TypeParam>(test::draw_bernoulli{p}, 1, 5003, {}, {}, {.seed = 13}));
}

TYPED_TEST(random_edges, dropout_is_the_same_in_place) {
    constexpr std::int64_t rows = 37, cols = 1001;
    const philox generator{.seed = 2, .offset = 3};
    const auto xs = test::random_elements<TypeParam>(rows * cols);
    for (const test::row_layout& layout :
         {test::row_layout{}, {.offset = 1, .padding = 3}, {.step = 2}, {.column_major = true}})
        for (const random_algorithm algorithm : test::every_algorithm()) {
            guarded<TypeParam> x = test::make_rows<TypeParam>(rows, cols, layout),
                               y = test::make_rows<TypeParam>(rows, cols, layout);
            x.upload(xs);
            const auto draw = [&](auto& to) {
                dropout<TypeParam>(x.matrix(), to.matrix(), 0.5, generator, *this->stream,
                                   {.algorithm = algorithm});
            };
            if (algorithm == random_algorithm::vectorized && (layout.step > 1 || layout.column_major)) {
                EXPECT_THROW(draw(y), unsupported);
                continue;
            }
            draw(y);
            draw(x);
            ASSERT_TRUE(test::are_same(x.download(), y.download())) << to_string(algorithm);
            ASSERT_TRUE(x.canaries_alive());
        }
}

TYPED_TEST(random_edges, dropout_and_its_gradient_have_the_mask_of_bernoulli) {
    constexpr std::int64_t size = 20011;
    const philox generator{.seed = 123, .offset = 6};
    const double p = 0.25;  // so that the scale is 4 / 3, and 1 / scale no number
    for (const random_algorithm algorithm : test::every_algorithm()) {
        guarded<TypeParam> x(size), y(size, 1), dx(size, 2), mask(size, 3);
        x.upload(std::vector<TypeParam>(size, static_cast<TypeParam>(3.0f)));
        const random_options options{algorithm};
        dropout<TypeParam>(x.vector(), y.vector(), p, generator, *this->stream, options);
        dropout_gradient<TypeParam>(x.vector(), dx.vector(), p, generator, *this->stream, options);
        random_bernoulli<TypeParam>(mask.vector(), p, generator, *this->stream, options);
        const auto kept = y.download(), passed = dx.download(), dropped = mask.download();
        ASSERT_TRUE(test::are_same(kept, passed));
        for (std::size_t i = 0; i < kept.size(); ++i)
            ASSERT_NEAR(to_double(kept[i]), to_double(dropped[i]) == 1 ? 0 : 4, 4 * 0x1p-7) << i;
    }
}

TYPED_TEST(random_edges, dropout_takes_special_values) {
    const TypeParam special[] = {test::infinity<TypeParam>(), test::not_a_number<TypeParam>()};
    constexpr std::int64_t size = 1000;
    for (const random_algorithm algorithm : test::every_algorithm())
        for (const TypeParam value : special)
            for (const double p : {0.0, 0.5, 1.0}) {
                guarded<TypeParam> x(size), y(size), mask(size);
                x.upload(std::vector<TypeParam>(size, value));
                dropout<TypeParam>(x.vector(), y.vector(), p, {}, *this->stream, {.algorithm = algorithm});
                random_bernoulli<TypeParam>(mask.vector(), p, {}, *this->stream);
                const auto kept = y.download(), dropped = mask.download();
                for (std::size_t i = 0; i < kept.size(); ++i) {
                    const bool is_dropped = to_double(dropped[i]) == 1;
                    if (p != 0.5) {
                        ASSERT_EQ(is_dropped, p == 1);
                    }
                    if (is_dropped) {
                        ASSERT_EQ(to_double(kept[i]), 0);
                    } else {
                        ASSERT_FALSE(std::isfinite(to_double(kept[i])));
                    }
                }
            }
}

class large_random : public test::random_test {};

TEST_F(large_random, takes_more_rows_than_a_grid_is_high) {
    const std::int64_t rows = 3 * 65535 + 4;
    ASSERT_NO_FATAL_FAILURE(check<float>(test::draw_uniform{}, rows, 7, {}, {.padding = 2}, {.seed = 8}));
    ASSERT_NO_FATAL_FAILURE(check<float>(test::draw_uniform{}, 7, rows * 4, {},
                                         {.padding = 2, .column_major = true}, {.seed = 8}));
}

TEST_F(large_random, takes_more_elements_than_32_bits_count) {
    constexpr std::int64_t size = (std::int64_t{1} << 32) + 77, tail = 1000;
    std::size_t free = 0, total = 0;
    heddle::check(cudaMemGetInfo(&free, &total));
    if (free < 5 * (std::size_t{1} << 30)) GTEST_SKIP() << "needs 5 GiB of device memory";
    device_buffer<std::uint8_t> y(size, *stream);
    for (const random_algorithm algorithm : test::every_algorithm()) {
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

}  // namespace
}  // namespace heddle
