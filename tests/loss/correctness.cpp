#include "tests/loss/loss_rows.hpp"
#include <heddle/device.hpp>
#include <heddle/graph.hpp>
#include <heddle/host.hpp>
#include <heddle/matrix_reduce.hpp>

#include <cstring>
#include <utility>

namespace heddle {
namespace {

using test::guarded;
using test::random_elements;
using test::random_labels;
using test::row_layout;

template <class T>
using loss_rows = test::loss_rows<T>;
TYPED_TEST_SUITE(loss_rows, test::row_types, test::type_names);

TYPED_TEST(loss_rows, take_every_shape) {
    for (const auto& [rows, cols] : test::row_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols));
    }
}

TYPED_TEST(loss_rows, take_long_rows) {
    for (const auto& [rows, cols] : test::long_row_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(
            this->check(rows, cols, {}, {}, {loss_algorithm::warp_per_row, loss_algorithm::vectorized}));
    }
}

// The borders are those of what blocks and clusters hold, of clusters of sixteen, and of rows in packets.
TYPED_TEST(loss_rows, take_rows_around_every_border_of_clusters) {
    for (const std::int64_t cols : {8192, 8200, 32760, 32768, 32776, 65528, 65544, 131064, 131072, 131080,
                                    262136, 262144, 262145, 262152, 524288, 524289, 524296}) {
        SCOPED_TRACE(testing::Message() << cols << " columns");
        ASSERT_NO_FATAL_FAILURE(this->check(2, cols, {}, {}, {loss_algorithm::vectorized}));
    }
}

// Rows of 16 bits in packets are packed where there are as many as multiprocessors.
TYPED_TEST(loss_rows, take_many_long_rows) {
    const std::int64_t rows = traits_of(current_device()).sm_count;
    for (const std::int64_t cols : {8200, 32768}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check_cross_entropy(
            random_elements<TypeParam>(rows * cols, -10, 10), random_labels(rows, cols), cols, {}, {},
            {.ignore_label = -100, .label_smoothing = cols > 20000 ? 0.1f : 0.0f},
            {loss_algorithm::vectorized}));
    }
}

// The label's gradient is a store of its own, by the thread that holds its packet.
TYPED_TEST(loss_rows, have_labels_in_every_place) {
    for (const std::int64_t cols :
         {1, 5, 40, 129, 264, 520, 1000, 2056, 9000, 33000, 70001, 140008, 600000}) {
        const std::int64_t rows = std::min<std::int64_t>(cols, 2000000 / cols);
        std::vector<std::int32_t> labels;
        for (std::int64_t row = 0; row < rows; ++row)
            labels.push_back(
                static_cast<std::int32_t>(row * (cols - 1) / std::max<std::int64_t>(rows - 1, 1)));
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        for (const float smoothing : {0.0f, 0.1f})
            ASSERT_NO_FATAL_FAILURE(this->check_cross_entropy(
                random_elements<TypeParam>(rows * cols, -10, 10), labels, cols, {}, {},
                {.scale = 3, .label_smoothing = smoothing}, {loss_algorithm::vectorized}));
    }
}

TYPED_TEST(loss_rows, of_drawn_problems_take_every_plan) {
    constexpr int draws = 50;  // of each type
    test::drawing draw;
    for (int i = 0; i < draws; ++i) {
        const auto [rows, cols] = test::draw_row_shape(draw, 20);
        const row_layout x = test::draw_row_layout(draw), y = test::draw_row_layout(draw);
        const cross_entropy_options options{.scale = static_cast<float>(draw(-3, 3)),
                                            .ignore_label = static_cast<std::int32_t>(draw(-1, cols)),
                                            .label_smoothing = 0.25f * static_cast<float>(draw(0, 4))};
        SCOPED_TRACE(testing::Message() << "draw " << i << ": " << rows << " x " << cols << ", smoothing "
                                        << options.label_smoothing);
        const auto algorithms = test::loss_algorithms_for(cols);
        ASSERT_NO_FATAL_FAILURE(this->check_cross_entropy(random_elements<TypeParam>(rows * cols, -10, 10),
                                                          random_labels(rows, cols), cols, x, y, options,
                                                          algorithms));
        ASSERT_NO_FATAL_FAILURE(
            this->check_squared_error(rows, cols, x, test::draw_row_layout(draw), y, algorithms));
    }
}

TYPED_TEST(loss_rows, are_smoothed) {
    for (const std::int64_t cols : {1, 2, 10, 33, 512, 1000, 1024, 1025, 4096, 9000, 40000, 140001})
        for (const float smoothing : {0.1f, 1.0f}) {
            SCOPED_TRACE(testing::Message() << cols << " columns, smoothing " << smoothing);
            const std::int64_t rows = 5;
            ASSERT_NO_FATAL_FAILURE(this->check_cross_entropy(
                random_elements<TypeParam>(rows * cols, -10, 10), random_labels(rows, cols), cols, {}, {},
                {.ignore_label = -100, .label_smoothing = smoothing}));
        }
}

