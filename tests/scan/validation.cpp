#include "tests/scan/scan_test.hpp"

namespace heddle::test {
namespace {

template <class T>
class scan_validation : public scan_test {};
TYPED_TEST_SUITE(scan_validation, scan_types, type_names);

TYPED_TEST(scan_validation, asks_for_a_workspace_that_is_large_enough) {
    const std::int64_t size = 1 << 20;
    guarded<TypeParam> x(size), y(size);
    for (const scan_algorithm algorithm : {scan_algorithm::reduce_then_scan, scan_algorithm::look_back}) {
        const auto bytes = this->template workspace_bytes<TypeParam>(size, algorithm);
        guarded_workspace scratch(bytes);
        const std::span<std::byte> small =
            std::span<std::byte>(scratch).first(static_cast<std::size_t>(bytes - 1));
        expect_error("inclusive_scan: options.workspace is " + std::to_string(bytes - 1) +
                         ", expected at least " + std::to_string(bytes) + " bytes",
                     [&] {
                         inclusive_scan<TypeParam>(x.vector(), y.vector(), *this->stream,
                                                   {.algorithm = algorithm, .workspace = small});
                     });
        EXPECT_TRUE(scratch.is_intact());
    }
    EXPECT_TRUE(y.untouched());
}

// All arguments below are checked before any device is used: these run everywhere.

class scan_arguments : public testing::Test {
  protected:
    alignas(16) std::int32_t x[8]{};
    alignas(16) std::int32_t y[8]{};
    alignas(16) std::byte scratch[64]{};

    std::string message(vector_view<const std::int32_t> from, vector_view<std::int32_t> to,
                        const scan_options& options = {}) {
        std::string text =
            invalid_argument_of([&] { inclusive_scan<std::int32_t>(from, to, no_stream, options); });
        EXPECT_TRUE(std::ranges::all_of(y, [](std::int32_t each) { return each == 0; }));
        return text;
    }
};

TEST_F(scan_arguments, y_is_x_or_apart_from_it) {
    const std::string expected =
        "inclusive_scan: y is a view that overlaps x in part, expected exactly x or apart from it";
    EXPECT_EQ(message({y, 4}, {y, 4, 2}), expected);
}

TEST_F(scan_arguments, the_workspace_is_apart_from_both) {
    const auto bytes_of = [](auto* data) { return std::as_writable_bytes(std::span(data, 4)); };
    EXPECT_EQ(message({x, 8}, {y, 8}, {.workspace = bytes_of(x + 4)}),
              "inclusive_scan: options.workspace is " + address_of(x + 4) + ", expected memory apart from x");
    EXPECT_EQ(message({x, 8}, {y, 8}, {.workspace = bytes_of(y + 4)}),
              "inclusive_scan: options.workspace is " + address_of(y + 4) + ", expected memory apart from y");
    EXPECT_EQ(message({x, 8}, {y, 8}, {.workspace = std::span(scratch).subspan(4)}),
              "inclusive_scan: options.workspace is " + address_of(scratch + 4) +
                  ", expected a multiple of 16 bytes");
}

}  // namespace
}  // namespace heddle::test
