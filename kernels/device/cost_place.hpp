#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace heddle::kernels {

/// The place of the row with a given name in a table of costs, the same for all cards. A name that the table lacks does not
/// compile.
template <const auto& costs>
struct cost_place {
    std::size_t at = 0;

    consteval cost_place(std::string_view row) {
        while (costs.rows.at(at).row != row) ++at;
    }
    consteval cost_place(const char* row) : cost_place(std::string_view(row)) {}
};

/// The places of all rows of a table of kernels.
template <const auto& costs, const auto& kernels>
inline constexpr auto cost_places = []<std::size_t... row>(std::index_sequence<row...>) {
    return std::array{cost_place<costs>(kernels[row].name)...};
}
(std::make_index_sequence<kernels.size()>());

}  // namespace heddle::kernels
