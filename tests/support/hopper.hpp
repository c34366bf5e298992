#pragma once

#include <heddle/device.hpp>

namespace heddle::test {

/// For choices that are made without a device.
inline device_traits hopper() {
    device_traits device;
    device.compute_capability_major = 9;
    device.sm_count = 132;
    device.shared_memory_per_sm = 228 * 1024;
    device.shared_memory_per_block = 48 * 1024;
    device.shared_memory_per_block_optin = 227 * 1024;
    return device;
}

}  // namespace heddle::test
