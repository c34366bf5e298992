#pragma once

#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <utility>

/// The rows of the table of kernels that use the frame. Everything else about a kernel follows from its row.
namespace heddle::kernels::frame {

/// The tile of C of a block. `blocks` of them, one below the other, share their part of B.
struct tile_shape {
    int m = 0;
    int n = 0;
    int blocks = 1;
};

/// What a kernel can do beside multiplying whole tiles and storing sums. Each takes code, so kernels have what their rung
/// uses. With `streams` the last worker of a shared tile adds up the sums of all.
enum class extra { nothing, streams, epilogue, both };

/// Whether consumers divide the rows of one tile, or take turns with a tile each: then one multiplies while another stores.
enum class consumers_have { one_tile, turns };

/// A kernel where one warpgroup loads and `consumers` others multiply, each `halves` x 64 rows of n columns.
struct wgmma_kernel {
    std::string_view name;
    int consumers;
    int n;
    int stages;
    int cluster = 1;  ///< blocks that share a part of B; with divides_k, a tile
    extra can = extra::nothing;
    consumers_have have = consumers_have::one_tile;
    int halves = 1;
    bool divides_k = false;  ///< the blocks of a cluster divide the steps of a tile among them

    constexpr int m() const {
        constexpr int rows = 64;
        return (have == consumers_have::turns ? 1 : consumers) * halves * rows;
    }
    constexpr tile_shape tile() const { return {m(), n, cluster}; }
    constexpr bool streams() const { return can == extra::streams || can == extra::both; }
    /// Whether workers may share a tile along k, and leave its parts for a kernel that adds them up. Consumers that take turns
    /// have no registers for that.
    constexpr bool leaves_parts() const { return !divides_k && have == consumers_have::one_tile; }
    constexpr bool has_epilogue() const { return can == extra::epilogue || can == extra::both; }
};

/// Calls function.operator()<row>() with the given row as a constant.
template <const auto& kernels, class Function>
void with_row(std::size_t row, Function function) {
    const bool is_there = [&]<std::size_t... i>(std::index_sequence<i...>) {
        return ((i == row && (function.template operator()<i>(), true)) || ...);
    }
    (std::make_index_sequence<kernels.size()>());
    if (!is_there) throw std::logic_error("a plan has a kernel that its rung lacks");
}

}  // namespace heddle::kernels::frame
