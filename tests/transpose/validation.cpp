#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

class transpose_arguments : public testing::Test {
  protected:
    using host = guarded<float>;
    using view = matrix_view<float>;

    host source{4, 6, 6, 0, 1, host::memory::host};
    host destination{6, 4, 4, 0, 1, host::memory::host};

    /// The device's message, which must be the host's except for its name.
    std::string message(view from, view to) {
        const std::string text = invalid_argument_of([&] { transpose<float>(from, to, no_stream); });
        expect_error("host::" + text, [&] { host_transpose(from, to); });
        EXPECT_TRUE(source.untouched() && destination.untouched());
        return text;
    }

  private:
    static void host_transpose(view from, view to) { heddle::host::transpose<float>(from, to); }
};

TEST_F(transpose_arguments, shapes_must_agree) {
    EXPECT_EQ(message(source.matrix(), {destination.data(), 5, 4}),
              "transpose: destination.rows is 5, expected 6 (source.cols)");
    EXPECT_EQ(message(source.matrix(), {destination.data(), 6, 3}),
              "transpose: destination.cols is 3, expected 4 (source.rows)");
    EXPECT_EQ(message({source.data(), -4, 6}, destination.matrix()),
              "transpose: source.rows is -4, expected zero or more");
    EXPECT_EQ(message({source.data(), 4, -6}, destination.matrix()),
              "transpose: source.cols is -6, expected zero or more");
}

TEST_F(transpose_arguments, pointers_are_neither_null_nor_misaligned) {
    EXPECT_EQ(message({nullptr, 4, 6}, destination.matrix()),
              "transpose: source.data is null, expected a pointer to its elements");
    EXPECT_EQ(message(source.matrix(), {nullptr, 6, 4}),
              "transpose: destination.data is null, expected a pointer to its elements");
    auto* const off = reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(source.data()) + 2);
    EXPECT_EQ(message({off, 4, 6}, destination.matrix()),
              "transpose: source.data is " + address_of(off) + ", expected a multiple of 4 bytes");
}

TEST_F(transpose_arguments, strides_step_over_a_row) {
    EXPECT_EQ(message(source.matrix(), {destination.data(), 6, 4, 3}),
              "transpose: destination.row_stride is 3, expected at least 4 (a row), or a col_stride of at "
              "least a column");
    EXPECT_EQ(message({source.data(), 4, 6, 6, 0}, destination.matrix()),
              "transpose: source.col_stride is 0, expected one or more");
}

TEST_F(transpose_arguments, bytes_are_countable) {
    constexpr std::int64_t huge = std::int64_t{1} << 62;
    EXPECT_EQ(message({source.data(), huge, 8}, {destination.data(), 8, huge}),
              "transpose: source.rows is 4611686018427387904, expected an extent whose bytes fit 63 bits");
}

TEST_F(transpose_arguments, destination_lies_apart_from_source) {
    const std::string text =
        "transpose: destination is a view that overlaps source, expected memory apart from it";
    const view square{source.data(), 4, 4};
    EXPECT_EQ(message(square, square), text);
    EXPECT_EQ(message(square, transposed(square)), text);
    EXPECT_EQ(message({source.data(), 2, 3}, {source.data() + 5, 3, 2}), text);
}

TEST_F(transpose_arguments, the_algorithm_is_one_of_the_enumerators) {
    expect_error("transpose: options.algorithm is 99, expected an enumerator of transpose_algorithm", [&] {
        transpose<float>(source.matrix(), destination.matrix(), no_stream,
                         {.algorithm = static_cast<transpose_algorithm>(99)});
    });
}

TEST_F(transpose_arguments, empty_views_may_be_null) {
    const view no_rows{nullptr, 0, 6}, no_cols{nullptr, 6, 0};
    EXPECT_NO_THROW(transpose<float>(no_rows, no_cols, no_stream));
    EXPECT_NO_THROW(transpose<float>(no_cols, no_rows, no_stream));
    EXPECT_NO_THROW(heddle::host::transpose<float>(no_rows, no_cols));
}

class transpose_unsupported : public gpu_test {};

TEST_F(transpose_unsupported, vectorized_refuses_gaps_on_one_side) {
    const stream s;
    guarded<float> source(6, 5, 10, 0, 2), destination(5, 6, 6);
    EXPECT_THROW(transpose<float>(source.matrix(), destination.matrix(), s,
                                  {.algorithm = transpose_algorithm::vectorized}),
                 unsupported);
    EXPECT_TRUE(destination.untouched());
}

}  // namespace
}  // namespace heddle::test
