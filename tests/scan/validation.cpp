#include "tests/scan/scan_test.hpp"
#include "tests/support/headers.hpp"

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

TEST(host_scan_arguments, are_checked) {
    float x[8]{}, y[8]{};
    const auto message = [](vector_view<const float> from, vector_view<float> to) {
        return invalid_argument_of([&] { host::exclusive_scan<float>(from, to); });
    };
    EXPECT_EQ(message({x, 3}, {y, 4}), "host::exclusive_scan: x.size is 3, expected 4 (y.size)");
    EXPECT_EQ(
        message({y + 1, 4}, {y, 4}),
        "host::exclusive_scan: y is a view that overlaps x in part, expected exactly x or apart from it");
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

TEST_F(scan_arguments, are_vectors_of_one_size) {
    EXPECT_EQ(message({x, 7}, {y, 8}), "inclusive_scan: x.size is 7, expected 8 (y.size)");
    EXPECT_EQ(message({x, -1}, {y, -1}), "inclusive_scan: y.size is -1, expected zero or more");
    EXPECT_EQ(message({x, 8, 0}, {y, 8}), "inclusive_scan: x.stride is 0, expected one or more");
    EXPECT_EQ(message({x, 8}, {y, 8, -2}), "inclusive_scan: y.stride is -2, expected one or more");
    EXPECT_EQ(message({nullptr, 8}, {y, 8}),
              "inclusive_scan: x.data is null, expected a pointer to its elements");
    const auto* odd = reinterpret_cast<const std::int32_t*>(reinterpret_cast<std::uintptr_t>(x) + 2);
    EXPECT_EQ(message({odd, 4}, {y, 4}),
              "inclusive_scan: x.data is " + address_of(odd) + ", expected a multiple of 4 bytes");
    expect_error("exclusive_scan: x.size is 1, expected 2 (y.size)", [&] {
        exclusive_scan<std::int32_t>({x, 1}, {y, 2}, no_stream);
    });
}

TEST_F(scan_arguments, y_is_x_or_apart_from_it) {
    const std::string expected =
        "inclusive_scan: y is a view that overlaps x in part, expected exactly x or apart from it";
    EXPECT_EQ(message({y, 4}, {y + 1, 4}), expected);
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

TEST_F(scan_arguments, the_algorithm_is_one_of_the_enumerators) {
    EXPECT_EQ(message({x, 8}, {y, 8}, {.algorithm = static_cast<scan_algorithm>(99)}),
              "inclusive_scan: options.algorithm is 99, expected an enumerator of scan_algorithm");
}

TEST_F(scan_arguments, of_nothing_need_no_device) {
    EXPECT_NO_THROW(inclusive_scan<float>({}, vector_view<float>{}, no_stream));
    EXPECT_NO_THROW(exclusive_scan<double>({}, vector_view<double>{}, no_stream));
}

}  // namespace
}  // namespace heddle::test
