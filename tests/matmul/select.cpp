#include "tests/matmul/problems.hpp"
#include "tests/support/headers.hpp"

// The choice of `automatic` can run, for any problem and device; a rung that cannot run says why. No device is needed.
namespace heddle::test {
namespace {

const std::array devices = {
    turing,
    ampere,
    described_device("8.6", 8, 6, 84, 99),
    hopper,
    described_device("9.0, a small part", 9, 0, 16, 227),
    blackwell,
    described_device("12.0", 12, 0, 170, 99),
};

/// Problems like those of calls: their facts agree with one another.
class problems {
  public:
    product next() {
        product p{extent(), extent(), extent()};
        const std::size_t vast = draw(60);  // two such extents would have too many elements
        if (vast < 3) *std::array{&p.m, &p.n, &p.k}[vast] = beyond_32_bits();
        p.operands = one_of<element_type>({element_type::f32, element_type::f16, element_type::bf16});
        p.place = one_of<place>({place::along_k, place::across_k, place::odd, place::apart});
        p.has_scratch = draw(2) > 0;
        p.batches = one_of<std::int64_t>({1, 1, 1, 0, 2, 100});
        if (p.operands != element_type::f32) {
            p.has_epilogue = draw(2) > 0;
            p.stores_operand_type = draw(2) > 0;
        } else {
            p.precision = one_of<precision>(
                {precision::ieee, precision::fp32, precision::fp32_normwise, precision::tf32});
        }
        return p;
    }

  private:
    std::size_t draw(std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(generator_);
    }
    template <class T>
    T one_of(const std::vector<T>& values) {
        return values[draw(values.size())];
    }
    std::int64_t beyond_32_bits() { return (std::int64_t{1} << 31) + static_cast<std::int64_t>(draw(1000)); }
    /// An extent of none, few, some or many.
    std::int64_t extent() {
        const std::int64_t large = one_of<std::int64_t>({16, 64, 65, 256, 1024, 4096, 16384});
        if (draw(20) == 0) return 0;
        return 1 + static_cast<std::int64_t>(draw(static_cast<std::size_t>(large)));
    }

