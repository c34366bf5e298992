#pragma once

#include "kernels/conv/launch.hpp"
#include "kernels/conv/plan/layout.hpp"
#include "kernels/conv/plan/windows.hpp"
#include <heddle/stream.hpp>
#include <heddle/tensor.hpp>
#include <heddle/view.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

/// Convolutions by products of matrices, of some images at a time: `im2col` and `kn2row`.
namespace heddle::detail {

template <class In, class Out>
using conv_arguments = kernels::conv::arguments<In, Out>;

/// A range of channels of all pixels, as a matrix with one row per pixel. The pixels must lie at one stride.
template <class T>
matrix_view<T> channels_of(const tensor_view<T>& t, std::int64_t first, std::int64_t count) {
    const std::int64_t stride = kernels::conv::pixel_stride(layout_of(t));
    return {t.data + first, t.count * t.height * t.width, count, std::max(stride, count)};
}

/// The convolution of a range of the images.
template <class In, class Out>
conv_arguments<In, Out> images_of(const conv_arguments<In, Out>& all, std::int64_t first,
                                  std::int64_t count) {
    conv_arguments<In, Out> part = all;
    const auto take = [=](auto& tensor) {
        if (tensor.data == nullptr) return;
        tensor.data += first * tensor.image_stride;
        tensor.count = count;
    };
    take(part.input);
    take(part.output);
    take(part.epilogue.residual);
    return part;
}

/// Runs Products for plan.images images at a time. Plans all products before it enqueues anything. The constructor is told
/// whether the same products are made for other images too.
template <class Products, class In, class Out>
void run_parts(const kernels::conv::plan& plan, const conv_arguments<In, Out>& a, cudaStream_t stream) {
    const stream_device device{cuda::stream_ref(stream)};
    const std::int64_t rest = a.output.count % plan.images, whole = a.output.count - rest;
    std::optional<Products> of_whole, of_rest;
    if (whole > 0) of_whole.emplace(plan, images_of(a, 0, plan.images), device.traits(), plan.images < whole);
    if (rest > 0) of_rest.emplace(plan, images_of(a, whole, rest), device.traits(), false);
    for (std::int64_t first = 0; first < whole; first += plan.images)
        of_whole->enqueue(images_of(a, first, plan.images), stream);
    if (rest > 0) of_rest->enqueue(images_of(a, whole, rest), stream);
}

}  // namespace heddle::detail
