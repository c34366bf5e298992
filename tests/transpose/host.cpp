#include "tests/transpose/transposition.hpp"
#include <heddle/host.hpp>

#include <utility>

namespace heddle {
namespace {

using test::are_same_bits;
using test::expected_transpose;
using test::guarded;
using test::make_rows;
using test::random_bits;
using test::row_layout;

template <class T>
class host_transposition : public testing::Test {
  protected:
    static void check(std::int64_t rows, std::int64_t cols, const row_layout& from, const row_layout& to) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        guarded<T> source = make_rows<T>(rows, cols, from, guarded<T>::memory::host);
        guarded<T> destination = make_rows<T>(cols, rows, to, guarded<T>::memory::host);
        const auto elements = random_bits<T>(rows * cols);
        source.upload(elements);
        host::transpose<T>(source.matrix(), destination.matrix());
        ASSERT_TRUE(are_same_bits(destination.download(), expected_transpose(elements, rows, cols)));
        ASSERT_TRUE(destination.canaries_alive());
        ASSERT_TRUE(source.untouched());
    }
};

TYPED_TEST_SUITE(host_transposition, test::transposed_types, test::type_names);

TYPED_TEST(host_transposition, takes_any_shape_and_layout) {
    const row_layout layouts[] = {
        {}, {.offset = 1, .padding = 3}, {.column_major = true}, {.padding = 1, .step = 2}};
    for (const auto& [rows, cols] :
         {std::pair{0, 5}, {5, 0}, {1, 1}, {1, 257}, {257, 1}, {31, 33}, {32, 64}, {3, 2011}, {301, 130}})
        for (const row_layout& from : layouts)
            for (const row_layout& to : layouts) ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, from, to));
}

}  // namespace
}  // namespace heddle
