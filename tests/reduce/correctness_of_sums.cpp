#include "tests/reduce/reduce_test.hpp"
#include <heddle/graph.hpp>
#include <heddle/workspace.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace heddle {
namespace {

using test::elements;
using test::every_algorithm;
using test::guarded;
using test::guarded_workspace;
using test::is_value;
using test::reduce_reference;
using test::same_bits;

template <class T>
using reduce = test::reduced_vectors<T>;
TYPED_TEST_SUITE(reduce, test::reduced_types, test::type_names);

TYPED_TEST(reduce, takes_every_size) {
    for (const std::int64_t size : test::sizes<TypeParam>()) {
        SCOPED_TRACE(size);
        ASSERT_NO_FATAL_FAILURE(this->check(size));
    }
}

// On 132 multiprocessors, enough to fill the device with blocks of more than one tile each, but not enough
// for several rounds of blocks with all the tiles that each should have.
TYPED_TEST(reduce, takes_sizes_that_just_fill_the_device) {
    ASSERT_NO_FATAL_FAILURE(this->check(24000044 / std::int64_t{sizeof(TypeParam)}, 1));
    ASSERT_NO_FATAL_FAILURE(this->check(1500007, 0, 2));
}

TYPED_TEST(reduce, of_drawn_problems_take_every_plan) {
    constexpr int draws = 34;  // of each type
    test::drawing draw;
    const auto draw_offset = [&] { return draw(0, 1) * draw(0, 9); };
    const auto draw_stride = [&] { return draw(0, 3) == 0 ? draw(2, 4) : 1; };
    for (int i = 0; i < draws; ++i) {
        // One block as often as many: up to 2^5 elements, up to 2^6, ...
        const std::int64_t size = draw(1, std::int64_t{1} << draw(5, 23));
        const std::int64_t offset = draw_offset(), stride = draw_stride();
        SCOPED_TRACE(testing::Message() << "draw " << i << ": " << size << " elements, offset " << offset
                                        << ", stride " << stride);
        ASSERT_NO_FATAL_FAILURE(this->check(size, offset, stride));
    }
}

TYPED_TEST(reduce, gives_the_same_bits_every_time) {
    const std::int64_t size = 3000017;
    guarded<TypeParam> x(size);
    x.upload(elements<TypeParam>(size));
    const vector_view<const TypeParam> view = x.vector();
    for (const reduce_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        workspace scratch(this->workspace_bytes(view, algorithm), *this->stream);
        const reduce_options options{.algorithm = algorithm, .workspace = scratch};
        const auto first = this->sum_of(view, options);
        for (int i = 0; i < 20; ++i) ASSERT_TRUE(same_bits(this->sum_of(view, options), first));
    }
}

TYPED_TEST(reduce, gives_the_same_bits_in_a_graph) {
    const std::int64_t size = 700001;
    guarded<TypeParam> x(size);
    x.upload(elements<TypeParam>(size));
    const vector_view<const TypeParam> view = x.vector();
    for (const reduce_algorithm algorithm : every_algorithm()) {
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
    const std::vector<std::int64_t> some_sizes = {5, 300007, 4097, 70001, 1000003};
    const auto xs = elements<TypeParam>(some_sizes.back());
    guarded<TypeParam> x(some_sizes.back());
    x.upload(xs);
    std::int64_t bytes = 0;
    for (const reduce_algorithm algorithm : every_algorithm())
        bytes = std::max(bytes, this->workspace_bytes(x.vector(), algorithm));
    guarded_workspace scratch(bytes);
    for (int round = 0; round < 4; ++round)
        for (const std::int64_t size : some_sizes) {
            const reduce_reference<TypeParam> expected({xs.begin(), xs.begin() + size});
            const vector_view<const TypeParam> view{x.data(), size};
            for (const reduce_algorithm algorithm : every_algorithm()) {
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
}  // namespace heddle
