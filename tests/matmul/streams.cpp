#include "tests/matmul/rungs.hpp"
#include "tests/support/headers.hpp"

// Products one after another, and once more.
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

/// Products that follow one another in a stream may overlap. Each must see the previous one's writes, in C and in the
/// workspace.
template <class T>
void expect_a_chain(std::int64_t size, std::int64_t cols, const stream& on, const matmul_options& options) {
    std::vector<T> expected = random_elements<T>(size * cols);
    guarded<T> a(size, size, size), x(size, cols, cols), y(size, cols, cols);
    a.upload(random_elements<T>(size * size, -0.1, 0.1));
    x.upload(expected);
    constexpr int times = 6;  // even: the last result is in x
    for (int i = 0; i < times; ++i)
        matmul<T>(a.matrix(), (i % 2 == 0 ? x : y).matrix(), (i % 2 == 0 ? y : x).matrix(), on, options);
    synchronize(on, "a chain");
    const std::vector<T> chained = x.download();

    for (int i = 0; i < times; ++i) {
        guarded<T> in(size, cols, cols), out(size, cols, cols);
        in.upload(expected);
        matmul<T>(a.matrix(), in.matrix(), out.matrix(), on, options);
        synchronize(on, "a link");
        expected = out.download();
    }
    expect_same(chained, expected);
}

TEST_P(matmul_rung, sees_what_the_product_before_wrote) {
    const shape s = fitted({264, 264, 264});
    expect_a_chain<float>(GetParam() == matmul_algorithm::skinny ? s.m : s.k, s.m, *stream, options());
}
TEST_P(matmul_16_bit, sees_what_the_product_before_wrote) {
    const std::int64_t size = GetParam() == matmul_algorithm::skinny ? 64 : 264;
    expect_a_chain<bfloat16>(size, fitted({size, size, size}).m, *stream, options());
}

template <class T>
void expect_the_product_of_a_graph(const shape& s, const stream& on, const matmul_options& options) {
    SCOPED_TRACE(text(s));
    operands<T> p(s);
    graph captured = graph::capture(on, [&] { p.enqueue(on, options); });
    EXPECT_TRUE(p.c.untouched());
    const reference expected = p.expected();
    for (int launch = 0; launch < 2; ++launch) {
        captured.launch(on);
        synchronize(on, "a graph");
        expect_close(s, p.c.download(), expected, bound_of<T>(options.algorithm));
    }
}

TEST_P(matmul_rung, replays_from_a_graph) {
    for (const shape& s : {shape{65, 66, 67}, {64, 64, 9001}, {300, 333, 4100}})
        expect_the_product_of_a_graph<float>(fitted(s), *stream, options());
}
TEST_P(matmul_16_bit, replays_from_a_graph) {
    expect_the_product_of_a_graph<half>(fitted({56, 136, 200}), *stream, options());
}

}  // namespace
}  // namespace heddle::test
