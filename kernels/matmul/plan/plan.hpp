#pragma once

#include "kernels/matmul/facts.hpp"
#include "kernels/matmul/kernels.hpp"
#include <heddle/device.hpp>
#include <heddle/matmul.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

/// How each rung does a product, and how long that takes by the numbers of cost/. Pure.
namespace heddle::kernels::matmul {

/// How a kernel reads and stores C.
enum class c_access {
    elements,  ///< one by one
    packets,   ///< that begin where rows do, and make them up
    rows,      ///< packets, and the elements of a row before and after these
    line       ///< the same of all of a tile, or of C, whose rows lie back to back
};

struct plan {
    bool is_turned = false;   ///< C^T = B^T A^T is computed; all below is of that product
    operand_copies copies{};  ///< before it is turned

    std::size_t kernel = 0;  ///< of the rung's kernels in kernels.hpp
    std::int64_t batches = 1;
    std::int64_t down = 0;  ///< tiles of C
    std::int64_t across = 0;
    std::int64_t steps = 0;   ///< of a tile along k
    std::int64_t whole = 0;   ///< tiles that are shared by nobody, of all the batch that workers go through
    int workers = 0;          ///< blocks, or clusters of them, that go from tile to tile
    int streams = 0;          ///< workers that share the other tiles, one after another (stream-K)
    int parts = 1;            ///< blocks that share each of the other tiles (split-K)
    bool adds_apart = false;  ///< by a kernel of its own, with
    int adders = 1;           ///< so many threads for a place
    int cluster = 1;          ///< blocks that share each tile through their shared memory, and
    int clusters = 1;         ///< through memory
    int lanes = 1;            ///< threads along a row of the matrix, or side by side along a column (vector)
    bool low_last = false;    ///< the lowest tiles, of which half is empty, come last
    bool narrow_last = false;
    std::int64_t kept = 0;    ///< rows of the longer operand that L2 keeps
    bool in_packets = false;  ///< A and B (mma_sync), or A (thin), are read 16 bytes at once, else by element
    c_access of_c = c_access::elements;  ///< (mma_sync, thin, scale)

    std::int64_t sums_bytes = 0;    ///< that those who share tiles leave for one another
    std::int64_t pieces_bytes = 0;  ///< behind them, of operands that are split
    std::int64_t copied_bytes = 0;  ///< and of copies, and what aligns them
    bool begins_early = false;      ///< the device lets a kernel begin while the one before still runs
    double us = std::numeric_limits<double>::infinity();  ///< predicted, without the launch

    constexpr std::int64_t shared() const { return batches * down * across - whole; }
    constexpr std::int64_t scratch_bytes() const { return sums_bytes + pieces_bytes + copied_bytes; }
    constexpr std::int64_t workspace_bytes() const {
        constexpr std::int64_t unit = tensor_alignment;  // a workspace's, too
        return scratch_bytes() == 0 ? 0 : workspace_ticket_bytes + divide_up(scratch_bytes(), unit) * unit;
    }
    bool operator==(const plan&) const = default;
};

constexpr std::int64_t scratch_bytes(const plan& plan) {
    return plan.scratch_bytes();
}
constexpr bool needs_tickets(const plan& plan) {
    return plan.sums_bytes > 0 && !plan.adds_apart;
}

/// The rungs that do any problem in one way, and have no costs.
plan plan_one_way(const product_facts& problem, const device_traits& device);
/// What is left where nothing is multiplied.
plan plan_scale(const product_facts& problem, const device_traits& device);
/// It comes where no other can run.
plan plan_wmma(const product_facts& problem, const device_traits& device);

plan plan_vector(const product_facts& problem, const device_traits& device);

// `kernel`: the place of the one that is planned, where a rung has several.

plan plan_warp_tiled(const product_facts& problem, const device_traits& device);
plan plan_pipelined(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_tma_pipelined(const product_facts& problem, const device_traits& device);
plan plan_thin(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_split_k(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_tf32x3(const product_facts& problem, const device_traits& device);
plan plan_skinny_float(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_bf16x6(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_fp16x3(const product_facts& problem, const device_traits& device);
plan plan_tf32(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_skinny_tf32(const product_facts& problem, const device_traits& device, std::size_t kernel);

plan plan_mma_sync(const product_facts& problem, const device_traits& device, std::size_t kernel);
/// The rungs that read A and B by the tensor memory accelerator, and have no costs.
plan plan_copied(const product_facts& problem, const device_traits& device);
plan plan_persistent(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_cluster_multicast(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_stream_k(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_fused(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_skinny(const product_facts& problem, const device_traits& device, std::size_t kernel);

/// Several products, in the order of falling k, in one launch. Their tiles go round among the workers,
/// so the first one has the longest of each round.
struct group_plan {
    std::size_t kernel = 0;  ///< of grouped_kernels
    int workers = 0;
    double us = std::numeric_limits<double>::infinity();
};
group_plan plan_group(std::span<const product_facts> problems, const device_traits& device);
/// The tiles of one of its products.
plan tiles_in_group(const group_plan& group, std::int64_t m, std::int64_t n, std::int64_t k);
/// The whole time of one tile of the last of grouped_kernels.
double grouped_tile_us(std::int64_t k, const device_traits& device);
/// From the end of one kernel to the work of the next.
double launch_us(const device_traits& device);

/// What fp16x3 makes of A or B, whose rows are stored along k or across it: two pieces of each element, and for every 64 along
/// k a power for each row or column.
struct split_layout {
    static constexpr std::int64_t pieces = 2;
    std::int64_t stride;        ///< of rows of pieces, in elements: whole 16 bytes
    std::int64_t piece_stride;  ///< from the first pieces to the second ones
    std::int64_t power_stride;  ///< of the powers of 64 along k: those of whole tiles
    std::int64_t bytes;         ///< the powers behind the pieces
};
split_layout lay_out_split(std::int64_t extent, int tile_extent, std::int64_t k, bool along_k);
/// Whether the rows of pieces are the rows of the operand, else its columns: as the elements lie.
template <class Matrix>
constexpr bool is_split_by_rows(const Matrix& m) {
    return m.col_stride == 1 || m.row_stride != 1;
}

}  // namespace heddle::kernels::matmul
