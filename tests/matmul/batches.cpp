#include "tests/matmul/rungs.hpp"
#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

/// A rung, or one of its kernels, and the type of its operands.
struct batch_rung {
    element_type operands;
    matmul_algorithm algorithm;
    std::string_view kernel{};
};

void PrintTo(const batch_rung& rung, std::ostream* out) {
    *out << text_of(rung.algorithm, rung.kernel);
}

/// The rungs that take batches on a Hopper device.
std::vector<batch_rung> batch_rungs() {
    std::vector<batch_rung> all;
    for (const element_type operands : {element_type::f32, element_type::f16}) {
        for (const matmul_algorithm rung : every_rung(operands)) {
            product several = small_product(rung, operands);
            several.batches = 2;
            for (const std::string_view kernel : kernels_to_ask(rung, matmul_kernels(operands, rung)))
                if (why_not(rung, several, hopper, kernel).empty()) all.push_back({operands, rung, kernel});
        }
    }
    return all;
}

std::string name_of_batch_rung(const testing::TestParamInfo<batch_rung>& tested) {
    const auto& [operands, algorithm, kernel] = tested.param;
    std::string name = text_of(algorithm, kernel);
    std::ranges::replace(name, ' ', '_');
    return (operands == element_type::f32 ? "f32_" : "f16_") + name;
}

class batched_matmul_rung : public matmul_device, public testing::WithParamInterface<batch_rung> {
  protected:
    void SetUp() override {
        matmul_device::SetUp();
        if (!is_set_up()) return;
        const auto& [operands, algorithm, kernel] = GetParam();
        const std::string reason =
            why_not(algorithm, small_product(algorithm, operands), traits_of(current_device()), kernel);
        if (!reason.empty()) GTEST_SKIP() << reason;
    }

    matmul_options options() {
        return {.algorithm = GetParam().algorithm, .workspace = *workspace_, .kernel = GetParam().kernel};
    }
};

/// Matrices overlap: elements of one belong to the next ones too.
TEST_P(batched_matmul_rung, takes_matrices_that_overlap_or_says_so) {
    const auto check = [&]<class T>(T) {
        constexpr std::int64_t count = 5, side = 40;
        guarded<T> a(1, side * side + count, side * side + count), b(side, side, side),
            c(count, side * side, side * side);
        const std::vector<T> ones(static_cast<std::size_t>(side * side + count), T(1.0f));
        a.upload(ones);
        b.upload(std::vector<T>(ones.begin(), ones.end() - count));
        const batch_view<const T> as{{a.data(), side, side, side}, count, 1}, bs{b.matrix(), count, 0};
        const batch_view<T> cs{{c.data(), side, side, side}, count, side * side};
        try {
            batched_matmul<T>(as, bs, cs, *stream, options());
        } catch (const unsupported&) {
            EXPECT_TRUE(c.untouched());
            return;
        }
        for (const T& each : c.download()) ASSERT_EQ(to_double(each), double{side});
    };
    GetParam().operands == element_type::f32 ? check(float{}) : check(half{});
}

INSTANTIATE_TEST_SUITE_P(all, batched_matmul_rung, testing::ValuesIn(batch_rungs()), name_of_batch_rung);

TEST(batched_matmul_rungs, are_those_that_the_header_names) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    using enum matmul_algorithm;
    std::vector<matmul_algorithm> of_float, of_half;
    for (const batch_rung& each : batch_rungs())
        if (each.kernel.empty())
            (each.operands == element_type::f32 ? of_float : of_half).push_back(each.algorithm);
    EXPECT_EQ(of_float, (std::vector{naive, warp_tiled, pipelined, split_k, thin, stream, packed, skinny,
                                     bf16x6, matmul_algorithm::tf32, matmul_algorithm::vector, automatic}));
    EXPECT_EQ(of_half, (std::vector{naive, wmma, mma_sync, persistent, cluster_multicast, stream_k,
                                    matmul_algorithm::vector, automatic}));
}

using batched_matmul_list = matmul_device;

TEST_F(batched_matmul_list, is_few_launches) {
    if (!has_warpgroups()) GTEST_SKIP() << "needs compute capability 9.0";
    guarded<half> a(128, 64, 64), b(64, 128, 128), c(128, 128, 128);
    const auto launches_of = [&](std::size_t count,
                                 bool a_transposed) {  // captured, never run: all have one C
        std::vector<matmul_operands<half>> list(count, {a.matrix(), b.matrix(), c.matrix()});
        if (a_transposed) list.front().a = transposed(matrix_view<half>{a.data(), 64, 128});
        detail::stream_capture session(*stream);
        batched_matmul<half>(list, *stream);
        const auto graph = session.finish();
        std::size_t nodes = 0;
        check(cudaGraphGetNodes(graph.get(), nullptr, &nodes));
        return nodes;
    };
    EXPECT_EQ(launches_of(20, false), 1);
    EXPECT_EQ(launches_of(20, true), 1) << "products that lie differently go together";
    EXPECT_LT(launches_of(200, false), 10);
}

TEST_F(batched_matmul_list, is_checked_before_it_begins) {
    guarded<half> a(8, 8, 8), b(8, 8, 8), c(8, 8, 8);
    const std::vector<matmul_operands<half>> list = {{a.matrix(), b.matrix(), c.matrix()},
                                                     {a.matrix(), c.matrix(), c.matrix()}};
    EXPECT_THROW(batched_matmul<half>(list, *stream), invalid_argument);
    stream->synchronize();
    EXPECT_TRUE(c.untouched());
}

/// The requested rung can run the first product and not the second: neither is enqueued.
TEST_F(batched_matmul_list, is_of_products_that_the_rung_can_run_or_does_nothing) {
    guarded<half> a(8, 8, 8), b(8, 8, 8), c(8, 8, 8), odd(8, 8, 9, 1), d(8, 8, 8);
    const std::vector<matmul_operands<half>> list = {{a.matrix(), b.matrix(), c.matrix()},
                                                     {odd.matrix(), b.matrix(), d.matrix()}};
    const matmul_options options{.algorithm = matmul_algorithm::mma_sync, .kernel = "mma_sync 128x128"};
    EXPECT_THROW(batched_matmul<half>(list, *stream, options), unsupported);
    stream->synchronize();
    EXPECT_TRUE(c.untouched());
    EXPECT_TRUE(d.untouched());

    a.upload(std::vector<half>(64, half(1.0f)));
    b.upload(std::vector<half>(64, half(1.0f)));
    batched_matmul<half>(std::span(list).first(1), *stream, options);
    stream->synchronize();
    EXPECT_FALSE(c.untouched());
}

}  // namespace
}  // namespace heddle::test
