#include "tests/matmul/problems.hpp"
#include "tests/support/headers.hpp"

// The rung that `automatic` chooses, and the workspace that changes the choice.
namespace heddle::test {
namespace {

using enum matmul_algorithm;

product strict(std::int64_t m, std::int64_t n, std::int64_t k) {
    return {m, n, k, element_type::f32, precision::ieee, place::odd};
}

TEST(matmul_select, prefers_the_pipelined_rung_where_it_can_run) {
    for (const std::int64_t size : {64, 512, 4096, 100000}) {
        product problem = strict(size, size, size);
        EXPECT_EQ(select(problem, hopper), size > 64 ? pipelined : packed);
        problem.place = place::apart;
        EXPECT_EQ(select(problem, hopper), size > 512 ? warp_tiled : packed);
    }
    EXPECT_NE(select(product{512, 512, 512}, turing), pipelined);
}

TEST(matmul_select, takes_no_tile_that_needs_more_shared_memory_than_there_is) {
    device_traits large = hopper;
    large.compute_capability_major = 8;
    large.sm_count = 128;
    device_traits small = large;  // 8.6, 8.9 and 12.0 have 99 KB a block
    small.shared_memory_per_block_optin = 99 * 1024;
    product problem = strict(1000, 1000, 1000);
    problem.has_scratch = true;
    for (const std::string_view kernel : {"pipelined 64x128", "split_k 64x128"}) {  // 128 KB
        EXPECT_EQ(why_not(matmul_algorithm::automatic, problem, large, kernel), "");
        EXPECT_NE(why_not(matmul_algorithm::automatic, problem, small, kernel), "");
        EXPECT_NE(select_kernel(problem, small), kernel);
    }
}

TEST(matmul_select, fetches_large_tiles_by_tensor_maps) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    for (const std::int64_t size : {512, 2048, 4096, 8192}) {
        product problem = strict(size, size, size);
        EXPECT_EQ(select(problem, hopper), pipelined) << size;
        problem.place = place::along_k;
        EXPECT_EQ(select(problem, hopper), size > 512 ? tma_pipelined : pipelined) << size;
        EXPECT_NE(select(problem, ampere), tma_pipelined) << size;
    }
    // Few tiles are split along k if there is a workspace.
    for (product problem : {strict(8192, 128, 8192), strict(128, 8192, 4096), strict(4100, 4100, 4100)}) {
        SCOPED_TRACE(problem.m);
        problem.place = place::along_k;
        problem.has_scratch = true;
        EXPECT_EQ(select(problem, hopper), tma_pipelined);
        EXPECT_NE(select(problem, ampere), tma_pipelined);
        EXPECT_GT(matmul_workspace_bytes(problem, hopper), 0);
    }
    product whole = strict(4096, 4096, 4096);
    whole.place = place::along_k;
    whole.has_scratch = true;
    EXPECT_EQ(select(whole, hopper), tma_pipelined);
    EXPECT_EQ(matmul_workspace_bytes(whole, hopper), 0);
    product few = strict(8192, 128, 8192);
    few.place = place::along_k;
    EXPECT_EQ(select(few, hopper), pipelined);
    // Rows at odd addresses are copied.
    product odd = strict(4097, 4099, 4101);
    EXPECT_NE(select(odd, hopper), tma_pipelined);
    EXPECT_GT(matmul_workspace_bytes(odd, hopper), std::int64_t{4} * 2 * 4097 * 4101);
    odd.has_scratch = true;
    EXPECT_EQ(select(odd, hopper), tma_pipelined);
    odd.place = place::apart;
    EXPECT_NE(select(odd, hopper), tma_pipelined);
}

TEST(matmul_select, shares_a_c_of_few_tiles_along_k_where_there_is_a_workspace) {
    for (product problem : {strict(64, 64, 65536), strict(64, 4096, 11008), strict(384, 384, 4096)}) {
        SCOPED_TRACE(problem.m);
        EXPECT_NE(select(problem, hopper), split_k);
        EXPECT_GT(matmul_workspace_bytes(problem, hopper), 0);
        EXPECT_LE(matmul_workspace_bytes(problem, hopper), std::int64_t{32} << 20);
        problem.has_scratch = true;
        EXPECT_EQ(select(problem, hopper), split_k);
        problem.place = place::apart;
        EXPECT_NE(select(problem, hopper), split_k);
    }
    for (product problem : {strict(128, 128, 128), strict(64, 64, 16)}) {
        problem.has_scratch = true;
        EXPECT_NE(select(problem, hopper), split_k) << problem.m;
        EXPECT_EQ(matmul_workspace_bytes(problem, hopper), 0);
    }
}

TEST(matmul_select, reads_what_is_thin_at_the_memory_s_rate) {
    for (const auto& problem : {strict(2, 4096, 4096), strict(4096, 2, 4096), strict(16, 4096, 4096)})
        EXPECT_EQ(select(problem, hopper), skinny) << problem.m;
    EXPECT_EQ(select(strict(64, 64, 65536), hopper), skinny);
    EXPECT_EQ(select(strict(64, 4096, 11008), hopper), pipelined);
    EXPECT_EQ(select(strict(16, 1 << 20, 16), hopper), thin);
    device_traits small = hopper;
    small.shared_memory_per_block_optin = 163 * 1024;
    EXPECT_EQ(select(strict(16, 4096, 4096), small), pipelined);
    EXPECT_EQ(select(strict(65, 65, 65536), hopper), pipelined);  // no skinny side
}

/// The choice holds for any result, and where the operands cannot be boxes. Other rungs may read large lines as fast.
TEST(matmul_select, reads_what_is_a_line_by_a_rung_for_lines) {
    const std::set of_lines = {vector, skinny, thin, mma_sync};
    const std::array<std::int64_t, 8> extents = {1, 2, 16, 64, 100, 1000, 4096, 100000};
    for (const std::int64_t side : extents)
        for (const std::int64_t k : extents) {
            if (side * k > 1'000'000) continue;
            for (const element_type operands : {element_type::f32, element_type::f16, element_type::bf16})
                for (const place place : {place::odd, place::apart})
                    for (int bits = 0; bits < 8; ++bits) {
                        product p{1, side, k, operands};
                        p.place = place;
                        p.has_scratch = (bits & 1) != 0;
                        p.has_epilogue = (bits & 2) != 0;
                        p.precision = (bits & 4) != 0 ? precision::tf32 : precision::fp32;
                        ASSERT_TRUE(of_lines.contains(select(p, hopper))) << p.n << ", " << k << ' ' << bits;
                        std::swap(p.m, p.n);
                        ASSERT_TRUE(of_lines.contains(select(p, hopper))) << p.m << ", " << k << ' ' << bits;
                    }
        }
}

TEST(matmul_select, takes_narrow_tiles_where_memory_is_the_limit) {
    for (product problem : {strict(65536, 32, 512), strict(100000, 32, 32), strict(524288, 8, 32)}) {
        SCOPED_TRACE(std::to_string(problem.m) + " x " + std::to_string(problem.n));
        EXPECT_EQ(select(problem, hopper), thin);
        EXPECT_EQ(select(problem, ampere), thin);
        problem.place = place::along_k;
        problem.has_scratch = true;
        EXPECT_EQ(select(problem, hopper), thin);
        problem.place = place::apart;
        EXPECT_NE(select(problem, hopper), thin);
    }
    for (const std::int64_t size : {128, 512, 2048, 8192})
        EXPECT_NE(select(strict(size, size, size), hopper), thin) << size;
}

/// The stores of C are the limit, wherever its rows begin, and the kernel is the one that fits its columns.
TEST(matmul_select, streams_a_c_of_a_short_k) {
    const auto chosen = [](product p, const device_traits& device) {
        return std::string(select_kernel(p, device));
    };
    for (const place place : {place::along_k, place::across_k, place::odd, place::apart})
        for (const device_traits* device : {&hopper, &ampere}) {
            const auto strictly = [=](std::int64_t m, std::int64_t n, std::int64_t k) {
                product p = strict(m, n, k);
                p.place = place;
                return chosen(p, *device);
            };
            EXPECT_EQ(strictly(4096, 4096, 17), "stream 128x128");
            EXPECT_EQ(strictly(500'000, 229, 7), "stream 128x128");
            EXPECT_EQ(strictly(300'000, 80, 8), "stream 128x96");
            EXPECT_EQ(strictly(300'000, 40, 8), "stream 128x64");
            EXPECT_EQ(strictly(20, 300'000, 4), "stream 32x128");
        }
    product batch = strict(808, 80, 8);
    batch.batches = 320;
    matmul_problem shares_b = batch;
    shares_b.b_stride = 0;
    EXPECT_EQ(select_kernel(shares_b, hopper), "stream 128x96");
    EXPECT_NE(select(strict(4096, 4096, 65), hopper), stream);
    EXPECT_NE(select(strict(64, 64, 16), hopper), stream);
}

/// The bytes of C, or of the longer operand, are the limit, wherever rows begin.
TEST(matmul_select, streams_tensor_core_products_of_a_short_k) {
    for (const place place : {place::along_k, place::across_k, place::odd, place::apart}) {
        const auto halves = [=](std::int64_t m, std::int64_t n, std::int64_t k) {
            product p{m, n, k, element_type::f16};
            p.place = place;
            return std::string(select_kernel(p, hopper));
        };
        EXPECT_EQ(halves(65537, 64, 64), "stream mma 128x64");
        EXPECT_EQ(halves(1 << 20, 4, 8), "stream mma 128x64");
        EXPECT_EQ(halves(4, 1 << 20, 8), "stream mma 32x256");
        EXPECT_EQ(halves(4096, 4096, 17).substr(0, 10), "stream mma");
        product floats{302959, 112, 48};
        floats.place = place;
        EXPECT_NE(select(floats, hopper), tf32);
        floats.precision = precision::tf32;
        EXPECT_EQ(select_kernel(floats, hopper), "tf32 stream 128x64");
        EXPECT_EQ(select_kernel(floats, ampere), "tf32 stream 128x64");
    }
    EXPECT_NE(select(product{4096, 4096, 129, element_type::f16}, hopper), stream);
    EXPECT_NE(select(product{64, 64, 64, element_type::f16}, hopper), stream);
}

TEST(matmul_select, splits_what_is_large_and_deep_enough) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    for (const std::int64_t size : {1000, 2048, 4096, 16384})
        EXPECT_EQ(select(product{size, size, size}, hopper), bf16x6) << size;
    for (const std::int64_t size : {64, 256, 512})
        EXPECT_EQ(select(product{size, size, size}, hopper), size > 256 ? pipelined : packed) << size;
    EXPECT_EQ(select(product{4096, 4096, 511}, hopper), tma_pipelined);  // bf16x6 is less exact here
    EXPECT_EQ(select(product{4096, 4096, 512}, hopper), bf16x6);
    product few_tiles{64, 4096, 11008};  // 32 tiles for 132 multiprocessors
    EXPECT_EQ(select(few_tiles, hopper), pipelined);
    few_tiles.has_scratch = true;  // then they are split along k
    EXPECT_EQ(select(few_tiles, hopper), bf16x6);
    EXPECT_GT(matmul_workspace_bytes(few_tiles, hopper), 132 * 128 * 128 * 4);
}

product normwise(std::int64_t m, std::int64_t n, std::int64_t k) {
    return {m, n, k, element_type::f32, precision::fp32_normwise};
}

TEST(matmul_select, takes_problems_of_nothing_and_devices_of_next_to_nothing) {
    for (const auto precision : {precision::ieee, precision::fp32, precision::fp32_normwise, precision::tf32})
        for (const bool has_scratch : {false, true}) {
            product problem{0, 1024, 1024, element_type::f32, precision, place::along_k, has_scratch};
            EXPECT_EQ(select(problem, hopper), naive);
            EXPECT_EQ(matmul_workspace_bytes(problem, hopper), 0);
            problem.m = problem.n = 16;
            const device_traits smallest{.sm_count = 1};
            EXPECT_NE(select(problem, smallest), matmul_algorithm::automatic);
            EXPECT_GE(matmul_workspace_bytes(problem, smallest), 0);
        }
}

TEST(matmul_select, takes_halves_where_errors_may_be_normwise) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    product problem = normwise(4096, 4096, 4096);
    EXPECT_EQ(select(problem, hopper), bf16x6);  // there is no workspace
    EXPECT_GT(matmul_workspace_bytes(problem, hopper), 2 * 4 * 4096 * 4096);
    problem.has_scratch = true;
    EXPECT_EQ(select(problem, hopper), fp16x3);
    problem.place = place::apart;  // it copies them anyway
    EXPECT_EQ(select(problem, hopper), fp16x3);
    problem.precision = precision::fp32;
    EXPECT_NE(select(problem, hopper), fp16x3);
    problem.precision = precision::ieee;
    EXPECT_NE(select(problem, hopper), fp16x3);
    EXPECT_EQ(select(normwise(4096, 4096, 500), hopper), tf32x3);  // k is too short for bf16x6
}

TEST(matmul_select, takes_the_tensor_cores_of_ampere_where_they_are_fast) {
    for (const std::int64_t size : {2048, 4096, 16384})
        EXPECT_EQ(select(normwise(size, size, size), ampere), tf32x3) << size;
    for (const std::int64_t size : {64, 256})
        EXPECT_EQ(select(normwise(size, size, size), ampere), pipelined) << size;
    EXPECT_EQ(select(product{4096, 4096, 4096}, ampere), pipelined);
    product apart = normwise(4096, 4096, 4096);
    apart.place = place::apart;
    EXPECT_EQ(select(apart, ampere), warp_tiled);
    device_traits later = ampere;
    for (const int minor : {6, 9}) {
        later.compute_capability_minor = minor;
        EXPECT_EQ(select(normwise(4096, 4096, 4096), later), pipelined) << minor;
    }
}

TEST(matmul_select, copies_operands_at_odd_addresses_where_there_is_a_workspace) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    product odd{4097, 4099, 4101, element_type::f32, precision::fp32, place::odd};
    EXPECT_EQ(select(odd, hopper), pipelined);
    EXPECT_GE(matmul_workspace_bytes(odd, hopper), 4 * (4097 * 4104 + 4101 * 4100));
    odd.has_scratch = true;
    EXPECT_EQ(select(odd, hopper), bf16x6);
    EXPECT_LT(matmul_workspace_bytes(product{4096, 4096, 4096}, hopper), 4 * 4096 * 4096);  // no copy
}

TEST(matmul_select, takes_tf32_only_where_it_is_asked_for) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    for (const std::int64_t size : {1024, 2048, 4096, 16384}) {
        product problem{size, size, size};
        EXPECT_NE(select(problem, hopper), tf32) << size;
        problem.precision = precision::tf32;
        EXPECT_EQ(select(problem, hopper), tf32) << size;
        const std::int64_t of_sums = matmul_workspace_bytes(problem, hopper);
        EXPECT_NE(select(problem, ampere), tf32) << size;
        // Neither operand is contiguous along k: it needs a copy of one.
        problem.place = place::across_k;
        EXPECT_NE(select(problem, hopper), tf32) << size;
        EXPECT_GE(matmul_workspace_bytes(problem, hopper), of_sums + 4 * size * size);
        problem.has_scratch = true;
        EXPECT_EQ(select(problem, hopper), tf32) << size;
        problem.place = place::apart;
        EXPECT_NE(select(problem, hopper), tf32) << size;
    }
}

TEST(matmul_select, takes_tf32_of_a_short_side_where_it_is_asked_for) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    for (product problem : {product{16, 4096, 4096}, {4096, 16, 4096}, {64, 4096, 11008}, {64, 64, 65536}}) {
        SCOPED_TRACE(std::to_string(problem.m) + " x " + std::to_string(problem.n));
        problem.has_scratch = true;
        EXPECT_NE(select(problem, hopper), tf32);
        problem.precision = precision::tf32;
        EXPECT_EQ(select(problem, hopper), tf32);
        problem.place = place::apart;
        EXPECT_NE(select(problem, hopper), tf32);
    }
}

TEST(matmul_16_bit_select, fills_the_device) {
    const auto choice = [](std::int64_t m, std::int64_t n, std::int64_t k) {
        return select(product{m, n, k, element_type::bf16}, hopper);
    };
    EXPECT_EQ(choice(512, 512, 512), cluster_multicast);
    EXPECT_EQ(choice(8192, 8192, 8192), cluster_multicast);
    EXPECT_EQ(choice(4096, 4096, 0), naive);
    for (const std::int64_t size : {1, 16, 1000, 100000}) EXPECT_NE(choice(size, size, size), wmma);
}

TEST(matmul_16_bit_select, shares_tiles_where_there_is_a_workspace) {
    product deep{640, 640, 16384, element_type::bf16};
    EXPECT_NE(select(deep, hopper), stream_k);
    EXPECT_GT(matmul_workspace_bytes(deep, hopper), 0);
    deep.has_scratch = true;
    EXPECT_EQ(select(deep, hopper), stream_k);
    const product even{8448, 4096, 4096, element_type::bf16};  // whole rounds
    EXPECT_EQ(matmul_workspace_bytes(even, hopper), 0);
}

TEST(matmul_16_bit_select, takes_what_is_empty) {
    for (const product& problem :
         {product{0, 8, 8, element_type::f16}, {8, 0, 8, element_type::f16}, {8, 8, 0, element_type::f16}}) {
        EXPECT_EQ(select(problem, hopper), naive);
        for (const matmul_algorithm each : matmul_algorithms(element_type::f16))
            EXPECT_EQ(matmul_workspace_bytes(problem, hopper, each), 0) << to_string(each);
    }
}

TEST(matmul_select, takes_batches_of_float) {
    const auto chosen = [](std::int64_t m, std::int64_t n, std::int64_t k, heddle::precision precision) {
        return select(
            product{.m = m, .n = n, .k = k, .precision = precision, .has_scratch = true, .batches = 64},
            hopper);
    };
    for (const std::int64_t size : {64, 256, 1024})
        EXPECT_EQ(chosen(size, size, size, precision::ieee), size == 256 ? packed : pipelined) << size;
    EXPECT_EQ(chosen(2, 1024, 1024, precision::ieee), thin);
    EXPECT_EQ(chosen(1024, 2, 1024, precision::ieee), thin);
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    EXPECT_EQ(chosen(1024, 1024, 1024, precision::fp32), bf16x6);
    EXPECT_EQ(chosen(256, 256, 256, precision::tf32), matmul_algorithm::tf32);
}

TEST(matmul_16_bit_select, shares_few_tiles_with_an_epilogue) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    product few{130, 264, 4032, element_type::f16};
    few.has_epilogue = true;
    EXPECT_GT(matmul_workspace_bytes(few, hopper, fused), 0);
    product many = few;
    many.m = many.n = 4096;
    EXPECT_EQ(matmul_workspace_bytes(many, hopper, fused), 0);
}

TEST(matmul_16_bit_select, copies_and_shares_batches_where_there_is_a_workspace) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    product odd{120, 112, 136, element_type::f16, precision::fp32, place::odd};  // k is too long for stream
    odd.batches = 4096;
    EXPECT_EQ(select(odd, hopper), mma_sync);
    odd.has_scratch = true;
    EXPECT_NE(select(odd, hopper), mma_sync);
    EXPECT_GE(matmul_workspace_bytes(odd, hopper), 4096 * 2 * 136 * (120 + 112));
    matmul_problem shared = odd;
    shared.a_stride = shared.b_stride = 0;
    EXPECT_LT(matmul_workspace_bytes(shared, hopper), 2 * 2 * 136 * (120 + 112));
    matmul_problem overlapping = odd;
    overlapping.a_stride = 1;
    EXPECT_EQ(select(overlapping, hopper), mma_sync);

    product well{120, 112, 136, element_type::f16};
    well.batches = 4096;
    matmul_problem uneven = well;
    ++uneven.b_stride;  // the first B is aligned, and the next one is not
    EXPECT_EQ(select(uneven, hopper), mma_sync);
    uneven.has_scratch = true;
    EXPECT_NE(select(uneven, hopper), mma_sync);

    product deep{16, 16, 2104944, element_type::bf16, precision::fp32, place::odd, true};
    deep.batches = 10;
    EXPECT_EQ(select(deep, hopper), stream_k);
}

/// Such a tile wastes less, and a multiprocessor has many of them at a time.
TEST(matmul_select, takes_small_tiles_of_many_small_matrices) {
    product halves{32, 16, 8, element_type::f16};
    halves.batches = 65536;
    EXPECT_EQ(select(halves, hopper), mma_sync);
    EXPECT_EQ(select(halves, ampere), mma_sync);
    halves.batches = 512;
    halves.m = halves.n = halves.k = 64;
    EXPECT_EQ(select(halves, hopper), mma_sync);
    product floats{64, 64, 64};
    floats.batches = 512;
    EXPECT_EQ(select_kernel(floats, hopper), "packed 64x64");
    floats.batches = 10'007;
    floats.m = floats.n = floats.k = 31;
    floats.place = place::odd;
    EXPECT_EQ(select_kernel(floats, hopper), "packed 32x32");
    EXPECT_EQ(select_kernel(floats, ampere), "packed 32x32");
    product deeper = strict(304, 128, 128);
    deeper.batches = 213;
    EXPECT_EQ(select_kernel(deeper, hopper), "packed 64x64");
    product tiny = strict(4, 16, 16);
    tiny.batches = 32;
    EXPECT_EQ(select_kernel(tiny, hopper), "packed 16x16");
}

/// The time is that of the start: tiles are small, and warps share each along k.
TEST(matmul_select, takes_small_tiles_of_a_small_matrix) {
    for (const place place : {place::along_k, place::across_k, place::odd})
        for (const bool has_epilogue : {false, true}) {
            for (product p : {strict(19, 17, 179), strict(189, 117, 88)}) {
                p.place = place;
                p.has_epilogue = has_epilogue;
                EXPECT_EQ(select_kernel(p, hopper), "packed 16x16") << p.m;
                EXPECT_EQ(matmul_workspace_bytes(p, hopper), 0) << p.m;
            }
            product flat = strict(539, 2427, 3);
            flat.place = place;
            flat.has_epilogue = has_epilogue;
            EXPECT_EQ(select(flat, hopper), packed);
        }
    for (const std::int64_t size : {1024, 2048, 8192})
        EXPECT_NE(select(strict(size, size, size), hopper), packed);
    EXPECT_NE(select(strict(65, 65, 65536), hopper), packed);
}

TEST(matmul_16_bit_select, asks_for_one_workspace_however_c_lies) {
    for (const matmul_algorithm each : matmul_algorithms(element_type::f16))
        EXPECT_EQ(matmul_workspace_bytes(product{640, 256, 8192, element_type::f16}, hopper, each),
                  matmul_workspace_bytes(product{256, 640, 8192, element_type::f16}, hopper, each))
            << to_string(each);
}

TEST(matmul_16_bit_select, turns_a_short_side_into_n) {
    for (const std::int64_t side : {2, 8, 16, 64}) {
        SCOPED_TRACE(side);
        EXPECT_EQ(select(product{side, 4096, 4096, element_type::bf16}, hopper), skinny);
        EXPECT_EQ(select(product{2048, side, 4096, element_type::bf16}, hopper), skinny);
    }
    // A tall product keeps its multiprocessors busy with whole tiles.
    for (const std::int64_t rows : {25088, 100352, 802816})
        EXPECT_NE(select(product{rows, 64, 256, element_type::bf16}, hopper), skinny);
    EXPECT_NE(select(product{65, 4096, 4096, element_type::bf16}, hopper), skinny);
}

/// A workspace begins at a multiple of 16 bytes, copies at one of 128.
TEST(matmul_workspace_of_copies, holds_what_aligns_them) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    const product odd{512, 512, 512, element_type::f16, precision::fp32, place::odd};
    constexpr std::int64_t tickets = 4096, copies = 2 * 512 * 512 * 2;
    EXPECT_EQ(matmul_workspace_bytes(odd, hopper, wgmma_tma), tickets + copies + 128 - 16);
}

TEST(matmul_16_bit_select, takes_mma_sync_and_wmma_where_nothing_faster_can_run) {
    product problem{512, 512, 512, element_type::f16};
    EXPECT_EQ(select(problem, turing), wmma);
    EXPECT_EQ(select(problem, ampere), mma_sync);
    problem.place = place::odd;
    EXPECT_EQ(select(problem, ampere), mma_sync);
    EXPECT_EQ(select(problem, hopper), mma_sync);
    problem.has_scratch = true;
    EXPECT_EQ(why_not(cluster_multicast, problem, hopper), "");
    EXPECT_NE(select(problem, hopper), mma_sync);
    EXPECT_GE(matmul_workspace_bytes(problem, hopper), 2 * 512 * 512 * 2);
    problem.place = place::apart;
    EXPECT_EQ(select(problem, hopper), wmma);
}

}  // namespace
}  // namespace heddle::test
