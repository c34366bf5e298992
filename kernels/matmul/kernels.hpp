#pragma once

#include "kernels/frame/wgmma_kernel.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// The compiled kernels, one row each in the table of their rung. Launches take their instances from the tables, plans take
/// their tiles, and cost/ knows rows by their names. Nothing else lists them.
namespace heddle::kernels::matmul {

using frame::consumers_have, frame::extra, frame::tile_shape, frame::wgmma_kernel;

// Kernels whose blocks go from tile to tile.

inline constexpr int step_k = 64;

inline constexpr auto persistent_kernels = std::to_array<wgmma_kernel>({
    {.name = "persistent 128x256", .consumers = 2, .n = 256, .stages = 4, .can = extra::streams},
    {.name = "persistent 128x128", .consumers = 2, .n = 128, .stages = 6, .can = extra::streams},
    {.name = "persistent 64x64", .consumers = 1, .n = 64, .stages = 8, .can = extra::streams},
});
/// The same kernels with another schedule.
inline constexpr auto stream_k_names =
    std::to_array<std::string_view>({"stream_k 128x256", "stream_k 128x128", "stream_k 64x64"});
static_assert(stream_k_names.size() == persistent_kernels.size());

inline constexpr auto multicast_kernels = std::to_array<wgmma_kernel>({
    {.name = "cluster_multicast 2x128x256", .consumers = 2, .n = 256, .stages = 4, .cluster = 2},
    {.name = "cluster_multicast 2x128x192", .consumers = 2, .n = 192, .stages = 4, .cluster = 2},
    {.name = "cluster_multicast 2x128x160", .consumers = 2, .n = 160, .stages = 4, .cluster = 2},
    {.name = "cluster_multicast 2x64x128", .consumers = 1, .n = 128, .stages = 8, .cluster = 2},
});

/// The widest reads A and B least often. In the next, the epilogue runs during the other consumer's products. In the third,
/// the last worker of a shared tile may add it up; wider tiles would spill registers then. The last is for a C of few
/// columns. All but the second leave parts of tiles (kernels/frame/parts.cuh).
inline constexpr auto fused_kernels = std::to_array<wgmma_kernel>({
    {.name = "fused 128x256", .consumers = 2, .n = 256, .stages = 4, .can = extra::epilogue},
    {.name = "fused 128x128",
     .consumers = 2,
     .n = 128,
     .stages = 6,
     .can = extra::epilogue,
     .have = consumers_have::turns,
     .halves = 2},
    {.name = "fused 64x128", .consumers = 1, .n = 128, .stages = 8, .can = extra::both},
    {.name = "fused 128x64", .consumers = 2, .n = 64, .stages = 8, .can = extra::epilogue},
});

/// Kernels for several products in one launch.
inline constexpr auto grouped_kernels = std::to_array<wgmma_kernel>({
    {.name = "grouped 128x256", .consumers = 2, .n = 256, .stages = 4},
    {.name = "grouped 64x128", .consumers = 1, .n = 128, .stages = 8},
});

/// If only A lies along k, the tiles are those of C^T.
inline constexpr auto tf32_kernels = std::to_array<wgmma_kernel>({
    {.name = "tf32 128x256", .consumers = 2, .n = 256, .stages = 4, .can = extra::both},
    {.name = "tf32 128x192", .consumers = 2, .n = 192, .stages = 5, .can = extra::both},
    {.name = "tf32 128x128", .consumers = 2, .n = 128, .stages = 6, .can = extra::both},
    {.name = "tf32 2x64x128", .consumers = 1, .n = 128, .stages = 8, .cluster = 2, .can = extra::both},
});
/// The kernel with a user's function, whose tiles nobody shares.
inline constexpr auto tf32_with_function = std::to_array<wgmma_kernel>(
    {{.name = "tf32 128x128", .consumers = 2, .n = 128, .stages = 6, .can = extra::epilogue}});
static_assert(std::ranges::any_of(tf32_kernels, [](const wgmma_kernel& each) {
    const wgmma_kernel& row = tf32_with_function[0];
    return each.name == row.name && each.m() == row.m() && each.n == row.n && each.cluster == row.cluster;
}));
inline constexpr int tf32_k = 32;       ///< along k of a step
inline constexpr int tf32_narrow = 64;  ///< columns that a tile multiplies if C has no more there

/// The tile of a block, or of a pair of blocks that shares B.
struct bf16x6_row {
    std::string_view name;
    tile_shape tile;
};
inline constexpr auto bf16x6_kernels =
    std::to_array<bf16x6_row>({{"bf16x6 boxes", {128, 128, 1}}, {"bf16x6 pairs", {128, 128, 2}}});
inline constexpr tile_shape fp16x3_tile{128, 192};

// Kernels whose blocks have one tile each.

struct block_kernel {
    std::string_view name;
    int m;
    int n;
    int blocks_per_sm;
};

/// A thread has thread_m x thread_n elements, computed by FFMA, and a warp has 4 x 8 threads. If there are several slices,
/// each set of warps multiplies one slice of a stage along k.
struct pipelined_kernel {
    std::string_view name;
    int warps_m, warps_n, slices;
    int thread_m, thread_n;
    int k, unrolled;  ///< of a stage, and of its loop: more would not fit the instruction cache
    int stages;
    int blocks_per_sm;

