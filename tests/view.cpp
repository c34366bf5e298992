#include "tests/support/headers.hpp"

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

TEST(view, is_dense_and_row_major_by_default) {
    float storage[24] = {};
    EXPECT_EQ(vector_view(storage, 24).stride, 1);
    const matrix_view m(storage, 4, 6);
    EXPECT_EQ(m.row_stride, 6);
    EXPECT_EQ(m.col_stride, 1);
    const image_view gray(storage, 6, 4);
    EXPECT_EQ(gray.channels, 1);
    EXPECT_EQ(gray.row_stride, 6);
    EXPECT_EQ(image_view(storage, 2, 4, 3).row_stride, 6);

    EXPECT_EQ(vector_view<float>{}.data, nullptr);
    EXPECT_EQ(matrix_view<float>{}.rows, 0);
    EXPECT_EQ(image_view<float>{}.row_stride, 0);
}

TEST(view, keeps_every_member_on_its_way_to_const) {
    float storage[64] = {};
    const matrix_view<const float> m = matrix_view(storage, 3, 4, 20, 5);
    EXPECT_EQ(m.data, storage);
    EXPECT_EQ(m.rows, 3);
    EXPECT_EQ(m.cols, 4);
    EXPECT_EQ(m.row_stride, 20);
    EXPECT_EQ(m.col_stride, 5);
    const vector_view<const float> v = vector_view(storage, 7, 9);
    EXPECT_EQ(v.size, 7);
    EXPECT_EQ(v.stride, 9);
    const image_view<const float> image = image_view(storage, 2, 3, 4, 16);
    EXPECT_EQ(image.width, 2);
    EXPECT_EQ(image.height, 3);
    EXPECT_EQ(image.channels, 4);
    EXPECT_EQ(image.row_stride, 16);
    const image_batch_view<const float> batch = image_batch_view(image_view(storage, 2, 3), 4, 9);
    EXPECT_EQ(batch.first.height, 3);
    EXPECT_EQ(batch.count, 4);
    EXPECT_EQ(batch.stride, 9);
}

TEST(view, of_tensors_is_dense_around_the_strides_that_are_given) {
    float storage[240] = {};
    const tensor_view<const float> dense = tensor_view(storage, 2, 3, 4, 5);
    EXPECT_EQ(dense.col_stride, 5);
    EXPECT_EQ(dense.row_stride, 20);
    EXPECT_EQ(dense.image_stride, 60);
    const tensor_view<const float> apart = tensor_view(storage, 2, 3, 4, 5, 6, 30);
    EXPECT_EQ(apart.col_stride, 6);
    EXPECT_EQ(apart.row_stride, 30);
    EXPECT_EQ(apart.image_stride, 90);
    const filter_view<const float> filters = filter_view(storage, 2, 3, 4, 5, 7);
    EXPECT_EQ(filters.row_stride, 28);
    EXPECT_EQ(filters.output_stride, 84);
}

TEST(view, of_planes_is_a_batch_of_one_channel_each) {
    float storage[24] = {};
    const image_batch_view<float> planes = planar(storage, 4, 2, 3);
    EXPECT_EQ(planes.first.data, storage);
    EXPECT_EQ(planes.first.width, 4);
    EXPECT_EQ(planes.first.height, 2);
    EXPECT_EQ(planes.first.channels, 1);
    EXPECT_EQ(planes.count, 3);
    EXPECT_EQ(planes.stride, 8);
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

TEST(as_rows, has_a_vector_in_the_place_of_each_row) {
    float storage[24] = {};
    const matrix_view<const float> m = as_rows(vector_view(storage, 8, 3), 5);
    EXPECT_EQ(m.data, storage);
    EXPECT_EQ(m.rows, 5);
    EXPECT_EQ(m.cols, 8);
    EXPECT_EQ(m.row_stride, 0);
    EXPECT_EQ(m.col_stride, 3);
}

TEST(as_columns, has_a_vector_in_the_place_of_each_column) {
    float storage[24] = {};
    const matrix_view<const float> m = as_columns(vector_view<const float>(storage, 8, 3), 5);
    EXPECT_EQ(m.data, storage);
    EXPECT_EQ(m.rows, 8);
    EXPECT_EQ(m.cols, 5);
    EXPECT_EQ(m.row_stride, 3);
    EXPECT_EQ(m.col_stride, 0);
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
