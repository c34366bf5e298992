#include "tests/support/headers.hpp"
#include <heddle/interop/mdspan.hpp>

#include <concepts>

namespace heddle::test {
namespace {

static_assert(std::is_trivially_copyable_v<vector_view<float>> && std::is_aggregate_v<vector_view<float>>);
static_assert(std::is_trivially_copyable_v<matrix_view<float>> && std::is_aggregate_v<matrix_view<float>>);
static_assert(std::is_trivially_copyable_v<image_view<float>> && std::is_aggregate_v<image_view<float>>);

// A view of const converts from a view of mutable elements, but not the reverse.
static_assert(std::convertible_to<vector_view<float>, vector_view<const float>>);
static_assert(std::convertible_to<matrix_view<float>, matrix_view<const float>>);
static_assert(std::convertible_to<image_view<float>, image_view<const float>>);
static_assert(std::convertible_to<image_batch_view<float>, image_batch_view<const float>>);
static_assert(!std::convertible_to<vector_view<const float>, vector_view<float>>);
static_assert(!std::convertible_to<matrix_view<const float>, matrix_view<float>>);
static_assert(!std::convertible_to<matrix_view<float>, matrix_view<double>>);
static_assert(std::convertible_to<tensor_view<float>, tensor_view<const float>>);
static_assert(std::convertible_to<filter_view<float>, filter_view<const float>>);
static_assert(!std::convertible_to<tensor_view<const float>, tensor_view<float>>);
static_assert(!std::convertible_to<tensor_view<float>, filter_view<float>>);
static_assert(std::convertible_to<pinned_buffer<float>&, vector_view<float>>);
static_assert(std::convertible_to<const pinned_buffer<float>&, vector_view<const float>>);
static_assert(!std::convertible_to<const pinned_buffer<float>&, vector_view<float>>);

TEST(view, deduces_its_element_type) {
    float storage[24] = {};
    const float* constant = storage;
    static_assert(std::same_as<decltype(vector_view(storage, 24)), vector_view<float>>);
    static_assert(std::same_as<decltype(vector_view(constant, 12, 2)), vector_view<const float>>);
    static_assert(std::same_as<decltype(matrix_view(storage, 4, 6)), matrix_view<float>>);
    static_assert(std::same_as<decltype(matrix_view(constant, 4, 5, 6)), matrix_view<const float>>);
    static_assert(std::same_as<decltype(matrix_view(storage, 4, 2, 6, 2)), matrix_view<float>>);
    static_assert(std::same_as<decltype(image_view(storage, 6, 4)), image_view<float>>);
    static_assert(std::same_as<decltype(image_view(constant, 2, 4, 3, 6)), image_view<const float>>);
    (void)constant;
}

/// The numbers of a view, in the order of its members.
using numbers = std::vector<std::int64_t>;
template <class T>
numbers numbers_of(const vector_view<T>& v) {
    return {v.size, v.stride};
}
template <class T>
numbers numbers_of(const matrix_view<T>& m) {
    return {m.rows, m.cols, m.row_stride, m.col_stride};
}
template <class T>
numbers numbers_of(const image_view<T>& image) {
    return {image.width, image.height, image.channels, image.row_stride};
}
template <class T>
numbers numbers_of(const image_batch_view<T>& batch) {
    numbers all = numbers_of(batch.first);
    all.insert(all.end(), {batch.count, batch.stride});
    return all;
}

TEST(view, is_dense_and_row_major_by_default) {
    float storage[24] = {};
    EXPECT_EQ(numbers_of(vector_view(storage, 24)), (numbers{24, 1}));
    EXPECT_EQ(numbers_of(matrix_view(storage, 4, 6)), (numbers{4, 6, 6, 1}));
    EXPECT_EQ(numbers_of(image_view(storage, 6, 4)), (numbers{6, 4, 1, 6}));
    EXPECT_EQ(numbers_of(image_view(storage, 2, 4, 3)), (numbers{2, 4, 3, 6}));

    EXPECT_EQ(vector_view<float>{}.data, nullptr);
    EXPECT_EQ(matrix_view<float>{}.rows, 0);
    EXPECT_EQ(image_view<float>{}.row_stride, 0);
}

TEST(view, keeps_every_member_on_its_way_to_const) {
    float storage[64] = {};
    const matrix_view<const float> m = matrix_view(storage, 3, 4, 20, 5);
    const vector_view<const float> v = vector_view(storage, 7, 9);
    const image_view<const float> image = image_view(storage, 2, 3, 4, 16);
    const image_batch_view<const float> batch = image_batch_view(image_view(storage, 2, 3), 4, 9);
    for (const float* const data : {m.data, v.data, image.data, batch.first.data}) EXPECT_EQ(data, storage);
    EXPECT_EQ(numbers_of(m), (numbers{3, 4, 20, 5}));
    EXPECT_EQ(numbers_of(v), (numbers{7, 9}));
    EXPECT_EQ(numbers_of(image), (numbers{2, 3, 4, 16}));
    EXPECT_EQ(numbers_of(batch), (numbers{2, 3, 1, 2, 4, 9}));
}

TEST(view, of_tensors_is_dense_around_the_strides_that_are_given) {
    float storage[240] = {};
    const auto strides_of = [](const tensor_view<const float>& t) {
        return numbers{t.col_stride, t.row_stride, t.image_stride};
    };
    EXPECT_EQ(strides_of(tensor_view(storage, 2, 3, 4, 5)), (numbers{5, 20, 60}));
    EXPECT_EQ(strides_of(tensor_view(storage, 2, 3, 4, 5, 6, 30)), (numbers{6, 30, 90}));
    const filter_view<const float> filters = filter_view(storage, 2, 3, 4, 5, 7);
    EXPECT_EQ((numbers{filters.row_stride, filters.output_stride}), (numbers{28, 84}));
}

TEST(view, of_planes_is_a_batch_of_one_channel_each) {
    float storage[24] = {};
    const image_batch_view<float> planes = planar(storage, 4, 2, 3);
    EXPECT_EQ(planes.first.data, storage);
    EXPECT_EQ(numbers_of(planes), (numbers{4, 2, 1, 4, 3, 8}));
    EXPECT_EQ(image_batch_view{image_view(storage, 4, 2)}.count, 1);
}

TEST(transposed, exchanges_rows_and_columns_of_the_same_elements) {
    int storage[24];
    for (int i = 0; i < 24; ++i) storage[i] = i;
    constexpr auto at = [](const matrix_view<int>& m, std::int64_t row, std::int64_t col) {
        return m.data[row * m.row_stride + col * m.col_stride];
    };
    const matrix_view m(storage, 4, 5, 6);
    const matrix_view t = transposed(m);
    ASSERT_EQ(t.rows, 5);
    ASSERT_EQ(t.cols, 4);
    for (std::int64_t row = 0; row < 4; ++row)
        for (std::int64_t col = 0; col < 5; ++col) EXPECT_EQ(at(t, col, row), at(m, row, col));
    const matrix_view twice = transposed(t);
    EXPECT_EQ(twice.row_stride, m.row_stride);
    EXPECT_EQ(twice.col_stride, m.col_stride);
}

TEST(view, of_a_vector_in_the_place_of_each_row_or_column_is_a_matrix) {
    float storage[24] = {};
    const vector_view v(storage, 8, 3);
    const matrix_view<const float> rows = as_rows(v, 5), columns = as_columns(vector_view<const float>(v), 5);
    EXPECT_TRUE(rows.data == storage && columns.data == storage);
    EXPECT_EQ(numbers_of(rows), (numbers{5, 8, 0, 3}));
    EXPECT_EQ(numbers_of(columns), (numbers{8, 5, 3, 0}));
}

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
    const matrix_view m = view_of(mdspan_of(matrix_view(storage.data() + 1, 4, 5, 12, 2)));
    EXPECT_TRUE(v.data == storage.data() + 1 && m.data == storage.data() + 1);
    EXPECT_EQ(numbers_of(v), (numbers{9, 4}));
    EXPECT_EQ(numbers_of(m), (numbers{4, 5, 12, 2}));
}

TEST_F(mdspan, of_any_strided_layout_becomes_a_view) {
    using extents = cuda::std::extents<int, 4, 5>;
    const matrix_view rows = view_of(cuda::std::mdspan<const int, extents>(storage.data()));
    static_assert(std::same_as<decltype(rows), const matrix_view<const int>>);
    EXPECT_EQ(numbers_of(rows), (numbers{4, 5, 5, 1}));

    const matrix_view columns =
        view_of(cuda::std::mdspan<int, extents, cuda::std::layout_left>(storage.data()));
    EXPECT_EQ(numbers_of(columns), (numbers{4, 5, 1, 4}));
}

// Overlaps and valid strides, compared with the set of addresses that a view reaches. They are tested through
// host::add, which checks its arguments as every operation does.

using matrix = matrix_view<float>;

std::multiset<const float*> addresses(const matrix& m) {
    std::multiset<const float*> all;
    for (std::int64_t row = 0; row < m.rows; ++row)
        for (std::int64_t col = 0; col < m.cols; ++col)
            all.insert(m.data + row * m.row_stride + col * m.col_stride);
    return all;
}

bool is_unique(const matrix& m) {
    const auto all = addresses(m);
    return std::set(all.begin(), all.end()).size() == all.size();
}

bool share_an_element(const matrix& a, const matrix& b) {
    const auto of_a = addresses(a);
    for (const float* address : addresses(b))
        if (of_a.contains(address)) return true;
    return false;
}

bool is_accepted(const matrix& input, const matrix& output) {
    try {
        host::add<float>(input, input, output);
        return true;
    } catch (const invalid_argument&) {
        return false;
    }
}

bool is_exactly(const matrix& a, const matrix& b) {
    return a.data == b.data && (a.rows <= 1 || a.row_stride == b.row_stride) &&
           (a.cols <= 1 || a.col_stride == b.col_stride);
}

std::string text(const matrix& m) {
    return fmt::format("{} x {}, strides {} and {}", m.rows, m.cols, m.row_stride, m.col_stride);
}

/// Pairs of matrices around the middle of some memory. Some must be accepted, and others refused.
class overlap_of_matrices : public testing::Test {
  protected:
    /// A call is accepted exactly where its output is the input, or shares no element with it.
    void decide(const matrix& input, const matrix& output) {
        const bool was_accepted = is_accepted(input, output);
        ASSERT_EQ(was_accepted, is_exactly(input, output) || !share_an_element(input, output))
            << text(input) << "; " << text(output) << ", " << output.data - input.data << " elements on";
        ++(was_accepted ? accepted_ : refused_);
    }
    void TearDown() override { EXPECT_TRUE(accepted_ > 0 && refused_ > 0); }

