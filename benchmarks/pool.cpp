#include "benchmarks/operation.hpp"
#include "benchmarks/support/cudnn.hpp"

namespace heddle::bench {
namespace {

template <class T>
tensor_view<const T> input_of(const pool_shape& s, const T* data) {
    return {data, s.count, s.height, s.width, s.channels};
}
template <class T>
tensor_view<T> output_of(const pool_shape& s, T* data) {
    return {data, s.count, s.output_height(), s.output_width(), s.channels};
}

/// `prepare` takes the addresses of input and output, and returns the call.
template <class T>
void row(const pool_shape& s, std::string_view library, temperature temperature, auto prepare) {
    prepared_row(problem_of(s, dtype<T>), library, temperature, prepare, random_array<T>(s.input_size()),
                 result_array<T>(s.output_size()));
}

template <class T>
void heddle_row(const pool_shape& s, temperature temperature,
                pool_algorithm algorithm = pool_algorithm::automatic, std::string_view kernel = {}) {
    const std::string library = kernel.empty() ? implementation(algorithm) : implementation(kernel);
    row<T>(s, library, temperature, [s, algorithm, kernel](const T* input, T* output) {
        return [=] {
            pool<T>(input_of(s, input), output_of(s, output), stream(),
                    {.mode = s.mode, .geometry = s.geometry, .algorithm = algorithm, .kernel = kernel});
        };
    });
}

template <class T>
void comparison(const pool_shape& s, temperature temperature = cold) {
    heddle_row<T>(s, temperature);
#if HEDDLE_HAS_CUDNN
    row<T>(s, "cudnn:forward", temperature, [s](const T* input, T* output) {
        return [=, pool = cudnn_pool<T>(s, s.channels, s.channels)] { pool(input, output); };
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

void host_row_of(const pool_shape& s) {
    host_operand_row(
        problem_of(s, "f32"), "host",
        [s](const float* input, float* output) {
            host::pool<float>(input_of(s, input), output_of(s, output),
                              {.mode = s.mode, .geometry = s.geometry});
        },
        random_array<float>(s.input_size()), result_array<float>(s.output_size()));
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
    host_row_of(max_of_three(1));
}

}  // namespace heddle::bench