    constexpr int m() const { return warps_m * 4 * thread_m; }
    constexpr int n() const { return warps_n * 8 * thread_n; }
    /// The bytes of the stages, or of the slices' sums, which later use the same memory.
    constexpr int shared_bytes() const {
        constexpr int gap = 4;  // after each row along m or n
        const int stage_floats = stages * k * (m() + gap + n() + gap),
                  slice_floats = slices == 1 ? 0 : slices * m() * n();
        return std::max(stage_floats, slice_floats) * static_cast<int>(sizeof(float));
    }
    constexpr block_kernel block() const { return {name, m(), n(), blocks_per_sm}; }
};
inline constexpr auto pipelined_kernels = std::to_array<pipelined_kernel>({
    {"pipelined 128x128", 2, 2, 1, 16, 8, 16, 8, 4, 2},
    {"pipelined 64x128", 1, 2, 4, 16, 8, 16, 4, 6, 1},
    {"pipelined 32x64", 1, 1, 8, 8, 8, 32, 4, 4, 1},
    {"pipelined 64x64", 2, 2, 1, 8, 4, 32, 8, 3, 4},
});
/// The same kernels for parts of tiles.
inline constexpr auto split_k_names =
    std::to_array<std::string_view>({"split_k 128x128", "split_k 64x128", "split_k 32x64", "split_k 64x64"});
static_assert(split_k_names.size() == pipelined_kernels.size());
inline constexpr int max_adders = 32;  ///< threads that add up the parts of one place for split_k

/// For a short side of C, or a short k; of C^T if C has few rows. Each lane has rows of its own.
struct thin_kernel {
    std::string_view name;
    int warps_m, warps_n;
    int thread_m, thread_n;

    constexpr int m() const { return warps_m * 32 * thread_m; }
    constexpr int n() const { return warps_n * thread_n; }
    constexpr block_kernel block() const { return {name, m(), n(), 3}; }
};
inline constexpr auto thin_kernels = std::to_array<thin_kernel>({
    {"thin 256x32", 2, 2, 4, 16},
    {"thin 256x16", 4, 1, 2, 16},
    {"thin 256x8", 4, 1, 2, 8},
});

/// For a short k, all of which lies in shared memory. Lanes are neighbours along n, and a thread's columns lie 32 apart. The
/// last is for a C of few rows.
struct stream_kernel {
    std::string_view name;
    int warps_m, warps_n;
    int thread_n;
    int blocks_per_sm;
    static constexpr int thread_m = 16;
    static constexpr int max_k = 64;

