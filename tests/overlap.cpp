#include "src/overlap.hpp"

#include "tests/support/headers.hpp"

#include <bitset>

// The one test of whether two views share a byte, compared with all bytes of both.
namespace heddle::detail {
namespace {

struct drawn_view {
    std::uintptr_t begin;
    std::int64_t run;
    std::size_t element_bytes;
    std::vector<strided> dimensions;

    footprint lies() const {
        const auto at = [&](std::size_t i) { return i < dimensions.size() ? dimensions[i] : strided{1, -7}; };
        return {begin, run, {at(0), at(1), at(2), at(3), at(4)}, element_bytes};
    }
};

using bytes = std::bitset<1 << 15>;

void add(bytes& all, const drawn_view& v, std::uintptr_t begin, std::size_t dimension = 0) {
    const auto size = static_cast<std::int64_t>(v.element_bytes);
    if (dimension == v.dimensions.size()) {
        for (std::int64_t i = 0; i < v.run * size; ++i) all.set(begin + static_cast<std::uintptr_t>(i));
        return;
    }
    const auto [extent, stride] = v.dimensions[dimension];
    for (std::int64_t i = 0; i < extent; ++i)
        add(all, v, begin + static_cast<std::uintptr_t>(i * stride * size), dimension + 1);
}

bytes bytes_of(const drawn_view& v) {
    bytes all;
    add(all, v, v.begin);
    return all;
}

class drawn_views {
  public:
    /// A view of 1 to 5 dimensions, in any order. Strides step over all within, with or without gaps, or are any.
    drawn_view operator()() {
        drawn_view v{static_cast<std::uintptr_t>(draw_(0, 400)),
                     draw_(1, 3),
                     static_cast<std::size_t>(draw_(1, 8)),
                     {}};
        const bool is_nested = draw_(0, 3) > 0;
        const std::int64_t most = draw_(2, 4);
        std::int64_t span = v.run;
        for (std::int64_t rank = draw_(0, 4); rank > 0; --rank) {
            strided d{draw_(0, 60) == 0 ? 0 : draw_(1, most), 0};
            if (is_nested)
                d.stride = span + draw_(0, 1) * draw_(0, 6);
            else
                d.stride = draw_(0, 30);
            if (d.extent == 1) d.stride = draw_(-9, 9);
            if (d.extent > 1) span += (d.extent - 1) * d.stride;
            v.dimensions.push_back(d);
        }
        std::ranges::shuffle(v.dimensions, shuffler_);
        return v;
    }

    /// A view that is likely to lie between another's elements: it has the same strides in any order, and other
    /// extents.
    drawn_view beside(const drawn_view& other) {
        drawn_view v = other;
        v.begin += static_cast<std::uintptr_t>(draw_(0, 80));
        v.run = draw_(1, other.run);
        for (strided& d : v.dimensions)
            if (draw_(0, 2) == 0) d.extent = draw_(1, 4);
        for (strided& d : v.dimensions) d.stride = std::max<std::int64_t>(d.stride, 0);
        std::ranges::shuffle(v.dimensions, shuffler_);
        return v;
    }

    bool coin() { return draw_(0, 1) == 0; }

