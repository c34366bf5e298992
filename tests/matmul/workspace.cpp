#include "tests/matmul/rungs.hpp"
#include "tests/support/headers.hpp"

// The same product again, and the state in which a product leaves its workspace.
namespace heddle::test {
namespace {

INSTANTIATE_TEST_SUITE_P(all, matmul_rung, testing::ValuesIn(every_rung(element_type::f32)), name_of_rung);
INSTANTIATE_TEST_SUITE_P(all, matmul_16_bit, testing::ValuesIn(every_rung(element_type::f16)), name_of_rung);

// Partial sums are added in one order, for any order of arrival. Data that a call leaves in the workspace do not
// affect the next. Without scratch memory, clusters add up.
template <class Out, class In>
void expect_the_same_bits(operands<Out, In> p, const stream& on, matmul_options options) {
    SCOPED_TRACE(text(p.s));
    for (const scratch memory : {scratch::pool, scratch::none}) {
        options.scratch = memory;
        if (!p.why_not(options).empty()) continue;
        std::vector<Out> first;
        for (int call = 0; call < 5; ++call) {
            p.multiply(on, options);
            if (call == 0) first = p.c.download();
            ASSERT_NO_FATAL_FAILURE(expect_same(p.c.download(), first)) << "call " << call;
        }
    }
}

TEST_P(matmul_rung, gives_the_same_bits_every_time) {
    for (const shape& s : {shape{64, 64, 9001}, {70, 300, 1031}})
        expect_the_same_bits(operands<float>(fitted(s)), *stream, options());
}
TEST_P(matmul_16_bit, gives_the_same_bits_every_time) {
    for (const shape& s : {shape{64, 64, 20000}, {60, 4096, 2048}, {700, 1000, 4096}})
        expect_the_same_bits(operands<float, half>(fitted(s), in_packets(s)), *stream, options());
}

bool takes_a_workspace(matmul_algorithm rung) {
    return matmul_workspace_bytes(product{64, 64, 9000}, hopper, rung) > 0;
}

class matmul_rung_with_a_workspace : public matmul_rung {};
INSTANTIATE_TEST_SUITE_P(all, matmul_rung_with_a_workspace, rungs_that(element_type::f32, takes_a_workspace),
                         name_of_rung);

/// Products that are split along k keep sums and tickets in the workspace, and may overlap.
TEST_P(matmul_rung_with_a_workspace, leaves_it_to_the_product_after_it) {
    bool takes_one = false;
    for (const shape& given : {shape{64, 64, 9000}, {64, 64, 9001}}) {
        const shape s = fitted(given);
        SCOPED_TRACE(text(s));
        std::deque<operands<float>> all;  // a deque does not move them
        for (int i = 0; i < 4; ++i) all.emplace_back(s);
        if (all[0].workspace_bytes(*stream, options()) == 0) continue;
        takes_one = true;
        for (auto& p : all) p.enqueue(*stream, options());
        stream->synchronize();
        for (auto& p : all) {
            const std::vector<float> overlapped = p.c.download();
            p.multiply(*stream, options());
            expect_same(overlapped, p.c.download());
        }
    }
    EXPECT_TRUE(takes_one);
}

}  // namespace
}  // namespace heddle::test
