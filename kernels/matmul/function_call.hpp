#pragma once

#include "kernels/matmul/launch.hpp"

#include <memory>

namespace heddle::kernels::matmul {

/// A product that is ready for a kernel with the user's function (heddle/matmul.cuh).
template <class In, class Out>
struct function_call {
    product<In, Out> arguments;
    matmul::plan plan;
    bool by_warpgroups;                  ///< `fused`, or `tf32` of float; else `wmma`, or `warp_tiled`
    bool is_transposed;                  ///< rows are columns of the C that was given
    std::shared_ptr<const void> held{};  ///< scratch memory, until the kernel is launched
};

}  // namespace heddle::kernels::matmul
