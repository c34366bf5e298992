#include "tests/matmul/rungs.hpp"

#include <string>

namespace heddle {
namespace {

using test::in_packets;
using test::layout;
using test::matmul_16_bit;
using test::shape;

INSTANTIATE_TEST_SUITE_P(all, matmul_16_bit, testing::ValuesIn(test::every_rung(element_type::f16)),
                         test::name_of_rung);

TEST_P(matmul_16_bit, is_right_around_every_tile_edge) {
    for (const shape& s : {shape{1, 1, 1},
                           {2, 3, 5},
                           {15, 17, 7},
                           {63, 65, 63},
                           {64, 64, 64},
                           {65, 63, 65},
                           {127, 129, 33},
                           {128, 128, 128},
                           {129, 159, 72},
                           {129, 191, 129},
                           {130, 193, 255},
                           {255, 255, 257},
                           {256, 256, 320},
                           {257, 257, 100},
                           {200, 320, 88},
                           {258, 321, 136},
                           {385, 513, 40}})
        run_all_types(s);
}

TEST_P(matmul_16_bit, is_right_when_thin_or_deep) {
    for (const shape& s :
         {shape{1, 1000, 70}, {1000, 1, 70}, {1, 1, 4099}, {3, 500, 1}, {500, 2, 3}, {17, 19, 2051}})
        run_all_types(s);
}

TEST_P(matmul_16_bit, takes_every_transposition) {
    for (const shape& s : {shape{67, 45, 39}, {200, 136, 152}})
        for (int bits = 0; bits < 8; ++bits) {
            SCOPED_TRACE("transposed A, B, C: " + std::to_string(bits));
            run_all_types(s, in_packets(s, bits));
        }
}

TEST_P(matmul_16_bit, is_right_when_skinny) {
    for (const std::int64_t side : {1, 7, 8, 15, 16, 17, 63, 64})
        for (int bits = 0; bits < 4; ++bits) {
            SCOPED_TRACE("transposed A, B: " + std::to_string(bits));
            const shape flat{side, 520, 1160}, tall{520, side, 1160};
            for (const shape& s : {flat, tall})
                run_and_check<bfloat16, bfloat16>(s, in_packets(s, bits),
                                                  options(1, bits == 3 ? 0.5f : 0.0f));
        }
    run_all_types({64, 72, 30000});
}

TEST_P(matmul_16_bit, stores_to_any_row_of_c) {
    const shape s{130, 150, 72};
    for (std::int64_t offset = 0; offset < 3; ++offset)
        for (std::int64_t padding : {0, 1, 2, 7}) {
            test::layouts lie = in_packets(s);
            lie.c = {false, padding, offset};
            run_all_types(s, lie, options(1, offset == 1 ? 0.5f : 0.0f));
        }
}

TEST_P(matmul_16_bit, takes_operands_of_any_alignment_or_says_so) {
    const shape s{130, 70, 51};
    for (std::int64_t offset = 0; offset < 3; ++offset) {
        const layout odd{false, 14, offset};
        run_all_types(s, {odd, in_packets(s).b, {}});
        run_all_types(s, {odd, {true, 3, offset}, odd});
        run_all_types(s, {{true, 5, offset}, {false, 3, 0}, {true, 1, offset}}, options(1, 0.5f));
        run_all_types(s, {{false, 3, 1, 2}, {false, 1, 0, 3}, {false, 1, offset, 2}}, options(1, 2));
    }
}

TEST_P(matmul_16_bit, scales_by_alpha_and_beta) {
    const shape s{150, 200, 104};
    for (const float alpha : {-1.5f, 1.0f})
        for (const float beta : {0.0f, 1.0f, 0.25f}) run_all_types(s, in_packets(s), options(alpha, beta));
}

/// C comes in boxes, while others are stored. The last columns do not fill a tile; the second shape has few tiles of a long k, which
/// are shared, and the last one more tiles than there are multiprocessors.
TEST_P(matmul_16_bit, adds_to_c_in_every_tile) {
    const auto tiles = static_cast<int>(matmul_tiles(GetParam()).size());
    for (int tile = -1; tile < tiles; ++tile) {
        SCOPED_TRACE("tile " + std::to_string(tile));
        matmul_options with = options(0.5f, -2);
        with.tile = tile;
        for (const shape& s : {shape{200, 648, 72}, {130, 520, 2000}, {2100, 1048, 64}})
            run_all_types(s, in_packets(s), with);
    }
}

}  // namespace
}  // namespace heddle
