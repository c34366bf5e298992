#include "kernels/device/clusters.hpp"
#include "kernels/matmul/plan/planning.hpp"

#include <algorithm>
#include <bit>

namespace heddle::kernels::matmul {
namespace {

constexpr double block_bytes = vector_threads * vector_packets * tensor_alignment;  ///< read at once

int lanes_for(std::int64_t wanted, int most) {
    return static_cast<int>(
        std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(wanted, 1, most))));
}

/// Makes the plan of y (m) = A (m x k) x (k): its kind, and what follows from the kind.
class vector_planning {
  public:
    static constexpr std::int64_t warp = 32;

    explicit vector_planning(const planning& x, bool is_turned)
        : p(x.problem),
          device(x.device),
          a(is_turned ? transposed(p.b) : p.a),
          batch_stride(is_turned ? p.b_stride : p.a_stride),
          m(a.rows),
          k(a.cols),
          blocks_at_once(std::max<std::int64_t>(1, std::int64_t{device.sm_count} * vector_blocks_per_sm)),
          width(tensor_alignment / a.element_bytes) {
        result.batches = p.batches;
        result.is_turned = is_turned;
    }

    plan by_elements() {
        take(vector_kind::elements, lanes_for(k, warp));
        result.down = divide_up(m, vector_threads / result.lanes * vector_element_rows);
        return result;
    }

    /// For rows along k. Blocks go from tile to tile, or share one tile.
    plan by_rows() {
        const std::int64_t packets = divide_up(k, width);
        if (packets <= warp * (vector_packets / vector_short_rows))
            take(vector_kind::short_rows,
                 lanes_for(divide_up(packets, vector_packets / vector_short_rows), warp));
        else
            take(vector_kind::rows, vector_threads);
        const bool is_short = result.kernel == static_cast<std::size_t>(vector_kind::short_rows);
        const auto tiles = [&](int lanes) {
            return divide_up(m, vector_threads / lanes * (is_short ? vector_short_rows : 1));
        };
        while (result.lanes > warp &&
               (packets <= result.lanes / 2 || p.batches * tiles(result.lanes / 2) >= 2 * device.sm_count))
            result.lanes /= 2;
        result.down = tiles(result.lanes);
        result.steps = packets;
        // One packet less in the last round of a warp leaves room for elements of x before and after packets.
        if (result.lanes == vector_threads)
            share(packets, divide_up(packets, vector_threads * vector_packets - 2), 1);
        // All blocks get equal numbers of tiles.
        if (result.parts == 1)
            result.down = divide_up(result.down, divide_up(p.batches * result.down, blocks_at_once));
        return result;
    }

    /// For columns along m.
    plan by_columns() {
        const bool have_packets = a.col_stride % width == 0;
        const bool begin_at_packets = a.alignment() >= tensor_alignment &&
                                      (p.batches == 1 || begins_at_boxes(batch_stride, a.element_bytes));
        // The first packet may begin before the first row.
        const std::int64_t rows = m + (have_packets && !begin_at_packets ? width - 1 : 0);
        take(have_packets ? vector_kind::columns : vector_kind::odd_columns,
             lanes_for(divide_up(rows, width), warp));
        while (result.lanes < vector_threads && k < vector_threads * vector_packets / result.lanes &&
               result.lanes < divide_up(rows, width))
            result.lanes *= 2;
        // If too few blocks can share a tile, tiles are smaller, so that there are more. They keep whole sectors.
        const int least_lanes = p.has_scratch ? 4 : 2;
        const auto blocks = [&] {
            const std::int64_t tiles = p.batches * divide_up(rows, result.lanes * width);
            return tiles <= blocks_at_once ? tiles * parts_of(tiles, rounds_of(k)) : tiles;
        };
        while (least_lanes < result.lanes && result.lanes <= warp && rounds_of(k) > 1 &&
               2 * blocks() < blocks_at_once)
            result.lanes /= 2;
        result.down = divide_up(rows, result.lanes * width);
        result.steps = k;
        if (result.lanes <= warp) share(k, rounds_of(k), result.lanes * width);
        return result;
    }

  private:
    void take(vector_kind kind, int lanes) {
        result.kernel = static_cast<std::size_t>(kind);
        result.lanes = lanes;
    }

    /// How many times the lanes of a block read, for this many columns.
    std::int64_t rounds_of(std::int64_t columns) const {
        return divide_up(columns, vector_threads / result.lanes * vector_packets);
    }

    /// The number of blocks that share a tile of `rounds` rounds, through the workspace or, without one, as a cluster. 1 if
    /// sharing would take longer.
    std::int64_t parts_of(std::int64_t tiles, std::int64_t rounds) const {
        const bool has_cluster =
            has_clusters(device.compute_capability_major, device.compute_capability_minor);
        if (p.has_scratch ? tiles > max_tickets : !has_cluster) return 1;
        std::int64_t parts = std::clamp<std::int64_t>(blocks_at_once / tiles, 1, rounds);
        if (!p.has_scratch)
            parts = static_cast<std::int64_t>(
                std::bit_floor(static_cast<std::uint64_t>(std::min<std::int64_t>(parts, max_cluster))));
        constexpr std::int64_t least_saved = 2;
        return rounds - divide_up(rounds, parts) < least_saved ? 1 : parts;
    }

    /// Lets several blocks share the steps of each tile, if that is faster.
    void share(std::int64_t steps, std::int64_t rounds, std::int64_t sums_of_tile) {
        const std::int64_t tiles = p.batches * result.down, parts = parts_of(tiles, rounds);
        if (parts == 1) return;
        result.parts = static_cast<int>(parts);
        result.steps = divide_up(steps, parts);
        if (p.has_scratch) result.sums_bytes = tiles * parts * sums_of_tile * std::int64_t{sizeof(float)};
    }

    const product_facts& p;
    const device_traits& device;
    matrix_layout a;
    std::int64_t batch_stride, m, k, blocks_at_once, width;
    plan result;
};

}  // namespace

plan plan_vector(const product_facts& p, const device_traits& device) {
    // If both operands are vectors, packets are read of the contiguous one.
    const bool is_turned =
        p.c.cols > 1 || (p.c.rows == 1 && !has_contiguous_rows(p.a) && has_contiguous_rows(transposed(p.b)));
    const planning x(p, device, is_turned);
    const matrix_layout a = is_turned ? transposed(p.b) : p.a;
    const bool along_m = x.m > 1 && x.k > 1 && a.row_stride == 1 && a.col_stride != 1;
    vector_planning v(x, is_turned);
    plan result = along_m ? v.by_columns() : x.k <= vector_planning::warp ? v.by_elements() : v.by_rows();

    const double blocks =
        std::min(static_cast<double>(device.sm_count) * vector_blocks_per_sm,
                 static_cast<double>(p.batches) * static_cast<double>(result.down) * result.parts);
    const auto kind = static_cast<vector_kind>(result.kernel);
    const bool in_packets = kind != vector_kind::elements && kind != vector_kind::odd_columns &&
                            a.alignment() >= tensor_alignment &&
                            begins_at_boxes(along_m ? a.col_stride : a.row_stride, a.element_bytes);
    result.us = x.us(cost_of(x.costs, "vector"),
                     {.rounds = 1,
                      .steps = std::max(1.0, x.moved_bytes / std::max(1.0, blocks) / block_bytes),
                      .bytes = x.moved_bytes,
                      .slower = in_packets ? 1 : x.costs.by_element}) +
                (result.parts > 1 ? x.costs.combine_us : 0);
    return result;
}

}  // namespace heddle::kernels::matmul
