#include "tests/matmul/batches.hpp"

#include "tests/matmul/drawn.hpp"
#include "tests/matmul/rungs.hpp"
#include <heddle/batched_matmul.hpp>
#include <heddle/error.hpp>
#include <heddle/graph.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <string_view>
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

/// A rung, or one of its variants, and the type of its operands.
struct batch_rung {
    element_type operands;
    matmul_algorithm algorithm;
    std::string_view variant{};
};

void PrintTo(const batch_rung& rung, std::ostream* out) {
    *out << to_string(rung.algorithm) << ' ' << rung.variant;
}

/// Those that take batches on a Hopper device.
std::vector<batch_rung> batch_rungs() {
    std::vector<batch_rung> all;
    for (const element_type operands : {element_type::f32, element_type::f16}) {
        for (const matmul_algorithm rung : test::every_rung(operands)) {
            test::product several = test::small_product(rung, operands);
            several.batches = 2;
            std::vector<std::string_view> variants(matmul_variants(rung).begin(),
                                                   matmul_variants(rung).end());
            variants.emplace_back();
            for (const std::string_view variant : variants)
                if (why_not(rung, several, test::hopper, variant).empty())
                    all.push_back({operands, rung, variant});
        }
    }
    return all;
}

std::string name_of_batch_rung(const testing::TestParamInfo<batch_rung>& tested) {
    const auto& [operands, algorithm, variant] = tested.param;
    return (operands == element_type::f32 ? "f32_" : "f16_") + std::string(to_string(algorithm)) +
           (variant.empty() ? "" : "_" + std::string(variant));
}

class batched_matmul_rung : public test::matmul_device, public testing::WithParamInterface<batch_rung> {
  protected:
    void SetUp() override {
        matmul_device::SetUp();
        if (!is_set_up()) return;
        const auto& [operands, algorithm, variant] = GetParam();
        const std::string reason = why_not(algorithm, test::small_product(algorithm, operands),
                                           traits_of(current_device()), variant);
        if (!reason.empty()) GTEST_SKIP() << reason;
    }

    bool is_of_float() const { return GetParam().operands == element_type::f32; }
    std::int64_t packet() const { return is_of_float() ? 4 : 8; }

    matmul_options options(float beta = 0) const {
        return {.beta = beta, .algorithm = GetParam().algorithm, .variant = GetParam().variant};
    }

    /// With a side that the rung takes, of whole packets.
    shape fitted(shape s) const {
        if (GetParam().algorithm == matmul_algorithm::skinny) s.m = std::min<std::int64_t>(s.m, 40);
        if (GetParam().algorithm == matmul_algorithm::vector) s.m = std::min<std::int64_t>(s.m, 1);
        return s;
    }
    test::batch_shape in_packets(const shape& s, std::int64_t count, int transposed = 0) const {
        const shape fits = fitted(s);
        return {fits, count, test::in_packets(fits, transposed, packet())};
    }

    /// Right within the rung's bound, or, where the rung cannot run it, refused. Returns whether it ran.
    template <class Out, class In>
    bool run_and_check(test::batch_operands<Out, In>& p, const matmul_options& with) {
        SCOPED_TRACE(text(p.of) + " " + test::type_name<In>() + " to " + test::type_name<Out>());
        const std::string reason = p.why_not(with);
        if (reason.empty()) {
            p.multiply(*stream_, with);
            p.expect_close(p.expected(with.alpha, with.beta), with);
        } else {
            test::expect_refused(reason, [&] { p.multiply(*stream_, with); });
            EXPECT_TRUE(p.c.untouched());
        }
        p.expect_intact();
        return reason.empty();
    }
    template <class Out, class In>
    bool run_and_check(const test::batch_shape& of, const matmul_options& with) {
        test::batch_operands<Out, In> p(of);
        return run_and_check(p, with);
    }
    /// With the bytes that it asks for, a batch uses no others, and leaves the tickets at zero. Returns how many these are.
    template <class Out, class In>
    std::int64_t run_in_its_workspace(const test::batch_shape& of, matmul_options with) {
        SCOPED_TRACE(text(of));
        test::batch_operands<Out, In> p(of);
        const std::int64_t bytes =
            batched_matmul_workspace_bytes<Out, In>(p.a.view(), p.b.view(), p.c.view(), *stream_, with);
        guarded<unsigned> scratch(bytes / std::int64_t{sizeof(unsigned)});
        scratch.upload(std::vector<unsigned>(static_cast<std::size_t>(bytes) / sizeof(unsigned)));
        with.workspace = {reinterpret_cast<std::byte*>(scratch.data()), static_cast<std::size_t>(bytes)};
        run_and_check(p, with);
        EXPECT_TRUE(scratch.canaries_alive());
        const std::vector<unsigned> after = scratch.download();
        const auto tickets = std::span(after).first(std::min<std::size_t>(after.size(), 1024));
        EXPECT_EQ(std::ranges::count(tickets, 0u), std::ssize(tickets));
        return bytes;
    }
    std::int64_t run_in_its_workspace(const test::batch_shape& of, float beta = 0) {
        if (is_of_float()) return run_in_its_workspace<float, float>(of, options(beta));
        run_in_its_workspace<half, half>(of, options(beta));
        return run_in_its_workspace<float, bfloat16>(of, options(beta));
    }
    bool run_all_types(const test::batch_shape& of, const matmul_options& with) {
        if (is_of_float()) return run_and_check<float, float>(of, with);
        const bool ran = run_and_check<half, half>(of, with);
        return run_and_check<float, bfloat16>(of, with) && ran;
    }
    void run(const test::batch_shape& of, const matmul_options& with) {
        EXPECT_TRUE(run_all_types(of, with)) << text(of);
    }
    void run(const test::batch_shape& of) { run(of, options()); }
};