    constexpr int m() const { return warps_m * thread_m; }
    constexpr int n() const { return warps_n * 32 * thread_n; }
    /// From row to row along m or n in shared memory. The gaps put neighbours along k, which are written at once, into
    /// different banks.
    constexpr int a_stride() const { return m() + 4; }
    constexpr int b_stride() const { return (warps_n * 32 + 1) * thread_n; }
    /// The bytes of tiles of A and B. The one that moves has `buffers` tiles.
    constexpr int shared_bytes(int k, int buffers, bool goes_across) const {
        const int row = goes_across ? a_stride() + buffers * b_stride() : buffers * a_stride() + b_stride();
        return k * row * static_cast<int>(sizeof(float));
    }
    constexpr int most_shared_bytes() const {
        return std::max(shared_bytes(max_k, 2, false), shared_bytes(max_k, 2, true));
    }
    constexpr block_kernel block() const { return {name, m(), n(), blocks_per_sm}; }
};
inline constexpr auto stream_kernels = std::to_array<stream_kernel>({
    {"stream 128x128", 8, 1, 4, 2},
    {"stream 128x64", 8, 1, 2, 3},
    {"stream 128x32", 8, 1, 1, 4},
    {"stream 32x128", 2, 2, 2, 5},
});
/// Shared memory has room for two of the largest blocks on a multiprocessor of compute capability 9.0.
static_assert(2 * (stream_kernels[0].most_shared_bytes() + 1024) <= 228 * 1024);

inline constexpr std::int64_t max_packed_tiles = std::int64_t{1} << 30;

/// For small products. A warp has a tile, or a slice of one along k. A thread's rows lie in groups of four, and its columns
/// lie 8 apart.
struct packed_kernel {
    std::string_view name;
    int thread_m, thread_n;
    int blocks_per_sm;
    static constexpr int warps = 4;                      ///< of a block
    static constexpr int most_shared_bytes = 48 * 1024;  ///< that any kernel has

    constexpr int m() const { return 4 * thread_m; }
    constexpr int n() const { return 8 * thread_n; }
    /// From row to row along m or n in shared memory. The gaps put neighbours along k, which are written at once, into
    /// different banks.
    constexpr int a_stride() const { return m() + 4; }
    constexpr int b_stride() const { return n() + 4; }
    /// The tiles of a block, where `slices` warps share each.
    constexpr int tiles(int slices) const { return warps / slices; }
    /// Whether the tiles of a batch can be counted. Their number is computed in double, as it may exceed 64 bits.
    constexpr bool has_countable_tiles(std::int64_t rows, std::int64_t cols, std::int64_t batches) const {
        const std::int64_t down = (rows + m() - 1) / m(), across = (cols + n() - 1) / n();
        return static_cast<double>(down) * static_cast<double>(across) * static_cast<double>(batches) <=
               static_cast<double>(max_packed_tiles);
    }
    /// The bytes of one k of all tiles.
    constexpr int row_bytes(int slices) const {
        return tiles(slices) * (a_stride() + b_stride()) * static_cast<int>(sizeof(float));
    }
    /// Along k of a step: all of k if it fits, else an equal part of which two fit, in whole fours.
    constexpr int depth(std::int64_t k, int slices) const {
        const std::int64_t most = most_shared_bytes / row_bytes(slices), half = most / 2 / 4 * 4;
        if (k <= most) return static_cast<int>(k);
        const std::int64_t steps = (k + half - 1) / half;
        return static_cast<int>(((k + steps - 1) / steps + 3) / 4 * 4);
    }
    /// The bytes of the steps, or of the slices' sums, which later use the same memory.
    constexpr int shared_bytes(std::int64_t k, int slices) const {
        const int step = depth(k, slices), stages = k > step ? 2 : 1;
        const int sums = tiles(slices) * (slices - 1) * m() * n() * static_cast<int>(sizeof(float));
        return std::max(stages * step * row_bytes(slices), sums);
    }
};
inline constexpr auto packed_kernels = std::to_array<packed_kernel>({
    {"packed 16x16", 4, 2, 8},
    {"packed 32x32", 8, 4, 6},
});

inline constexpr block_kernel tma_pipelined_kernel{"tma_pipelined", 128, 128, 2};
inline constexpr block_kernel warp_tiled_kernel{"warp_tiled", 128, 128, 2};

/// A warp has warp_m x 32 elements of C.
struct mma_kernel {
    std::string_view name;
    int m, n, k;
    int warp_m;
    int stages;
    int least_blocks;   ///< per multiprocessor, by registers
    int blocks_per_sm;  ///< resident on a multiprocessor