    std::mt19937_64 generator_{seed()};
};

/// Calls check(problem, device) for so many problems and all devices, until it fails.
template <class Check>
void for_drawn_problems(int draws, Check check) {
    problems problems;
    for (int i = 0; i < draws; ++i) {
        const product problem = problems.next();
        for (const device_traits& device : devices) {
            check(problem, device);
            ASSERT_FALSE(testing::Test::HasFailure()) << problem << ' ' << device.name;
        }
    }
}
constexpr int draws = 20000;

TEST(matmul_select, never_answers_a_rung_that_cannot_run) {
    for_drawn_problems(draws, [](const product& problem, const device_traits& device) {
        const matmul_algorithm chosen = select(problem, device);
        EXPECT_NE(chosen, matmul_algorithm::automatic);
        EXPECT_EQ(why_not(chosen, problem, device), "");
    });
}

/// Ensures that the test above covers more than a few problems.
TEST(matmul_select, answers_every_rung_that_it_may_for_some_problem) {
    using enum matmul_algorithm;
    std::set<matmul_algorithm> chosen;
    for_drawn_problems(draws, [&](const product& problem, const device_traits& device) {
        chosen.insert(select(problem, device));
    });
    for (const matmul_algorithm each :
         {naive, warp_tiled, pipelined, split_k, thin, stream, packed, wmma, mma_sync})
        EXPECT_TRUE(chosen.contains(each)) << to_string(each);
    if (HEDDLE_COMPILED_FOR_90 == 0) return;
    for (const matmul_algorithm each :
         {tma_pipelined, bf16x6, fp16x3, tf32, persistent, stream_k, skinny, fused, vector})
        EXPECT_TRUE(chosen.contains(each)) << to_string(each);
}

TEST(matmul_workspace, is_asked_for_by_rungs_that_can_run_alone) {
    for_drawn_problems(draws / 10, [](const product& drawn, const device_traits& device) {
        const product problem = drawn.with_scratch();
        for (const matmul_algorithm each : matmul_algorithms(problem.operands)) {
            const std::int64_t bytes = matmul_workspace_bytes(problem, device, each);
            EXPECT_GE(bytes, 0) << to_string(each);
            if (!why_not(each, problem, device).empty()) {
                EXPECT_EQ(bytes, 0) << to_string(each);
            }
        }
    });
}

std::string rung_of(std::string_view kernel) {
    return std::string(kernel.substr(0, kernel.find(' ')));
}

TEST(matmul_kernels, begin_with_their_rung) {
    for (const element_type operands : {element_type::f32, element_type::f16}) {
        std::vector<std::string_view> all;
        for (const matmul_algorithm each : matmul_algorithms(operands)) {
            const auto kernels = matmul_kernels(operands, each);
            EXPECT_FALSE(kernels.empty()) << to_string(each);
            for (const std::string_view kernel : kernels) EXPECT_EQ(rung_of(kernel), to_string(each));
            if (kernels.size() == 1) {
                EXPECT_EQ(kernels[0], to_string(each));
            }
            all.insert(all.end(), kernels.begin(), kernels.end());
        }
        EXPECT_TRUE(std::ranges::equal(all, matmul_kernels(operands)));
        EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
    }
    EXPECT_TRUE(matmul_kernels(element_type::f32, matmul_algorithm::persistent).empty());
}

TEST(matmul_select_kernel, answers_one_of_the_rung_that_is_chosen) {
    for_drawn_problems(draws / 10, [](const product& problem, const device_traits& device) {
        const std::string_view chosen = select_kernel(problem, device);
        EXPECT_EQ(rung_of(chosen), to_string(select(problem, device)));
        EXPECT_EQ(why_not(matmul_algorithm::automatic, problem, device, chosen), "");
    });
}

TEST(matmul_select_kernel, takes_the_kernel_that_is_asked_for) {
    for (const element_type operands : {element_type::f32, element_type::f16})
        for (const std::int64_t rows : {600, 60, 1}) {
            matmul_problem problem = product{rows, 600, 600, operands};
            problem.has_scratch = true;
            for (const device_traits& device : devices)
                for (const matmul_algorithm rung : matmul_algorithms(operands))
                    for (const std::string_view kernel : matmul_kernels(operands, rung))
                        for (const matmul_algorithm each : {rung, matmul_algorithm::automatic}) {
                            SCOPED_TRACE(fmt::format("{}, {} rows, {}", kernel, rows, device.name));
                            if (why_not(each, problem, device, kernel).empty()) {
                                EXPECT_EQ(select_kernel(problem, device, each, kernel), kernel);
                                EXPECT_GE(matmul_workspace_bytes(problem, device, each, kernel), 0);
                            } else {
                                EXPECT_THROW((void)select_kernel(problem, device, each, kernel), unsupported);
                                EXPECT_EQ(matmul_workspace_bytes(problem, device, each, kernel), 0);
                            }
                        }
        }
}

TEST(matmul_select_kernel, refuses_unknown_kernels) {
    using enum matmul_algorithm;
    const product halves{1, 2, 3, element_type::f16};
    const auto text_of = [&](matmul_algorithm rung, std::string_view kernel) {
        return invalid_argument_of([&] { (void)select_kernel(halves, turing, rung, kernel); });
    };
    for (const std::string kernel : {"persistent 1x1", "persistent 128", "stream_k 64x64", "64x64"})
        EXPECT_EQ(text_of(persistent, kernel),
                  "select_kernel: kernel is " + kernel +
                      ", expected one of persistent 128x256, persistent 128x128, persistent 64x64");
    expect_error("why_not: kernel is mma_sync, expected one of wmma",
                 [&] { (void)why_not(wmma, halves, turing, "mma_sync"); });
}

TEST(matmul_why_not, names_the_rung) {
    for_drawn_problems(draws / 10, [](const product& problem, const device_traits& device) {
        for (const element_type type : {element_type::f32, element_type::f16})
            for (const matmul_algorithm each : matmul_algorithms(type)) {
                const std::string reason = why_not(each, problem, device);
                EXPECT_TRUE(reason.empty() || reason.starts_with(fmt::format("matmul: {} ", to_string(each))))
                    << reason;
            }
    });
}

/// What a rung, or its kernel, lacks for a product: the words that follow "matmul: ", or nothing.
struct lack {
    matmul_algorithm rung;
    product of;
    std::string text = {};
    std::string_view kernel = {};
};
void expect_lacks(const device_traits& device, std::initializer_list<lack> all) {
    for (const auto& [rung, of, lacks, kernel] : all)
        EXPECT_EQ(lack_in(why_not(rung, of, device, kernel)), lacks.empty() ? "" : "matmul: " + lacks) << of;
}

TEST(matmul_why_not, says_what_a_rung_needs) {
    using enum matmul_algorithm;
    const product floats{512, 512, 512}, halves{512, 512, 512, element_type::f16};
    const product several = halves.of(2), of_float = floats.of(2);
    const product apart = floats.at(place::apart), short_apart = apart.changed(&product::k, 64);
    constexpr std::int64_t many = std::int64_t{1} << 19;  // 2^30 tiles of 16 x 16
    const std::string counts_tiles = " needs at most 2^30 of its tiles of C, in all of a batch";
    expect_lacks(turing, {{automatic, floats},
                          {naive, floats},
                          {pipelined, floats, "pipelined needs compute capability 8.0"},
                          {stream, {512, 512, 64}, "stream needs compute capability 8.0"},
                          {packed, floats, "packed needs compute capability 8.0"},
                          {vector, {2, 1, 512}},
                          {vector, {1, 2, 512, element_type::bf16}}});
    expect_lacks(ampere,
                 {{pipelined, floats},
                  {skinny, {16, 512, 512}, "skinny of float needs 204800 bytes of shared memory"},
                  {stream, short_apart},
                  {stream, {512, 512, 65}, "stream needs a k of at most 64"},
                  {packed, short_apart},
                  {packed, {many, many, 1}, {}, "packed 16x16"},
                  {packed, {many, many + 1, 1}, "packed 16x16" + counts_tiles, "packed 16x16"},
                  {packed, {many, many + 1, 1}},
                  {packed, product{1, 1, 1}.of((std::int64_t{1} << 30) + 1), "packed" + counts_tiles}});
    expect_lacks(
        hopper,
        {{split_k, apart, "split_k needs the rows or the columns of a and of b side by side (a stride of 1)"},
         {skinny, floats, "skinny needs m or n of at most 64"},
         {vector, {2, 2, 512}, "vector needs m or n of 1"},
         {persistent, floats, "persistent has no kernel for operands of type float"},
         {tf32, {1, 2, 3, element_type::bf16}, "tf32 has no kernel for operands of type bfloat16"}});
    for (const device_traits* other : {&turing, &ampere, &blackwell})
        expect_lacks(
            *other,
            {{bf16x6, floats, "bf16x6 needs a device of compute capability 9.0, and heddle built for it"},
             {persistent, halves,
              "persistent needs a device of compute capability 9.0, and heddle built for it"}});
    if (HEDDLE_COMPILED_FOR_90 == 0) return;
    const product odd = floats.at(place::odd);
    EXPECT_NE(why_not(bf16x6, odd, hopper), "");
    const std::string takes_no_batch = " takes no batch: those that batched_matmul() names do";
    expect_lacks(hopper,
                 {{fp16x3, floats, "fp16x3 needs scratch memory"},
                  {tma_pipelined, odd,
                   "tma_pipelined needs rows or columns of a and of b that are contiguous and begin at "
                   "multiples of 16 "
                   "bytes, in each matrix of a batch, or scratch memory for copies that do, unless matrices "
                   "of a batch "
                   "overlap; and extents below 2^31"},
                  {bf16x6, odd.with_scratch()},
                  {skinny, halves, "skinny needs m or n of at most 64"},
                  {persistent, several},
                  {fused, several, "fused" + takes_no_batch},
                  {tf32, of_float, {}, "tf32 128x128"},
                  {tf32, of_float, "tf32 skinny" + takes_no_batch, "tf32 skinny"},
                  {fused, halves.changed(&product::stores_operand_type, false)},
                  {wgmma_tma, halves.changed(&product::stores_operand_type, false),
                   "wgmma_tma stores the type of its operands"},
                  {fused, halves.changed(&product::has_epilogue, true)},
                  {stream_k, halves.changed(&product::has_epilogue, true), "stream_k has no epilogue"}});
    for (const auto rung : {coalesced, tiled, tma_pipelined, tf32x3, fp16x3})
        expect_lacks(hopper, {{rung, of_float, std::string(to_string(rung)) + takes_no_batch}});
}

TEST(matmul_why_not, says_what_was_given) {
    using enum matmul_algorithm;
    EXPECT_EQ(why_not(pipelined, product{512, 100, 64}, turing),
              "matmul: pipelined needs compute capability 8.0; given: a (rows 512, cols 64), b (rows 64, "
              "cols 100), c (rows 512, cols 100), operands float, has_scratch false, compute capability 7.5");
    matmul_problem problem = product{.m = 128,
                                     .n = 66,
                                     .k = 64,
                                     .operands = element_type::bf16,
                                     .place = place::odd,
                                     .has_scratch = true,
                                     .has_epilogue = true,
                                     .stores_operand_type = false,
                                     .batches = 2};
    problem.adds_c = true;
    EXPECT_EQ(why_not(skinny, problem, turing),
              "matmul: skinny needs a device of compute capability 9.0, and heddle built for it; given: a "
              "(rows 128, cols 64, alignment 2), b (rows 64, cols 66, row_stride 72, alignment 2), c (rows "
              "128, cols 66, row_stride 72), operands bfloat16, result float, batches 2, a_stride 8192, "
              "b_stride 4608, c_stride 9216, has_epilogue true, adds_c true, compute capability 7.5");
    problem = product{
        .m = 2, .n = 3, .k = 8, .precision = precision::ieee, .place = place::across_k, .has_scratch = true};
    EXPECT_EQ(why_not(vector, problem, turing),
              "matmul: vector needs m or n of 1; given: a (rows 2, cols 8, row_stride 1, col_stride 4), b "
              "(rows 8, cols 3, row_stride 4), c (rows 2, cols 3, row_stride 4), operands float, precision "
              "ieee, compute capability 7.5");
}

/// The rungs that cannot run a product on a Hopper device, even with a workspace.
std::set<matmul_algorithm> refused(const product& p) {
    std::set<matmul_algorithm> rungs;
    for (const matmul_algorithm each : matmul_algorithms(p.operands))
        if (!why_not(each, p.with_scratch(), hopper).empty()) rungs.insert(each);
    return rungs;
}

TEST(matmul_why_not, lets_the_other_rungs_run) {
    using enum matmul_algorithm;
    using rungs = std::set<matmul_algorithm>;
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    const product floats{16, 16, 16}, halves{16, 16, 16, element_type::f16};
    EXPECT_EQ(refused({1, 16, 16}), rungs{});
    EXPECT_EQ(refused(floats), rungs{vector});
    EXPECT_EQ(refused(product{65, 65, 65}.at(place::odd)), (rungs{skinny, vector, stream}));
    EXPECT_EQ(refused(floats.at(place::apart)),
              (rungs{pipelined, tma_pipelined, split_k, thin, tf32x3, bf16x6, tf32, vector}));
    EXPECT_EQ(refused({16, 1, 16, element_type::f16}), rungs{});
    EXPECT_EQ(refused(halves), rungs{vector});
    EXPECT_EQ(refused({65, 65, 65, element_type::f16}), (rungs{skinny, vector}));
    EXPECT_EQ(refused(halves.at(place::odd)), rungs{vector});
    EXPECT_EQ(refused(halves.at(place::apart)), (rungs{mma_sync, wgmma_tma, warp_specialized, persistent,
                                                       cluster_multicast, stream_k, skinny, fused, vector}));
    EXPECT_EQ(refused(halves.changed(&product::stores_operand_type, false)),
              (rungs{wgmma_tma, warp_specialized, vector}));
    EXPECT_EQ(refused(halves.changed(&product::has_epilogue, true)),
              (rungs{wgmma_tma, warp_specialized, persistent, cluster_multicast, stream_k, vector}));
}

}  // namespace
}  // namespace heddle::test
