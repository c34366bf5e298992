#include "tests/histogram/counting.hpp"
#include <heddle/graph.hpp>

namespace heddle {
namespace {

using test::counted_elements;
using test::expected_counts;
using test::guarded;

template <class T>
class histogram_of : public test::histogram_test {};
using element_types = testing::Types<std::uint8_t, float>;
TYPED_TEST_SUITE(histogram_of, element_types, test::type_names);

TYPED_TEST(histogram_of, takes_every_size_and_alignment) {
    for (const std::int64_t size :
         {0, 1, 2, 15, 16, 17, 31, 255, 257, 1009, 16383, 16384, 16385, 65537, 1000003})
        for (const std::int64_t offset : {0, 1, 3, 15})
            ASSERT_NO_FATAL_FAILURE(this->check(counted_elements<TypeParam>(size), 256, offset));
}

TYPED_TEST(histogram_of, drawn_problems_take_every_plan) {
    constexpr int draws = 100;  // of each type
    test::drawing draw;
    for (int i = 0; i < draws; ++i) {
        SCOPED_TRACE(testing::Message() << "draw " << i);
        const std::int64_t size = draw(0, std::int64_t{1} << draw(0, 17));
        // Up to 32 columns of counts, down to one, and more than an SM can keep.
        const std::int64_t bins = sizeof(TypeParam) == 1 ? 256 : draw(1, std::int64_t{1} << draw(0, 14));
        const std::int64_t stride = draw(0, 2) == 0 ? draw(2, 5) : 1;
        ASSERT_NO_FATAL_FAILURE(
            this->check(counted_elements<TypeParam>(size), bins, draw(0, 1) * draw(0, 15), stride));
    }
}

TYPED_TEST(histogram_of, counts_anew_in_a_graph) {
    const auto xs = counted_elements<TypeParam>(70001);
    guarded<TypeParam> x(std::ssize(xs));
    x.upload(xs);
    guarded<std::int64_t> result(256);
    const graph captured =
        graph::capture(*this->stream, [&] { this->run(x.vector(), {}, result.vector(), *this->stream, {}); });
    for (int i = 0; i < 3; ++i) {
        captured.launch(*this->stream);
        this->stream->synchronize();
        ASSERT_EQ(result.download(), expected_counts(xs, 256, {}));
    }
}

class histogram_of_floats : public test::histogram_test {};

TEST_F(histogram_of_floats, takes_any_number_of_bins) {
    const auto xs = counted_elements<float>(100003);
    for (const std::int64_t bins : {1, 2, 3, 31, 100, 257, 1000, 2048, 4096, 4097, 12288, 12289, 100000})
        ASSERT_NO_FATAL_FAILURE(check(xs, bins, 1));
}

}  // namespace
}  // namespace heddle
