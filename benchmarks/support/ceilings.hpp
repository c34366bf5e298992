#pragma once

namespace heddle::bench {

/// The row copy/u8/<bytes>/cuda: what the device's memory gives.
void copy_ceiling();

/// The row fma/f32/<threads>x<FMAs of each>/cuda: what the FP32 units give.
void fma_ceiling();

}  // namespace heddle::bench
