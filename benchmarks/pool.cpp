#include "benchmarks/operation.hpp"
#include "benchmarks/support/cudnn.hpp"

namespace heddle::bench {
namespace {

/// Dense images and their results.
template <class T>
auto pool_of(const pool_shape& s) {
    const auto input = [s](T* data) { return tensor_view<T>{data, s.count, s.height, s.width, s.channels}; };
    const auto output = [s](T* data) {
        return tensor_view<T>{data, s.count, s.output_height(), s.output_width(), s.channels};
    };
    return row_case(problem_of(s, dtype<T>), random_elements<T>(s.input_size(), input),
                    result_elements<T>(s.output_size(), output));
}

template <class T>
void heddle_row(const pool_shape& s, temperature temperature,
                pool_algorithm algorithm = pool_algorithm::automatic, std::string_view kernel = {}) {
    const std::string library = kernel.empty() ? implementation(algorithm) : implementation(kernel);
    const pool_options options{
        .mode = s.mode, .geometry = s.geometry, .algorithm = algorithm, .kernel = kernel};
    pool_of<T>(s).row(library, temperature,
                      [options](auto input, auto output) { pool<T>(input, output, stream(), options); });
}

template <class T>
void comparison(const pool_shape& s, temperature temperature = cold) {
    heddle_row<T>(s, temperature);
#if HEDDLE_HAS_CUDNN
    pool_of<T>(s).prepared_row("cudnn:forward", temperature, [s](auto input, auto output) {
        return [=, pool = cudnn_pool<T>(s, s.channels, s.channels)] { pool(input.data, output.data); };
    });
#endif
}

template <class T>
void rung_rows(const pool_shape& s) {
    for (const auto algorithm : pool_algorithms()) {
        heddle_row<T>(s, cold, algorithm);
        for (const std::string_view way : ways_of(pool_kernels(algorithm)))
            heddle_row<T>(s, cold, algorithm, way);
    }
}

/// The pooling after the first convolution of ResNet-50.
pool_shape max_of_three(std::int64_t count) {
    return {
        count, 112, 112, 64, pool_mode::max, {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}}};
}
pool_shape global_average(std::int64_t count, std::int64_t side, std::int64_t channels) {
    return {count, side, side, channels, pool_mode::average, {.window = {side, side}}};
}
/// The pooling after its last convolution.
pool_shape global_average(std::int64_t count) {
    return global_average(count, 7, 2048);
}

}  // namespace

void add_layer_row(const pool_shape& s, std::string_view type, temperature temperature) {
    with_type_named<bfloat16, half, float>(type, [&]<class T>() { heddle_row<T>(s, temperature); });
}

void register_pool() {
    for (const std::int64_t count : {256, 32})
        for (const pool_shape& s : {max_of_three(count), global_average(count)}) {
            comparison<bfloat16>(s);
            comparison<float>(s);
        }
    comparison<bfloat16>(max_of_three(32), hot);
    for (const pool_shape& s : {max_of_three(32), global_average(32)}) rung_rows<bfloat16>(s);
    for (const pool_shape& s :
         {global_average(4, 112, 1280), global_average(1, 1024, 64)}) {  // few large images
        heddle_row<bfloat16>(s, cold);
        heddle_row<float>(s, cold);
    }
    const pool_shape on_host = max_of_three(1);
    pool_of<float>(on_host).host_row("host", [s = on_host](auto input, auto output) {
        host::pool<float>(input, output, {.mode = s.mode, .geometry = s.geometry});
    });
}

}  // namespace heddle::bench
