#pragma once

#include <cstdint>
#include <utility>

namespace heddle::kernels::separable_filter {

/// function<channels>(), where the number of channels is compiled in.
template <class Function>
void with_channels(std::int64_t channels, Function function) {
    switch (channels) {
        case 1:
            return function.template operator()<1>();
        case 2:
            return function.template operator()<2>();
        case 3:
            return function.template operator()<3>();
        default:
            return function.template operator()<4>();
    }
}

/// function<radius>(), where radii up to `most` are compiled in.
template <int most, class Function>
void with_radius(int radius, Function function) {
    [&]<int... radii>(std::integer_sequence<int, radii...>) {
        ((radius == radii ? function.template operator()<radii>() : void()), ...);
    }
    (std::make_integer_sequence<int, most + 1>{});
}

}  // namespace heddle::kernels::separable_filter