  private:
    std::vector<float> storage_ = std::vector<float>(400);
    std::int64_t accepted_ = 0, refused_ = 0;

  protected:
    float* const middle = storage_.data() + 200;
};

TEST_F(overlap_of_matrices, is_found_in_every_pair_of_small_matrices) {
    for (const auto& [rows, cols] : {std::pair{1, 1}, {1, 3}, {3, 1}, {2, 2}, {2, 3}, {3, 2}, {3, 3}})
        for (const bool column_major : {false, true})
            for (const std::int64_t stride : {1, 2, 3, 4, 5, 8})
                for (const std::int64_t other_stride : {1, 2, 3, 4, 5, 8})
                    for (const bool other_column_major : {false, true})
                        for (std::int64_t shift = -30; shift <= 30; ++shift) {
                            const auto make = [&, r = rows, c = cols](float* data, std::int64_t s,
                                                                      bool columns) {
                                return columns ? matrix{data, r, c, 1, s} : matrix{data, r, c, s, 1};
                            };
                            const matrix input = make(middle, stride, column_major);
                            const matrix output = make(middle + shift, other_stride, other_column_major);
                            if (!is_unique(input) || !is_unique(output)) {
                                ASSERT_FALSE(is_accepted(input, output))
                                    << text(input) << "; " << text(output);
                                continue;
                            }
                            ASSERT_NO_FATAL_FAILURE(decide(input, output));
                        }
}

TEST(overlap, is_none_between_interleaved_vectors) {
    std::vector<float> storage(30, 1.0f);
    for (std::int64_t stride = 1; stride <= 3; ++stride)
        for (std::int64_t shift = 1; shift < stride; ++shift) {
            const vector_view<float> even{storage.data(), 9, stride}, odd{storage.data() + shift, 9, stride};
            EXPECT_NO_THROW(host::add<float>(even, even, odd));
        }
    const vector_view<float> low{storage.data(), 9, 3}, high{storage.data() + 3, 9, 3};
    EXPECT_THROW(host::add<float>(low, low, high), invalid_argument);
}

TEST_F(overlap_of_matrices, is_none_between_interleaved_planes) {
    for (const auto& [rows, cols] : {std::pair{1, 3}, {3, 1}, {2, 2}, {2, 3}, {3, 2}})
        for (const std::int64_t step : {2, 3, 4})
            for (const bool column_major : {false, true})
                for (const std::int64_t padding : {0, 1, 2})
                    for (const std::int64_t other_padding : {0, 1, 2})
                        for (std::int64_t shift = -40; shift <= 40; ++shift) {
                            const auto make = [&, r = rows, c = cols](float* data, std::int64_t gap) {
                                return column_major ? matrix{data, r, c, step, step * (r + gap)}
                                                    : matrix{data, r, c, step * (c + gap), step};
                            };
                            const matrix input = make(middle, padding);
                            const matrix output = make(middle + shift, other_padding);
                            ASSERT_NO_FATAL_FAILURE(decide(input, output));
                        }
}

TEST(overlap, of_planes_is_no_obstacle_to_adding_them) {
    // Complex numbers: 3 rows of 4 in rows of 5.
    std::vector<float> storage(30);
    for (std::size_t i = 0; i < storage.size(); ++i) storage[i] = static_cast<float>(i);
    const std::vector<float> before = storage;
    const matrix real{storage.data(), 3, 4, 10, 2}, imaginary{storage.data() + 1, 3, 4, 10, 2};
    host::add<float>(real, real, imaginary);
    for (std::size_t i = 0; i < storage.size(); ++i) {
        const bool is_imaginary = i % 10 < 8 && i % 2 == 1;
        EXPECT_EQ(storage[i], is_imaginary ? 2 * before[i - 1] : before[i]) << i;
    }
}

TEST_F(overlap_of_matrices, of_a_row_a_column_or_an_element_for_all_is_found) {
    for (const auto& [rows, cols] : {std::pair{1, 3}, {3, 1}, {2, 2}, {2, 3}, {3, 2}, {4, 4}})
        for (const auto& [down, across] : {std::pair{0, 1}, {0, 3}, {1, 0}, {5, 0}, {0, 0}})
            for (const auto& [row_stride, col_stride] :
                 {std::pair{4, 1}, {7, 1}, {8, 2}, {1, 4}, {1, 6}, {2, 9}})
                for (std::int64_t shift = -40; shift <= 40; ++shift) {
                    const matrix input{middle, rows, cols, down, across};
                    const matrix output{middle + shift, rows, cols, row_stride, col_stride};
                    if (!is_unique(output)) continue;
                    ASSERT_NO_FATAL_FAILURE(decide(input, output));
                }
}

TEST(overlap, is_none_between_a_column_and_others_of_its_matrix) {
    // Each row of 4 is scaled by the element behind it.
    std::vector<float> storage(15);
    for (std::size_t i = 0; i < storage.size(); ++i) storage[i] = static_cast<float>(i);
    const std::vector<float> before = storage;
    const matrix m{storage.data(), 3, 4, 5};
    host::multiply<float>(m, as_columns(vector_view<const float>{storage.data() + 4, 3, 5}, 4), m);
    for (std::size_t i = 0; i < storage.size(); ++i)
        EXPECT_EQ(storage[i], i % 5 < 4 ? before[i] * before[i / 5 * 5 + 4] : before[i]) << i;
}

TEST(overlap, is_none_between_an_empty_view_and_any_other) {
    std::vector<float> storage(12);
    const matrix no_rows{storage.data() + 2, 0, 3};
    EXPECT_NO_THROW(host::add<float>(no_rows, no_rows, no_rows));
}

}  // namespace
}  // namespace heddle::test
