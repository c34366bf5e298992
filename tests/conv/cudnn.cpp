#include "tests/conv/device.hpp"
#include "tests/support/headers.hpp"

#include <heddle_baselines.hpp>

#include <unordered_map>

#if HEDDLE_HAS_CUDNN && HEDDLE_HAS_CUDNN_FRONTEND

#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cudnn_frontend.h>
#endif

// Layers of networks, for which a reference in float64 would take the CPU long.
namespace heddle::test {
namespace {

#if HEDDLE_HAS_CUDNN && HEDDLE_HAS_CUDNN_FRONTEND

namespace fe = cudnn_frontend;

template <class T>
constexpr fe::DataType_t cudnn_type = std::is_same_v<T, bfloat16> ? fe::DataType_t::BFLOAT16
                                      : std::is_same_v<T, half>   ? fe::DataType_t::HALF
                                                                  : fe::DataType_t::FLOAT;

class cudnn {
  public:
    explicit cudnn(const stream& on) : stream_(on) {
        EXPECT_EQ(cudnnCreate(&handle_), CUDNN_STATUS_SUCCESS);
        EXPECT_EQ(cudnnSetStream(handle_, on.get()), CUDNN_STATUS_SUCCESS);
    }
    ~cudnn() { EXPECT_EQ(cudnnDestroy(handle_), CUDNN_STATUS_SUCCESS); }
    cudnn(const cudnn&) = delete;
    cudnn& operator=(const cudnn&) = delete;

    /// Gives the reason why cuDNN has no plan, or an empty text. Products are exact, or of FMAs, and sums in float.
    template <class T>
    std::string convolve(const conv_shape& s, T* input, T* filters, T* output) {
        enum uid : std::int64_t { of_input = 1, of_filters, of_output };
        const conv_geometry& g = s.geometry;
        fe::graph::Graph graph;
        graph.set_io_data_type(cudnn_type<T>)
            .set_intermediate_data_type(fe::DataType_t::FLOAT)
            .set_compute_data_type(fe::DataType_t::FLOAT);
        // cuDNN writes the extents of NHWC as n, c, h, w.
        const auto tensor = [&](uid id, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) {
            return graph.tensor(fe::graph::Tensor_attributes()
                                    .set_uid(id)
                                    .set_dim({n, c, h, w})
                                    .set_stride({h * w * c, 1, w * c, c}));
        };
        const std::int64_t h = s.output_height(), w = s.output_width(), k = s.outputs;
        graph
            .conv_fprop(tensor(of_input, s.count, s.height, s.width, s.channels),
                        tensor(of_filters, k, s.filter_height, s.filter_width, s.group_channels()),
                        fe::graph::Conv_fprop_attributes()
                            .set_pre_padding({g.padding.top, g.padding.left})
                            .set_post_padding({g.padding.bottom, g.padding.right})
                            .set_stride({g.stride.y, g.stride.x})
                            .set_dilation({g.dilation.y, g.dilation.x}))
            ->set_output(true)
            .set_uid(of_output)
            .set_dim({s.count, k, h, w})
            .set_stride({h * w * k, 1, w * k, k});
        std::unordered_map<std::int64_t, void*> pointers = {
            {of_input, input}, {of_filters, filters}, {of_output, output}};
        return run(graph, std::is_same_v<T, float>, pointers);
    }

  private:
    std::string run(fe::graph::Graph& graph, bool is_float,
                    std::unordered_map<std::int64_t, void*>& pointers) {
        std::string failure;
        const auto succeeds = [&](fe::error_t error) {
            if (error.is_bad()) failure = error.get_message().substr(0, error.get_message().find('\n'));
            return error.is_good();
        };
        if (!succeeds(graph.validate()) || !succeeds(graph.build_operation_graph(handle_)) ||
            !succeeds(graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK})))
            return failure;
        // Plans whose bound is not that of sums of products in any order.
        using enum fe::NumericalNote_t;
        graph.deselect_numeric_notes({DOWN_CONVERT_INPUTS, REDUCED_PRECISION_REDUCTION, NONDETERMINISTIC, FFT,
                                      WINOGRAD, WINOGRAD_TILE_4x4, WINOGRAD_TILE_6x6, WINOGRAD_TILE_13x13});
        if (is_float) graph.deselect_numeric_notes({TENSOR_CORE});
        if (!succeeds(graph.build_plans(fe::BuildPlanPolicy_t::HEURISTICS_CHOICE))) return failure;
        device_buffer<std::byte> workspace(graph.get_workspace_size(), stream_);
        EXPECT_TRUE(succeeds(graph.execute(handle_, pointers, workspace.data()))) << failure;
        synchronize(stream_, "cuDNN");  // before the graph and its kernels go
        return {};
    }

    const stream& stream_;
    cudnnHandle_t handle_ = nullptr;
};

struct layer {
    const char* name;
    conv_shape shape;
};

const layer layers[] = {
    {"resnet50_3x3_of_64", {8, 56, 56, 64, 64, 3, 3, {.padding = around(1)}}},
    {"resnet50_3x3_of_256", {32, 14, 14, 256, 256, 3, 3, {.padding = around(1)}}},
    {"resnet50_3x3_of_512", {32, 7, 7, 512, 512, 3, 3, {.padding = around(1)}}},
    {"resnet50_1x1", {32, 7, 7, 2048, 512, 1, 1}},
    {"resnet50_1x1_of_every_second", {8, 28, 28, 512, 1024, 1, 1, {.stride = {2, 2}}}},
    {"stem_7x7", {4, 224, 224, 3, 64, 7, 7, {.stride = {2, 2}, .padding = around(3)}}},
    {"dilated", {1, 65, 65, 256, 256, 3, 3, {.padding = around(12), .dilation = {12, 12}}}},
    {"inception_1x7", {16, 17, 17, 192, 192, 1, 7, {.padding = {0, 0, 3, 3}}}},
    {"depthwise_5x5", {16, 28, 28, 240, 240, 5, 5, {.padding = around(2), .groups = 240}}},
    {"resnext50_groups_of_4", {4, 56, 56, 128, 128, 3, 3, {.padding = around(1), .groups = 32}}},
    {"odd_channels", {8, 35, 35, 97, 101, 3, 3, {.padding = around(1)}}},
    {"one_image", {1, 112, 112, 128, 128, 3, 3, {.padding = around(1)}}},
};

