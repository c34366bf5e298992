#include "tests/support/provoked.hpp"
#include "tests/support/random.hpp"
#include <heddle/device.hpp>
#include <heddle/matmul.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

// What `automatic` chooses can run, whatever the problem and the device; what cannot run says why. No device is needed.
namespace heddle {
namespace {

device_traits device_of(const char* name, int major, int minor, int sm_count, std::size_t shared_kibibytes) {
    return {.name = name,
            .compute_capability_major = major,
            .compute_capability_minor = minor,
            .sm_count = sm_count,
            .max_threads_per_sm = 2048,
            .registers_per_sm = 65536,
            .shared_memory_per_sm = (shared_kibibytes + 1) * 1024,
            .shared_memory_per_block = 48 * 1024,
            .shared_memory_per_block_optin = shared_kibibytes * 1024};
}

const std::array devices = {
    device_of("of 7.5", 7, 5, 40, 64),
    device_of("of 8.0", 8, 0, 108, 163),
    device_of("of 8.6", 8, 6, 84, 99),
    device_of("of 9.0", 9, 0, 132, 227),
    device_of("of 9.0, a small part", 9, 0, 16, 227),
    device_of("of 10.0", 10, 0, 148, 227),
    device_of("of 12.0", 12, 0, 170, 99),
};

std::string text(const matmul_problem& p) {
    return fmt::format(
        "{} x {} x {}, type {}, unit stride {}, tensor maps {}, along k {}, workspace {}, epilogue {}, "
        "stores "
        "operands' type {}, {} batches, countable {}, precision {}",
        p.m, p.n, p.k, static_cast<int>(p.operands), p.unit_stride, p.tensor_maps, p.along_k, p.has_workspace,
        p.has_epilogue, p.stores_operand_type, p.batches, p.countable_by_int, to_string(p.precision));
}

/// Problems as calls describe them: the facts agree with one another.
class problems {
  public:
    matmul_problem next() {
        matmul_problem p{extent(), extent(), extent()};
        const std::size_t place = draw(60);  // two such extents would be too many elements
        if (place < 3) *std::array{&p.m, &p.n, &p.k}[place] = beyond_32_bits();
        constexpr std::int64_t most_of_tensor_maps = std::numeric_limits<std::int32_t>::max() - 1024;
        p.operands = one_of<element_type>({element_type::f32, element_type::f16, element_type::bf16});
        p.countable_by_int = std::max({p.m, p.n, p.k}) <= most_of_tensor_maps;
        p.unit_stride = draw(4) > 0;
        p.tensor_maps = p.unit_stride && p.countable_by_int && draw(3) > 0;
        p.along_k = p.tensor_maps && draw(2) > 0;
        p.has_workspace = draw(2) > 0;
        if (p.operands != element_type::f32) {
            p.has_epilogue = draw(2) > 0;
            p.stores_operand_type = draw(2) > 0;
            p.batches = one_of<std::int64_t>({1, 1, 1, 0, 2, 100});
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
    /// None, few, some, many.
    std::int64_t extent() {
        const std::int64_t large = one_of<std::int64_t>({16, 64, 65, 256, 1024, 4096, 16384});
        if (draw(20) == 0) return 0;
        return 1 + static_cast<std::int64_t>(draw(static_cast<std::size_t>(large)));
    }

    std::mt19937_64 generator_{test::seed()};
};

constexpr int draws = 20000;

TEST(matmul_select, never_answers_a_rung_that_cannot_run) {
    problems problems;
    for (int i = 0; i < draws; ++i) {
        const matmul_problem problem = problems.next();
        for (const device_traits& device : devices) {
            const matmul_algorithm chosen = select(problem, device);
            ASSERT_NE(chosen, matmul_algorithm::automatic) << text(problem) << ' ' << device.name;
            ASSERT_EQ(why_not(chosen, problem, device), "") << text(problem) << ' ' << device.name;
        }
    }
}

/// Or else the test above would be of a few problems alone.
TEST(matmul_select, answers_every_rung_that_it_may_for_some_problem) {
    using enum matmul_algorithm;
    std::set<matmul_algorithm> chosen;
    problems problems;
    for (int i = 0; i < draws; ++i) {
        const matmul_problem problem = problems.next();
        for (const device_traits& device : devices) chosen.insert(select(problem, device));
    }
    for (const matmul_algorithm each : {naive, warp_tiled, pipelined, split_k, wmma, mma_sync})
        EXPECT_TRUE(chosen.contains(each)) << to_string(each);
    if (HEDDLE_COMPILED_FOR_90 == 0) return;
    for (const matmul_algorithm each :
         {tma_pipelined, bf16x6, fp16x3, tf32, padded, persistent, stream_k, skinny, fused})
        EXPECT_TRUE(chosen.contains(each)) << to_string(each);
}

TEST(matmul_workspace, is_asked_for_by_rungs_that_can_run_alone) {
    problems problems;
    for (int i = 0; i < draws / 10; ++i) {
        matmul_problem problem = problems.next();
        problem.has_workspace = true;
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

TEST(matmul_why_not, names_the_rung) {
    problems problems;
    for (int i = 0; i < draws / 10; ++i) {
        const matmul_problem problem = problems.next();
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
    const device_traits &turing = devices[0], &ampere = devices[1], &hopper = devices[3],
                        &blackwell = devices[5];
    const matmul_problem product{512, 512, 512};
    const matmul_problem halves{512, 512, 512, element_type::f16};
    EXPECT_EQ(why_not(automatic, product, turing), "");
    EXPECT_EQ(why_not(naive, product, turing), "");
    EXPECT_EQ(why_not(pipelined, product, ampere), "");
    EXPECT_EQ(why_not(pipelined, product, turing),
              "matmul: pipelined needs compute capability 8.0 (cp.async)");
    matmul_problem apart = product;
    apart.unit_stride = apart.tensor_maps = false;
    EXPECT_EQ(why_not(split_k, apart, hopper),
              "matmul: split_k needs the rows or the columns of a and of b side by side (a stride of 1)");
    EXPECT_EQ(why_not(skinny, product, hopper), "matmul: skinny needs m or n of at most 64, of float");
    EXPECT_EQ(why_not(skinny, {16, 512, 512}, ampere),
              "matmul: skinny of float needs 204800 bytes of shared memory");
    EXPECT_EQ(why_not(persistent, product, hopper),
              "matmul: persistent has no kernel for operands of type float");
    EXPECT_EQ(why_not(tf32, {1, 2, 3, element_type::bf16}, hopper),
              "matmul: tf32 has no kernel for operands of type bfloat16");
    for (const device_traits* other : {&turing, &ampere, &blackwell}) {
        EXPECT_EQ(why_not(bf16x6, product, *other),
                  "matmul: bf16x6 needs a device of compute capability 9.0, and heddle built for it");
        EXPECT_EQ(why_not(persistent, halves, *other),
                  "matmul: persistent needs a device of compute capability 9.0, and heddle built for it");
    }
    if (HEDDLE_COMPILED_FOR_90 == 0) return;
    EXPECT_EQ(why_not(fp16x3, product, hopper), "matmul: fp16x3 needs a workspace, and extents below 2^31");
    EXPECT_EQ(
        why_not(padded, product, hopper),
        "matmul: padded needs a workspace, contiguous rows or columns of a and of b, extents below 2^31, no "
        "batch and no epilogue");
    EXPECT_EQ(why_not(skinny, halves, hopper), "matmul: skinny needs m or n of at most 64");
    matmul_problem several = halves;
    several.batches = 2;
    EXPECT_EQ(why_not(persistent, several, hopper), "");
    EXPECT_EQ(why_not(fused, several, hopper),
              "matmul: fused takes no batch: naive, wmma, persistent and cluster_multicast do");
    matmul_problem wider = halves;
    wider.stores_operand_type = false;
    EXPECT_EQ(why_not(fused, wider, hopper), "matmul: fused stores the type of its operands");
    matmul_problem with_epilogue = halves;
    with_epilogue.has_epilogue = true;
    EXPECT_EQ(why_not(fused, with_epilogue, hopper), "");
    EXPECT_EQ(why_not(stream_k, with_epilogue, hopper),
              "matmul: stream_k has no epilogue: naive, wmma, mma_sync, fused and skinny have");
}

TEST(matmul_why_not, refuses_unknown_rungs) {
    EXPECT_EQ(test::invalid_argument_of([] {
                  (void)why_not(static_cast<matmul_algorithm>(99), {1, 2, 3}, devices[0]);
              }),
              "why_not: algorithm is 99, expected an enumerator of matmul_algorithm");
}

}  // namespace
}  // namespace heddle
