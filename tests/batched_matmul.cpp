#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matmul.hpp"
#include "tests/support/matmul_16_bit.hpp"
#include "tests/support/random.hpp"
#include "tests/support/watchdog.hpp"
#include <heddle/batched_matmul.hpp>
#include <heddle/error.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace heddle {

void PrintTo(matmul_algorithm algorithm, std::ostream* out) {
    *out << to_string(algorithm);
}

namespace {

using test::expect_close;
using test::guarded;
using test::reference;
using test::shape;
using test::text;

constexpr std::array rungs = {matmul_algorithm::automatic, matmul_algorithm::naive, matmul_algorithm::wmma,
                              matmul_algorithm::persistent, matmul_algorithm::cluster_multicast};

class batched_matmul_rung : public test::gpu_test, public testing::WithParamInterface<matmul_algorithm> {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!is_set_up()) return;
        const bool needs_hopper =
            GetParam() == matmul_algorithm::persistent || GetParam() == matmul_algorithm::cluster_multicast;
        if (needs_hopper && !test::has_warpgroups()) GTEST_SKIP() << "needs compute capability 9.0";
        stream_.emplace();
    }

    matmul_options options(float alpha = 1, float beta = 0) const { return {alpha, beta, GetParam()}; }

    /// A batch as the rows of one guarded matrix: `gap` elements lie between its matrices. One A serves all where
    /// one_a.
    template <class In, class Out>
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
                                   double{beta}));
            if (HasFatalFailure()) return;
        }
        EXPECT_TRUE(c.canaries_alive());
        EXPECT_TRUE(a.untouched());
        EXPECT_TRUE(b.untouched());
    }

    std::optional<stream> stream_;
};

TEST_P(batched_matmul_rung, takes_batches_of_any_size) {
    for (const std::int64_t count : {1, 2, 7, 150}) run_and_check<bfloat16, bfloat16>({64, 72, 40}, count, 0);
    run_and_check<half, float>({200, 136, 72}, 9, 8);
    run_and_check<half, half>({200, 136, 72}, 9, 64, false, true, 0.5f);
    run_and_check<bfloat16, float>({8, 8, 8}, 1000, 0);
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
    struct one {
        shape s;
        guarded<bfloat16> a, b, c;
        std::vector<bfloat16> as, bs;

        explicit one(const shape& of)
            : s(of),
              a(s.m, s.k, (s.k + 7) / 8 * 8),
              b(s.k, s.n, (s.n + 7) / 8 * 8),
              c(s.m, s.n, (s.n + 7) / 8 * 8),
              as(test::random_elements<bfloat16>(s.m * s.k)),
              bs(test::random_elements<bfloat16>(s.k * s.n)) {
            a.upload(as);
            b.upload(bs);
        }
    };
    std::deque<one> all;
    for (const shape& s :
         {shape{300, 200, 100}, {1, 7, 9}, {64, 64, 64}, {129, 257, 40}, {16, 500, 300}, {0, 4, 4}})
        all.emplace_back(s);
    std::vector<matmul_operands<bfloat16>> operands;
    for (one& each : all) operands.push_back({each.a.matrix(), each.b.matrix(), each.c.matrix()});
    batched_matmul<bfloat16>(operands, *stream_, options());
    test::synchronize(*stream_, "products of different shapes");
    for (one& each : all) {
        SCOPED_TRACE(text(each.s));
        const std::vector<bfloat16> actual = each.c.download();
        expect_close(each.s, actual, reference(each.s, each.as, each.bs, actual, 1, 0));
        EXPECT_TRUE(each.c.canaries_alive());
    }
}

INSTANTIATE_TEST_SUITE_P(all, batched_matmul_rung, testing::ValuesIn(rungs),
                         [](const testing::TestParamInfo<matmul_algorithm>& of) {
                             return std::string(to_string(of.param));
                         });

TEST(batched_matmul_arguments, agree_and_lie_apart) {
    std::vector<half> memory(1000);
    half* const p = memory.data();
    const batch_view<const half> a{{p, 3, 4}, 2, 12}, b{{p + 100, 4, 5}, 2, 20};
    const batch_view<half> c{{p + 200, 3, 5}, 2, 15};
    const auto expect_invalid = [](const std::string& argument, auto a_, auto b_, auto c_) {
        try {
            batched_matmul<half>(a_, b_, c_, cuda::stream_ref{cudaStream_t{}});
            FAIL() << "nothing was thrown for " << argument;
        } catch (const invalid_argument& error) {
            EXPECT_EQ(error.argument(), argument);
        }
    };
    using batch = batch_view<const half>;
    expect_invalid("a.count", batch{a.first, 3, 12}, b, c);
    expect_invalid("b.stride", a, batch{b.first, 2, -1}, c);
    expect_invalid("c.count", a, b, batch_view<half>{c.first, -1, 15});
    expect_invalid("c.stride", a, b, batch_view<half>{c.first, 2, 14});
    expect_invalid("c", batch{{p + 190, 3, 4}, 2, 30}, b, c);
    expect_invalid("c", a, batch{{p + 180, 4, 5}, 2, 20}, c);
}

}  // namespace
}  // namespace heddle