  private:
    test::drawing draw_;
    std::mt19937_64 shuffler_{test::seed()};
};

TEST(overlap, is_exactly_where_two_views_share_a_byte) {
    drawn_views draw;
    int shared = 0, between = 0;
    for (int i = 0; i < 300000; ++i) {
        const drawn_view a = draw(), b = draw.coin() ? draw() : draw.beside(a);
        const footprint of_a = a.lies(), of_b = b.lies();
        const bytes all_a = bytes_of(a), all_b = bytes_of(b);
        const bool share = (all_a & all_b).any();
        ASSERT_EQ(overlap(of_a, of_b), share) << "draw " << i;
        ASSERT_EQ(overlap(of_b, of_a), share) << "draw " << i;
        ASSERT_EQ(of_a.empty(), all_a.none()) << "draw " << i;
        shared += share ? 1 : 0;
        between += !share && !of_a.empty() && !of_b.empty() && of_a.begin < of_b.end && of_b.begin < of_a.end;
    }
    EXPECT_GT(shared, 10000);
    EXPECT_GT(between, 10000);
}

TEST(overlap, is_found_by_the_first_multiple_in_a_range) {
    for (std::uintptr_t modulus = 2; modulus <= 24; ++modulus)
        for (std::uintptr_t factor = 0; factor < modulus; ++factor)
            for (std::uintptr_t low = 1; low < modulus; ++low)
                for (std::uintptr_t high = low; high < modulus; ++high) {
                    std::uintptr_t x = 0;
                    while (x < modulus && (x * factor % modulus < low || x * factor % modulus > high)) ++x;
                    if (x == modulus) x = UINTPTR_MAX;
                    ASSERT_EQ(first_multiple_in(factor, modulus, low, high), x)
                        << factor << " modulo " << modulus << " in " << low << " to " << high;
                }
}

/// The sums of three strides, each up to 19 times.
std::set<std::int64_t> sums_of(const std::array<std::int64_t, 3>& strides) {
    std::set<std::int64_t> all;
    for (std::int64_t i = 0; i < 20; ++i)
        for (std::int64_t j = 0; j < 20; ++j)
            for (std::int64_t k = 0; k < 20; ++k)
                all.insert(i * strides[0] + j * strides[1] + k * strides[2]);
    return all;
}

TEST(overlap, is_assumed_where_it_takes_too_long_to_tell) {
    const std::array<std::int64_t, 3> a{71234567, 39876541, 12345677}, b{83456789, 27654321, 15432107};
    const std::int64_t apart = 500000001;
    const std::set<std::int64_t> of_a = sums_of(a);
    for (const std::int64_t sum : sums_of(b)) ASSERT_FALSE(of_a.contains(apart + sum));
    const auto lies = [](std::uintptr_t begin, const std::array<std::int64_t, 3>& strides) {
        return footprint(begin, 1, {{20, strides[0]}, {20, strides[1]}, {20, strides[2]}}, 1);
    };
    EXPECT_TRUE(overlap(lies(1, a), lies(1 + apart, b)));
}

// Images of 2^30 bytes and more: the even bytes are one view's and the odd bytes the other's.
constexpr std::int64_t side = 1 << 15;
constexpr footprint even(4096, side - 1, {{side, side}, {1000, 2 * side* side}}, 1);
constexpr footprint odd(4096 + side * side, side - 2, {{side, side}, {1000, 2 * side* side}}, 1);
constexpr footprint odd_of_other_rows(4096 + side * side, 3,
                                      {{side / 2, 4}, {side / 3, 2 * side + 7}, {1000, 2 * side* side}}, 1);
static_assert(!overlap(even, odd));
static_assert(!overlap(even, odd_of_other_rows));
static_assert(overlap(even, footprint(4096 + side * side - side, side, {{2, side}}, 1)));
static_assert(!overlap(even, footprint(4096 + side * side - 1, 1, {{2, side}}, 1)));
static_assert(!overlap(footprint(), even) && !overlap(even, footprint()));

// The largest distances that 63 bits count.
constexpr std::int64_t far = std::int64_t{1} << 60;
static_assert(overlap(footprint(1, 1, {{far, 7}}, 1), footprint(2, 1, {{far - 1, 8}}, 1)));
static_assert(overlap(footprint(1, 1, {{far, 6}}, 1), footprint(3, 1, {{far / 2, 8}, {2, 4}}, 1)));
static_assert(!overlap(footprint(1, 1, {{far, 6}}, 1), footprint(2, 1, {{far / 2, 9}, {2, 3}}, 1)));
static_assert(!overlap(footprint(1, 1, {{far, 6}}, 1), footprint(2, 2, {{far / 2, 12}, {2, 6}}, 1)));

}  // namespace
}  // namespace heddle::detail
