#include "tests/matmul/problems.hpp"
#include "tests/support/headers.hpp"

// The rung that `automatic` chooses, and the workspace that changes the choice.
namespace heddle::test {
namespace {

using enum matmul_algorithm;
using enum place;

/// `automatic` takes the rung for the product, or any other rung.
struct choice {
    product of;
    matmul_algorithm rung;
    bool is = true;
};
choice never(const product& of, matmul_algorithm rung) {
    return {of, rung, false};
}

void expect_choices(std::initializer_list<choice> all, const device_traits& on = hopper) {
    for (const auto& [of, rung, is] : all)
        EXPECT_EQ(select(of, on) == rung, is)
            << of << ": " << to_string(select(of, on)) << ", and not " << to_string(rung);
}

/// `automatic` takes the kernel for the product.
struct kernel_choice {
    product of;
    std::string_view kernel;
};
void expect_kernels(std::initializer_list<kernel_choice> all, const device_traits& on = hopper) {
    for (const auto& [of, kernel] : all) EXPECT_EQ(select_kernel(of, on), kernel) << of;
}

std::int64_t bytes_of(const matmul_problem& problem) {
    return matmul_workspace_bytes(problem, hopper);
}

product strict(std::int64_t m, std::int64_t n, std::int64_t k) {
    return {m, n, k, element_type::f32, precision::ieee, odd};
}
product strict(std::int64_t size) {
    return strict(size, size, size);
}
product floats(std::int64_t size) {
    return {size, size, size};
}
product normwise(std::int64_t m, std::int64_t n, std::int64_t k) {
    return {m, n, k, element_type::f32, precision::fp32_normwise};
}
product halves(std::int64_t m, std::int64_t n, std::int64_t k) {
    return {m, n, k, element_type::f16};
}
product brains(std::int64_t m, std::int64_t n, std::int64_t k) {
    return {m, n, k, element_type::bf16};
}

TEST(matmul_select, prefers_the_pipelined_rung_where_it_can_run) {
    for (const std::int64_t size : {64, 512, 4096, 100000})
        expect_choices({{strict(size), size > 64 ? pipelined : packed},
                        {strict(size).at(apart), size > 512 ? warp_tiled : packed}});
    expect_choices({never(floats(512), pipelined)}, turing);
}

TEST(matmul_select, takes_no_tile_that_needs_more_shared_memory_than_there_is) {
    device_traits large = hopper;
    large.compute_capability_major = 8;
    large.sm_count = 128;
    device_traits small = large;  // 8.6, 8.9 and 12.0 have 99 KB a block
    small.shared_memory_per_block_optin = 99 * 1024;
    const product problem = strict(1000).with_scratch();
    for (const std::string_view kernel : {"pipelined 64x128", "split_k 64x128"}) {  // 128 KB
        EXPECT_EQ(why_not(matmul_algorithm::automatic, problem, large, kernel), "");
        EXPECT_NE(why_not(matmul_algorithm::automatic, problem, small, kernel), "");
        EXPECT_NE(select_kernel(problem, small), kernel);
    }
}

TEST(matmul_select, fetches_large_tiles_by_tensor_maps) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    for (const std::int64_t size : {512, 2048, 4096, 8192}) {
        expect_choices(
            {{strict(size), pipelined}, {strict(size).at(along_k), size > 512 ? tma_pipelined : pipelined}});
        expect_choices({never(strict(size).at(along_k), tma_pipelined)}, ampere);
    }
    // Few tiles are split along k if there is a workspace.
    for (const product& few : {strict(8192, 128, 8192), strict(128, 8192, 4096), strict(4100)}) {
        const product problem = few.at(along_k).with_scratch();
        expect_choices({{problem, tma_pipelined}});
        expect_choices({never(problem, tma_pipelined)}, ampere);
        EXPECT_GT(bytes_of(problem), 0) << problem;
    }
    const product whole = strict(4096).at(along_k).with_scratch();
    EXPECT_EQ(bytes_of(whole), 0);
    // Rows at odd addresses are copied.
    const product in_odd_rows = strict(4097, 4099, 4101);
    EXPECT_GT(bytes_of(in_odd_rows), std::int64_t{4} * 2 * 4097 * 4101);
    expect_choices({{whole, tma_pipelined},
                    {strict(8192, 128, 8192).at(along_k), pipelined},
                    never(in_odd_rows, tma_pipelined),
                    {in_odd_rows.with_scratch(), tma_pipelined},
                    never(in_odd_rows.with_scratch().at(apart), tma_pipelined)});
}

TEST(matmul_select, shares_a_c_of_few_tiles_along_k_where_there_is_a_workspace) {
    for (const product& few : {strict(64, 64, 65536), strict(64, 4096, 11008), strict(384, 384, 4096)}) {
        EXPECT_GT(bytes_of(few), 0) << few;
        EXPECT_LE(bytes_of(few), std::int64_t{32} << 20) << few;
        expect_choices({never(few, split_k),
                        {few.with_scratch(), split_k},
                        never(few.with_scratch().at(apart), split_k)});
    }
    for (const product& small : {strict(128), strict(64, 64, 16)}) {
        expect_choices({never(small.with_scratch(), split_k)});
        EXPECT_EQ(bytes_of(small.with_scratch()), 0) << small;
    }
}

TEST(matmul_select, reads_what_is_thin_at_the_memory_s_rate) {
    expect_choices({{strict(2, 4096, 4096), skinny},
                    {strict(4096, 2, 4096), skinny},
                    {strict(16, 4096, 4096), skinny},
                    {strict(64, 64, 65536), skinny},
                    {strict(64, 4096, 11008), pipelined},
                    {strict(16, 1 << 20, 16), thin},
                    never(strict(65, 65, 65536), skinny)});  // no skinny side
    device_traits small = hopper;
    small.shared_memory_per_block_optin = 163 * 1024;
    expect_choices({{strict(16, 4096, 4096), pipelined}}, small);
}

/// The choice holds for any result, and where the operands cannot be boxes. Other rungs may read large lines as fast.
TEST(matmul_select, reads_what_is_a_line_by_a_rung_for_lines) {
    const std::set of_lines = {vector, skinny, thin, mma_sync};
    const std::array<std::int64_t, 8> extents = {1, 2, 16, 64, 100, 1000, 4096, 100000};
    for (const std::int64_t side : extents)
        for (const std::int64_t k : extents) {
            if (side * k > 1'000'000) continue;
            for (const element_type operands : {element_type::f32, element_type::f16, element_type::bf16})
                for (const place place : {odd, apart})
                    for (int bits = 0; bits < 8; ++bits) {
                        product p{1, side, k, operands};
                        p.place = place;
                        p.has_scratch = (bits & 1) != 0;
                        p.has_epilogue = (bits & 2) != 0;
                        p.precision = (bits & 4) != 0 ? precision::tf32 : precision::fp32;
                        ASSERT_TRUE(of_lines.contains(select(p, hopper))) << p;
                        std::swap(p.m, p.n);
                        ASSERT_TRUE(of_lines.contains(select(p, hopper))) << p;
                    }
        }
}

TEST(matmul_select, takes_narrow_tiles_where_memory_is_the_limit) {
    for (const product& narrow : {strict(65536, 32, 512), strict(100000, 32, 32), strict(524288, 8, 32)}) {
        expect_choices({{narrow, thin},
                        {narrow.at(along_k).with_scratch(), thin},
                        never(narrow.at(apart).with_scratch(), thin)});
        expect_choices({{narrow, thin}}, ampere);
    }
    for (const std::int64_t size : {128, 512, 2048, 8192}) expect_choices({never(strict(size), thin)});
}

/// The stores of C are the limit, wherever its rows begin, and the kernel is the one that fits its columns.
TEST(matmul_select, streams_a_c_of_a_short_k) {
    for (const place place : {along_k, across_k, odd, apart})
        for (const device_traits* device : {&hopper, &ampere})
            expect_kernels({{strict(4096, 4096, 17).at(place), "stream 128x128"},
                            {strict(500'000, 229, 7).at(place), "stream 128x128"},
                            {strict(300'000, 80, 8).at(place), "stream 128x128"},
                            {strict(300'000, 40, 8).at(place), "stream 128x64"},
                            {strict(20, 300'000, 4).at(place), "stream 32x128"}},
                           *device);
    matmul_problem shares_b = strict(808, 80, 8).of(320);
    shares_b.b_stride = 0;
    EXPECT_EQ(select_kernel(shares_b, hopper), "stream 128x128");
    expect_choices({never(strict(4096, 4096, 65), stream), never(strict(64, 64, 16), stream)});
}

TEST(matmul_select, splits_what_is_large_and_deep_enough) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    for (const std::int64_t size : {1000, 2048, 4096, 16384}) expect_choices({{floats(size), bf16x6}});
    for (const std::int64_t size : {64, 256, 512})
        expect_choices({{floats(size), size > 256 ? pipelined : packed}});
    const product few_tiles{64, 4096, 11008};            // 32 tiles for 132 multiprocessors
    expect_choices({{{4096, 4096, 511}, tma_pipelined},  // bf16x6 is less exact here
                    {{4096, 4096, 512}, bf16x6},
                    {few_tiles, pipelined},
                    {few_tiles.with_scratch(), bf16x6}});  // then they are split along k
    EXPECT_GT(bytes_of(few_tiles.with_scratch()), 132 * 128 * 128 * 4);
}

TEST(matmul_select, takes_problems_of_nothing_and_devices_of_next_to_nothing) {
    for (const auto precision : {precision::ieee, precision::fp32, precision::fp32_normwise, precision::tf32})
        for (const bool has_scratch : {false, true}) {
            product problem{0, 1024, 1024, element_type::f32, precision, along_k, has_scratch};
            EXPECT_EQ(select(problem, hopper), naive);
            EXPECT_EQ(bytes_of(problem), 0);
            problem.m = problem.n = 16;
            const device_traits smallest{.sm_count = 1};
            EXPECT_NE(select(problem, smallest), matmul_algorithm::automatic);
            EXPECT_GE(matmul_workspace_bytes(problem, smallest), 0);
        }
}

TEST(matmul_select, takes_halves_where_errors_may_be_normwise) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    const product problem = normwise(4096, 4096, 4096), with_scratch = problem.with_scratch();
    EXPECT_GT(bytes_of(problem), 2 * 4 * 4096 * 4096);
    expect_choices({{problem, bf16x6},  // there is no workspace
                    {with_scratch, fp16x3},
                    {with_scratch.at(apart), fp16x3},  // it copies them anyway
                    never(with_scratch.at(apart).in(precision::fp32), fp16x3),
                    never(with_scratch.at(apart).in(precision::ieee), fp16x3),
                    {normwise(4096, 4096, 500), tf32x3}});  // k is too short for bf16x6
}

TEST(matmul_select, takes_the_tensor_cores_of_ampere_where_they_are_fast) {
    for (const std::int64_t size : {2048, 4096, 16384})
        expect_choices({{normwise(size, size, size), tf32x3}}, ampere);
    for (const std::int64_t size : {64, 256})
        expect_choices({{normwise(size, size, size), size == 64 ? packed : pipelined}}, ampere);
    const product large = normwise(4096, 4096, 4096);
    expect_choices({{floats(4096), pipelined}, {large.at(apart), warp_tiled}}, ampere);
    device_traits later = ampere;
    for (const int minor : {6, 9}) {
        later.compute_capability_minor = minor;
        expect_choices({{large, pipelined}}, later);
    }
}

TEST(matmul_select, copies_operands_at_odd_addresses_where_there_is_a_workspace) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    const product in_odd_rows{4097, 4099, 4101, element_type::f32, precision::fp32, odd};
    expect_choices({{in_odd_rows, pipelined}, {in_odd_rows.with_scratch(), bf16x6}});
    EXPECT_GE(bytes_of(in_odd_rows), 4 * (4097 * 4104 + 4101 * 4100));
    EXPECT_LT(bytes_of(floats(4096)), 4 * 4096 * 4096);  // no copy
}

TEST(matmul_select, takes_tf32_only_where_it_is_asked_for) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    for (const std::int64_t size : {1024, 2048, 4096, 16384}) {
        const product asked = floats(size).in(precision::tf32), across = asked.at(across_k);
        expect_choices({never(floats(size), tf32),
                        {asked, tf32},
                        never(across, tf32),  // neither operand is contiguous along k: it needs a copy of one
                        {across.with_scratch(), tf32},
                        never(across.with_scratch().at(apart), tf32)});
        expect_choices({never(asked, tf32)}, ampere);
        EXPECT_GE(bytes_of(across), bytes_of(asked) + 4 * size * size);
    }
}

TEST(matmul_select, takes_tf32_of_a_short_side_where_it_is_asked_for) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    for (const product& thin :
         {product{16, 4096, 4096}, {4096, 16, 4096}, {64, 4096, 11008}, {64, 64, 65536}}) {
        const product asked = thin.with_scratch().in(precision::tf32);
        expect_choices({never(thin.with_scratch(), tf32), {asked, tf32}, never(asked.at(apart), tf32)});
    }
}

TEST(matmul_16_bit_select, fills_the_device) {
    expect_choices({{brains(512, 512, 512), cluster_multicast},
                    {brains(8192, 8192, 8192), cluster_multicast},
                    {brains(4096, 4096, 0), naive}});
    for (const std::int64_t size : {1, 16, 1000, 100000})
        expect_choices({never(brains(size, size, size), wmma)});
}

TEST(matmul_16_bit_select, shares_tiles_where_there_is_a_workspace) {
    const product deep = brains(640, 640, 16384);
    expect_choices({never(deep, stream_k), {deep.with_scratch(), stream_k}});
    EXPECT_GT(bytes_of(deep), 0);
    EXPECT_EQ(bytes_of(brains(8448, 4096, 4096)), 0);  // whole rounds
}

TEST(matmul_16_bit_select, takes_what_is_empty) {
    for (const product& problem : {halves(0, 8, 8), halves(8, 0, 8), halves(8, 8, 0)}) {
        expect_choices({{problem, naive}});
        for (const matmul_algorithm each : matmul_algorithms(element_type::f16))
            EXPECT_EQ(matmul_workspace_bytes(problem, hopper, each), 0) << to_string(each);
    }
}

TEST(matmul_select, takes_batches_of_float) {
    const auto batch = [](std::int64_t m, std::int64_t n, std::int64_t k, heddle::precision precision) {
        return product{m, n, k}.in(precision).with_scratch().of(64);
    };
    for (const std::int64_t size : {64, 256, 1024})
        expect_choices({{batch(size, size, size, precision::ieee), pipelined}});
    expect_choices(
        {{batch(2, 1024, 1024, precision::ieee), thin}, {batch(1024, 2, 1024, precision::ieee), thin}});
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    expect_choices({{batch(1024, 1024, 1024, precision::fp32), bf16x6},
                    {batch(256, 256, 256, precision::tf32), matmul_algorithm::tf32}});
}

TEST(matmul_16_bit_select, shares_few_tiles_with_an_epilogue) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    const auto bytes = [](const product& p) {
        return matmul_workspace_bytes(p.changed(&product::has_epilogue, true), hopper, fused);
    };
    EXPECT_GT(bytes(halves(130, 264, 4032)), 0);
    EXPECT_EQ(bytes(halves(4096, 4096, 4032)), 0);
}

TEST(matmul_16_bit_select, copies_and_shares_batches_where_there_is_a_workspace) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    const product well = halves(120, 112, 128).of(4096), in_odd_rows = well.at(odd);
    const product deep = brains(16, 16, 2104944).at(odd).with_scratch().of(10);
    expect_choices({{in_odd_rows, mma_sync}, never(in_odd_rows.with_scratch(), mma_sync), {deep, stream_k}});
    EXPECT_GE(bytes_of(in_odd_rows.with_scratch()), 4096 * 2 * 128 * (120 + 112));
    matmul_problem shared = in_odd_rows.with_scratch();
    shared.a_stride = shared.b_stride = 0;
    EXPECT_LT(bytes_of(shared), 2 * 2 * 128 * (120 + 112));
    matmul_problem overlapping = in_odd_rows.with_scratch();
    overlapping.a_stride = 1;
    EXPECT_EQ(select(overlapping, hopper), mma_sync);

    matmul_problem uneven = well;
    ++uneven.b_stride;  // the first B is aligned, and the next one is not
    EXPECT_EQ(select(uneven, hopper), mma_sync);
    uneven.has_scratch = true;
    EXPECT_NE(select(uneven, hopper), mma_sync);
}

/// Such a tile wastes less, and a multiprocessor has many of them at a time.
TEST(matmul_select, takes_small_tiles_of_many_small_matrices) {
    const product many = halves(32, 16, 8).of(65536), odd_floats = floats(31).at(odd).of(10'007);
    expect_choices({{many, mma_sync}, {halves(64, 64, 64).of(512), mma_sync}});
    expect_choices({{many, mma_sync}}, ampere);
    expect_kernels({{floats(64).of(512), "pipelined 64x64"},
                    {odd_floats, "packed 32x32"},
                    {strict(304, 128, 128).of(213), "pipelined 64x64"},
                    {strict(4, 16, 16).of(32), "packed 16x16"}});
    expect_kernels({{odd_floats, "packed 32x32"}}, ampere);
}

/// The time is that of the start: tiles are small, and warps share each along k.
TEST(matmul_select, takes_small_tiles_of_a_small_matrix) {
    for (const place place : {along_k, across_k, odd})
        for (const bool has_epilogue : {false, true}) {
            const auto lies = [=](const product& p) {
                return p.at(place).changed(&product::has_epilogue, has_epilogue);
            };
            for (const product& small : {strict(19, 17, 179), strict(189, 117, 88)}) {
                expect_kernels({{lies(small), "packed 16x16"}});
                EXPECT_EQ(bytes_of(lies(small)), 0) << small;
            }
            expect_choices({{lies(strict(539, 2427, 3)), stream}});
        }
    for (const product& large : {strict(1024), strict(2048), strict(8192)})
        expect_choices({never(large, packed)});
}

TEST(matmul_16_bit_select, asks_for_one_workspace_however_c_lies) {
    for (const matmul_algorithm each : matmul_algorithms(element_type::f16))
        EXPECT_EQ(matmul_workspace_bytes(halves(640, 256, 8192), hopper, each),
                  matmul_workspace_bytes(halves(256, 640, 8192), hopper, each))
            << to_string(each);
}

TEST(matmul_16_bit_select, turns_a_short_side_into_n) {
    for (const std::int64_t side : {2, 8, 16, 64})
        expect_choices({{brains(side, 4096, 4096), skinny}, {brains(2048, side, 4096), skinny}});
    // A tall product keeps its multiprocessors busy with whole tiles.
    for (const std::int64_t rows : {25088, 100352, 802816})
        expect_choices({never(brains(rows, 64, 256), skinny)});
    expect_choices({never(brains(65, 4096, 4096), skinny)});
}

/// A workspace begins at a multiple of 16 bytes, copies at one of 128.
TEST(matmul_workspace_of_copies, holds_what_aligns_them) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    constexpr std::int64_t tickets = 4096, copies = 2 * 512 * 512 * 2;
    EXPECT_EQ(matmul_workspace_bytes(halves(512, 512, 512).at(odd), hopper, wgmma_tma),
              tickets + copies + 128 - 16);
}

TEST(matmul_16_bit_select, takes_mma_sync_and_wmma_where_nothing_faster_can_run) {
    const product problem = halves(512, 512, 512), copied = problem.at(odd).with_scratch();
    expect_choices({{problem, wmma}}, turing);
    expect_choices({{problem, mma_sync}, {problem.at(odd), mma_sync}}, ampere);
    expect_choices({{problem.at(odd), mma_sync}, never(copied, mma_sync), {copied.at(apart), wmma}});
    EXPECT_EQ(why_not(cluster_multicast, copied, hopper), "");
    EXPECT_GE(bytes_of(copied), 2 * 512 * 512 * 2);
}

}  // namespace
}  // namespace heddle::test