class conv_beside_cudnn : public stream_fixture,
                          public testing::WithParamInterface<std::tuple<layer, element_type>> {
  protected:
    static const conv_shape& shape() { return std::get<layer>(GetParam()).shape; }

    /// function.operator()<T>() for the type of the case.
    template <class Function>
    static void with_type(Function function) {
        switch (std::get<element_type>(GetParam())) {
            case element_type::f16:
                return function.template operator()<half>();
            case element_type::bf16:
                return function.template operator()<bfloat16>();
            default:
                return function.template operator()<float>();
        }
    }

    /// cuDNN's result for the operands. Where it has no plan for them, the test is skipped, and the result is empty.
    template <class T>
    std::vector<T> by_cudnn(conv_operands<T, T>& p) {
        const conv_shape& s = p.s;
        guarded_tensor<T> output(s.count, s.output_height(), s.output_width(), s.outputs);
        const std::string failure =
            cudnn(*stream).convolve(s, p.input.tensor().data, p.filters.filters().data, output.tensor().data);
        const auto skip = [&] { GTEST_SKIP() << "cuDNN: " << failure; };
        if (failure.empty()) return output.download();
        skip();
        return {};
    }

    /// allowed(options, theirs) is the allowed difference of an element from cuDNN's, in every plan.
    template <class T, class Allowed>
    void compare(conv_operands<T, T>& p, const std::vector<T>& theirs, const conv_options& options,
                 Allowed allowed) {
        for_every_conv_plan(options, [&](const conv_options& with) {
            if (!why_not(with.algorithm, p.problem(with), traits_of(current_device()), with.kernel).empty())
                return;
            p.prepare_output(0);
            conv<T>(p.input.tensor(), p.filters.filters(), p.output.tensor(), *stream, with);
            synchronize(*stream, std::string(to_string(with.algorithm)) + " " + text(p.s));
            const std::vector<T> ours = p.output.download();
            for (std::size_t i = 0; i < ours.size(); ++i) {
                const double expected = to_double(theirs[i]);
                ASSERT_TRUE(is_within(to_double(ours[i]), expected, allowed(with, expected)))
                    << "element " << i;
            }
            EXPECT_TRUE(p.output.canaries_alive());
        });
        p.expect_intact();
    }
};

INSTANTIATE_TEST_SUITE_P(of, conv_beside_cudnn,
                         testing::Combine(testing::ValuesIn(layers),
                                          testing::Values(element_type::f32, element_type::f16,
                                                          element_type::bf16)),
                         [](const auto& each) {
                             const element_type type = std::get<element_type>(each.param);
                             return std::string(std::get<layer>(each.param).name) +
                                    (type == element_type::f32   ? "_f32"
                                     : type == element_type::f16 ? "_f16"
                                                                 : "_bf16");
                         });

/// All terms are positive, so the result is the sum of magnitudes, and no bound is 1 % of it. Each side may be off by
/// its bound. The number of terms that cuDNN's tensor cores add at once is unknown: at least one.
TEST_P(conv_beside_cudnn, agrees) {
    with_type([&]<class T>() {
        const conv_shape& s = shape();
        conv_operands<T, T> p(s);
        p.xs = random_elements<T>(s.inputs_all(), 0, 1);
        p.ws = random_elements<T>(s.filters_all(), 0, 1);
        p.upload();
        const std::vector<T> theirs = by_cudnn(p);
        if (theirs.empty()) return;
        const double depth = static_cast<double>(s.depth()), u = unit_roundoff<float>();
        const double of_their_sums = std::is_same_v<T, float> ? (depth + 4) * u : 2 * (2 * depth + 20) * u;
        const auto rounded = [](double error, double value) {
            return error + unit_roundoff<T>() * (value + error) + smallest<T>();
        };
        const auto allowed = [&](const conv_options& with, double expected) {
            const double value = 1.01 * expected;
            return rounded(of_their_sums * value, value) + rounded(conv_sum_bound<T>(with, s, value), value);
        };
        std::vector<precision> precisions{precision::fp32};
        if (std::is_same_v<T, float>) precisions.push_back(precision::tf32);
        for (const precision each : precisions)
            ASSERT_NO_FATAL_FAILURE(compare(p, theirs, {.geometry = s.geometry, .precision = each}, allowed));
    });
}

/// The sums are exact, and rounded once, so that any missing term shows, for any bound.
TEST_P(conv_beside_cudnn, agrees_to_the_bit_on_small_integers) {
    with_type([&]<class T>() {
        const conv_shape& s = shape();
        conv_operands<T, T> p(s);
        for (std::vector<T>* all : {&p.xs, &p.ws})
            for (T& e : *all) e = T(std::round(2 * static_cast<float>(e)));
        p.upload();
        const std::vector<T> theirs = by_cudnn(p);
        if (theirs.empty()) return;
        compare(p, theirs, {.geometry = s.geometry}, [](const conv_options&, double) { return 0.0; });
    });
}

#else
TEST(conv_beside_cudnn, agrees) {
    GTEST_SKIP() << "cuDNN or its frontend is not installed";
}
#endif

}  // namespace
}  // namespace heddle::test
