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

std::string text(const product& p) {
    return fmt::format(
        "{} x {} x {}, type {}, precision {}, place {}, scratch memory {}, epilogue {}, stores operands' "
        "type {}, "
        "{} batches",
        p.m, p.n, p.k, static_cast<int>(p.operands), to_string(p.precision), static_cast<int>(p.place),
        p.has_scratch, p.has_epilogue, p.stores_operand_type, p.batches);
}

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

constexpr int draws = 20000;

TEST(matmul_select, never_answers_a_rung_that_cannot_run) {
    problems problems;
    for (int i = 0; i < draws; ++i) {
        const product problem = problems.next();
        for (const device_traits& device : devices) {
            const matmul_algorithm chosen = select(problem, device);
            ASSERT_NE(chosen, matmul_algorithm::automatic) << text(problem) << ' ' << device.name;
            ASSERT_EQ(why_not(chosen, problem, device), "") << text(problem) << ' ' << device.name;
        }
    }
}

/// Ensures that the test above covers more than a few problems.
TEST(matmul_select, answers_every_rung_that_it_may_for_some_problem) {
    using enum matmul_algorithm;
    std::set<matmul_algorithm> chosen;
    problems problems;
    for (int i = 0; i < draws; ++i) {
        const product problem = problems.next();
        for (const device_traits& device : devices) chosen.insert(select(problem, device));
    }
    for (const matmul_algorithm each :
         {naive, warp_tiled, pipelined, split_k, thin, stream, packed, wmma, mma_sync})
        EXPECT_TRUE(chosen.contains(each)) << to_string(each);
    if (HEDDLE_COMPILED_FOR_90 == 0) return;
    for (const matmul_algorithm each :
         {tma_pipelined, bf16x6, fp16x3, tf32, persistent, stream_k, skinny, fused, vector})
        EXPECT_TRUE(chosen.contains(each)) << to_string(each);
}

TEST(matmul_workspace, is_asked_for_by_rungs_that_can_run_alone) {
    problems problems;
    for (int i = 0; i < draws / 10; ++i) {
        product problem = problems.next();
        problem.has_scratch = true;
        for (const device_traits& device : devices)
            for (const matmul_algorithm each : matmul_algorithms(problem.operands)) {
                const std::int64_t bytes = matmul_workspace_bytes(problem, device, each);
                ASSERT_GE(bytes, 0) << text(problem) << ' ' << device.name << ' ' << to_string(each);
                if (!why_not(each, problem, device).empty()) {
                    ASSERT_EQ(bytes, 0) << text(problem) << ' ' << device.name << ' ' << to_string(each);
                }
            }
    }
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
    problems problems;
    for (int i = 0; i < draws / 10; ++i) {
        const product problem = problems.next();
        for (const device_traits& device : devices) {
            const std::string_view chosen = select_kernel(problem, device);
            ASSERT_EQ(rung_of(chosen), to_string(select(problem, device)))
                << text(problem) << ' ' << device.name;
            ASSERT_EQ(why_not(matmul_algorithm::automatic, problem, device, chosen), "")
                << text(problem) << ' ' << device.name;
        }
    }
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
    problems problems;
    for (int i = 0; i < draws / 10; ++i) {
        const product problem = problems.next();
        for (const device_traits& device : devices)
            for (const element_type type : {element_type::f32, element_type::f16})
                for (const matmul_algorithm each : matmul_algorithms(type)) {
                    const std::string reason = why_not(each, problem, device);
                    if (reason.empty()) continue;
                    ASSERT_EQ(reason.find(fmt::format("matmul: {} ", to_string(each))), 0u)
                        << reason << "; " << text(problem) << ' ' << device.name;
                }
    }
}

