#pragma once

#include "kernels/matmul/facts.hpp"
#include "kernels/matmul/kernels.hpp"
#include <heddle/device.hpp>
#include <heddle/matmul.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

/// How each rung computes a product, and how long that takes by the numbers of cost/. Pure.
namespace heddle::kernels::matmul {

/// How a kernel reads and stores C.
enum class c_access {
    elements,  ///< one by one
    packets,   ///< each row consists of whole packets and begins with one
    rows,      ///< packets, and the elements of a row before and after them
    line       ///< the same for a whole tile, or for C, whose rows lie back to back
};

struct plan {
    bool is_turned = false;   ///< C^T = B^T A^T is computed, and everything below describes it
    operand_copies copies{};  ///< made before the product is turned

    std::size_t kernel = 0;  ///< number among the rung's kernels in kernels.hpp
    std::int64_t batches = 1;
    std::int64_t down = 0;  ///< tiles of C
    std::int64_t across = 0;
    std::int64_t steps = 0;   ///< of a tile along k
    std::int64_t whole = 0;   ///< unshared tiles that workers go through, in the whole batch
    int workers = 0;          ///< blocks, or clusters of blocks, that go from tile to tile
    int streams = 0;          ///< workers that share the other tiles in sequence (stream-K)
    int parts = 1;            ///< blocks that share each of the other tiles (split-K)
    bool adds_apart = false;  ///< a separate kernel adds the parts up
    int adders = 1;           ///< its threads for each place
    int cluster = 1;          ///< blocks that share each tile through their shared memory
    int clusters = 1;         ///< clusters that share each tile through global memory
    int lanes = 1;            ///< threads along a row of the matrix, or side by side along a column (vector)
    bool low_last = false;    ///< the last row of tiles, at least half empty, is done last
    bool narrow_last = false;
    std::int64_t kept = 0;    ///< rows of the longer operand that L2 keeps
    bool in_packets = false;  ///< A and B (mma_sync), or A (thin), are read by 16 bytes, else by element
    c_access of_c = c_access::elements;  ///< for mma_sync, thin and scale
    bool goes_across = false;            ///< whether blocks go from tile to tile across C, else down (stream)
    int buffers = 1;  ///< tiles in shared memory of the operand whose tile changes (stream)
    int slices = 1;   ///< sets of warps of a block that share each tile along k (packed)

    std::int64_t sums_bytes = 0;    ///< sums that sharers of tiles leave for one another
    std::int64_t pieces_bytes = 0;  ///< after the sums: split operands
    std::int64_t copied_bytes = 0;  ///< after these: copies, and bytes to align them
    bool begins_early = false;      ///< the device lets a kernel begin while the previous one runs
    double us = std::numeric_limits<double>::infinity();  ///< predicted, without the launch

    constexpr std::int64_t shared() const { return batches * down * across - whole; }
    constexpr std::int64_t scratch_bytes() const { return sums_bytes + pieces_bytes + copied_bytes; }
    constexpr std::int64_t workspace_bytes() const {
        constexpr std::int64_t unit = tensor_alignment;  // also of a workspace
        return scratch_bytes() == 0 ? 0 : workspace_ticket_bytes + round_up(scratch_bytes(), unit);
    }
    bool operator==(const plan&) const = default;
};

constexpr std::int64_t scratch_bytes(const plan& plan) {
    return plan.scratch_bytes();
}
constexpr bool needs_tickets(const plan& plan) {
    return plan.sums_bytes > 0 && !plan.adds_apart;
}

/// For the rungs that solve any problem in one way, and have no costs.
plan plan_one_way(const product_facts& problem, const device_traits& device);
/// For products where nothing is multiplied.
plan plan_scale(const product_facts& problem, const device_traits& device);
/// Runs only where no other rung can.
plan plan_wmma(const product_facts& problem, const device_traits& device);

plan plan_vector(const product_facts& problem, const device_traits& device);

// `kernel` is the number of the planned kernel, if a rung has several.

plan plan_warp_tiled(const product_facts& problem, const device_traits& device);
plan plan_pipelined(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_tma_pipelined(const product_facts& problem, const device_traits& device);
plan plan_thin(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_stream(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_packed(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_split_k(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_tf32x3(const product_facts& problem, const device_traits& device);
plan plan_skinny_float(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_bf16x6(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_fp16x3(const product_facts& problem, const device_traits& device);
plan plan_tf32(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_skinny_tf32(const product_facts& problem, const device_traits& device, std::size_t kernel);

plan plan_mma_sync(const product_facts& problem, const device_traits& device, std::size_t kernel);
/// For the rungs that read A and B by the tensor memory accelerator, and have no costs.
plan plan_copied(const product_facts& problem, const device_traits& device);
plan plan_persistent(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_cluster_multicast(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_stream_k(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_fused(const product_facts& problem, const device_traits& device, std::size_t kernel);
plan plan_skinny(const product_facts& problem, const device_traits& device, std::size_t kernel);

/// The plan of several products, in the order of decreasing k, in one launch. Their tiles go round among the workers, so
/// the first worker has the longest tile of each round.
struct group_plan {
    std::size_t kernel = 0;  ///< number among grouped_kernels
    int workers = 0;
    double us = std::numeric_limits<double>::infinity();
};
group_plan plan_group(std::span<const product_facts> problems, const device_traits& device);
/// The plan of the tiles of one of the group's products.
plan tiles_in_group(const group_plan& group, std::int64_t m, std::int64_t n, std::int64_t k);
/// The time of one tile of the last of grouped_kernels.
double grouped_tile_us(std::int64_t k, const device_traits& device);
/// The time from the end of one kernel to the work of the next.
double launch_us(const device_traits& device);

/// The layout of A or B after fp16x3 splits it, with rows along k or across it. It has two pieces of each element. For
/// every 64 along k, each row or column has a power.
struct split_layout {
    static constexpr std::int64_t pieces = 2;
    std::int64_t stride;        ///< of rows of pieces, in elements: whole 16 bytes
    std::int64_t piece_stride;  ///< from the first pieces to the second ones
    std::int64_t power_stride;  ///< from powers of 64 along k to the next; for whole tiles
    std::int64_t bytes;         ///< of the pieces, and of the powers after them
};
split_layout lay_out_split(std::int64_t extent, int tile_extent, std::int64_t k, bool along_k);
/// Whether the rows of pieces are the rows of the operand, else its columns, in the order of its elements.
template <class Matrix>
constexpr bool is_split_by_rows(const Matrix& m) {
    return m.col_stride == 1 || m.row_stride != 1;
}

}  // namespace heddle::kernels::matmul
