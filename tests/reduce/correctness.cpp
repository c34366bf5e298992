#include "tests/reduce/reduce_test.hpp"

namespace heddle::test {
namespace {

template <class T>
using reduce = reductions<T>;
TYPED_TEST_SUITE(reduce, reduced_types, type_names);

// Equal elements in different threads, warps, blocks and packets; and an extremum that is also the identity.
TYPED_TEST(reduce, finds_the_first_of_equals) {
    using element = TypeParam;
    const auto lowest = is_integer<element> ? std::numeric_limits<element>::min() : -infinity<element>();
    const auto highest = is_integer<element> ? std::numeric_limits<element>::max() : infinity<element>();
    for (const std::int64_t size : {40, 1030, 70001, 3000017}) {
        guarded<element> x(size, 1);
        const vector_view<const element> view = x.vector();
        for (const std::int64_t at : {std::int64_t{0}, std::int64_t{7}, size / 3, size - 1}) {
            SCOPED_TRACE(testing::Message() << size << " elements, at " << at);
            for (const element base : {lowest, element(1.0f), highest}) {
                std::vector<element> xs(static_cast<std::size_t>(size), base);
                const auto set_from = [&](std::int64_t first, element value) {
                    for (std::int64_t i = first; i < size; i += 13) xs[static_cast<std::size_t>(i)] = value;
                    x.upload(xs);
                };
                for (const bool is_argmax : {true, false}) {
                    const element value = is_argmax ? highest : lowest;
                    set_from(at, value);
                    for (const reduce_algorithm algorithm :
                         with_automatic(reduce_algorithms(reduce_operation::argmax))) {
                        const reduce_options options{.algorithm = algorithm};
                        ASSERT_EQ(is_argmax ? this->argmax_of(view, options) : this->argmin_of(view, options),
                                  comparable(base) == comparable(value) ? 0 : at)
                            << to_string(algorithm);
                    }
                }
            }
        }
    }
}

TYPED_TEST(reduce, gives_the_same_bits_every_time) {
    const std::int64_t size = 3000017;
    guarded<TypeParam> x(size), y(size, 1);
    x.upload(elements<TypeParam>(size));
    y.upload(elements<TypeParam>(size));
    const vector_view<const TypeParam> a = x.vector(), b = y.vector();
    const auto expect_same = [](auto compute) {
        const auto first = compute();
        for (int i = 0; i < 20; ++i) ASSERT_TRUE(same_bits(compute(), first));
    };
    for (const reduce_algorithm algorithm : with_automatic(reduce_algorithms())) {
        SCOPED_TRACE(to_string(algorithm));
        workspace scratch(this->workspace_bytes(a, algorithm), *this->stream);
        const reduce_options options{.algorithm = algorithm, .workspace = scratch};
        expect_same([&] { return this->sum_of(a, options); });
        if (algorithm != reduce_algorithm::automatic) continue;
        expect_same([&] { return this->mean_of(a, options); });
        expect_same([&] { return this->dot_of(a, b, options); });
        expect_same([&] { return this->norm1_of(a, options); });
        if constexpr (!is_integer<TypeParam>) expect_same([&] { return this->norm2_of(a, options); });
    }
}

TYPED_TEST(reduce, gives_the_same_bits_in_a_graph) {
    const std::int64_t size = 700001;
    guarded<TypeParam> x(size);
    x.upload(elements<TypeParam>(size));
    const vector_view<const TypeParam> view = x.vector();
    for (const reduce_algorithm algorithm : with_automatic(reduce_algorithms())) {
        SCOPED_TRACE(to_string(algorithm));
        const auto expected = this->sum_of(view, {.algorithm = algorithm});
        guarded<sum_type<TypeParam>> results(2);
        guarded_workspace scratch(this->workspace_bytes(view, algorithm));
        const graph captured = graph::capture(*this->stream, [&] {
            sum<TypeParam>(view, results.data(), *this->stream, {.algorithm = algorithm});
            sum<TypeParam>(view, results.data() + 1, *this->stream,
                           {.algorithm = algorithm, .workspace = scratch});
        });
        for (int i = 0; i < 5; ++i) {
            results.upload(std::vector<sum_type<TypeParam>>(2, sum_type<TypeParam>{1}));
            captured.launch(*this->stream);
            this->stream->synchronize();
            for (const auto result : results.download()) ASSERT_TRUE(same_bits(result, expected));
            ASSERT_TRUE(results.canaries_alive());
            ASSERT_TRUE(scratch.is_intact());
        }
    }
}

TYPED_TEST(reduce, shares_one_workspace_among_all_calls) {
    // The last just fills 132 multiprocessors with blocks of more than one tile each.
    const std::vector<std::int64_t> some_sizes = {5, 300007, 4097,
                                                  24000044 / std::int64_t{sizeof(TypeParam)}};
    const auto xs = elements<TypeParam>(some_sizes.back());
    guarded<TypeParam> x(some_sizes.back());
    x.upload(xs);
    std::int64_t bytes = 0;
    for (const reduce_algorithm algorithm : with_automatic(reduce_algorithms()))
        bytes = std::max(bytes, this->workspace_bytes(x.vector(), algorithm));
    guarded_workspace scratch(bytes);
    for (int round = 0; round < 2; ++round)
        for (const std::int64_t size : some_sizes) {
            const reduce_reference<TypeParam> expected({xs.begin(), xs.begin() + size});
            const vector_view<const TypeParam> view{x.data(), size};
            for (const reduce_algorithm algorithm : with_automatic(reduce_algorithms())) {
                SCOPED_TRACE(testing::Message() << size << ' ' << to_string(algorithm));
                const reduce_options options{.algorithm = algorithm, .workspace = scratch};
                ASSERT_TRUE(expected.is_sum(this->sum_of(view, options), this->depth(view, algorithm)));
                ASSERT_TRUE(is_value(this->max_of(view, options), expected.largest));
            }
        }
    EXPECT_TRUE(scratch.is_intact());
}

TYPED_TEST(reduce, runs_on_several_streams_at_once) {
    constexpr std::size_t count = 4;
    const std::int64_t size = 500009;
    guarded<TypeParam> x(size);
    x.upload(elements<TypeParam>(size));
    const vector_view<const TypeParam> view = x.vector();
    const auto expected = this->sum_of(view);
    guarded<sum_type<TypeParam>> results(count);
    const std::vector<heddle::stream> streams(count);
    std::vector<workspace> scratch;
    for (const heddle::stream& each : streams)
        scratch.emplace_back(this->workspace_bytes(view, reduce_algorithm::automatic), each);
    for (int round = 0; round < 20; ++round)
        for (std::size_t i = 0; i < count; ++i)
            sum<TypeParam>(view, results.data() + i, streams[i], {.workspace = scratch[i]});
    for (const heddle::stream& each : streams) each.synchronize();
    for (const auto result : results.download()) EXPECT_TRUE(same_bits(result, expected));
}

TYPED_TEST(reduce, writes_between_the_elements_of_x) {
    const std::int64_t size = 1000, stride = 3;
    const auto xs = elements<TypeParam>(size);
    guarded<TypeParam> x(1, size, 0, 0, stride);
    x.upload(xs);
    TypeParam* between = x.data() + 50 * stride + 1;
    max<TypeParam>(x.vector(), between, *this->stream);
    TypeParam result;
    check(cudaStreamSynchronize(this->stream->get()));
    check(cudaMemcpy(&result, between, sizeof(result), cudaMemcpyDefault));
    EXPECT_TRUE(is_value(result, reduce_reference<TypeParam>(xs).largest));
}

}  // namespace
}  // namespace heddle::test