TEST(matmul_why_not, says_what_a_rung_needs) {
    using enum matmul_algorithm;
    const auto lack_of = [](matmul_algorithm rung, const product& p, const device_traits& device,
                            std::string_view kernel = {}) {
        return lack_in(why_not(rung, p, device, kernel));
    };
    const product floats{512, 512, 512};
    const product halves{512, 512, 512, element_type::f16};
    EXPECT_EQ(lack_of(automatic, floats, turing), "");
    EXPECT_EQ(lack_of(naive, floats, turing), "");
    EXPECT_EQ(lack_of(pipelined, floats, ampere), "");
    EXPECT_EQ(lack_of(pipelined, floats, turing), "matmul: pipelined needs compute capability 8.0");
    product apart = floats;
    apart.place = place::apart;
    EXPECT_EQ(lack_of(split_k, apart, hopper),
              "matmul: split_k needs the rows or the columns of a and of b side by side (a stride of 1)");
    EXPECT_EQ(lack_of(skinny, floats, hopper), "matmul: skinny needs m or n of at most 64");
    apart.k = 64;
    EXPECT_EQ(lack_of(stream, apart, ampere), "");
    EXPECT_EQ(lack_of(stream, product{512, 512, 65}, ampere), "matmul: stream needs a k of at most 64");
    EXPECT_EQ(lack_of(stream, product{512, 512, 64}, turing), "matmul: stream needs compute capability 8.0");
    EXPECT_EQ(lack_of(packed, apart, ampere), "");
    EXPECT_EQ(lack_of(packed, floats, turing), "matmul: packed needs compute capability 8.0");
    constexpr std::int64_t many = std::int64_t{1} << 19;  // 2^30 tiles of 16 x 16
    EXPECT_EQ(lack_of(packed, product{many, many, 1}, ampere, "packed 16x16"), "");
    EXPECT_EQ(lack_of(packed, product{many, many + 1, 1}, ampere, "packed 16x16"),
              "matmul: packed 16x16 needs at most 2^30 of its tiles of C, in all of a batch");
    EXPECT_EQ(lack_of(packed, product{many, many + 1, 1}, ampere), "");
    product small{1, 1, 1};
    small.batches = (std::int64_t{1} << 30) + 1;
    EXPECT_EQ(lack_of(packed, small, ampere),
              "matmul: packed needs at most 2^30 of its tiles of C, in all of a batch");
    for (const place place : {place::along_k, place::odd, place::apart}) {
        product deep{512, 512, 128, element_type::bf16};
        deep.place = place;
        EXPECT_EQ(lack_of(stream, deep, ampere), "");
        EXPECT_EQ(lack_of(stream, deep, turing), "matmul: stream needs compute capability 8.0");
        deep.k = 129;
        EXPECT_EQ(lack_of(stream, deep, ampere), "matmul: stream needs a k of at most 128");
    }
    EXPECT_EQ(lack_of(tf32, apart, ampere, "tf32 stream"), "");
    EXPECT_EQ(lack_of(tf32, product{512, 512, 65}, ampere, "tf32 stream"),
              "matmul: tf32 stream needs a k of at most 64");
    EXPECT_EQ(lack_of(vector, product{2, 2, 512}, hopper), "matmul: vector needs m or n of 1");
    EXPECT_EQ(lack_of(vector, product{2, 1, 512}, turing), "");
    EXPECT_EQ(lack_of(vector, product{1, 2, 512, element_type::bf16}, turing), "");
    EXPECT_EQ(lack_of(skinny, product{16, 512, 512}, ampere),
              "matmul: skinny of float needs 204800 bytes of shared memory");
    EXPECT_EQ(lack_of(persistent, floats, hopper),
              "matmul: persistent has no kernel for operands of type float");
    EXPECT_EQ(lack_of(tf32, product{1, 2, 3, element_type::bf16}, hopper),
              "matmul: tf32 has no kernel for operands of type bfloat16");
    for (const device_traits* other : {&turing, &ampere, &blackwell}) {
        EXPECT_EQ(lack_of(bf16x6, floats, *other),
                  "matmul: bf16x6 needs a device of compute capability 9.0, and heddle built for it");
        EXPECT_EQ(lack_of(persistent, halves, *other),
                  "matmul: persistent needs a device of compute capability 9.0, and heddle built for it");
    }
    if (HEDDLE_COMPILED_FOR_90 == 0) return;
    EXPECT_EQ(lack_of(fp16x3, floats, hopper), "matmul: fp16x3 needs scratch memory");
    product odd = floats;
    odd.place = place::odd;
    EXPECT_EQ(
        lack_of(tma_pipelined, odd, hopper),
        "matmul: tma_pipelined needs rows or columns of a and of b that are contiguous and begin at "
        "multiples of 16 bytes, in each matrix of a batch, or scratch memory for copies that do, unless "
        "matrices of a batch overlap; and extents below 2^31");
    EXPECT_NE(lack_of(bf16x6, odd, hopper), "");
    odd.has_scratch = true;
    EXPECT_EQ(lack_of(bf16x6, odd, hopper), "");
    EXPECT_EQ(lack_of(skinny, halves, hopper), "matmul: skinny needs m or n of at most 64");
    product several = halves;
    several.batches = 2;
    EXPECT_EQ(lack_of(persistent, several, hopper), "");
    EXPECT_EQ(lack_of(fused, several, hopper),
              "matmul: fused takes no batch: those that batched_matmul() names do");
    several.operands = element_type::f32;
    for (const auto rung : {coalesced, tiled, tma_pipelined, tf32x3, fp16x3})
        EXPECT_EQ(lack_of(rung, several, hopper),
                  "matmul: " + std::string(to_string(rung)) +
                      " takes no batch: those that batched_matmul() names do");
    EXPECT_EQ(lack_of(tf32, several, hopper, "tf32 128x128"), "");
    EXPECT_EQ(lack_of(tf32, several, hopper, "tf32 skinny"),
              "matmul: tf32 skinny takes no batch: those that batched_matmul() names do");
    product wider = halves;
    wider.stores_operand_type = false;
    EXPECT_EQ(lack_of(fused, wider, hopper), "");
    EXPECT_EQ(lack_of(wgmma_tma, wider, hopper), "matmul: wgmma_tma stores the type of its operands");
    product with_epilogue = halves;
    with_epilogue.has_epilogue = true;
    EXPECT_EQ(lack_of(fused, with_epilogue, hopper), "");
    EXPECT_EQ(lack_of(stream_k, with_epilogue, hopper), "matmul: stream_k has no epilogue");
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
std::set<matmul_algorithm> refused(product p) {
    p.has_scratch = true;
    std::set<matmul_algorithm> rungs;
    for (const matmul_algorithm each : matmul_algorithms(p.operands))
        if (!why_not(each, p, hopper).empty()) rungs.insert(each);
    return rungs;
}

TEST(matmul_why_not, lets_the_other_rungs_run) {
    using enum matmul_algorithm;
    using rungs = std::set<matmul_algorithm>;
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    EXPECT_EQ(refused({1, 16, 16}), rungs{});
    EXPECT_EQ(refused({16, 16, 16}), rungs{vector});
    EXPECT_EQ(refused({65, 65, 65, element_type::f32, precision::fp32, place::odd}),
              (rungs{skinny, vector, stream}));
    EXPECT_EQ(refused({16, 16, 16, element_type::f32, precision::fp32, place::apart}),
              (rungs{pipelined, tma_pipelined, split_k, thin, tf32x3, bf16x6, vector}));
    EXPECT_EQ(refused({16, 16, 65, element_type::f32, precision::fp32, place::apart}),
              (rungs{pipelined, tma_pipelined, split_k, thin, stream, tf32x3, bf16x6, tf32, vector}));

    const product halves{16, 16, 16, element_type::f16};
    EXPECT_EQ(refused({16, 1, 16, element_type::f16}), rungs{});
    EXPECT_EQ(refused(halves), rungs{vector});
    EXPECT_EQ(refused({65, 65, 65, element_type::f16}), (rungs{skinny, vector}));
    product other = halves;
    other.place = place::odd;
    EXPECT_EQ(refused(other), rungs{vector});
    other.place = place::apart;
    EXPECT_EQ(refused(other), (rungs{mma_sync, wgmma_tma, warp_specialized, persistent, cluster_multicast,
                                     stream_k, skinny, fused, vector}));
    other = halves;
    other.stores_operand_type = false;
    EXPECT_EQ(refused(other), (rungs{wgmma_tma, warp_specialized, vector}));
    other = halves;
    other.has_epilogue = true;
    EXPECT_EQ(refused(other),
              (rungs{wgmma_tma, warp_specialized, persistent, cluster_multicast, stream_k, vector}));
}

}  // namespace
}  // namespace heddle::test
