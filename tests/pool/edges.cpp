#include "tests/pool/device.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace heddle {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

template <class T>
using pool_edges = test::pool_device<T>;
TYPED_TEST_SUITE(pool_edges, test::every_pool_type, test::type_names);

TYPED_TEST(pool_edges, takes_every_address_and_stride) {
    for (const std::int64_t channels : {5, 8, 32})
        for (const test::tensor_gaps& gaps : {test::tensor_gaps{.offset = 1},
                                              {.pixel = 1},
                                              {.row = 1},
                                              {.image = 1},
                                              {8, 8, 8, 8},
                                              {1, 2, 3, 4}})
            for (const pool_geometry& g :
                 {pool_geometry{{3, 3}, {2, 2}, {1, 1, 1, 1}}, pool_geometry{{9, 8}}}) {
                ASSERT_NO_FATAL_FAILURE(this->check({2, 9, 8, channels, g}, gaps));
                ASSERT_NO_FATAL_FAILURE(this->check({2, 9, 8, channels, g}, {}, gaps));
                ASSERT_NO_FATAL_FAILURE(this->check({2, 9, 8, channels, g}, gaps, gaps));
            }
}

// A NaN and infinities reach the outputs whose windows they lie in, and no others.
TYPED_TEST(pool_edges, keep_infinities_and_nans_where_they_belong) {
    for (const pool_geometry& g : {pool_geometry{{3, 3}, {2, 2}, {1, 1, 1, 1}}, pool_geometry{{9, 8}}}) {
        test::pool_operands<TypeParam> p({2, 9, 8, 24, g});
        for (std::size_t i = 0; i < 24; ++i) p.xs[i] = TypeParam(-infinity);
        p.xs[5] = TypeParam(not_a_number);
        p.xs[p.xs.size() / 2] = TypeParam(infinity);
        p.xs.back() = TypeParam(not_a_number);
        p.input.upload(p.xs);
        ASSERT_NO_FATAL_FAILURE(this->check(p));
    }
}

/// A sum in float stands still at 2^24.
TYPED_TEST(pool_edges, average_large_windows_of_ones) {
    constexpr std::int64_t side = 4608;
    test::pool_operands<TypeParam> p({1, side, side, 1, {{side, side}}});
    std::ranges::fill(p.xs, TypeParam(1.0f));
    p.input.upload(p.xs);
    const pool_options average{.mode = pool_mode::average, .geometry = p.s.geometry};
    test::for_every_pool_plan(average, [&](const pool_options& options) {
        p.poison_output();
        pool<TypeParam>(p.input.tensor(), p.output.tensor(), *this->stream, options);
        this->stream->synchronize();
        EXPECT_EQ(test::to_double(p.output.download()[0]), 1);
    });
}

TYPED_TEST(pool_edges, do_nothing_where_there_is_nothing) {
    test::for_every_pool_plan({}, [&](const pool_options& options) {
        pool<TypeParam>({nullptr, 0, 4, 4, 3}, tensor_view<TypeParam>{nullptr, 0, 4, 4, 3}, *this->stream,
                        options);
        pool<TypeParam>({nullptr, 2, 4, 4, 0}, tensor_view<TypeParam>{nullptr, 2, 4, 4, 0}, *this->stream,
                        options);
    });
    test::synchronize(*this->stream, "nothing");
}

}  // namespace
}  // namespace heddle
