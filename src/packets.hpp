#pragma once

#include <heddle/view.hpp>

#include <cstdint>

namespace heddle::detail {

/// What the widest loads and stores take at once, in bytes.
inline constexpr std::int64_t packet_bytes = 16;

/// Whether packets make up each row: all begin at multiples of 16 bytes, and are as long as one. A single row has no stride.
template <class T>
bool has_rows_of_packets(const matrix_view<T>& m) {
    const auto is_whole = [](std::int64_t elements) {
        return elements * std::int64_t{sizeof(T)} % packet_bytes == 0;
    };
    return reinterpret_cast<std::uintptr_t>(m.data) % packet_bytes == 0 && is_whole(m.cols) &&
           (m.rows <= 1 || is_whole(m.row_stride));
}

}  // namespace heddle::detail
