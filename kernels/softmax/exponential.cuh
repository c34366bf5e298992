#pragma once

#include "kernels/device/normalizer.cuh"

namespace heddle::kernels::softmax {

using namespace normalizers;

}  // namespace heddle::kernels::softmax
