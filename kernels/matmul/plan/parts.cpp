#include "kernels/matmul/plan/parts.hpp"

#include "kernels/device/tile_scheduler.hpp"

#include <algorithm>

namespace heddle::kernels::matmul {

bool lies_in_boxes(const matmul_problem& p) {
    const auto begins_at_boxes = [&](std::int64_t stride) {
        return stride * p.a.element_bytes % tensor_alignment == 0;
    };
    return has_tensor_rows_or_columns(p.a) && has_tensor_rows_or_columns(p.b) && has_tensor_extents(p.c) &&
           begins_at_boxes(p.a_stride) && begins_at_boxes(p.b_stride) && p.batches <= max_tensor_extent;
}

bool lies_along_k(const matmul_problem& p) {
    return has_tensor_rows(p.a) || has_tensor_rows(transposed(p.b));
}

bool can_be_copied(const matmul_problem& p) {
    return p.has_workspace && p.batches == 1 && has_unit_stride(p) && is_countable_by_int(p);
}

bool is_skinny(const matmul_problem& p) {
    return std::min(p.c.rows, p.c.cols) <=
           (p.operands == element_type::f32 ? max_skinny_float_side : max_skinny_side);
}

operand_copies copies_of(const matmul_problem& p, bool along_k) {
    operand_copies copies;
    const matrix_layout b = transposed(p.b);
    if (along_k && !lies_along_k(p)) {
        const bool a_by_rows = has_contiguous_rows(p.a), b_by_rows = has_contiguous_rows(b);
        if (a_by_rows || (!b_by_rows && p.a.rows <= b.rows))
            copies.a = a_by_rows ? copy_kind::aligned : copy_kind::turned;
        else
            copies.b = b_by_rows ? copy_kind::aligned : copy_kind::turned;
    }
    if (copies.a == copy_kind::none && !has_tensor_rows_or_columns(p.a)) copies.a = copy_kind::aligned;
    if (copies.b == copy_kind::none && !has_tensor_rows_or_columns(p.b)) copies.b = copy_kind::aligned;
    return copies;
}

plan after(const operand_copies& copies, plan then, const matmul_problem& p, const tuning& costs) {
    then.copies = copies;
    for (const std::int64_t bytes : {copied_bytes(p.a, copies.a), copied_bytes(p.b, copies.b)}) {
        if (bytes == 0) continue;
        then.copied_bytes += bytes;
        then.us += costs.copy_around_us + static_cast<double>(bytes) / costs.copied_bytes_per_us;
    }
    return then;
}

plan lay_out_whole(const tile_shape& tile, const tile_cost& cost, const extents& e, std::int64_t batches,
                   double read_us, int sm_count) {
    plan result;
    result.batches = batches;
    result.down = divide_up(e.m, std::int64_t{tile.m} * tile.cluster);
    result.across = divide_up(e.n, tile.n);
    result.steps = divide_up(e.k, step_k);
    result.whole = batches * result.down * result.across;
    result.workers =
        static_cast<int>(std::clamp<std::int64_t>(result.whole, 1, std::max(1, sm_count / tile.cluster)));
    const auto rounds = static_cast<double>(divide_up(result.whole, result.workers));
    result.us = std::max(rounds * (cost.around_us + static_cast<double>(result.steps) * cost.step_us),
                         cost.around_us + static_cast<double>(batches) * read_us);
    return result;
}

plan lay_out_streamed(const tile_shape& tile, const tile_cost& cost, const extents& e, double read_us,
                      int sm_count, const tuning& costs) {
    plan result = lay_out_whole(tile, cost, e, 1, read_us, sm_count);
    const std::int64_t tiles = result.whole;
    const int workers = std::max(1, sm_count / tile.cluster);
    const std::int64_t rest = tiles % workers;
    const int warpgroups = tile.cluster * tile.m / 64;  // each draws its own tickets
    const auto streams =
        static_cast<int>(std::min({std::int64_t{workers}, rest * result.steps / tile.min_steps,
                                   (max_tickets / warpgroups - rest) / 2}));
    if (streams <= rest) return result;
    const auto rounds = static_cast<double>(tiles / workers);
    const auto share = static_cast<double>(divide_up(rest * result.steps, streams));
    const auto sharers = static_cast<int>(divide_up(streams, rest)) + 1;
    const int at_once = added_at_once(sharers);
    const auto added = static_cast<double>(at_once + (at_once < sharers ? divide_up(sharers, at_once) : 0));
    const double combine_us =
        costs.combine_around_us + (1 + added) * tile.m * tile.n * sizeof(float) / costs.combined_bytes_per_us;
    const double us = rounds * (cost.around_us + static_cast<double>(result.steps) * cost.step_us) +
                      cost.around_us + share * cost.step_us + combine_us;
    if (us >= result.us) return result;
    result.us = std::max(us, cost.around_us + combine_us + read_us);
    result.workers = rounds > 0 ? workers : streams;
    result.whole = tiles - rest;
    result.streams = streams;
    result.sums_bytes =
        std::int64_t{2} * streams * tile.cluster * tile.m * tile.n * std::int64_t{sizeof(float)};
    return result;
}

}  // namespace heddle::kernels::matmul
