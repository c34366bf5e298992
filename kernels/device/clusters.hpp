#pragma once

namespace heddle::kernels {

/// Whether kernels may be launched in clusters on a device of this compute capability. Only code that was compiled for 9.0
/// uses clusters (ptx/cluster.cuh), and only devices of 9.0 run that code. Any other device runs code that was compiled for
/// an older one, or for itself.
inline bool has_clusters(int major, int minor) {
    return HEDDLE_COMPILED_FOR_90 != 0 && major == 9 && minor == 0;
}

}  // namespace heddle::kernels
