#pragma once

#include <heddle/image.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::detail {

/// The pixel of 0..size-1 that index i shows, or -1 for the border's constant.
inline std::int64_t source_index(std::int64_t i, std::int64_t size, border kind) {
    if (i >= 0 && i < size) return i;
    const auto modulo = [](std::int64_t a, std::int64_t n) { return (a % n + n) % n; };
    switch (kind) {
        case border::replicate:
            return std::clamp<std::int64_t>(i, 0, size - 1);
        case border::reflect:
            return std::min(modulo(i, 2 * size), modulo(-1 - i, 2 * size));
        case border::reflect_101:
            return size == 1 ? 0 : std::min(modulo(i, 2 * size - 2), modulo(-i, 2 * size - 2));
        case border::wrap:
            return modulo(i, size);
        case border::constant:
            break;
    }
    return -1;
}

}  // namespace heddle::detail
