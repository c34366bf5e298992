#include "tests/conv/device.hpp"
#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

template <class Types>
using conv_edges = conv_device<Types>;
TYPED_TEST_SUITE(conv_edges, every_conv_type, conv_type_names);

TYPED_TEST(conv_edges, do_nothing_where_there_is_nothing) {
    using Out = TypeParam::Out;
    using In = TypeParam::In;
    guarded_tensor<In> filters(5, 3, 3, 3);
    const tensor_view<const In> none{nullptr, 0, 4, 4, 3};
    for_every_conv_plan({}, [&](const conv_options& options) {
        conv<Out, In>(none, filters.filters(), tensor_view<Out>{nullptr, 0, 2, 2, 5}, *this->stream, options);
        conv<Out, In>(none, {nullptr, 0, 3, 3, 3}, tensor_view<Out>{nullptr, 0, 2, 2, 0}, *this->stream,
                      options);
    });
    synchronize(*this->stream, "nothing");
}

// Input and output are channels of the same pixels, as in networks whose layers append to earlier channels.
TYPED_TEST(conv_edges, take_channels_of_one_tensor) {
    using Out = TypeParam::Out;
    if constexpr (std::is_same_v<Out, typename TypeParam::In>) {
        const conv_geometry padded{.padding = around(1)};
        for (const conv_shape& s : {conv_shape{2, 6, 7, 5, 4, 3, 3, padded},
                                    {2, 6, 7, 16, 16, 3, 3, padded},
                                    {2, 6, 7, 16, 16, 1, 1}}) {
            conv_operands<Out, Out> p(s);
            guarded_tensor<Out> both(s.count, s.height, s.width, s.channels + s.outputs);
            std::vector<Out> pixels;
            for (std::size_t i = 0; i < p.xs.size(); i += static_cast<std::size_t>(s.channels)) {
                pixels.insert(pixels.end(), p.xs.begin() + static_cast<std::ptrdiff_t>(i),
                              p.xs.begin() + static_cast<std::ptrdiff_t>(i) + s.channels);
                pixels.insert(pixels.end(), static_cast<std::size_t>(s.outputs), Out(not_a_number));
            }
            const tensor_view<Out> all = both.tensor();
            tensor_view<Out> in = all, out = all;
            in.channels = s.channels;
            out.channels = s.outputs;
            out.data += s.channels;
            const auto run = [&](const conv_options& options) {
                p.prepare_output(0);
                both.upload(pixels);
                const conv_problem problem = conv_problem_of<Out>(in, p.filters.filters(), out, options);
                const device_traits& device = traits_of(current_device());
                if (!why_not(options.algorithm, problem, device, options.kernel).empty()) return;
                conv<Out>(in, p.filters.filters(), out, *this->stream, options);
                synchronize(*this->stream, "channels");
                const std::vector<Out> after = both.download();
                std::vector<Out> outputs;
                for (std::size_t i = 0; i < after.size(); ++i)
                    if (static_cast<std::int64_t>(i) % all.channels >= s.channels)
                        outputs.push_back(after[i]);
                    else
                        ASSERT_EQ(to_double(after[i]), to_double(pixels[i]));
                p.output.upload(outputs);
                ASSERT_NO_FATAL_FAILURE(p.expect_close(p.expected(options), options));
            };
            for (const precision each : precisions<Out>())
                for_every_conv_plan({.geometry = s.geometry, .precision = each}, run);
        }
    }
}

}  // namespace
}  // namespace heddle::test