TEST_P(batched_matmul_rung, takes_batches_of_any_size) {
    for (const std::int64_t count : {1, 2, 7, 150}) run(in_packets({64, 72, 40}, count));
    test::batch_shape apart = in_packets({200, 136, 72}, 9);
    apart.gap = 8;
    run(apart, options(0.5f));
    run(in_packets({8, 8, 8}, 1000));
    run(in_packets({131, 259, 67}, 3), options(-1));
}

TEST_P(batched_matmul_rung, takes_more_matrices_than_a_grid_is_deep) {
    const test::batch_shape of = in_packets({3, 2, 5}, 66000);
    EXPECT_TRUE(is_of_float() ? (run_and_check<float, float>(of, options(0.5f)))
                              : (run_and_check<half, half>(of, options(0.5f))));
}

TEST_P(batched_matmul_rung, takes_matrices_in_any_order_or_says_so) {
    for (int bits = 0; bits < 8; ++bits)
        for (const std::int64_t gap : {0, 16}) {
            test::batch_shape of = in_packets({67, 45, 39}, 3, bits);
            of.gap = gap;
            run_all_types(of, options(bits % 3 == 0 ? 0.5f : 0.0f));
        }
}

TEST_P(batched_matmul_rung, has_no_use_for_the_stride_of_a_batch_of_one) {
    test::batch_shape of = in_packets({200, 136, 72}, 1);
    of.gap = 3;
    run(of);
}

TEST_P(batched_matmul_rung, shares_an_operand_where_its_stride_is_zero) {
    for (const int shared : {1, 2, 3}) {
        test::batch_shape of = in_packets({136, 264, 72}, 5);
        of.one_a = (shared & 1) != 0;
        of.one_b = (shared & 2) != 0;
        run(of);
    }
}

/// `automatic` makes one product of it where all rows, or columns, are one stride apart.
TEST_P(batched_matmul_rung, shares_an_operand_with_lines_behind_one_another) {
    for (const shape& s : {shape{1, 40, 33}, {15, 40, 33}, {40, 1, 600}, {33, 70, 600}})
        for (const bool is_a : {false, true})
            for (const bool in_columns : {false, true})
                for (const std::int64_t gap : {0, 1})
                    for (const std::int64_t padding : {0, 3}) {
                        const test::layout lie{in_columns, padding, 1};
                        run_in_its_workspace({fitted(s), 6, {lie, lie, lie}, gap, is_a, !is_a}, 0.5f);
                    }
}

TEST_P(batched_matmul_rung, takes_any_gap_and_address_or_says_so) {
    for (const std::int64_t gap : {1, 3}) {
        test::batch_shape of = in_packets({24, 40, 16}, 6);
        of.gap = gap;
        run_all_types(of, options());
        run_all_types({fitted({23, 37, 15}), 6, {}, gap}, options(0.5f));
        run_all_types({fitted({70, 65, 33}), 4, {{true, 3, 1}, {false, 2, 5}, {false, 1, 3}}, gap},
                      options());
        run_all_types({fitted({33, 66, 65}), 3, {{false, 1, 0, 2}, {true, 0, 2}, {true, 3, 1, 2}}, gap},
                      options());
    }
    // C is stored as it lies, whatever that is.
    test::batch_shape odd_c = in_packets({70, 72, 40}, 4);
    odd_c.lie.c = {false, 1, 1};
    run(odd_c, options(0.5f));
    odd_c.lie.c = {false, 3, 1, 2};
    run(odd_c);
}

