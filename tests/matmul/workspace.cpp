#include "tests/matmul/rungs.hpp"
#include "tests/support/guarded_workspace.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

// What a product does with its workspace, with the pool, and without scratch memory.
namespace heddle {
namespace {

using test::guarded;
using test::matmul_16_bit;
using test::matmul_rung;
using test::operands;
using test::shape;

constexpr std::size_t ticket_bytes = 4096;

bool are_zero(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte each) { return each == std::byte{0}; });
}

bool takes_a_workspace(matmul_algorithm rung) {
    return matmul_workspace_bytes(test::product{64, 64, 9000}, test::hopper, rung) > 0;
}

class matmul_rung_with_a_workspace : public matmul_rung {};
INSTANTIATE_TEST_SUITE_P(all, matmul_rung_with_a_workspace,
                         test::rungs_that(element_type::f32, takes_a_workspace), test::name_of_rung);

/// With the bytes that it asks for, it uses no others, and leaves the tickets at zero.
TEST_P(matmul_rung_with_a_workspace, keeps_to_it) {
    bool takes_one = false;
    for (const shape& given :
         {shape{130, 197, 333}, {64, 60, 4100}, {1, 300, 700}, {290, 129, 1900}, {292, 132, 1900}})
        for (int bits = 0; bits < 8; ++bits) {
            SCOPED_TRACE("transposed A, B, C: " + std::to_string(bits));
            operands<float> p(fitted(given), test::transposed_by(bits));
            matmul_options with = options();
            const std::int64_t bytes = p.workspace_bytes(*stream_, with);
            if (bytes == 0) continue;
            takes_one = true;
            guarded<unsigned> scratch(bytes / std::int64_t{sizeof(unsigned)});
            scratch.upload(std::vector<unsigned>(static_cast<std::size_t>(bytes) / sizeof(unsigned)));
            with.workspace = {reinterpret_cast<std::byte*>(scratch.data()), static_cast<std::size_t>(bytes)};
            EXPECT_TRUE(run_and_check(p, with));
            EXPECT_TRUE(scratch.canaries_alive());
            const std::vector<unsigned> after = scratch.download();
            EXPECT_TRUE(are_zero(std::as_bytes(std::span(after))
                                     .first(std::min(ticket_bytes, static_cast<std::size_t>(bytes)))));
        }
    EXPECT_TRUE(takes_one);
}

/// Products that are shared out along k have sums and tickets in it, and may overlap.
TEST_P(matmul_rung_with_a_workspace, leaves_it_to_the_product_after_it) {
    bool takes_one = false;
    for (const shape& given : {shape{64, 64, 9000}, {64, 64, 9001}}) {
        const shape s = fitted(given);
        SCOPED_TRACE(text(s));
        std::deque<operands<float>> all;  // they do not move
        for (int i = 0; i < 4; ++i) all.emplace_back(s);
        if (all[0].workspace_bytes(*stream_, options()) == 0) continue;
        takes_one = true;
        for (auto& p : all) p.enqueue(*stream_, options());
        stream_->synchronize();
        for (auto& p : all) {
            const std::vector<float> overlapped = p.c.download();
            p.multiply(*stream_, options());
            test::expect_same(overlapped, p.c.download());
        }
    }
    EXPECT_TRUE(takes_one);
}

TEST_P(matmul_16_bit, leaves_the_workspace_ready) {
    const shape s = fitted({48, 1000, 4000});
    run_and_check<half, half>(s, test::in_packets(s), options());
    std::vector<std::byte> tickets(ticket_bytes, std::byte{1});
    check(cudaMemcpy(tickets.data(), workspace_->data(), ticket_bytes, cudaMemcpyDefault));
    EXPECT_TRUE(are_zero(tickets));
}

class matmul_16_bit_without_scratch : public matmul_16_bit {};
constexpr shape of_no_scratch{40, 1000, 3000};
INSTANTIATE_TEST_SUITE_P(all, matmul_16_bit_without_scratch,
                         test::rungs_that_run({.m = of_no_scratch.m,
                                               .n = of_no_scratch.n,
                                               .k = of_no_scratch.k,
                                               .operands = element_type::f16}),
                         test::name_of_rung);

TEST_P(matmul_16_bit_without_scratch, is_right) {
    EXPECT_TRUE(
        (run_and_check<half, half>(of_no_scratch, {}, {.algorithm = GetParam(), .scratch = scratch::none})));
}

/// A plain call plans as one with a workspace does.
template <class T>
void expect_the_bits_of_a_workspace(const shape& s, const stream& on, const matmul_options& with) {
    for (const test::layouts& lie : {test::layouts(), test::transposed_by(3, 1)}) {
        operands<T> p(s, lie);
        if (!p.why_not(with).empty()) continue;
        matmul_options plain = with;
        plain.workspace = {};
        p.multiply(on, plain);
        const std::vector<T> expected = p.c.download();
        p.multiply(on, with);
        test::expect_same(p.c.download(), expected);
        p.expect_intact();
    }
}
TEST_P(matmul_rung, takes_the_pools_memory_as_a_workspace) {
    for (const shape& s : {shape{64, 60, 4100}, {290, 129, 1900}})
        expect_the_bits_of_a_workspace<float>(fitted(s), *stream_, options());
}
TEST_P(matmul_16_bit, takes_the_pools_memory_as_a_workspace) {
    for (const shape& s : {shape{64, 60, 4100}, {290, 129, 1900}})
        expect_the_bits_of_a_workspace<half>(s, *stream_, options());
}

/// Operands whose rows begin anywhere, which some rungs copy, and a workspace that begins at a multiple of 16 bytes and no more.
template <class T>
void expect_the_bits_of_the_pool_at_16_bytes(const shape& s, const stream& on, const matmul_options& with) {
    for (int bits = 0; bits < 4; ++bits) {
        SCOPED_TRACE("transposed A, B: " + std::to_string(bits));
        operands<T> p(s, test::transposed_by(bits, 1));
        const std::int64_t bytes = p.workspace_bytes(on, with);
        if (bytes == 0) continue;
        matmul_options given = with;
        given.workspace = {};
        p.multiply(on, given);
        const std::vector<T> expected = p.c.download();
        test::guarded_workspace scratch(bytes);
        given.workspace = scratch;
        p.multiply(on, given);
        test::expect_same(p.c.download(), expected);
        p.expect_intact();
        EXPECT_TRUE(scratch.is_intact());
    }
}
TEST_P(matmul_rung, takes_a_workspace_at_any_16_bytes) {
    for (const shape& s : {shape{64, 60, 4099}, {290, 129, 1901}})
        expect_the_bits_of_the_pool_at_16_bytes<float>(fitted(s), *stream_, options());
}
TEST_P(matmul_16_bit, takes_a_workspace_at_any_16_bytes) {
    for (const shape& s : {shape{64, 60, 4099}, {290, 129, 1901}})
        expect_the_bits_of_the_pool_at_16_bytes<half>(fitted(s), *stream_, options());
}

}  // namespace
}  // namespace heddle
