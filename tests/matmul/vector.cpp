#include "tests/matmul/epilogues.hpp"
#include "tests/matmul/rungs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Products with one row or one column: where rows, columns and vectors begin, how long they are, and who shares them.
namespace heddle {
namespace {

using test::guarded;
using test::layouts;
using test::operands;
using test::shape;

class matmul_vector : public test::matmul_device {
  protected:
    /// With a workspace, which those who share a row may leave sums in, or without any scratch memory.
    matmul_options options(bool has_workspace, float alpha = 1, float beta = 0) {
        matmul_options result{.alpha = alpha, .beta = beta, .algorithm = matmul_algorithm::vector};
        if (has_workspace)
            result.workspace = *workspace_;
        else
            result.scratch = scratch::none;
        return result;
    }

    template <class Out, class In = Out>
    void check(const shape& s, const layouts& lie, const matmul_options& with) {
        SCOPED_TRACE(text(s) + " " + test::type_name<In>() + " to " + test::type_name<Out>());
        operands<Out, In> p(s, lie);
        ASSERT_EQ(p.why_not(with), "");
        p.multiply(*stream_, with);
        ASSERT_NO_FATAL_FAILURE(expect_close(p, with));
        p.expect_intact();
    }
    /// C as a column, and as a row.
    template <class Out, class In = Out>
    void check_both(const shape& s, const layouts& lie, const matmul_options& with) {
        ASSERT_NO_FATAL_FAILURE((check<Out, In>(s, lie, with)));
        const auto turned = [](test::layout l) {
            l.is_transposed = !l.is_transposed;
            return l;
        };
        ASSERT_NO_FATAL_FAILURE(
            (check<Out, In>({s.n, s.m, s.k}, {turned(lie.b), turned(lie.a), turned(lie.c)}, with)));
    }
    /// Each type, with a workspace and without.
    void check_all(const shape& s, const layouts& lie = {}) {
        for (const bool has_workspace : {false, true}) {
            SCOPED_TRACE(has_workspace ? "with a workspace" : "without a workspace");
            ASSERT_NO_FATAL_FAILURE(check<float>(s, lie, options(has_workspace)));
            ASSERT_NO_FATAL_FAILURE(check<half>(s, lie, options(has_workspace)));
            ASSERT_NO_FATAL_FAILURE((check<float, bfloat16>(s, lie, options(has_workspace, -1.5f, 0.5f))));
        }
    }
};

TEST_F(matmul_vector, reads_rows_and_vectors_from_any_address) {
    for (const std::int64_t a : {0, 1, 2, 3, 7})
        for (const std::int64_t x : {0, 1, 3, 8})
            for (const std::int64_t k : {7, 9, 47, 301}) {
                SCOPED_TRACE("offsets " + std::to_string(a) + " and " + std::to_string(x));
                for (const std::int64_t padding : {0, 3}) {
                    const layouts lie{{false, padding, a}, {true, 0, x}, {}};
                    ASSERT_NO_FATAL_FAILURE(check<half>({5, 1, k}, lie, options(true)));
                    if (a > 4 || x > 4) continue;
                    ASSERT_NO_FATAL_FAILURE(check<float>({5, 1, k}, lie, options(true)));
                }
            }
}

TEST_F(matmul_vector, reads_columns_from_any_address) {
    for (const std::int64_t a : {0, 1, 3, 4, 8})
        for (const std::int64_t m : {2, 7, 9, 17, 257, 264})
            for (const std::int64_t padding : {std::int64_t{0}, std::int64_t{3}, (16 - m % 8) % 8}) {
                SCOPED_TRACE("offset " + std::to_string(a) + ", padding " + std::to_string(padding));
                const layouts lie{{true, padding, a}, {true, 0, 1}, {}};
                for (const std::int64_t k : {2, 5, 70}) {
                    ASSERT_NO_FATAL_FAILURE(check<half>({m, 1, k}, lie, options(true)));
                    if (a > 4) continue;
                    ASSERT_NO_FATAL_FAILURE(check<float>({m, 1, k}, lie, options(true)));
                }
            }
}

TEST_F(matmul_vector, takes_any_length) {
    for (const std::int64_t m : {1, 300})
        for (const std::int64_t k : {1, 3, 31, 33, 64, 127, 129, 256, 511, 1023, 1025, 2047, 4087, 4097, 8175,
                                     8184, 8193, 8200, 16385})
            for (const bool in_columns : {false, true})
                ASSERT_NO_FATAL_FAILURE(check_all({m, 1, k}, {{in_columns, 0, k % 3}, {}, {}}));
}

TEST_F(matmul_vector, takes_any_number_of_rows) {
    for (const std::int64_t m : {2, 31, 129, 257, 2049, 40000})
        for (const std::int64_t k : {1, 2, 31, 33, 70, 530})
            for (const bool in_columns : {false, true}) {
                if (m * k > 3'000'000) continue;
                ASSERT_NO_FATAL_FAILURE(check_all({m, 1, k}, {{in_columns}, {}, {}}));
            }
}

/// More than there are blocks, and more of k than a block keeps of x.
TEST_F(matmul_vector, goes_from_row_to_row) {
    for (const std::int64_t padding : {0, 5}) {
        ASSERT_NO_FATAL_FAILURE(check<float>({20000, 1, 1100}, {{false, padding}, {}, {}}, options(false)));
        ASSERT_NO_FATAL_FAILURE(check<bfloat16>({5000, 1, 8205}, {{false, padding}, {}, {}}, options(true)));
    }
}

TEST_F(matmul_vector, is_shared_along_k) {
    for (const shape& s :
         {shape{1, 1, 1000003}, {1, 1, 1 << 20}, {3, 1, 500009}, {2, 1, 262144}, {40, 1, 70001}})
        for (std::int64_t offset : {0, 1})
            ASSERT_NO_FATAL_FAILURE(check_all(s, {{false, 0, offset}, {true, 0, 2 * offset}, {}}));
    for (const shape& s :
         {shape{2, 1, 300007}, {8, 1, 100003}, {64, 1, 30011}, {1000, 1, 5003}, {4096, 1, 1000}})
        for (std::int64_t padding : {0, 1})
            ASSERT_NO_FATAL_FAILURE(check_all(s, {{true, padding, padding}, {}, {}}));
}

TEST_F(matmul_vector, takes_any_strides) {
    const test::layout apart{false, 3, 1, 2}, apart_in_columns{true, 1, 2, 3};
    for (const bool has_workspace : {false, true})
        for (const shape& s : {shape{1, 1, 1}, {1, 1, 9000}, {37, 1, 2300}, {500, 1, 20}, {300, 1, 70}})
            for (const layouts& lie : {layouts{apart, {}, {}},
                                       {{}, apart, {}},
                                       {{true}, apart, apart},
                                       {apart_in_columns, {}, apart},
                                       {apart, apart_in_columns, {true, 0, 1, 3}}}) {
                ASSERT_NO_FATAL_FAILURE(check_both<float>(s, lie, options(has_workspace, 1, 2)));
                ASSERT_NO_FATAL_FAILURE(check_both<bfloat16>(s, lie, options(has_workspace)));
            }
}

TEST_F(matmul_vector, turns_a_row_around) {
    for (const shape& s : {shape{500, 1, 700}, {64, 1, 20000}, {5000, 1, 1}, {3000, 1, 7}})
        for (int bits = 0; bits < 8; ++bits) {
            SCOPED_TRACE("transposed A, B, C: " + std::to_string(bits));
            ASSERT_NO_FATAL_FAILURE(check_both<float>(s, test::transposed_by(bits), options(true, 0.5f, 2)));
            ASSERT_NO_FATAL_FAILURE(check_both<half>(s, test::transposed_by(bits, 1), options(false)));
        }
}

/// With the bytes that it asks for, it uses no others, leaves the tickets at zero, and finds the same bits each time.
TEST_F(matmul_vector, keeps_to_its_workspace) {
    for (const bool in_columns : {false, true})
        for (const shape& s : {shape{1, 1, 300007}, {3, 1, 100003}, {40, 1, 70001}}) {
            SCOPED_TRACE(text(s));
            operands<float> p(s, {{in_columns}, {}, {}});
            matmul_options with = options(false);
            const std::int64_t bytes = p.workspace_bytes(*stream_, with);
            ASSERT_GT(bytes, 4096);
            guarded<unsigned> scratch(bytes / std::int64_t{sizeof(unsigned)});
            scratch.upload(std::vector<unsigned>(static_cast<std::size_t>(bytes) / sizeof(unsigned)));
            with.workspace = {reinterpret_cast<std::byte*>(scratch.data()), static_cast<std::size_t>(bytes)};
            std::vector<float> first;
            for (int call = 0; call < 5; ++call) {
                p.multiply(*stream_, with);
                if (call == 0) first = p.c.download();
                test::expect_same(p.c.download(), first);
            }
            expect_close(p, with);
            EXPECT_TRUE(scratch.canaries_alive());
            const std::vector<unsigned> after = scratch.download();
            EXPECT_EQ(std::ranges::count(std::span(after).first(1024), 0u), 1024);
        }
}

TEST_F(matmul_vector, applies_epilogues) {
    const auto check = [&]<class Out, class In>(Out, In, const shape& s, const layouts& lie,
                                                bool has_workspace) {
        SCOPED_TRACE(text(s));
        operands<Out, In> p(s, lie);
        test::epilogue_terms<Out> terms(s);
        const matmul_epilogue<Out> epilogue = terms.epilogue(matmul_activation::relu, 1.5f);
        const matmul_options with = options(has_workspace, 0.5f, 0.25f);
        p.prepare_c(with.beta);
        matmul<Out, In>(p.a.matrix(), p.b.matrix(), p.c.matrix(), epilogue, *stream_, with);
        test::synchronize(*stream_, text(s));
        terms.expect_close(p, with, epilogue, [](double sum, double of_sum, std::size_t, std::size_t) {
            return std::pair(std::max(sum, 0.0), of_sum);
        });
        p.expect_intact();
    };
    for (const shape& s : {shape{1, 1, 100003}, {300, 1, 20}, {300, 1, 700}, {1, 300, 700}, {1, 200, 20000}})
        for (const bool has_workspace : {false, true})
            for (int bits = 0; bits < 8; ++bits) {
                layouts lie = test::transposed_by(bits);
                lie.c.step = 2;
                check(0.0f, 0.0f, s, lie, has_workspace);
                check(half{}, half{}, s, lie, has_workspace);
                check(0.0f, bfloat16{}, s, lie, has_workspace);
            }
}

}  // namespace
}  // namespace heddle