/// Few tiles are shared out along k.
TEST_P(batched_matmul_rung, keeps_to_its_workspace) {
    using enum matmul_algorithm;
    const std::set<matmul_algorithm> sharing = {split_k, stream_k, bf16x6, matmul_algorithm::tf32};
    for (const float beta : {0.0f, 0.5f}) {
        run_in_its_workspace(in_packets({136, 136, 1600}, 2), beta);
        for (const int transposed : {0, 3}) {
            const std::int64_t bytes = run_in_its_workspace(in_packets({16, 24, 20000}, 3, transposed), beta);
            if (sharing.contains(GetParam().algorithm)) {
                EXPECT_GT(bytes, 0);
            }
        }
    }
}

/// The first matrix and those after it at every address, of one operand or the other.
TEST_P(batched_matmul_rung, copies_what_it_cannot_address) {
    for (const bool is_b : {false, true})
        for (std::int64_t offset = 0; offset < packet(); ++offset) {
            for (std::int64_t gap = 0; gap < packet(); ++gap) {
                test::batch_shape of = in_packets({24, 40, 33}, 3, static_cast<int>(offset % 4));
                (is_b ? of.lie.b : of.lie.a).offset = offset;
                of.gap = gap;
                run_in_its_workspace(of);
            }
            test::batch_shape of = in_packets({24, 40, 33}, 3);  // one serves all
            (is_b ? of.lie.b : of.lie.a).offset = offset;
            (is_b ? of.one_b : of.one_a) = true;
            run_in_its_workspace(of, 0.5f);
        }
}

TEST_P(batched_matmul_rung, copies_matrices_of_any_size) {
    for (int bits = 0; bits < 4; ++bits) {
        const test::layouts odd{{(bits & 1) != 0, 1, 3}, {(bits & 2) != 0, 3, 1}, {false, 1, 1}};
        for (const shape& s : {shape{1, 1, 1}, {2, 3, 9}, {33, 17, 31}, {9, 70, 601}, {300, 270, 40}})
            run_in_its_workspace({fitted(s), 5, odd, 1});
        run_in_its_workspace({{4, 3, 5}, 1000, odd}, 0.5f);
    }
}

TEST_P(batched_matmul_rung, copies_more_matrices_than_a_grid_is_deep) {
    const test::batch_shape of{{3, 2, 5}, 66000, {{true, 0, 1}, {false, 1}, {}}};
    is_of_float() ? run_in_its_workspace<float, float>(of, options())
                  : run_in_its_workspace<half, half>(of, options());
}

/// Elements of a matrix are those of the next ones too.
TEST_P(batched_matmul_rung, takes_matrices_that_overlap_or_says_so) {
    const auto check = [&]<class T>(T) {
        constexpr std::int64_t count = 5, side = 40;
        guarded<T> a(1, side * side + count, side * side + count), b(side, side, side),
            c(count, side * side, side * side);
        const std::vector<T> ones(static_cast<std::size_t>(side * side + count), T(1.0f));
        a.upload(ones);
        b.upload(std::vector<T>(ones.begin(), ones.end() - count));
        matmul_options with = options();
        with.workspace = *workspace_;
        const batch_view<const T> as{{a.data(), side, side, side}, count, 1}, bs{b.matrix(), count, 0};
        const batch_view<T> cs{{c.data(), side, side, side}, count, side * side};
        try {
            batched_matmul<T>(as, bs, cs, *stream_, with);
        } catch (const unsupported&) {
            EXPECT_TRUE(c.untouched());
            return;
        }
        for (const T& each : c.download()) ASSERT_EQ(test::to_double(each), double{side});
    };
    is_of_float() ? check(float{}) : check(half{});
}

TEST_P(batched_matmul_rung, does_nothing_for_no_matrices) {
    const auto check = [&]<class T>(T) {
        guarded<T> a(8, 8, 8), c(8, 8, 8);
        batched_matmul<T>({a.matrix(), 0, 64}, {a.matrix(), 0, 64}, batch_view<T>{c.matrix(), 0, 64},
                          *stream_, options());
        stream_->synchronize();
        EXPECT_TRUE(c.untouched());
    };
    is_of_float() ? check(float{}) : check(half{});
}