TYPED_TEST(loss_rows, work_in_place) {
    for (const std::int64_t cols : {3, 128, 1024, 5000, 20000, 40000, 140001, 140008, 262145, 262152, 524296})
        for (const loss_algorithm algorithm : test::loss_algorithms_for(cols)) {
            SCOPED_TRACE(testing::Message() << cols << " columns, " << to_string(algorithm));
            guarded<TypeParam> x(3, cols, cols + 8), t(3, cols, cols + 8);
            guarded<std::int32_t> label(3);
            guarded<float> loss(3);
            const auto xs = random_elements<TypeParam>(3 * cols, -5, 5),
                       ts = random_elements<TypeParam>(3 * cols);
            const std::vector<std::int32_t> labels = {0, static_cast<std::int32_t>(cols - 1),
                                                      static_cast<std::int32_t>(cols / 2)};
            const auto steps = test::loss_steps_of(algorithm, cols);
            label.upload(labels);
            x.upload(xs);
            t.upload(ts);
            cross_entropy<TypeParam>(x.matrix(), label.vector(), loss.vector(), x.matrix(), *this->stream,
                                     {.algorithm = algorithm});
            this->stream->synchronize();
            const test::expected_cross_entropy entropy(xs, labels, cols, {}, steps);
            ASSERT_TRUE(test::are_within(loss.download(), entropy.loss, entropy.loss_bounds));
            ASSERT_TRUE(test::are_within(x.download(), entropy.gradient, entropy.bounds));
            ASSERT_TRUE(x.canaries_alive());

            const test::expected_squared_error error(xs, ts, cols, 1, steps);
            for (guarded<TypeParam>* result : {&x, &t}) {
                x.upload(xs);
                t.upload(ts);
                mean_squared_error<TypeParam>(x.matrix(), t.matrix(), loss.vector(), result->matrix(),
                                              *this->stream, {.algorithm = algorithm});
                this->stream->synchronize();
                ASSERT_TRUE(test::are_within(loss.download(), error.loss, error.loss_bounds));
                ASSERT_TRUE(test::are_within(result->download(), error.gradient, error.bounds));
            }
        }
}

TYPED_TEST(loss_rows, give_either_output_alone) {
    for (const std::int64_t cols : {10, 1000, 5000, 20000, 40000, 140001, 140008, 262145, 262152, 524296})
        for (const loss_algorithm algorithm : test::loss_algorithms_for(cols)) {
            SCOPED_TRACE(testing::Message() << cols << " columns, " << to_string(algorithm));
            guarded<TypeParam> x(2, cols, cols), t(2, cols, cols), y(2, cols, cols), alone(2, cols, cols);
            guarded<std::int32_t> label(2);
            guarded<float> loss(2), loss_alone(2);
            x.upload(random_elements<TypeParam>(2 * cols, -5, 5));
            t.upload(random_elements<TypeParam>(2 * cols, -5, 5));
            label.upload({1, static_cast<std::int32_t>(cols - 2)});
            const auto expect_equal = [&] {
                this->stream->synchronize();
                EXPECT_EQ(loss.download(), loss_alone.download());
                const auto first = y.download(), second = alone.download();
                EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(TypeParam)), 0);
            };
            const auto entropy = [&](vector_view<float> to_loss, matrix_view<TypeParam> to_gradient) {
                cross_entropy<TypeParam>(x.matrix(), label.vector(), to_loss, to_gradient, *this->stream,
                                         {.algorithm = algorithm});
            };
            entropy(loss.vector(), y.matrix());
            entropy(loss_alone.vector(), {});
            entropy({}, alone.matrix());
            entropy({}, {});
            expect_equal();
            const auto error = [&](vector_view<float> to_loss, matrix_view<TypeParam> to_gradient) {
                mean_squared_error<TypeParam>(x.matrix(), t.matrix(), to_loss, to_gradient, *this->stream,
                                              {.algorithm = algorithm});
            };
            error(loss.vector(), y.matrix());
            error(loss_alone.vector(), {});
            error({}, alone.matrix());
            expect_equal();
        }
}

