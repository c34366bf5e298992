#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

template <class T>
class matrix_reduce_validation : public gpu_test {};
TYPED_TEST_SUITE(matrix_reduce_validation, row_types, type_names);

TYPED_TEST(matrix_reduce_validation, asks_for_a_workspace_that_is_large_enough) {
    const stream s;
    guarded<TypeParam> x(2, 100000, 100000);
    guarded<float> y(2);
    const auto bytes = matrix_reduce_workspace_bytes(row_problem(x.matrix()), traits_of(current_device()));
    guarded_workspace scratch(bytes);
    const std::span<std::byte> small =
        std::span<std::byte>(scratch).first(static_cast<std::size_t>(bytes - 1));
    expect_error("row_sum: options.workspace is " + std::to_string(bytes - 1) + ", expected at least " +
                     std::to_string(bytes) + " bytes",
                 [&] { row_sum<TypeParam>(x.matrix(), y.vector(), s, {.workspace = small}); });
    EXPECT_TRUE(y.untouched());
}

// All below are checked before any device is asked for: they run everywhere.

class matrix_reduce_arguments : public testing::Test {
  protected:
    alignas(16) float x[24]{};
    alignas(16) float y[8]{};
    alignas(16) std::byte scratch[64]{};

    std::string of_rows(matrix_view<const float> matrix, vector_view<float> result,
                        const matrix_reduce_options& options = {}) {
        return invalid_argument_of([&] { row_sum<float>(matrix, result, no_stream, options); });
    }
    void TearDown() override {
        EXPECT_TRUE(std::ranges::all_of(y, [](float e) { return e == 0; }));
    }
};

TEST_F(matrix_reduce_arguments, have_options_that_fit) {
    EXPECT_EQ(of_rows({x, 4, 6}, {y, 4}, {.workspace = std::span(reinterpret_cast<std::byte*>(x + 4), 64)}),
              "row_sum: options.workspace is " + address_of(x + 4) + ", expected memory apart from x");
    EXPECT_EQ(
        of_rows({x, 4, 6}, {y, 4}, {.workspace = std::span(scratch).subspan(4)}),
        "row_sum: options.workspace is " + address_of(scratch + 4) + ", expected a multiple of 16 bytes");
    expect_error("row_variance: options.correction is -1, expected zero or more", [&] {
        row_variance<float>({x, 4, 6}, {y, 4}, no_stream, {.correction = -1});
    });
    expect_error("host::column_variance: options.correction is -1, expected zero or more", [&] {
        host::column_variance<float>({x, 4, 6}, {y, 6}, {.correction = -1});
    });
}

}  // namespace
}  // namespace heddle::test
