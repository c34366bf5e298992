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

}  // namespace
}  // namespace heddle::test
