#pragma once

#include "kernels/matmul/plan/plan.hpp"
#include "kernels/matmul/tuning/tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// What the plans are made of.
namespace heddle::kernels::matmul {

struct extents {
    std::int64_t m, n, k;
};
constexpr extents extents_of(const matmul_problem& p) {
    return {p.c.rows, p.c.cols, p.a.cols};
}
constexpr extents transposed(const extents& e) {
    return {e.n, e.m, e.k};
}

/// A and B are read once at least, at the rate of the memory.
constexpr double read_us(const extents& e, std::int64_t element_bytes, const tuning& costs) {
    return static_cast<double>(e.k) * static_cast<double>((e.m + e.n) * element_bytes) /
           costs.memory_bytes_per_us;
}

/// The cheapest of `count` tiles, or the one that is asked for.
template <class LayOut>
plan cheapest(std::size_t count, int asked, LayOut lay_out) {
    plan best;
    bool is_first = true;
    for (std::size_t i = 0; i < count; ++i) {
        if (asked >= 0 && i != static_cast<std::size_t>(asked)) continue;
        plan candidate = lay_out(i);
        candidate.tile = i;
        if (is_first || candidate.us < best.us) best = candidate;
        is_first = false;
    }
    return best;
}

/// What a rung that reads A and B by the tensor memory accelerator has copied before it: what that cannot read and, where one
/// of them has to lie along k, what then does.
operand_copies copies_of(const matmul_problem& problem, bool along_k = false);
/// A plan, and the copies before it.
plan after(const operand_copies& copies, plan then, const matmul_problem& problem, const tuning& costs);

/// Whether a matrix, or its copy, has rows that the tensor memory accelerator can read.
constexpr bool has_tensor_rows(const matrix_layout& m, copy_kind copy) {
    return copy == copy_kind::none ? has_tensor_rows(m)
                                   : has_contiguous_rows(m) == (copy == copy_kind::aligned);
}
constexpr bool has_tensor_columns(const matrix_layout& m, copy_kind copy) {
    return copy == copy_kind::none ? has_tensor_rows(transposed(m)) : !has_tensor_rows(m, copy);
}

/// Whole tiles, dealt to workers in rounds.
plan lay_out_whole(const tile_shape& tile, const tile_cost& cost, const extents& e, std::int64_t batches,
                   double read_us, int sm_count);
/// Whole rounds of tiles and, where that is faster, the rest streamed.
plan lay_out_streamed(const tile_shape& tile, const tile_cost& cost, const extents& e, double read_us,
                      int sm_count, const tuning& costs);

}  // namespace heddle::kernels::matmul
