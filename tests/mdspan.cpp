#include "tests/support/headers.hpp"
#include <heddle/interop/mdspan.hpp>

#include <concepts>

namespace heddle::test {
namespace {

class mdspan : public testing::Test {
  protected:
    mdspan() { std::iota(storage.begin(), storage.end(), 0); }

    std::array<int, 60> storage;
};

TEST_F(mdspan, indexes_the_elements_of_a_view) {
    const auto v = mdspan_of(vector_view(storage.data(), 9, 4));
    ASSERT_EQ(v.extent(0), 9);
    EXPECT_EQ(v(8), 32);

    const matrix_view m(storage.data(), 4, 5, 12, 2);
    const auto span = mdspan_of(m);
    ASSERT_EQ(span.extent(0), 4);
    ASSERT_EQ(span.extent(1), 5);
    EXPECT_EQ(span(3, 4), 44);
    EXPECT_EQ(mdspan_of(transposed(m))(4, 3), 44);

    const auto image = mdspan_of(image_view(storage.data(), 4, 3, 3, 16));
    ASSERT_EQ(image.extent(0), 3);
    ASSERT_EQ(image.extent(1), 4);
    ASSERT_EQ(image.extent(2), 3);
    EXPECT_EQ(image(2, 3, 1), 2 * 16 + 3 * 3 + 1);

    static_assert(std::same_as<decltype(mdspan_of(matrix_view<const int>{}))::element_type, const int>);
}

TEST_F(mdspan, is_dense_where_the_view_is) {
    EXPECT_EQ(dense_mdspan_of(vector_view(storage.data(), 60))(59), 59);
    EXPECT_EQ(dense_mdspan_of(matrix_view(storage.data(), 4, 5))(3, 4), 19);
    EXPECT_EQ(dense_mdspan_of(matrix_view(storage.data(), 1, 5, 99))(0, 4), 4);

    EXPECT_THROW((void)dense_mdspan_of(vector_view(storage.data(), 9, 2)), invalid_argument);
    EXPECT_THROW((void)dense_mdspan_of(matrix_view(storage.data(), 4, 5, 6)), invalid_argument);
    EXPECT_THROW((void)dense_mdspan_of(transposed(matrix_view(storage.data(), 4, 5))), invalid_argument);
}

TEST_F(mdspan, becomes_the_view_that_it_came_from) {
    const vector_view v = view_of(mdspan_of(vector_view(storage.data() + 1, 9, 4)));
    EXPECT_EQ(v.data, storage.data() + 1);
    EXPECT_EQ(v.size, 9);
    EXPECT_EQ(v.stride, 4);

    const matrix_view m = view_of(mdspan_of(matrix_view(storage.data() + 1, 4, 5, 12, 2)));
    EXPECT_EQ(m.data, storage.data() + 1);
    EXPECT_EQ(m.rows, 4);
    EXPECT_EQ(m.cols, 5);
    EXPECT_EQ(m.row_stride, 12);
    EXPECT_EQ(m.col_stride, 2);
}

TEST_F(mdspan, of_any_strided_layout_becomes_a_view) {
    using extents = cuda::std::extents<int, 4, 5>;
    const matrix_view rows = view_of(cuda::std::mdspan<const int, extents>(storage.data()));
    static_assert(std::same_as<decltype(rows), const matrix_view<const int>>);
    EXPECT_EQ(rows.row_stride, 5);
    EXPECT_EQ(rows.col_stride, 1);

    const matrix_view columns =
        view_of(cuda::std::mdspan<int, extents, cuda::std::layout_left>(storage.data()));
    EXPECT_EQ(columns.row_stride, 1);
    EXPECT_EQ(columns.col_stride, 4);
}

}  // namespace
}  // namespace heddle::test