    /// Whether the kernel can also read single elements, not only packets of 16 bytes.
    constexpr bool takes_elements() const { return m + n <= 160; }
    constexpr block_kernel block() const { return {name, m, n, blocks_per_sm}; }
};
inline constexpr auto mma_sync_kernels = std::to_array<mma_kernel>({
    {"mma_sync 128x128", 128, 128, 64, 64, 3, 1, 2},
    {"mma_sync 32x32", 32, 32, 32, 16, 2, 12, 14},
    {"mma_sync 128x32", 128, 32, 64, 32, 2, 3, 3},
    {"mma_sync 32x128", 32, 128, 64, 32, 2, 3, 3},
});
inline constexpr int tf32x3_m = 128, tf32x3_n = 64, tf32x3_k = 16;

// Kernels whose blocks share tiles of C along k. These tiles are 64 high.

struct skinny_kernel {
    std::string_view name;
    int n;
    int k;  ///< along k of a step
    int stages;
};
inline constexpr int skinny_height = 64;
inline constexpr auto skinny_kernels =
    std::to_array<skinny_kernel>({{"skinny 64x16", 16, 64, 9}, {"skinny 64x64", 64, 64, 6}});
inline constexpr auto skinny_tf32_kernels = std::to_array<skinny_kernel>({
    {"tf32 skinny 64x16", 16, 32, 11},
    {"tf32 skinny 64x64", 64, 32, 7},
});
/// The most elements of C's shorter side.
inline constexpr std::int64_t max_skinny_side = skinny_kernels.back().n;
inline constexpr int max_cluster = 8;  ///< blocks; all devices with clusters run it

/// The same for float: `rows` rows of C for each block.
struct skinny_float_kernel {
    std::string_view name;
    int rows;
};
inline constexpr auto skinny_float_kernels =
    std::to_array<skinny_float_kernel>({{"skinny 1x32", 1}, {"skinny 4x32", 4}, {"skinny 16x32", 16}});
inline constexpr std::int64_t max_skinny_float_side = 64;
inline constexpr int skinny_float_shared_bytes = 200 * 1024;  ///< at most, of a block

/// How the rung `vector` reads the matrix of a product with a vector.
enum class vector_kind : std::size_t {
    rows,         ///< rows that lie along k
    short_rows,   ///< the same, vector_short_rows of them a thread
    columns,      ///< columns whose packets begin at the same rows
    odd_columns,  ///< columns, read by elements
    elements      ///< rows of few elements: a lane for each element
};
inline constexpr int vector_threads = 256;
inline constexpr int vector_packets = 4;  ///< of 16 bytes, that a thread reads at once
inline constexpr int vector_short_rows = 2;
inline constexpr int vector_element_rows = 8;  ///< rows of a thread for `elements`
inline constexpr int vector_blocks_per_sm = 3;
inline constexpr int vector_staged = 8192;  ///< elements of x that a block keeps

/// Tickets at the start of a workspace, zero between calls: each sharer of a tile draws one. Sums and copies follow them.
inline constexpr std::int64_t max_tickets = 1024;
inline constexpr std::int64_t workspace_ticket_bytes = max_tickets * std::int64_t{sizeof(unsigned)};

/// The parts of a workspace, which may lie apart. A part that the plan does not need is null.
struct product_workspace {
    unsigned* tickets = nullptr;
    std::byte* scratch = nullptr;
};

}  // namespace heddle::kernels::matmul
