#include "kernels/device/math.hpp"
#include "src/conv/validate.hpp"
#include "src/host/activations.hpp"
#include "src/host/strips.hpp"
#include <heddle/conv.hpp>
#include <heddle/host.hpp>
#include <heddle/types.hpp>

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(default)

namespace heddle::host {
namespace {

using detail::multiply_strips, detail::strip_m, detail::strip_n;

/// A convolution as products of windows and filters: six pixels by 16 outputs of a group at a time.
template <class In, class Out>
struct call {
    tensor_view<const In> input;
    filter_view<const In> filters;
    tensor_view<Out> output;
    const conv_epilogue<Out>& epilogue;
    const conv_geometry& geometry;
    float alpha, beta;

    std::int64_t depth() const { return filters.height * filters.width * filters.channels; }
    std::int64_t outputs_of_a_group() const { return filters.outputs / geometry.groups; }
    std::int64_t strips_of_a_group() const { return kernels::divide_up(outputs_of_a_group(), strip_n); }
};

/// packed[group][strip][j][i] is element j of the filter for output i of the strip, 0 beyond the group's last output.
template <class In, class Out>
std::vector<float> packed_filters(const call<In, Out>& c) {
    const std::int64_t strips = c.strips_of_a_group(), outputs = c.outputs_of_a_group();
    std::vector<float> packed(static_cast<std::size_t>(c.geometry.groups * strips * c.depth() * strip_n));
#pragma omp parallel for
    for (std::int64_t k = 0; k < c.filters.outputs; ++k) {
        const std::int64_t group = k / outputs, place = k % outputs;
        float* to =
            packed.data() + (group * strips + place / strip_n) * c.depth() * strip_n + place % strip_n;
        const In* const filter = c.filters.data + k * c.filters.output_stride;
        for (std::int64_t r = 0; r < c.filters.height; ++r)
            for (std::int64_t s = 0; s < c.filters.width; ++s)
                for (std::int64_t channel = 0; channel < c.filters.channels; ++channel, to += strip_n)
                    *to = static_cast<float>(
                        filter[r * c.filters.row_stride + s * c.filters.col_stride + channel]);
    }
    return packed;
}

struct place {
    std::int64_t image, y, x;
};

template <class T>
T& element(const tensor_view<T>& t, const place& at, std::int64_t channel) {
    return t.data[at.image * t.image_stride + at.y * t.row_stride + at.x * t.col_stride + channel];
}

/// packed[j][pixel] is element j of an output pixel's window, in one group of the channels.
template <class In, class Out>
void pack_window(float* packed, const call<In, Out>& c, const place& at, std::int64_t group) {
    const conv_geometry& g = c.geometry;
    for (std::int64_t r = 0; r < c.filters.height; ++r)
        for (std::int64_t s = 0; s < c.filters.width; ++s) {
            const place from{at.image, at.y * g.stride.y - g.padding.top + r * g.dilation.y,
                             at.x * g.stride.x - g.padding.left + s * g.dilation.x};
            const bool is_inside =
                from.y >= 0 && from.y < c.input.height && from.x >= 0 && from.x < c.input.width;
            const std::int64_t first = group * c.filters.channels;
            for (std::int64_t channel = 0; channel < c.filters.channels; ++channel, packed += strip_m)
                *packed = is_inside ? static_cast<float>(element(c.input, from, first + channel)) : 0.0f;
        }
}

/// The epilogue of x = alpha * sum + beta * output.
template <class Out>
float finished(const conv_epilogue<Out>& e, float x, const place& at, std::int64_t k) {
    if (e.scale.size > 0) x *= static_cast<float>(e.scale.data[k * e.scale.stride]);
    if (e.bias.size > 0) x += static_cast<float>(e.bias.data[k * e.bias.stride]);
    const float residual = e.residual.channels > 0 ? static_cast<float>(element(e.residual, at, k)) : 0.0f;
    if (e.residual_before_activation) return activations::activated(e.activation, x + residual);
    return activations::activated(e.activation, x) + residual;
}

template <class In, class Out>
void store(const call<In, Out>& c, float sum, const place& at, std::int64_t k) {
    Out& out = element(c.output, at, k);
    const float product = c.alpha * sum;
    const float x = c.beta == 0 ? product : product + c.beta * static_cast<float>(out);
    out = static_cast<Out>(finished(c.epilogue, x, at, k));
}

/// Computes up to six output pixels, all channels. `windows` has room for their windows in one group.
template <class In, class Out>
void compute_pixels(const call<In, Out>& c, const std::vector<float>& filters, std::vector<float>& windows,
                    std::int64_t first, int count) {
    place places[strip_m];
    for (int i = 0; i < count; ++i) {
        const std::int64_t row = (first + i) / c.output.width;
        places[i] = {row / c.output.height, row % c.output.height, (first + i) % c.output.width};
    }
    const float* strip = filters.data();
    for (std::int64_t group = 0; group < c.geometry.groups; ++group) {
        for (int i = 0; i < count; ++i) pack_window(windows.data() + i, c, places[i], group);
        for (std::int64_t k = 0; k < c.outputs_of_a_group(); k += strip_n, strip += c.depth() * strip_n) {
            float sums[strip_m * strip_n] = {};
            multiply_strips(sums, windows.data(), strip, c.depth());
            const auto outputs =
                static_cast<int>(std::min<std::int64_t>(strip_n, c.outputs_of_a_group() - k));
            for (int i = 0; i < count; ++i)
                for (int n = 0; n < outputs; ++n)
                    store(c, sums[i * strip_n + n], places[i], group * c.outputs_of_a_group() + k + n);
        }
    }
}

}  // namespace

template <class Out, class In>
void conv(tensor_view<const std::type_identity_t<In>> input,
          filter_view<const std::type_identity_t<In>> filters, tensor_view<Out> output,
          const conv_epilogue<std::type_identity_t<Out>>& epilogue, const conv_options& options) {
    detail::validate_conv<In, Out>("host::conv", input, filters, output, epilogue, options.geometry);
    if (output.count == 0 || output.channels == 0) return;
    call<In, Out> c{input, filters, output, epilogue, options.geometry, options.alpha, options.beta};
    if (c.alpha == 0) c.filters.channels = 0;
    if (c.filters.channels == 0) c.alpha = 0;  // an infinite alpha would turn the empty sum into NaN
    const std::int64_t pixels = output.count * output.height * output.width;
    const std::int64_t blocks = kernels::divide_up(pixels, strip_m);
    // Allocated here because no exception may leave a parallel region.
    const std::vector<float> packed = packed_filters(c);
    std::vector<std::vector<float>> windows(
        static_cast<std::size_t>(std::min<std::int64_t>(omp_get_max_threads(), blocks)),
        std::vector<float>(static_cast<std::size_t>(c.depth() * strip_m)));
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(windows.size()))
    for (std::int64_t block = 0; block < blocks; ++block)
        compute_pixels(c, packed, windows[static_cast<std::size_t>(omp_get_thread_num())], block * strip_m,
                       static_cast<int>(std::min<std::int64_t>(strip_m, pixels - block * strip_m)));
}

template <class Out, class In>
void conv(tensor_view<const std::type_identity_t<In>> input,
          filter_view<const std::type_identity_t<In>> filters, tensor_view<Out> output,
          const conv_options& options) {
    host::conv<Out, In>(input, filters, output, {}, options);
}

#define INSTANTIATE(In, Out)                                                                    \
    template void conv<Out, In>(tensor_view<const In>, filter_view<const In>, tensor_view<Out>, \
                                const conv_epilogue<Out>&, const conv_options&);                \
    template void conv<Out, In>(tensor_view<const In>, filter_view<const In>, tensor_view<Out>, \
                                const conv_options&);
HEDDLE_PAIRS_OF_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle::host

#pragma GCC visibility pop
