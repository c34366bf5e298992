#pragma once

#include <heddle/image.hpp>

namespace heddle::kernels {

/// The pixel, 0..size-1, that index i of a line of `size` pixels refers to; -1 where that is the border's constant.
template <class Index>
__host__ __device__ constexpr Index source_index(Index i, Index size, border kind) {
    if (i >= 0 && i < size) return i;
    switch (kind) {
        case border::replicate:
            return i < 0 ? 0 : size - 1;
        case border::reflect: {
            const Index period = 2 * size;  // forth and back
            const Index at = (i % period + period) % period;
            return at < size ? at : period - 1 - at;
        }
        case border::reflect_101: {
            if (size == 1) return 0;
            const Index period = 2 * size - 2;
            const Index at = (i % period + period) % period;
            return at < size ? at : period - at;
        }
        case border::wrap:
            return (i % size + size) % size;
        case border::constant:
            break;
    }
    return -1;
}

/// The same without divisions. The number of steps grows with the distance of i from the line, counted in sizes of the
/// line.
template <class Index>
__device__ Index nearby_source_index(Index i, Index size, border kind) {
    while (i < 0 || i >= size) {
        switch (kind) {
            case border::replicate:
                return i < 0 ? 0 : size - 1;
            case border::reflect:
                i = i < 0 ? -1 - i : 2 * size - 1 - i;
                break;
            case border::reflect_101:
                i = size == 1 ? 0 : i < 0 ? -i : 2 * size - 2 - i;
                break;
            case border::wrap:
                i += i < 0 ? size : -size;
                break;
            case border::constant:
                return -1;
        }
    }
    return i;
}

}  // namespace heddle::kernels
