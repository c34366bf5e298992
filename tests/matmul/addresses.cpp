#include "tests/matmul/batches.hpp"
#include "tests/matmul/epilogues.hpp"
#include "tests/matmul/rungs.hpp"
#include "tests/support/random.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

// C at every address: rows that begin where packets do or elsewhere, back to back or apart, and neighbours that lie apart.
namespace heddle {
namespace {

using test::layout;
using test::matmul_device;
using test::operands;
using test::shape;
using enum matmul_algorithm;

class matmul_to_any_address : public matmul_device {
  protected:
    /// With an epilogue that asks for the row and the column of an element, or without one.
    template <class Out, class In>
    void run_and_check(const shape& s, const test::layouts& lie, const matmul_options& with,
                       bool has_epilogue) {
        operands<Out, In> p(s, lie);
        run_and_check(p, lie, with, has_epilogue);
    }
    template <class Out, class In>
    void run_and_check(operands<Out, In>& p, const test::layouts& lie, const matmul_options& with,
                       bool has_epilogue) {
        const shape& s = p.s;
        SCOPED_TRACE(text(s) + " " + test::type_name<In>() + " to " + test::type_name<Out>() + ", tile " +
                     std::to_string(with.tile) + ", beta " + std::to_string(with.beta) + ", C in columns " +
                     std::to_string(lie.c.is_transposed) + ", offset " + std::to_string(lie.c.offset) +
                     ", padding " + std::to_string(lie.c.padding) + ", step " + std::to_string(lie.c.step) +
                     (has_epilogue ? ", epilogue" : ""));
        if (!has_epilogue) {
            p.multiply(*stream_, with);
            expect_close(p, with);
            p.expect_intact();
            return;
        }
        test::epilogue_terms<Out> terms(s);
        const auto epilogue = terms.epilogue(matmul_activation::relu, 1.5f, draw(0, 1) == 0);
        p.prepare_c(with.beta);
        matmul<Out, In>(p.a.matrix(), p.b.matrix(), p.c.matrix(), epilogue, *stream_, with);
        test::synchronize(*stream_, text(s));
        terms.expect_close(p, with, epilogue, [](double sum, double of_sum, std::size_t, std::size_t) {
            return std::pair(std::max(sum, 0.0), of_sum);
        });
    }

    /// Rows of C of every length about those of packets and tiles, from drawn places within a packet on.
    template <class Out, class In>
    void run_every_address(matmul_options with, std::int64_t tiles, std::int64_t most_rows) {
        for (std::int64_t tile = -1; tile < tiles; ++tile)
            for (const std::int64_t n : {1, 2, 3, 4, 7, 8, 9, 16, 31, 33, 64, 65, 129})
                for (const std::int64_t offset : {draw(0, 7), draw(0, 7)}) {
                    const shape drawn{draw(1, most_rows), n, draw(1, 70)};
                    const shape s = draw(0, 3) == 0 ? shape{n, drawn.m, drawn.k} : drawn;
                    const auto any = [&](std::int64_t rows, std::int64_t cols) {
                        const bool is_transposed = draw(0, 1) == 0;
                        return draw(0, 1) == 0 ? test::in_packets(rows, cols, is_transposed)
                                               : layout{is_transposed, draw(0, 1) * draw(1, 9), draw(0, 8)};
                    };
                    const layout c{draw(0, 1) == 0, draw(0, 1) * draw(1, 9), offset, draw(0, 7) == 0 ? 2 : 1};
                    with.alpha = with.alpha == 0 ? 0 : draw(0, 1) == 0 ? 1.0f : -1.5f;
                    with.beta = draw(0, 2) == 0 ? 0.0f : 0.5f;
                    with.tile = static_cast<int>(tile);
                    const test::layouts lie{any(s.m, s.k), any(s.k, s.n), c};
                    operands<Out, In> p(s, lie);
                    matmul_options fitting = with;
                    // The largest tile reads packets alone.
                    if (!p.why_not(with).empty()) fitting.tile = -1;
                    ASSERT_NO_FATAL_FAILURE(run_and_check(p, lie, fitting, draw(0, 2) == 0));
                    if (HasFailure()) return;
                }
    }

