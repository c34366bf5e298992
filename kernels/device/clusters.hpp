#pragma once

namespace heddle::kernels {

/// Whether kernels may be launched in clusters on a device of this compute capability. They know of clusters where
/// they were compiled for 9.0 (ptx/cluster.cuh), and only such a device runs that code: any other runs what was
/// compiled for less, or for itself.
inline bool has_clusters(int major, int minor) {
    return HEDDLE_COMPILED_FOR_90 != 0 && major == 9 && minor == 0;
}

}  // namespace heddle::kernels
