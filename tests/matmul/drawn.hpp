#pragma once

#include "tests/matmul/operands.hpp"
#include "tests/matmul/problems.hpp"
#include "tests/support/random.hpp"
#include <heddle/matmul.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Calls that are drawn, and every plan of each.
namespace heddle::test {

class drawing_of_products {
  public:
    explicit drawing_of_products(int part = 0) : draw_(static_cast<std::uint64_t>(part)) {}

    std::int64_t operator()(std::int64_t low, std::int64_t high) { return draw_(low, high); }

    /// All sums together have at most so many terms.
    shape next_shape(std::int64_t most_terms) {
        const std::int64_t m = extent(10), n = extent(10);
        return {m, n, std::min(extent(13), std::max<std::int64_t>(1, most_terms / (m * n)))};
    }
    /// Every other time such that the tensor memory accelerator can fetch A and B.
    layouts next_layouts(const shape& s, std::int64_t packet) {
        if (draw_(0, 1) == 0) return in_packets(s, static_cast<int>(draw_(0, 7)), packet);
        return {next_layout(), next_layout(), next_layout()};
    }
    matmul_options next_options() {
        return {.alpha = draw_(0, 1) == 0 ? 1.0f : 0.5f,
                .beta = draw_(0, 1) == 0 ? 0.0f : 0.75f,
                .precision = static_cast<precision>(draw_(0, 3))};
    }

  private:
    /// As often up to 2 as up to 4, up to 8, ...
    std::int64_t extent(std::int64_t bits) { return draw_(1, std::int64_t{1} << draw_(1, bits)); }
    layout next_layout() {
        return {draw_(0, 1) == 0, draw_(0, 1) * draw_(0, 9), draw_(0, 1) * draw_(0, 8),
                draw_(0, 4) == 0 ? draw_(2, 3) : 1};
    }

    drawing draw_;
};

/// check(options) of each rung, and `automatic`, in each of its variants and tiles, until one fails.
template <class Check>
void for_every_plan(element_type operands, matmul_options options, Check check) {
    for (const matmul_algorithm rung : every_rung(operands)) {
        std::vector<std::string_view> variants(matmul_variants(rung).begin(), matmul_variants(rung).end());
        variants.emplace_back();
        const auto tiles = static_cast<int>(matmul_tiles(rung).size());
        for (const std::string_view variant : variants)
            for (int tile = -1; tile < tiles; ++tile) {
                options.algorithm = rung;
                options.variant = variant;
                options.tile = tile;
                SCOPED_TRACE(std::string(to_string(rung)) + ", variant '" + std::string(variant) +
                             "', tile " + std::to_string(tile));
                ASSERT_NO_FATAL_FAILURE(check(options));
            }
    }
}

}  // namespace heddle::test
