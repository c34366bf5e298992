#include "tests/optimizer/optimizer_test.hpp"

#include <cmath>
#include <limits>

namespace heddle {
namespace {

using test::guarded;
using test::guarded_list;
using test::optimizer_call;
using test::parameter_layout;

template <class Types>
using optimizer_edges = test::optimizer_test<Types>;
TYPED_TEST_SUITE(optimizer_edges, test::all_optimizer_types, test::optimizer_type_names);

TYPED_TEST(optimizer_edges, take_every_alignment) {
    std::vector<parameter_layout> layouts;
    for (const std::int64_t count : {6, 4099})
        for (std::int64_t offset = 0; offset < 8; ++offset) {
            layouts.push_back(parameter_layout::alike(count, offset));
            layouts.push_back({count, offset});
            layouts.push_back({count, 0, offset});
            layouts.push_back({count, 0, 0, offset});
            layouts.push_back({count, 0, 0, 0, offset});
            layouts.push_back({count, 0, 0, 0, 0, offset});
        }
    this->check(layouts);
}

TYPED_TEST(optimizer_edges, keep_nan_and_infinities_in_their_elements) {
    using T = typename TypeParam::value;
    using G = typename TypeParam::gradient;
    constexpr std::int64_t count = 4101;
    const float infinity = std::numeric_limits<float>::infinity(),
                nan = std::numeric_limits<float>::quiet_NaN();
    guarded_list<T, G> list({parameter_layout::alike(count, 1)});
    for (optimizer_call call : test::optimizer_calls())
        for (const optimizer_algorithm algorithm : test::every_optimizer_algorithm()) {
            SCOPED_TRACE(testing::Message() << call.name << " by " << to_string(algorithm));
            call.sgd.algorithm = call.adam.algorithm = algorithm;
            auto gradients = list[0].gradients[0];
            list[0].gradient[0].upload(gradients);
            list.restart();
            test::enqueue<T, G>(call, list.views(), *this->stream);
            this->stream->synchronize();
            const std::vector<float> clean = list[0].master.download();

            for (const std::size_t at : {0, 2, 3, 1000, 4100})
                gradients[at] = static_cast<G>(at % 2 == 0 ? nan : infinity);
            list[0].gradient[0].upload(gradients);
            list.restart();
            test::enqueue<T, G>(call, list.views(), *this->stream);
            this->stream->synchronize();
            const std::vector<float> weights = list[0].master.download();
            for (std::size_t i = 0; i < clean.size(); ++i) {
                if (std::isfinite(test::to_double(gradients[i])))
                    ASSERT_EQ(weights[i], clean[i]) << i;
                else
                    ASSERT_FALSE(std::isfinite(weights[i])) << i;
            }
            ASSERT_TRUE(list[0].master.canaries_alive());
        }
}

TYPED_TEST(optimizer_edges, of_a_norm_that_is_nan_are_nan) {
    using T = typename TypeParam::value;
    using G = typename TypeParam::gradient;
    guarded_list<T, G> list({parameter_layout::alike(300), parameter_layout::alike(5)});
    auto gradients = list[1].gradients[0];
    gradients[4] = static_cast<G>(std::numeric_limits<float>::quiet_NaN());
    list[1].gradient[0].upload(gradients);
    guarded<float> norm(1);
    gradient_norm<T, G>(list.views(), norm.data(), *this->stream);
    sgd<T, G>(list.views(), *this->stream, {.clip_norm_of = norm.data()});
    this->stream->synchronize();
    EXPECT_TRUE(std::isnan(norm.download()[0]));
    for (const float weight : list[0].master.download()) ASSERT_TRUE(std::isnan(weight));
}

TYPED_TEST(optimizer_edges, write_no_value_where_there_is_none) {
    using T = typename TypeParam::value;
    using G = typename TypeParam::gradient;
    guarded_list<T, G> list({parameter_layout::alike(5000, 1)});
    for (const optimizer_algorithm algorithm : test::every_optimizer_algorithm()) {
        auto views = list.views();
        list.restart();
        adamw<T, G>(views, *this->stream, {.algorithm = algorithm});
        this->stream->synchronize();
        const std::vector<float> expected = list[0].master.download();

        std::vector<T*> values{nullptr};
        if constexpr (std::is_same_v<T, float>) values.push_back(views[0].master);
        for (T* value : values) {
            views[0].value = value;
            list.restart();
            adamw<T, G>(views, *this->stream, {.algorithm = algorithm});
            this->stream->synchronize();
            EXPECT_EQ(list[0].master.download(), expected);
        }
    }
}

class gradient_norms : public test::gpu_test {};

TEST_F(gradient_norms, neither_overflow_nor_underflow) {
    const stream s;
    for (const float element : {1e30f, 1e-40f, 3e38f}) {
        guarded<float> g(5000), result(1);
        g.upload(std::vector<float>(5000, element));
        const parameter<float> p{.gradient = g.data(), .count = 5000};
        gradient_norm<float>(std::span(&p, 1), result.data(), s);
        s.synchronize();
        const double expected = std::sqrt(5000.0) * test::to_double(element);
        const bool is_finite = expected <= test::to_double(std::numeric_limits<float>::max());
        EXPECT_TRUE(test::is_within(test::to_double(result.download()[0]),
                                    is_finite ? expected : std::numeric_limits<double>::infinity(),
                                    expected * 0x1.001p-24 + test::smallest<float>()));
    }
}

}  // namespace
}  // namespace heddle
