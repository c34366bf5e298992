#include "tests/reduce/other_reductions.hpp"
#include <heddle/workspace.hpp>

#include <cstddef>
#include <limits>
#include <vector>

namespace heddle {
namespace {

using test::algorithms_of;
using test::comparable;
using test::elements;
using test::guarded;
using test::infinity;
using test::is_integer;
using test::same_bits;

template <class T>
using reduce_others = test::other_reductions<T>;
TYPED_TEST_SUITE(reduce_others, test::reduced_types, test::type_names);

TYPED_TEST(reduce_others, take_every_size) {
    for (const std::int64_t size : test::sizes<TypeParam>()) {
        SCOPED_TRACE(size);
        ASSERT_NO_FATAL_FAILURE(this->check(size));
    }
}

TYPED_TEST(reduce_others, take_sizes_that_just_fill_the_device) {
    ASSERT_NO_FATAL_FAILURE(this->check(24000044 / std::int64_t{sizeof(TypeParam)}, {1}, {1}));
}

TYPED_TEST(reduce_others, of_drawn_problems_take_every_plan) {
    constexpr int draws = 34;  // of each type
    test::drawing draw;
    const auto draw_offset = [&] { return draw(0, 1) * draw(0, 9); };
    const auto draw_stride = [&] { return draw(0, 3) == 0 ? draw(2, 4) : 1; };
    for (int i = 0; i < draws; ++i) {
        // One block as often as many: up to 2^5 elements, up to 2^6, ...
        const std::int64_t size = draw(1, std::int64_t{1} << draw(5, 21));
        const std::int64_t offset = draw_offset(), stride = draw_stride();
        const std::int64_t offset_of_y = draw_offset(), stride_of_y = draw_stride();
        SCOPED_TRACE(testing::Message()
                     << "draw " << i << ": " << size << " elements, offsets " << offset << " and "
                     << offset_of_y << ", strides " << stride << " and " << stride_of_y);
        ASSERT_NO_FATAL_FAILURE(this->check(size, {offset, stride}, {offset_of_y, stride_of_y}));
    }
}

// Equal elements in different threads, warps, blocks and packets; and an extremum that is also the identity.
TYPED_TEST(reduce_others, find_the_first_of_equals) {
    using element = TypeParam;
    const auto lowest = is_integer<element> ? std::numeric_limits<element>::min() : -infinity<element>();
    const auto highest = is_integer<element> ? std::numeric_limits<element>::max() : infinity<element>();
    for (const std::int64_t size : {40, 1030, 70001, 300007, 3000017}) {
        guarded<element> x(size, 1);
        const vector_view<const element> view = x.vector();
        for (const std::int64_t at : {std::int64_t{0}, std::int64_t{7}, size / 3, size - 1}) {
            SCOPED_TRACE(testing::Message() << size << " elements, at " << at);
            for (const element base : {lowest, element(1.0f), highest}) {
                std::vector<element> xs(static_cast<std::size_t>(size), base);
                const auto set_from = [&](std::int64_t first, element value) {
                    for (std::int64_t i = first; i < size; i += 13) xs[static_cast<std::size_t>(i)] = value;
                    x.upload(xs);
                };
                for (const reduce_algorithm algorithm : algorithms_of(reduce_operation::argmax)) {
                    SCOPED_TRACE(to_string(algorithm));
                    const reduce_options options{.algorithm = algorithm};
                    set_from(at, highest);
                    ASSERT_EQ(this->argmax_of(view, options),
                              comparable(base) == comparable(highest) ? 0 : at);
                    set_from(at, lowest);
                    ASSERT_EQ(this->argmin_of(view, options),
                              comparable(base) == comparable(lowest) ? 0 : at);
                }
            }
        }
    }
}

TYPED_TEST(reduce_others, give_the_same_bits_every_time) {
    const std::int64_t size = 3000017;
    guarded<TypeParam> x(size), y(size, 1);
    x.upload(elements<TypeParam>(size));
    y.upload(elements<TypeParam>(size));
    const vector_view<const TypeParam> a = x.vector(), b = y.vector();
    workspace scratch(this->workspace_bytes(a, reduce_algorithm::automatic), *this->stream);
    const reduce_options options{.workspace = scratch};
    const auto expect_same = [](auto compute) {
        const auto first = compute();
        for (int i = 0; i < 20; ++i) ASSERT_TRUE(same_bits(compute(), first));
    };
    expect_same([&] { return this->mean_of(a, options); });
    expect_same([&] { return this->dot_of(a, b, options); });
    expect_same([&] { return this->norm1_of(a, options); });
    if constexpr (!is_integer<TypeParam>) expect_same([&] { return this->norm2_of(a, options); });
}

}  // namespace
}  // namespace heddle
