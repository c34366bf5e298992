#include "kernels/device/clusters.hpp"
#include "kernels/matmul/plan/planning.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace heddle::kernels::matmul {
namespace {

constexpr double block_bytes = vector_threads * vector_packets * tensor_alignment;  ///< that it reads at once

int lanes_for(std::int64_t wanted, int most) {
    return static_cast<int>(
        std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(wanted, 1, most))));
}

/// The plan of y (m) = A (m x k) x (k), of which the kind and what follows from it are to be found.
class vector_planning {
  public:
    explicit vector_planning(const planning& x, bool is_turned)
        : p(x.problem),
          device(x.device),
          costs(x.costs),
          a(is_turned ? transposed(p.b) : p.a),
          batch_stride(is_turned ? p.b_stride : p.a_stride),
          m(a.rows),
          k(a.cols),
          blocks_at_once(std::max<std::int64_t>(1, std::int64_t{device.sm_count} * vector_blocks_per_sm)),
          width(tensor_alignment / a.element_bytes) {
        result.batches = p.batches;
        result.is_turned = is_turned;
    }

    plan of_elements() {
        take(vector_kind::elements, lanes_for(k, warp));
        result.down = divide_up(m, vector_threads / result.lanes * vector_element_rows);
        return result;
    }

    /// Rows lie along k. One or more blocks go from tile to tile.
    plan of_rows() {
        const std::int64_t packets = divide_up(k, width);
        if (packets <= warp * (vector_packets / vector_short_rows))
            take(vector_kind::short_rows,
                 lanes_for(divide_up(packets, vector_packets / vector_short_rows), warp));
        else
            take(vector_kind::rows, vector_threads);
        const bool is_short = result.tile == static_cast<std::size_t>(vector_kind::short_rows);
        const auto tiles = [&](int lanes) {
            return divide_up(m, vector_threads / lanes * (is_short ? vector_short_rows : 1));
        };
        while (result.lanes > warp &&
               (packets <= result.lanes / 2 || p.batches * tiles(result.lanes / 2) >= 2 * device.sm_count))
            result.lanes /= 2;
        result.down = tiles(result.lanes);
        result.steps = packets;
        // One packet less in the last round of a warp leaves room for what x has before and behind.
        if (result.lanes == vector_threads) share(packets, vector_threads * vector_packets - 2, 1);
        if (result.parts == 1) result.down = std::min(result.down, divide_up(blocks_at_once, p.batches));
        return result;
    }

    /// Columns lie along m.
    plan of_columns() {
        const bool have_packets = a.col_stride % width == 0;
        const bool begin_at_packets = a.alignment >= tensor_alignment &&
                                      (p.batches == 1 || begins_at_boxes(batch_stride, a.element_bytes));
        // The first packet may begin before the first row.
        const std::int64_t rows = m + (have_packets && !begin_at_packets ? width - 1 : 0);
        take(have_packets ? vector_kind::columns : vector_kind::odd_columns,
             lanes_for(divide_up(rows, width), warp));
        while (result.lanes < vector_threads && k < vector_threads * vector_packets / result.lanes &&
               result.lanes < divide_up(rows, width))
            result.lanes *= 2;
        // Where few can share a tile, smaller tiles are more blocks; a sector of memory holds two packets.
        constexpr int least_lanes = 2;
        while (least_lanes < result.lanes && result.lanes <= warp && !p.has_workspace &&
               2 * most_parts() * p.batches * divide_up(rows, result.lanes * width) < blocks_at_once)
            result.lanes /= 2;
        result.down = divide_up(rows, result.lanes * width);
        result.steps = k;
        if (result.lanes <= warp)
            share(k, vector_threads / result.lanes * vector_packets, result.lanes * width);
        return result;
    }

    /// Blocks share a tile of so many sums along k, of which each reads `least` packets or columns at once: through the
    /// workspace or, where there is none, as a cluster.
    void share(std::int64_t all, std::int64_t least, std::int64_t sums) {
        const std::int64_t tiles = p.batches * result.down, rounds = divide_up(all, least);
        std::int64_t parts = std::min({blocks_at_once / tiles, rounds, most_parts()});
        const double saved_us =
            static_cast<double>(rounds - divide_up(rounds, std::max<std::int64_t>(1, parts))) * block_bytes /
            costs.vector_block_bytes_per_us;
        if (saved_us < costs.vector_sharing_us || (p.has_workspace && tiles > max_tickets)) return;
        if (!p.has_workspace)
            parts = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(parts)));
        result.parts = static_cast<int>(parts);
        result.steps = divide_up(all, parts);
        if (p.has_workspace) result.sums_bytes = tiles * parts * sums * std::int64_t{sizeof(float)};
    }

    static constexpr std::int64_t warp = 32;

  private:
    std::int64_t most_parts() const {
        if (p.has_workspace) return std::numeric_limits<int>::max();
        return has_clusters(device.compute_capability_major, device.compute_capability_minor) ? max_cluster
                                                                                              : 1;
    }
    void take(vector_kind kind, int lanes) {
        result.tile = static_cast<std::size_t>(kind);
        result.lanes = lanes;
    }

    const matmul_problem& p;
    const device_traits& device;
    const tuning& costs;
    matrix_layout a;
    std::int64_t batch_stride, m, k, blocks_at_once, width;
    plan result;
};

}  // namespace

plan plan_vector(const matmul_problem& p, const device_traits& device) {
    // Of two vectors the contiguous one is read in packets.
    const bool is_turned =
        p.c.cols > 1 || (p.c.rows == 1 && !has_contiguous_rows(p.a) && has_contiguous_rows(transposed(p.b)));
    const planning x(p, device, is_turned);
    const matrix_layout a = is_turned ? transposed(p.b) : p.a;
    const bool along_m = x.m > 1 && x.k > 1 && a.row_stride == 1 && a.col_stride != 1;
    vector_planning of(x, is_turned);
    plan result = along_m ? of.of_columns() : x.k <= vector_planning::warp ? of.of_elements() : of.of_rows();

    const double blocks =
        std::min(static_cast<double>(device.sm_count) * vector_blocks_per_sm,
                 static_cast<double>(p.batches) * static_cast<double>(result.down) * result.parts);
    const double of_block = x.read_us * x.costs.memory_bytes_per_us / std::max(1.0, blocks);
    result.us = x.costs.vector_around_us + (result.parts > 1 ? x.costs.vector_sharing_us : 0) +
                std::max(x.read_us, (of_block - block_bytes) / x.costs.vector_block_bytes_per_us);
    return result;
}

}  // namespace heddle::kernels::matmul