    test::drawing draw;
};

TEST_F(matmul_to_any_address, is_right_in_every_tile_of_thin) {
    run_every_address<float, float>({.algorithm = thin}, std::ssize(matmul_tiles(thin)), 600);
}
TEST_F(matmul_to_any_address, is_right_in_every_tile_of_mma_sync) {
    run_every_address<half, half>({.algorithm = mma_sync}, std::ssize(matmul_tiles(mma_sync)), 300);
}
TEST_F(matmul_to_any_address, is_right_in_every_tile_of_mma_sync_to_float) {
    run_every_address<float, bfloat16>({.algorithm = mma_sync}, std::ssize(matmul_tiles(mma_sync)), 300);
}
TEST_F(matmul_to_any_address, is_right_where_nothing_is_multiplied) {
    const matmul_options scaling{.alpha = 0, .algorithm = naive};
    run_every_address<float, float>(scaling, 0, 300);
    run_every_address<half, half>(scaling, 0, 300);
    run_every_address<float, bfloat16>(scaling, 0, 300);
    // More than a block has in a row, and more rows than a grid is high.
    for (const shape& s : {shape{3, 5003, 1}, {70001, 9, 1}, {70001, 1, 1}})
        for (const std::int64_t offset : {0, 1, 6, 7})
            for (const std::int64_t padding : {0, 1}) {
                matmul_options with = scaling;
                with.beta = 0.5f;
                const test::layouts lie{{}, {}, {false, padding, offset}};
                run_and_check<half, half>(s, lie, with, false);
                run_and_check<float, float>(s, lie, with, offset % 2 == 1);
            }
}

/// Short rows back to back, in matrices that begin anywhere.
TEST_F(matmul_to_any_address, is_right_in_each_matrix_of_a_batch) {
    const auto run = [&]<class Out, class In>(matmul_algorithm algorithm, float alpha) {
        for (const shape& s : {shape{300, 8, 8}, {300, 5, 9}, {33, 32, 17}, {257, 3, 40}, {70, 129, 8}})
            for (const std::int64_t gap : {0, 1, 2, 3})
                for (const std::int64_t padding : {0, 3})
                    for (const float beta : {0.0f, 0.5f}) {
                        SCOPED_TRACE(text(s) + ", gap " + std::to_string(gap) + ", padding " +
                                     std::to_string(padding));
                        const layout c{false, padding, draw(0, 4)};
                        test::batch_operands<Out, In> p({s, 5, {{}, {}, c}, gap});
                        const matmul_options with{.alpha = alpha, .beta = beta, .algorithm = algorithm};
                        p.multiply(*stream_, with);
                        p.expect_close(p.expected(alpha, beta), with);
                        p.expect_intact();
                        if (HasFailure()) return;
                    }
    };
    run.operator()<float, float>(thin, 1.5f);
    run.operator()<half, half>(mma_sync, 1.5f);
    run.operator()<float, bfloat16>(mma_sync, 1.5f);
    run.operator()<float, float>(naive, 0.0f);
    run.operator()<half, half>(naive, 0.0f);
}

/// What has one line has no stride: whatever is given, nothing is read from there.
TEST_F(matmul_to_any_address, takes_any_stride_of_a_single_line) {
    for (const std::int64_t padding : {0, 1, 3})
        for (int bits = 0; bits < 8; ++bits) {
            const layout a{(bits & 1) != 0, padding}, b{(bits & 2) != 0, padding},
                c{(bits & 4) != 0, padding};
            for (const shape& s : {shape{64, 72, 1}, {1, 64, 40}, {40, 1, 64}}) {
                matmul_options with{.beta = 0.5f, .algorithm = thin};
                run_and_check<float, float>(s, {a, b, c}, with, false);
                with.algorithm = mma_sync;
                run_and_check<half, half>(s, {a, b, c}, with, false);
            }
        }
}

}  // namespace
}  // namespace heddle
