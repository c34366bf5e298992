#pragma once

#include "kernels/conv/plan/mma_sync.hpp"
#include "kernels/conv/plan/plan.hpp"
#include "kernels/conv/plan/predict.hpp"
#include <heddle/conv.hpp>
#include <heddle/device.hpp>

#include <cstddef>
#include <cstdint>

/// The plan of a rung whose threads copy windows, tile by tile. Pure.
namespace heddle::kernels::conv {

template <const auto& kernels>
plan copied_tiles(const conv_problem& p, const device_traits& device, std::size_t kernel) {
    const std::int64_t tiles = mma_tile_count(p, kernels[kernel].tile()),
                       steps = steps_along(depth(p) * p.filters.element_bytes, mma_row_bytes);
    plan result{};
    result.blocks = {tiles};
    result.kernel = kernel;
    result.stores_packets = stores_in_packets(p);
    result.us = predicted_us(cost_places<kernels>[kernel], device, {
        .bytes = tensor_bytes(p), .rounds = rounds_of(tiles, device), .steps = static_cast<double>(steps)
    });
    return result;
}

}  // namespace heddle::kernels::conv