TYPED_TEST(loss_rows, give_the_same_bits_in_a_graph) {
    for (const auto& [rows, cols] :
         {std::pair{1000, 100}, {50, 5000}, {20, 50000}, {3, 200000}, {3, 262145}, {2, 524296}}) {
        guarded<TypeParam> x(rows, cols, cols), y(rows, cols, cols), again(rows, cols, cols);
        guarded<std::int32_t> label(rows);
        guarded<float> loss(rows), loss_again(rows);
        x.upload(random_elements<TypeParam>(std::int64_t{rows} * cols, -4, 4));
        label.upload(random_elements<std::int32_t>(rows, 0, cols - 1));
        cross_entropy<TypeParam>(x.matrix(), label.vector(), loss.vector(), y.matrix(), *this->stream);
        const graph captured = graph::capture(*this->stream, [&] {
            cross_entropy<TypeParam>(x.matrix(), label.vector(), loss_again.vector(), again.matrix(),
                                     *this->stream);
        });
        for (int i = 0; i < 3; ++i) captured.launch(*this->stream);
        this->stream->synchronize();
        const auto first = y.download(), second = again.download();
        EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(TypeParam)), 0);
        EXPECT_EQ(loss.download(), loss_again.download());
    }
}

TYPED_TEST(loss_rows, have_hits_where_the_label_is_the_argmax) {
    for (const auto& [rows, cols] :
         {std::pair{1000, 10}, {300, 33}, {70, 1024}, {9, 5000}, {5, 40008}, {1, 1}, {0, 4}})
        for (const row_layout& l :
             {row_layout{}, {.offset = 1, .padding = 3}, {.step = 2}, {.column_major = true}}) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols);
            guarded<TypeParam> x = test::make_rows<TypeParam>(rows, cols, l);
            auto xs = random_elements<TypeParam>(std::int64_t{rows} * cols, -4, 4);
            for (auto& e : xs)
                e = static_cast<TypeParam>(std::floor(static_cast<float>(e)));  // many are equal
            if (xs.size() > 100) xs[17] = xs[55] = xs[56] = test::not_a_number<TypeParam>();
            guarded<std::int64_t> places(rows);
            guarded<std::int32_t> label(rows);
            auto hits = test::make_spaced<std::int32_t>(rows);
            x.upload(xs);
            row_argmax<TypeParam>(x.matrix(), places.vector(), *this->stream);
            this->stream->synchronize();
            const auto argmax = places.download();
            auto labels = random_labels(rows, cols);
            for (std::size_t i = 0; i < labels.size(); i += 2)
                labels[i] = static_cast<std::int32_t>(argmax[i]);
            label.upload(labels);
            label_hits<TypeParam>(x.matrix(), label.vector(), hits.vector(), *this->stream);
            this->stream->synchronize();
            const auto result = hits.download();
            for (std::size_t i = 0; i < labels.size(); ++i)
                EXPECT_EQ(result[i], argmax[i] == labels[i] ? 1 : 0) << i;
            EXPECT_TRUE(hits.canaries_alive());
        }
}

// Each row is equal but for the label's element and another one, before or after it, in its packet or not.
TYPED_TEST(loss_rows, have_hits_by_the_first_of_the_largest) {
    const TypeParam low = -test::infinity<TypeParam>(), nan = test::not_a_number<TypeParam>();
    const std::vector<TypeParam> values = {low, TypeParam(-0.0f), TypeParam(0), TypeParam(2), nan};
    for (const std::int64_t cols : {1, 2, 9, 16, 40, 1024, 2056, 4104, 8200, 8201, 16392}) {
        std::vector<TypeParam> xs;
        std::vector<std::int32_t> labels;
        for (const std::int64_t label : {std::int64_t{0}, cols / 3, cols - 1})
            for (const std::int64_t apart : {-1024, -9, -1, 1, 9, 1024})
                for (const TypeParam of_label : values)
                    for (const TypeParam of_other : values)
                        for (const TypeParam of_rest : {low, TypeParam(0)}) {
                            std::vector<TypeParam> row(static_cast<std::size_t>(cols), of_rest);
                            const std::int64_t other = label + apart;
                            if (other >= 0 && other < cols) row[static_cast<std::size_t>(other)] = of_other;
                            row[static_cast<std::size_t>(label)] = of_label;
                            xs.insert(xs.end(), row.begin(), row.end());
                            labels.push_back(static_cast<std::int32_t>(label));
                        }
        const std::int64_t rows = std::ssize(labels);
        std::vector<std::int32_t> expected(labels.size());
        host::label_hits<TypeParam>({xs.data(), rows, cols}, {labels.data(), rows}, {expected.data(), rows});
        for (const row_layout& l : {row_layout{}, {.offset = 1}}) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols << ", offset " << l.offset);
            guarded<TypeParam> x = test::make_rows<TypeParam>(rows, cols, l);
            guarded<std::int32_t> label(rows), hits(rows);
            x.upload(xs);
            label.upload(labels);
            label_hits<TypeParam>(x.matrix(), label.vector(), hits.vector(), *this->stream);
            this->stream->synchronize();
            EXPECT_EQ(hits.download(), expected);
            EXPECT_TRUE(x.untouched() && hits.canaries_alive());
        }
    }
}

}  // namespace
}  // namespace heddle
