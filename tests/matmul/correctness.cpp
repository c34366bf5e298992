#include "tests/matmul/rungs.hpp"

#include <string>

namespace heddle {
namespace {

using test::layout;
using test::matmul_rung;
using test::shape;

INSTANTIATE_TEST_SUITE_P(all, matmul_rung, testing::ValuesIn(test::every_rung(element_type::f32)),
                         test::name_of_rung);

TEST_P(matmul_rung, is_right_around_every_tile_edge) {
    for (const shape& s : {shape{1, 1, 1},
                           {2, 3, 5},
                           {15, 17, 7},
                           {16, 16, 16},
                           {31, 33, 15},
                           {32, 32, 32},
                           {33, 31, 17},
                           {63, 65, 31},
                           {64, 64, 64},
                           {127, 129, 33},
                           {128, 128, 16},
                           {129, 127, 47},
                           {255, 257, 65},
                           {257, 130, 100}})
        run(s);
}

TEST_P(matmul_rung, is_right_when_thin) {
    for (const shape& s : {shape{1, 1000, 70},
                           {1000, 1, 70},
                           {3, 500, 1},
                           {500, 2, 3},
                           {5, 2500, 300},
                           {2500, 16, 270},
                           {1, 4096, 700},
                           {4100, 3, 700}})
        run(s);
}

TEST_P(matmul_rung, is_right_when_deep) {
    for (const shape& s : {shape{1, 1, 4099},
                           {17, 19, 2051},
                           {16, 300, 5200},
                           {2, 40, 13000},
                           {64, 64, 9001},
                           {130, 70, 1003},
                           {140, 260, 7000}})
        run(s);
}

TEST_P(matmul_rung, takes_every_transposition) {
    for (const shape& s : {shape{67, 45, 39}, {128, 132, 64}, {132, 260, 328}, {131, 259, 327}})
        for (int bits = 0; bits < 8; ++bits) {
            SCOPED_TRACE("transposed A, B, C: " + std::to_string(bits));
            run(s, test::transposed_by(bits));
        }
}

TEST_P(matmul_rung, takes_padded_rows_and_any_alignment) {
    const shape s{130, 70, 51};
    for (std::int64_t offset = 0; offset < 4; ++offset)
        for (std::int64_t padding : {0, 1, 3, 13}) {
            SCOPED_TRACE("offset " + std::to_string(offset) + ", padding " + std::to_string(padding));
            run(s, {{false, padding, offset}, {false, padding, 0}, {false, padding, 0}});
            run(s, {{false, padding, 0}, {true, padding, offset}, {false, padding, offset}});
        }
}

TEST_P(matmul_rung, takes_strides_in_both_dimensions_or_says_so) {
    const shape s = fitted({37, 29, 23});
    const layout apart{false, 3, 1, 2};
    run_and_check<float, float>(s, {apart, {}, {}}, options());
    run_and_check<float, float>(s, {apart, apart, apart}, options(1, 2));
    run(s, {{}, {}, apart});
    run({37, 29, 2300}, {{}, {}, apart}, options(1, 2));
}

TEST_P(matmul_rung, scales_by_alpha_and_beta) {
    for (const float alpha : {-1.5f, 1.0f})
        for (const float beta : {1.0f, 0.25f}) run({70, 66, 40}, {}, options(alpha, beta));
}

}  // namespace
}  // namespace heddle
