#pragma once

#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/launch.hpp"
#include "src/gaussian_blur/rungs.hpp"
#include "src/workspace.hpp"
#include <heddle/gaussian_blur.hpp>
#include <heddle/image.hpp>
#include <heddle/stream.hpp>
#include <heddle/tensor.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <string_view>

/// Shared by the calls of the blur and of the separable filters.
namespace heddle::detail {

/// The problem that images and options describe. The options are the blur's or a filter's.
template <class T, class Options>
gaussian_blur_problem problem_of(const image_batch_view<const T>& source,
                                 const image_batch_view<T>& destination, const window_radius& radius,
                                 const Options& options) {
    return {.source = layout_of(source),
            .destination = layout_of(destination),
            .type = pixel_type_of<T>,
            .radius = radius,
            .border = options.border,
            .region = options.region,
            .has_scratch = has_scratch(options)};
}

/// Plans a call and launches it. `options` are the blur's or a filter's.
template <class T, class Options>
void run(const char* operation, gaussian_blur_algorithm algorithm, std::string_view kernel,
         kernels::gaussian_blur::filter_facts facts, kernels::gaussian_blur::arguments<T>& arguments,
         cuda::stream_ref stream, const Options& options) {
    const stream_device device(stream);
    const auto [chosen, workspace] = plan_with_workspace(operation, options, stream, [&](bool has_scratch) {
        facts.has_scratch = has_scratch;
        return blur_rungs<T>().choose(operation, algorithm, facts, device.traits(), kernel);
    });
    arguments.intermediate = reinterpret_cast<float*>(workspace.scratch());
    chosen.rung->launch(chosen.plan, arguments, stream.get());
}

}  // namespace heddle::detail
