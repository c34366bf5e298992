#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace heddle {

using half = __half;
using bfloat16 = __nv_bfloat16;

}  // namespace heddle
