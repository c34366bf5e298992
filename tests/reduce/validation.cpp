#include "tests/reduce/reduce_test.hpp"

namespace heddle::test {
namespace {

template <class T>
using reduce_validation = reductions<T>;
TYPED_TEST_SUITE(reduce_validation, reduced_types, type_names);

TYPED_TEST(reduce_validation, asks_for_a_workspace_that_is_large_enough) {
    const std::int64_t size = 1 << 20;
    guarded<TypeParam> x(size);
    guarded<sum_type<TypeParam>> result(1);
    for (const reduce_algorithm algorithm : with_automatic(reduce_algorithms())) {
        const auto bytes = this->workspace_bytes(x.vector(), algorithm);
        guarded_workspace scratch(bytes);
        const std::span<std::byte> small =
            std::span<std::byte>(scratch).first(static_cast<std::size_t>(bytes - 1));
        expect_error("sum: options.workspace is " + std::to_string(bytes - 1) + ", expected at least " +
                         std::to_string(bytes) + " bytes",
                     [&] {
                         sum<TypeParam>(x.vector(), result.data(), *this->stream,
                                        {.algorithm = algorithm, .workspace = small});
                     });
        EXPECT_TRUE(scratch.is_intact());
    }
    EXPECT_TRUE(result.untouched());
}

// An empty workspace has no address to be misaligned.
TYPED_TEST(reduce_validation, takes_an_empty_workspace_from_anywhere) {
    const std::int64_t size = 1 << 20;
    const auto xs = elements<TypeParam>(size);
    guarded<TypeParam> x(size);
    x.upload(xs);
    guarded<std::uint8_t> odd(2);
    const std::span<std::byte> nothing{reinterpret_cast<std::byte*>(odd.data()) + 1, 0};
    const vector_view<const TypeParam> view = x.vector();
    const reduce_reference<TypeParam> expected(xs);
    for (const reduce_algorithm algorithm : with_automatic(reduce_algorithms())) {
        SCOPED_TRACE(to_string(algorithm));
        const auto total = this->sum_of(view, {.algorithm = algorithm, .workspace = nothing});
        EXPECT_TRUE(expected.is_sum(total, this->depth(view, algorithm)));
    }
    EXPECT_TRUE(odd.untouched());
}

// All below are checked before any device is asked for: they run everywhere.

class reduce_arguments : public testing::Test {
  protected:
    alignas(16) std::int32_t x[8]{};
    alignas(16) std::int64_t result = 17;
    alignas(16) std::byte scratch[64]{};

    /// The error of a sum, which must not write the result.
    std::string message(vector_view<const std::int32_t> view, std::int64_t* output,
                        const reduce_options& options = {}) {
        std::string text = invalid_argument_of([&] { sum<std::int32_t>(view, output, no_stream, options); });
        EXPECT_EQ(result, 17);
        return text;
    }
};

TEST_F(reduce_arguments, x_is_a_vector) {
    EXPECT_EQ(message({x, 8, -2}, &result), "sum: x.stride is -2, expected one or more");
    EXPECT_EQ(message({x, std::int64_t{1} << 62}, &result),
              "sum: x.size is 4611686018427387904, expected an extent whose bytes fit 63 bits");
}

TEST_F(reduce_arguments, the_result_is_a_pointer_apart_from_x) {
    EXPECT_EQ(message({x, 8}, nullptr), "sum: result is null, expected a pointer to device memory");
    auto* odd = reinterpret_cast<std::int64_t*>(x + 1);
    EXPECT_EQ(message({x + 4, 2}, odd),
              "sum: result is " + address_of(odd) + ", expected a multiple of 8 bytes");
    for (const int at : {0, 2, 4}) {
        auto* inside = reinterpret_cast<std::int64_t*>(x + at);
        const std::string expected =
            "sum: result is " + address_of(inside) + ", expected memory apart from x";
        EXPECT_EQ(message({x, 5}, inside), expected);
        EXPECT_EQ(message({x + 1, 4}, inside), expected);
        EXPECT_EQ(message({x, 3, 2}, inside), expected);
        EXPECT_EQ(message({x + 1, 3, 2}, inside), expected);
    }
}

TEST_F(reduce_arguments, the_workspace_is_apart_from_both) {
    const auto bytes_of = [](auto* data, std::size_t bytes) {
        return std::span(reinterpret_cast<std::byte*>(data), bytes);
    };
    EXPECT_EQ(message({x, 8}, &result, {.workspace = bytes_of(x + 4, 64)}),
              "sum: options.workspace is " + address_of(x + 4) + ", expected memory apart from x");
    EXPECT_EQ(message({x, 2, 6}, &result, {.workspace = bytes_of(x + 4, 20)}),
              "sum: options.workspace is " + address_of(x + 4) + ", expected memory apart from x");
    EXPECT_EQ(message({x, 8}, &result, {.workspace = bytes_of(&result, 8)}),
              "sum: options.workspace is " + address_of(&result) + ", expected memory apart from result");
    EXPECT_EQ(message({x, 8}, &result, {.workspace = std::span(scratch).subspan(4)}),
              "sum: options.workspace is " + address_of(scratch + 4) + ", expected a multiple of 16 bytes");
}

TEST_F(reduce_arguments, an_operation_has_the_rung_that_is_asked_for) {
    for (const reduce_algorithm algorithm : reduce_algorithms()) {
        const auto has = reduce_algorithms(reduce_operation::argmax);
        if (std::ranges::find(has, algorithm) != has.end()) continue;
        expect_error<unsupported>(
            "argmax: " + std::string(to_string(algorithm)) + " is a rung of sum, min and max alone", [&] {
                argmax<std::int32_t>({x, 4}, &result, no_stream, {.algorithm = algorithm});
            });
    }
    EXPECT_EQ(result, 17);
}

TEST_F(reduce_arguments, of_dot_lie_apart_from_the_result) {
    const auto text = [&](vector_view<const std::int32_t> y, std::int64_t* output) {
        return invalid_argument_of([&] { dot<std::int32_t>({x, 4}, y, output, no_stream); });
    };
    auto* inside = reinterpret_cast<std::int64_t*>(x + 4);
    EXPECT_EQ(text({x + 4, 4}, inside),
              "dot: result is " + address_of(inside) + ", expected memory apart from y");
    expect_error("dot: options.workspace is " + address_of(x + 4) + ", expected memory apart from y", [&] {
        dot<std::int32_t>({x, 2}, {x + 4, 2}, &result, no_stream,
                          {.workspace = std::span(reinterpret_cast<std::byte*>(x + 4), 16)});
    });
    EXPECT_EQ(result, 17);
}

}  // namespace
}  // namespace heddle::test
