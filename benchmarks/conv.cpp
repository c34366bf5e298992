#include "benchmarks/operation.hpp"
#include "benchmarks/support/cudnn_graph.hpp"
#include "benchmarks/support/layers.hpp"

/// All rows are relu(conv + bias).
namespace heddle::bench {
namespace {

/// Dense images, filters, a bias and results.
template <class T>
auto conv_of(const conv_shape& s, std::string_view type) {
    const auto input = [s](T* data) { return tensor_view<T>{data, s.count, s.height, s.width, s.channels}; };
    const auto filters = [s](T* data) {
        return filter_view<T>{data, s.filters, s.filter_height, s.filter_width,
                              s.channels / s.geometry.groups};
    };
    const auto output = [s](T* data) {
        return tensor_view<T>{data, s.count, s.output_height(), s.output_width(), s.filters};
    };
    return row_case(problem_of(s, type), random_elements<T>(s.input_size(), input),
                    random_elements<T>(s.filters_size(), filters), random_vector<T>(s.filters),
                    result_elements<T>(s.output_size(), output));
}

template <class T>
conv_epilogue<T> epilogue_of(const vector_view<T>& bias) {
    return {.activation = matmul_activation::relu, .bias = bias};
}

template <class T>
void heddle_row(const conv_shape& s, std::string_view type, temperature temperature,
                conv_algorithm algorithm = conv_algorithm::automatic, std::string_view kernel = {}) {
    const std::string library = kernel.empty() ? implementation(algorithm) : implementation(kernel);
    const conv_options options{.geometry = s.geometry,
                               .algorithm = algorithm,
                               .precision = type == "tf32" ? precision::tf32 : precision::fp32,
                               .kernel = kernel};
    conv_of<T>(s, type).prepared_row(
        library, temperature, [options](auto input, auto filters, auto bias, auto output) {
            const conv_epilogue<T> epilogue = epilogue_of(bias);
            const std::int64_t bytes =
                conv_workspace_bytes<T>(input, filters, output, epilogue, stream(), options);
            return [=, with = options, memory = workspace(bytes, stream())]() mutable {
                with.workspace = memory;
                conv<T>(input, filters, output, epilogue, stream(), with);
            };
        });
}

template <class T>
void peer_row([[maybe_unused]] const conv_shape& s, [[maybe_unused]] std::string_view type,
              [[maybe_unused]] temperature temperature) {
#if HEDDLE_HAS_CUDNN && HEDDLE_HAS_CUDNN_FRONTEND
    conv_of<T>(s, type).prepared_row("cudnn", temperature, [=](auto... views) {
        return best_cudnn_conv(s, type, temperature, {views.data...});
    });
#endif
}

template <class T>
void pair_of_rows(const conv_shape& s, std::string_view type, temperature temperature) {
    heddle_row<T>(s, type, temperature);
    peer_row<T>(s, type, temperature);
}

/// heddle's matmul computes the same for filters of 1 x 1: it multiplies the matrices of pixels and of filters.
template <class T>
void product_row(const conv_shape& s, std::string_view type, temperature temperature) {
    conv_of<T>(s, type).row("heddle:matmul", temperature,
                            [s](auto input, auto filters, auto bias, auto output) {
                                const std::int64_t pixels = s.count * s.height * s.width;
                                const matrix_view<const T> a{input.data, pixels, s.channels},
                                    b{filters.data, s.filters, s.channels};
                                matmul<T>(a, transposed(b), matrix_view<T>{output.data, pixels, s.filters},
                                          matmul_epilogue<T>{matmul_activation::relu, bias}, stream(), {});
                            });
}

template <class T>
void rung_rows(const conv_shape& s, std::string_view type) {
    for (const auto algorithm : conv_algorithms()) {
        heddle_row<T>(s, type, cold, algorithm);
        for (const std::string_view way : ways_of(conv_kernels(algorithm)))
            heddle_row<T>(s, type, cold, algorithm, way);
    }
}

void host_row_of(const conv_shape& s) {
    conv_of<float>(s, "f32").host_row("host", [s](auto input, auto filters, auto bias, auto output) {
        host::conv<float>(input, filters, output, epilogue_of(bias), {.geometry = s.geometry});
    });
}

/// A layer of 3 x 3 filters whose output has the extents of its input.
conv_shape three_by_three(std::int64_t count, std::int64_t side, std::int64_t channels,
                          std::int64_t groups = 1) {
    return {count, side, side, channels, channels, 3, 3, {.padding = {1, 1, 1, 1}, .groups = groups}};
}

std::vector<conv_shape> depthwise_layers(std::int64_t count) {
    std::vector<conv_shape> all = distinct_convolutions(efficientnet_lite0(count));
    std::erase_if(all, [](const conv_shape& s) { return s.geometry.groups == 1; });
    return all;
}

}  // namespace

void add_layer_row(const conv_shape& s, std::string_view type, temperature temperature) {
    with_type_named<bfloat16, half, float>(type, [&]<class T>() { heddle_row<T>(s, type, temperature); });
}

void register_conv() {
    for (const std::int64_t count : {256, 32})
        for (const conv_shape& s : distinct_convolutions(resnet50(count)))
            pair_of_rows<bfloat16>(s, "bf16", cold);
    for (const conv_shape& s : depthwise_layers(32)) {
        pair_of_rows<bfloat16>(s, "bf16", cold);
        if (s.filter_height == 5) pair_of_rows<float>(s, "f32", cold);
    }
    for (const auto& [side, channels] :
         {std::pair<std::int64_t, std::int64_t>{56, 64}, {28, 128}, {14, 256}, {7, 512}}) {
        pair_of_rows<bfloat16>(three_by_three(256, side, channels), "bf16", hot);
        const conv_shape s = three_by_three(32, side, channels);
        pair_of_rows<float>(s, "f32", cold);
        pair_of_rows<float>(s, "tf32", cold);
        pair_of_rows<float>(three_by_three(1, side, channels), "f32", cold);
    }
    for (const conv_shape& s : {conv_shape{32, 56, 56, 64, 64, 1, 1}, {32, 14, 14, 1024, 256, 1, 1}}) {
        pair_of_rows<float>(s, "f32", cold);
        pair_of_rows<float>(s, "tf32", cold);
        product_row<bfloat16>(s, "bf16", cold);
    }
    pair_of_rows<half>(three_by_three(32, 7, 512), "f16", cold);
    pair_of_rows<bfloat16>({1, 224, 224, 3, 64, 7, 7, {.stride = {2, 2}, .padding = {3, 3, 3, 3}}}, "bf16",
                           cold);
    // The second, fourth and fifth stages of ResNeXt-50 32x4d.
    for (const auto& [side, channels] :
         {std::pair<std::int64_t, std::int64_t>{56, 128}, {14, 512}, {7, 1024}}) {
        const conv_shape s = three_by_three(32, side, channels, 32);
        pair_of_rows<bfloat16>(s, "bf16", cold);
        pair_of_rows<float>(s, "f32", cold);
    }
    rung_rows<bfloat16>(three_by_three(32, 28, 128), "bf16");
    rung_rows<float>(three_by_three(32, 28, 128), "f32");
    rung_rows<float>(three_by_three(32, 28, 128), "tf32");
    host_row_of(three_by_three(1, 56, 64));
}

}  // namespace heddle::bench
