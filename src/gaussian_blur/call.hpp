#pragma once

#include "src/gaussian_blur/rungs.hpp"
#include "src/images.hpp"
#include "src/workspace.hpp"
#include <heddle/gaussian_blur.hpp>
#include <heddle/image.hpp>
#include <heddle/stream.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

/// What calls of the blur and of convolutions share.
namespace heddle::detail {

/// What images and a region of the sources tell of a problem, beside its window.
template <class T>
kernels::separable_filter::problem describe(const image_batch_view<const T>& source,
                                            const image_batch_view<T>& destination,
                                            const std::optional<image_region>& region,
                                            gaussian_blur_problem window) {
    const image_view<const T>& from = source.first;
    window.width = destination.first.width;
    window.height = destination.first.height;
    window.channels = destination.first.channels;
    window.type = pixel_type_of<T>;
    window.images = destination.count;
    window.in_words = alignment_of_steps(source) >= 4 && alignment_of_rows(destination) >= 4;
    window.in_vectors = alignment_of_rows(source) == packet_bytes;

    const auto fits_map = [](const auto& images) {
        const auto is_short = [](std::int64_t extent, std::int64_t stride) {
            return extent <= 1 || kernels::is_short_tensor_stride(stride, sizeof(T));
        };
        return is_short(images.first.height, images.first.row_stride) &&
               is_short(images.count, images.stride);
    };
    const image_region place = region.value_or(image_region{});
    kernels::separable_filter::problem p{window};
    p.x = place.x;
    p.y = place.y;
    p.source_width = from.width;
    p.source_height = from.height;
    p.rows_between = std::min(from.height, window.height + 2 * window.radius.y);
    p.source_offset = static_cast<int>(reinterpret_cast<std::uintptr_t>(from.data) % packet_bytes);
    p.source_steps = alignment_of_steps(source);
    p.destination_alignment = alignment_of_rows(destination);
    p.source_fits_map = fits_map(source);
    p.destination_fits_map = fits_map(destination);
    return p;
}

/// Plans and launches. `options` are the blur's or a filter's.
template <class T, class Options>
void run(const char* operation, gaussian_blur_algorithm algorithm, std::string_view kernel,
         kernels::separable_filter::problem problem, kernels::separable_filter::arguments<T>& arguments,
         cuda::stream_ref stream, const Options& options) {
    const stream_device device(stream);
    const auto [chosen, workspace] = plan_with_workspace(operation, options, stream, [&](bool has_scratch) {
        problem.has_scratch = has_scratch;
        return blur_rungs<T>().choose(operation, algorithm, problem, device.traits(), kernel);
    });
    arguments.intermediate = reinterpret_cast<float*>(workspace.scratch());
    chosen.rung->launch(chosen.plan, arguments, stream.get());
}

}  // namespace heddle::detail
