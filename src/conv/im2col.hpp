#pragma once

#include "kernels/conv/launch.hpp"

namespace heddle::detail {

/// The rung that is a product of matrices: that of matmul().
template <class In, class Out>
void launch_im2col(const kernels::conv::plan& plan, const kernels::conv::arguments<In, Out>& arguments,
                   cudaStream_t stream);

}  // namespace heddle::detail
