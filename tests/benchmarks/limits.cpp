#include "benchmarks/limits.hpp"

#include "tests/support/headers.hpp"

namespace heddle::bench {
namespace {

constexpr auto cold = temperature::cold, hot = temperature::hot;

/// Copies take 2 us plus 1 s for 1e12 bytes, at two footprints. Reading is twice as fast, and writing half as fast.
ceilings measured() {
    ceilings all;
    for (const double bytes : {1e6, 4e6}) {
        const double copy = bytes / (2e-6 + bytes / 1e12);
        all.add({"dram_copy", bytes, cold, copy});
        all.add({"dram_read", bytes, cold, 2 * copy});
        all.add({"dram_write", bytes, cold, copy / 2});
        all.add({"dram_copy", bytes, hot, 10 * copy});
    }
    all.add({"ffma", 0, cold, 1e13});
    all.add({"tensor_f16", 0, cold, 6e13});
    all.add({"tensor_f16", 0, hot, 5e13});
    all.add({"tensor_bf16", 0, cold, 6e13});
    return all;
}

TEST(Ceilings, AreThoseThatWereMeasured) {
    EXPECT_EQ(measured().per_second("ffma", cold), 1e13);
    EXPECT_EQ(measured().per_second("ffma", hot), std::nullopt);
    EXPECT_EQ(measured().per_second("fp64", cold), std::nullopt);
    EXPECT_EQ(measured().per_second("dram_copy", cold), std::nullopt) << "only by its bytes";
    EXPECT_EQ(measured().per_second("dram_write", hot, 1e6), std::nullopt);
}

TEST(Ceilings, TheLastOfANameAndItsBytesCounts) {
    ceilings all = measured();
    all.add({"ffma", 0, cold, 2e13});
    EXPECT_EQ(all.per_second("ffma", cold), 2e13);
}

TEST(Ceilings, RefuseWhatIsNoRate) {
    ceilings all;
    for (const double rate : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_THROW(all.add({"ffma", 0, cold, rate}), std::invalid_argument);
}

TEST(Ceilings, TheLogarithmOfTheTimeIsLinearInThatOfTheBytes) {
    const double less = 3e-6, more = 6e-6;  // times for 1e6 and 4e6 bytes
    const auto seconds = [](double bytes) {
        return bytes / *measured().per_second("dram_copy", cold, bytes);
    };
    EXPECT_DOUBLE_EQ(seconds(1e6), less);
    EXPECT_DOUBLE_EQ(seconds(4e6), more);
    EXPECT_NEAR(seconds(2e6), std::sqrt(less * more), 1e-12);
}

TEST(Ceilings, BeyondTheLeastAndTheGreatestTheRateIsTheirs) {
    EXPECT_EQ(measured().per_second("dram_copy", cold, 1), measured().per_second("dram_copy", cold, 1e6));
    EXPECT_EQ(measured().per_second("dram_copy", cold, 1e9), measured().per_second("dram_copy", cold, 4e6));
}

TEST(CeilingOf, IsNothingForARowOfAnotherOperation) {
    EXPECT_FALSE(ceiling_of({"add/f32/1024", 8192, 4096}, cold, 1e-6));
}

TEST(CeilingOf, OfMemoryHasBytes) {
    const auto copy = ceiling_of({"ceiling/dram_copy/4000000", 2e6, 2e6}, hot, 2e-6);
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->name, "dram_copy");
    EXPECT_EQ(copy->bytes, 4e6);
    EXPECT_EQ(copy->temperature, hot);
    EXPECT_DOUBLE_EQ(copy->per_second, 2e12);
}

TEST(CeilingOf, OfUnitsAndOfLaunchesHasNone) {
    const auto ffma = ceiling_of({.name = "ceiling/ffma", .operations = 3e9, .unit = unit::ffma}, cold, 1e-3);
    ASSERT_TRUE(ffma);
    EXPECT_EQ(ffma->name, "ffma");
    EXPECT_EQ(ffma->bytes, 0);
    EXPECT_DOUBLE_EQ(ffma->per_second, 3e12);

    const auto shared = ceiling_of({"ceiling/shared_memory", 4e9}, cold, 1e-3);
    ASSERT_TRUE(shared);
    EXPECT_EQ(shared->bytes, 0);
    EXPECT_DOUBLE_EQ(shared->per_second, 4e12);

    const auto launch = ceiling_of({"ceiling/launch"}, hot, 2e-6);
    ASSERT_TRUE(launch);
    EXPECT_DOUBLE_EQ(launch->per_second, 5e5);
}

TEST(LimitOf, CopiesAsManyBytesAsAreBothReadAndWritten) {
    const auto copy = limit_of({"copy", 2e6, 2e6}, cold, measured());
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->ceiling, "memory");
    EXPECT_DOUBLE_EQ(copy->seconds, 6e-6);
    EXPECT_DOUBLE_EQ(limit_of({"copy", 2e6, 2e6}, hot, measured())->seconds, 6e-7);
}

TEST(LimitOf, ReadsOrWritesTheRestAtTheRateOfAllBytes) {
    EXPECT_NEAR(limit_of({"add", 3e6, 1e6}, cold, measured())->seconds, 3e-6 + 1.5e-6, 1e-12);
    EXPECT_DOUBLE_EQ(limit_of({"sum", 4e6, 0}, cold, measured())->seconds, 3e-6);
    EXPECT_DOUBLE_EQ(limit_of({"fill", 0, 4e6}, cold, measured())->seconds, 12e-6);
}

TEST(LimitOf, IsNoMoreThanACopyOfAsManyBytes) {
    EXPECT_DOUBLE_EQ(limit_of({"widen", 1e6, 3e6}, cold, measured())->seconds, 6e-6)
        << "3 us + 6 us in parts";
}

TEST(LimitOf, OfACallInPlaceIsAtTheBetterRateOfWhatItTouchesAndOfWhatItMoves) {
    problem in_place{"axpy", 2e6, 2e6};
    in_place.footprint = 1e6;
    EXPECT_DOUBLE_EQ(limit_of(in_place, cold, measured())->seconds, 6e-6) << "at the rate of 4e6 bytes";
    ceilings all = measured();
    all.add({"dram_copy", 1e6, cold, 2e12});
    EXPECT_DOUBLE_EQ(limit_of(in_place, cold, all)->seconds, 2e-6) << "at the rate of 1e6 bytes";
}

TEST(LimitOf, IsTheLargerOfMemoryAndArithmetic) {
    problem product{"matmul", 3e6, 1e6, 6e9, unit::tensor_bf16};
    EXPECT_EQ(limit_of(product, cold, measured())->ceiling, "tensor_bf16");
    EXPECT_DOUBLE_EQ(limit_of(product, cold, measured())->seconds, 1e-4);
    product.operations = 6e7;
    EXPECT_EQ(limit_of(product, cold, measured())->ceiling, "memory");
    EXPECT_NEAR(limit_of(product, cold, measured())->seconds, 3e-6 + 1.5e-6, 1e-12);
}

TEST(LimitOf, OfAFloatProductIsTheFasterWayOfTwo) {
    const problem product{"matmul", 2e6, 2e6, 6e9, unit::tensor_f16, 3};
    EXPECT_EQ(limit_of(product, cold, measured())->ceiling, "tensor_f16");
    EXPECT_DOUBLE_EQ(limit_of(product, cold, measured())->seconds, 3e-4);

    ceilings with_slow_tensor_cores = measured();
    with_slow_tensor_cores.add({"tensor_f16", 0, cold, 2e13});
    EXPECT_EQ(limit_of(product, cold, with_slow_tensor_cores)->ceiling, "ffma");
    EXPECT_DOUBLE_EQ(limit_of(product, cold, with_slow_tensor_cores)->seconds, 6e-4);
    EXPECT_FALSE(limit_of(product, hot, measured())) << "FFMA's was not measured";
}

TEST(LimitOf, IsNothingWhereNothingIsDeclared) {
    EXPECT_FALSE(limit_of({"call/f32/add-1024"}, cold, measured()));
    EXPECT_FALSE(limit_of({.name = "count", .operations = 1e9}, cold, measured())) << "of no unit";
    EXPECT_FALSE(limit_of({"ceiling/shared_memory", 1e6}, cold, measured()));
}

TEST(LimitOf, IsNothingWhereACeilingWasNotMeasured) {
    EXPECT_FALSE(limit_of({"copy", 2e6, 2e6}, cold, {}));
    EXPECT_FALSE(limit_of({"sum", 4e6, 0}, hot, measured()));
    EXPECT_FALSE(limit_of({"product", 2e6, 2e6, 1e9, unit::fp64}, cold, measured()));
    EXPECT_TRUE(limit_of({"copy", 2e6, 2e6}, hot, measured())) << "needs no rate of reading";
}

TEST(BeatsItsLimit, ByMoreThanAFewPerCent) {
    const limit limit{"memory", 100e-6};
    EXPECT_FALSE(beats_its_limit(120e-6, limit));
    EXPECT_FALSE(beats_its_limit(96e-6, limit));
    EXPECT_TRUE(beats_its_limit(94e-6, limit));
}

}  // namespace
}  // namespace heddle::bench
