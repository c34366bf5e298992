#include "tests/matmul/rungs.hpp"
#include <heddle/batched_matmul.hpp>
#include <heddle/error.hpp>
#include <heddle/graph.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <span>
#include <string>
#include <vector>

namespace heddle {
namespace {

using test::expect_close;
using test::guarded;
using test::in_packets;
using test::operands;
using test::reference;
using test::shape;
using test::text;

/// A product of a list, and how its operands lie. Rows of neighbours begin at multiples of 16 bytes, or nearly none does.
struct listed {
    shape s;
    int transposed = 0;  ///< as of in_packets()
    bool is_odd = false;

    test::layouts layouts() const {
        test::layouts lie = in_packets(s, transposed);
        if (is_odd)
            for (test::layout* each : {&lie.a, &lie.b, &lie.c}) ++each->padding;
        return lie;
    }
};

template <class Out, class In>
void run_list_and_check(const std::vector<listed>& list, const stream& on, const matmul_options& options) {
    std::deque<operands<Out, In>> all;
    std::vector<matmul_operands<Out, In>> products;
    for (const listed& each : list) {
        auto& p = all.emplace_back(each.s, each.layouts());
        p.prepare_c(options.beta);
        products.push_back({p.a.matrix(), p.b.matrix(), p.c.matrix()});
    }
    batched_matmul<Out, In>(products, on, options);
    test::synchronize(on, "a list of products");
    for (auto& each : all) {
        SCOPED_TRACE(text(each.s));
        expect_close(each, options);
        each.expect_intact();
        if (testing::Test::HasFailure()) return;
    }
}

class batched_matmul_rung : public test::rung_test {
  protected:
    batched_matmul_rung() : rung_test(element_type::f16) {}

    matmul_options options(float alpha = 1, float beta = 0) const { return {alpha, beta, GetParam()}; }

