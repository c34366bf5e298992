#pragma once

#include <heddle/types.hpp>

#include <cstdint>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {

/// The values of pixels outside of an image `abcd`, with OpenCV's names and meanings.
enum class border {
    replicate,    ///< aaaa|abcd|dddd
    reflect,      ///< dcba|abcd|dcba
    reflect_101,  ///< dcb|abcd|cba: the edge itself is not repeated
    wrap,         ///< abcd|abcd|abcd
    constant      ///< vvvv|abcd|vvvv, v = border_value
};

/// The pixels x..x + width - 1, y..y + height - 1 of an image.
struct image_region {
    std::int64_t x = 0;
    std::int64_t y = 0;
    std::int64_t width = 0;
    std::int64_t height = 0;

    bool operator==(const image_region&) const = default;
};

/// The types of an image's values.
enum class pixel_type { u8, u16, f16, f32 };

template <class T>
inline constexpr pixel_type pixel_type_of = [] {
    if constexpr (std::is_same_v<T, std::uint8_t>)
        return pixel_type::u8;
    else if constexpr (std::is_same_v<T, std::uint16_t>)
        return pixel_type::u16;
    else if constexpr (std::is_same_v<T, half>)
        return pixel_type::f16;
    else {
        static_assert(std::is_same_v<T, float>, "T is uint8_t, uint16_t, half or float");
        return pixel_type::f32;
    }
}();

}  // namespace heddle

#pragma GCC visibility pop
