#include "tests/support/headers.hpp"
#include "tests/support/matrix_reduce.hpp"

namespace heddle::test {
namespace {

template <class T>
T number(double value) {
    return static_cast<T>(static_cast<float>(value));
}

template <class T>
class matrix_reduce : public stream_fixture {};
TYPED_TEST_SUITE(matrix_reduce, row_types, type_names);

TYPED_TEST(matrix_reduce, gives_the_same_bits_every_time_and_in_a_graph) {
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{9, 150001}, {30000, 72}}) {
        const auto elements = random_elements<TypeParam>(rows * cols);
        guarded<TypeParam> x(rows, cols, cols);
        x.upload(elements);
        const matrix_view<const TypeParam> view = x.matrix();
        for (const bool by_rows : {true, false}) {
            const std::int64_t size = by_rows ? rows : cols;
            guarded<float> first(size), again(size), transposed_sum(size);
            const auto reduce = [&](guarded<float>& y, const matrix_reduce_options& options = {}) {
                (by_rows ? row_sum<TypeParam> : column_sum<TypeParam>)(view, y.vector(), *this->stream,
                                                                       options);
            };
            workspace scratch(
                matrix_reduce_workspace_bytes(by_rows ? row_problem(view) : column_problem(view),
                                              traits_of(current_device())),
                *this->stream);
            reduce(first);
            this->stream->synchronize();
            const auto expected = first.download();
            (by_rows ? column_sum<TypeParam> : row_sum<TypeParam>)(transposed(view), transposed_sum.vector(),
                                                                   *this->stream, {});
            this->stream->synchronize();
            EXPECT_EQ(transposed_sum.download(), expected);

            const graph captured =
                graph::capture(*this->stream, [&] { reduce(again, {.workspace = scratch}); });
            for (int i = 0; i < 10; ++i) {
                again.upload(std::vector<float>(static_cast<std::size_t>(size), -1));
                if (i % 2 == 0)
                    captured.launch(*this->stream);
                else
                    reduce(again, {.workspace = scratch});
                this->stream->synchronize();
                ASSERT_EQ(again.download(), expected);
            }
        }
    }
}

TYPED_TEST(matrix_reduce, finds_the_first_of_equals) {
    const std::int64_t rows = 50, cols = 3000;
    auto elements = random_elements<TypeParam>(rows * cols, 0, 3);
    for (TypeParam& e : elements) e = number<TypeParam>(std::floor(to_double(e)));
    for (std::int64_t j = 0; j < cols; ++j) {
        const auto place = static_cast<std::size_t>(j);
        elements[place] = number<TypeParam>(-HUGE_VAL);                                 // row 0: all -Inf
        elements[place + 1 * static_cast<std::size_t>(cols)] = number<TypeParam>(NAN);  // row 1: all NaN
        elements[place + 2 * static_cast<std::size_t>(cols)] = number<TypeParam>(j % 2 == 0 ? -0.0 : 0.0);
    }
    guarded<TypeParam> x(rows, cols, cols);
    x.upload(elements);
    for (const bool by_rows : {true, false}) {
        std::vector<std::int64_t> places;
        std::vector<TypeParam> maxima;
        for (std::int64_t line = 0; line < (by_rows ? rows : cols); ++line) {
            const reduced_row expected(by_rows ? cols : rows, [&](std::int64_t i) {
                return to_double(
                    elements[static_cast<std::size_t>(by_rows ? line * cols + i : i * cols + line)]);
            });
            places.push_back(expected.argmax);
            maxima.push_back(number<TypeParam>(expected.largest));
        }
        for (const matrix_reduce_algorithm algorithm : with_automatic(matrix_reduce_algorithms())) {
            SCOPED_TRACE(to_string(algorithm));
            guarded<std::int64_t> y(std::ssize(places));
            guarded<TypeParam> largest(std::ssize(places));
            const matrix_reduce_options options{.algorithm = algorithm};
            (by_rows ? row_argmax<TypeParam> : column_argmax<TypeParam>)(x.matrix(), y.vector(),
                                                                         *this->stream, options);
            (by_rows ? row_max<TypeParam> : column_max<TypeParam>)(x.matrix(), largest.vector(),
                                                                   *this->stream, options);
            ASSERT_EQ(y.download(), places);
            const auto found = largest.download();
            for (std::size_t i = 0; i < found.size(); ++i)
                ASSERT_TRUE(is_within(to_double(found[i]), to_double(maxima[i]), 0)) << i;
        }
    }
}

}  // namespace
}  // namespace heddle::test