    /// A batch as the rows of one guarded matrix: `gap` elements lie between its matrices. One A serves all where
    /// one_a.
    template <class Out, class In>
    void run_and_check(const shape& s, std::int64_t count, std::int64_t gap, bool one_a = false,
                       bool b_transposed = false, float beta = 0) {
        SCOPED_TRACE(text(s) + ", " + std::to_string(count) + " of them, gap " + std::to_string(gap));
        const std::int64_t a_size = s.m * s.k, b_size = s.k * s.n, c_size = s.m * s.n;
        const std::int64_t a_count = one_a ? 1 : count;
        guarded<In> a(a_count, a_size, a_size + gap), b(count, b_size, b_size + gap);
        guarded<Out> c(count, c_size, c_size + gap);
        const std::vector<In> as = test::random_elements<In>(a_count * a_size);
        const std::vector<In> bs = test::random_elements<In>(count * b_size);
        const std::vector<Out> cs = test::random_elements<Out>(count * c_size);
        a.upload(as);
        b.upload(bs);
        if (beta != 0) c.upload(cs);
        const matrix_view<const In> b_rows{b.data(), b_transposed ? s.n : s.k, b_transposed ? s.k : s.n};
        batched_matmul<Out, In>({{a.data(), s.m, s.k}, count, one_a ? 0 : a_size + gap},
                                {b_transposed ? transposed(b_rows) : b_rows, count, b_size + gap},
                                batch_view<Out>{{c.data(), s.m, s.n}, count, c_size + gap}, *stream_,
                                options(1, beta));
        test::synchronize(*stream_, text(s));
        const std::vector<Out> actual = c.download();
        for (std::int64_t i = 0; i < count; ++i) {
            SCOPED_TRACE("product " + std::to_string(i));
            const auto part = [](const auto& all, std::int64_t index, std::int64_t size) {
                const auto begin = all.begin() + index * size;
                return std::vector(begin, begin + size);
            };
            std::vector<In> b_rows_of_i = part(bs, i, b_size);
            if (b_transposed) {
                const std::vector<In> columns = b_rows_of_i;
                for (std::int64_t k = 0; k < s.k; ++k)
                    for (std::int64_t n = 0; n < s.n; ++n)
                        b_rows_of_i[static_cast<std::size_t>(k * s.n + n)] =
                            columns[static_cast<std::size_t>(n * s.k + k)];
            }
            expect_close(s, part(actual, i, c_size),
                         reference(s, part(as, one_a ? 0 : i, a_size), b_rows_of_i, part(cs, i, c_size), 1,
                                   double{beta}),
                         test::bound_of_16_bit<Out>);
            if (HasFatalFailure()) return;
        }
        EXPECT_TRUE(c.canaries_alive());
        EXPECT_TRUE(a.untouched());
        EXPECT_TRUE(b.untouched());
    }
};

TEST_P(batched_matmul_rung, takes_batches_of_any_size) {
    for (const std::int64_t count : {1, 2, 7, 150}) run_and_check<bfloat16, bfloat16>({64, 72, 40}, count, 0);
    run_and_check<float, half>({200, 136, 72}, 9, 8);
    run_and_check<half, half>({200, 136, 72}, 9, 64, false, true, 0.5f);
    run_and_check<float, bfloat16>({8, 8, 8}, 1000, 0);
}

TEST_P(batched_matmul_rung, has_no_use_for_the_stride_of_a_batch_of_one) {
    run_and_check<half, half>({200, 136, 72}, 1, 3);
}

TEST_P(batched_matmul_rung, shares_an_operand_where_its_stride_is_zero) {
    run_and_check<bfloat16, bfloat16>({136, 264, 72}, 5, 0, true);
}

TEST_P(batched_matmul_rung, takes_any_gap_or_says_so) {
    const bool is_strict =
        GetParam() == matmul_algorithm::persistent || GetParam() == matmul_algorithm::cluster_multicast;
    if (is_strict) {
        guarded<half> a(2, 64, 65), b(2, 64, 65), c(2, 64, 65);
        const auto batch = [](guarded<half>& of) { return batch_view<half>{{of.data(), 8, 8}, 2, 65}; };
        EXPECT_THROW(batched_matmul<half>(batch(a), batch(b), batch(c), *stream_, options()), unsupported);
        EXPECT_TRUE(c.untouched());
    } else {
        run_and_check<half, half>({24, 40, 16}, 6, 1);
        run_and_check<half, half>({23, 37, 15}, 6, 3);
    }
}

TEST_P(batched_matmul_rung, does_nothing_for_no_matrices) {
    guarded<half> a(8, 8, 8), c(8, 8, 8);
    batched_matmul<half>({a.matrix(), 0, 64}, {a.matrix(), 0, 64}, batch_view<half>{c.matrix(), 0, 64},
                         *stream_, options());
    stream_->synchronize();
    EXPECT_TRUE(c.untouched());
}

TEST_P(batched_matmul_rung, takes_products_of_different_shapes) {
    std::vector<listed> list;
    for (const shape& s :
         {shape{300, 200, 100}, {1, 7, 9}, {64, 64, 64}, {129, 257, 40}, {16, 500, 300}, {0, 4, 4}})
        list.push_back({s});
    run_list_and_check<bfloat16, bfloat16>(list, *stream_, options());
}

INSTANTIATE_TEST_SUITE_P(all, batched_matmul_rung,
                         testing::Values(matmul_algorithm::automatic, matmul_algorithm::naive,
                                         matmul_algorithm::wmma, matmul_algorithm::persistent,
                                         matmul_algorithm::cluster_multicast),
                         test::name_of_rung);

class batched_matmul_list : public test::matmul_device {
  protected:
    /// With the tile that `count` such products make the cheapest, and one that ends elsewhere.
    template <class Out, class In>
    void run_alike(int count, const shape& s, const matmul_options& options = {}) {
        std::vector<listed> list(static_cast<std::size_t>(count), listed{s});
        list.push_back({{s.m - 1, s.n - 2, s.k - 3}});
        run_list_and_check<Out, In>(list, *stream_, options);
    }
};

TEST_F(batched_matmul_list, takes_tiles_of_any_size) {
    run_alike<bfloat16, bfloat16>(3, {1000, 1000, 200});  // 128 x 256
    run_alike<float, half>(3, {1000, 1000, 200}, {.alpha = 0.5f, .beta = -2});
    run_alike<float, bfloat16>(5, {600, 500, 200});  // 128 x 128
    run_alike<half, half>(5, {600, 500, 200}, {.beta = 1});
    run_alike<half, half>(5, {130, 200, 100});  // 64 x 128
    run_alike<float, bfloat16>(5, {130, 200, 100}, {.alpha = -1, .beta = 0.5f});
}

TEST_F(batched_matmul_list, takes_any_k) {
    std::vector<listed> list;
    for (const std::int64_t k : {1, 7, 63, 64, 65, 600, 2000, 2001, 4000}) {
        list.push_back({{1, 1, k}});
        list.push_back({{200, 136, k}});
    }
    run_list_and_check<float, bfloat16>(list, *stream_, {});
    run_list_and_check<half, half>({{{64, 32, 20000}}, {{300, 200, 100}}, {{65, 129, 72}}}, *stream_, {});
}

TEST_F(batched_matmul_list, takes_products_that_lie_differently) {
    std::vector<listed> list;
    for (int transposed = 0; transposed < 8; ++transposed)
        for (const bool is_odd : {false, true})
            for (const shape& s : {shape{129, 65, 40}, {72, 264, 200}, {1, 7, 9}, {0, 5, 5}, {9, 8, 0}})
                list.push_back({s, transposed, is_odd});
    run_list_and_check<half, half>(list, *stream_, {});
    run_list_and_check<float, bfloat16>(list, *stream_, {.alpha = 2, .beta = 0.5f});
    run_list_and_check<bfloat16, bfloat16>(list, *stream_, {.alpha = 0, .beta = 3});
}

TEST_F(batched_matmul_list, takes_more_products_than_a_launch) {
    std::vector<listed> list;
    for (int i = 0; i < 150; ++i) list.push_back({{1 + 37 * i % 300, 1 + 53 * i % 300, 1 + 29 * i % 200}});
    run_list_and_check<bfloat16, bfloat16>(list, *stream_, {});
}

TEST_F(batched_matmul_list, is_few_launches) {
    if (!test::has_warpgroups()) GTEST_SKIP() << "needs compute capability 9.0";
    guarded<half> a(128, 64, 64), b(64, 128, 128), c(128, 128, 128);
    const auto launches_of = [&](std::size_t count,
                                 bool a_transposed) {  // captured, never run: all have one C
        std::vector<matmul_operands<half>> list(count, {a.matrix(), b.matrix(), c.matrix()});
        if (a_transposed) list.front().a = transposed(matrix_view<half>{a.data(), 64, 128});
        detail::stream_capture session(*stream_);
        batched_matmul<half>(list, *stream_);
        const auto graph = session.finish();
        std::size_t nodes = 0;
        check(cudaGraphGetNodes(graph.get(), nullptr, &nodes));
        return nodes;
    };
    EXPECT_EQ(launches_of(20, false), 1);
    EXPECT_EQ(launches_of(20, true), 2);
    EXPECT_LT(launches_of(200, false), 10);
}

TEST_F(batched_matmul_list, is_checked_before_it_begins) {
    guarded<half> a(8, 8, 8), b(8, 8, 8), c(8, 8, 8);
    const std::vector<matmul_operands<half>> list = {{a.matrix(), b.matrix(), c.matrix()},
                                                     {a.matrix(), c.matrix(), c.matrix()}};
    EXPECT_THROW(batched_matmul<half>(list, *stream_), invalid_argument);
    stream_->synchronize();
    EXPECT_TRUE(c.untouched());
}

/// The first product can run on the rung that is asked for, the second cannot: neither is enqueued.
TEST_F(batched_matmul_list, is_of_products_that_the_rung_can_run_or_does_nothing) {
    guarded<half> a(8, 8, 8), b(8, 8, 8), c(8, 8, 8), odd(8, 8, 9, 1), d(8, 8, 8);
    const std::vector<matmul_operands<half>> list = {{a.matrix(), b.matrix(), c.matrix()},
                                                     {odd.matrix(), b.matrix(), d.matrix()}};
    const matmul_options options{.algorithm = matmul_algorithm::mma_sync};
    EXPECT_THROW(batched_matmul<half>(list, *stream_, options), unsupported);
    stream_->synchronize();
    EXPECT_TRUE(c.untouched());
    EXPECT_TRUE(d.untouched());

    a.upload(std::vector<half>(64, half(1.0f)));
    b.upload(std::vector<half>(64, half(1.0f)));
    batched_matmul<half>(std::span(list).first(1), *stream_, options);
    stream_->synchronize();
    EXPECT_FALSE(c.untouched());
}

}  // namespace
}  // namespace heddle
