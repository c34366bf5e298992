#pragma once

#include "kernels/image_filter/launch.hpp"
#include "src/image_filter/validate.hpp"
#include "src/rungs.hpp"
#include "src/workspace.hpp"
#include <heddle/image_filter.hpp>

namespace heddle::detail {

template <class T>
using stencil_rung = rung<image_filter_algorithm, kernels::image_filter::problem, kernels::image_filter::plan,
                          kernels::image_filter::arguments<T>>;

inline void add_facts(facts& to, const kernels::image_filter::problem& p) {
    to.add({fact("width", p.width), fact("height", p.height), fact("channels", p.channels),
            fact("images", p.images), fact("source_width", p.source_width, p.width)});
}

/// The rungs of sobel and laplacian.
template <class T>
rung_table<stencil_rung<T>> stencil_rungs();

/// All checks that need no device.
template <class From, class To>
void validate_call(const char* operation, const image_batch_view<const From>& source,
                   const image_batch_view<To>& destination, const image_filter_options& options) {
    validate_filter(operation, source, destination, options);
    stencil_rungs<From>().require_known(operation, {"options", "algorithm"}, options.algorithm);
    validate_workspace(operation, options.workspace,
                       {{"source", footprint_of(source)}, {"destination", footprint_of(destination)}});
}

}  // namespace heddle::detail