TEST_P(batched_matmul_rung, takes_products_of_different_shapes) {
    std::vector<listed> list;
    for (const shape& s :
         {shape{300, 200, 100}, {1, 7, 9}, {64, 64, 64}, {129, 257, 40}, {16, 500, 300}, {0, 4, 4}})
        list.push_back({fitted(s)});
    if (is_of_float())
        run_list_and_check<float, float>(list, *stream_, options(0.5f));
    else
        run_list_and_check<bfloat16, bfloat16>(list, *stream_, options());
}

INSTANTIATE_TEST_SUITE_P(all, batched_matmul_rung, testing::ValuesIn(batch_rungs()), name_of_batch_rung);

TEST(batched_matmul_rungs, are_those_that_the_header_names) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    using enum matmul_algorithm;
    std::vector<matmul_algorithm> of_float, of_half;
    for (const batch_rung& each : batch_rungs())
        if (each.variant.empty())
            (each.operands == element_type::f32 ? of_float : of_half).push_back(each.algorithm);
    EXPECT_EQ(of_float, (std::vector{naive, warp_tiled, pipelined, split_k, thin, skinny, bf16x6,
                                     matmul_algorithm::tf32, matmul_algorithm::vector, automatic}));
    EXPECT_EQ(of_half, (std::vector{naive, wmma, mma_sync, persistent, cluster_multicast, stream_k,
                                    matmul_algorithm::vector, automatic}));
}

/// Each rung that can run a drawn batch, in each of its variants and tiles.
class batched_matmul_of_drawn_problems : public test::matmul_device {
  protected:
    template <class Out, class In = Out>
    void check_next() {
        constexpr std::int64_t most_terms = std::int64_t{1} << 21, packet = 16 / std::int64_t{sizeof(In)};
        const std::int64_t count = draw(1, std::int64_t{1} << draw(0, 5));
        test::batch_shape of{draw.next_shape(most_terms / count), count};
        of.lie = draw.next_layouts(of.s, packet);
        of.gap = draw(0, 2) == 0 ? draw(1, 9) : draw(0, 2) * packet;
        of.one_a = draw(0, 4) == 0;
        of.one_b = draw(0, 4) == 0;
        SCOPED_TRACE(text(of));
        test::batch_operands<Out, In> p(of);
        matmul_options options = draw.next_options();
        if (const auto memory = draw(0, 3); memory < 2)
            options.workspace = *workspace_;
        else
            options.scratch = memory == 2 ? scratch::pool : scratch::none;
        const std::vector<reference> expected = p.expected(options.alpha, options.beta);
        test::for_every_plan(element_type_of<In>, options, [&](const matmul_options& with) {
            if (!p.why_not(with).empty()) return;
            p.multiply(*stream_, with);
            p.expect_close(expected, with);
            ++plans;
        });
        p.expect_intact();
    }

    int plans = 0;

  private:
    test::drawing_of_products draw;
};

TEST_F(batched_matmul_of_drawn_problems, takes_every_plan_of_float) {
    constexpr int draws = 100;
    for (int i = 0; i < draws && !HasFailure(); ++i) {
        SCOPED_TRACE("draw " + std::to_string(i));
        check_next<float>();
    }
    EXPECT_GT(plans, 4 * draws);
}

TEST_F(batched_matmul_of_drawn_problems, takes_every_plan_of_16_bit) {
    constexpr int draws = 25;
    for (int i = 0; i < draws && !HasFailure(); ++i) {
        SCOPED_TRACE("draw " + std::to_string(i));
        check_next<half>();
        check_next<float, half>();
        check_next<bfloat16>();
        check_next<float, bfloat16>();
    }
    EXPECT_GT(plans, 10 * draws);
}

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
    run_list_and_check<float, float>(list, *stream_, {.alpha = 2, .beta = 0.5f});
    run_list_and_check<float, float>(list, *stream_, {.workspace = *workspace_});
    run_list_and_check<float, float>(list, *stream_, {.scratch = scratch::none});
    run_list_and_check<half, half>(list, *stream_, {.scratch = scratch::none});
}

TEST_F(batched_matmul_list, takes_more_products_than_a_launch) {
    std::vector<listed> list;
    for (int i = 0; i < 150; ++i) list.push_back({{1 + 37 * i % 300, 1 + 53 * i % 300, 1 + 29 * i % 200}});
    run_list_and_check<bfloat16, bfloat16>(list, *stream_, {});
    run_list_and_check<float, float>(list, *stream_, {});
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
    const matmul_options options{.algorithm = matmul_algorithm::mma_sync, .tile = 0};
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
