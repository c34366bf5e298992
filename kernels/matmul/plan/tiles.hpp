#pragma once

#include <heddle/matmul.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

/// The tiles of C that kernels are built for. What each costs stands in tuning/.
namespace heddle::kernels::matmul {

// These kernels' blocks go from tile to tile.

inline constexpr int step_k = 64;

inline constexpr std::array persistent_tiles = {matmul_tile{128, 256}, matmul_tile{128, 128},
                                                matmul_tile{64, 128}, matmul_tile{64, 64}};
inline constexpr std::array multicast_tiles = {matmul_tile{128, 256, 2}, matmul_tile{128, 192, 2},
                                               matmul_tile{128, 160, 2}, matmul_tile{64, 128, 2}};
inline constexpr std::array fused_tiles = {matmul_tile{128, 256}, matmul_tile{128, 128},
                                           matmul_tile{64, 128},  matmul_tile{256, 128},
                                           matmul_tile{256, 64},  matmul_tile{128, 64}};
inline constexpr std::size_t fused_streams = 2;  ///< the tile that workers may share
/// Two of persistent_tiles: the places there.
inline constexpr std::array<std::size_t, 2> grouped_tiles = {0, 2};
/// Where A alone lies along k, they are tiles of C^T.
inline constexpr std::array tf32_tiles = {matmul_tile{128, 256},   matmul_tile{128, 192},
                                          matmul_tile{128, 128},   matmul_tile{64, 128},
                                          matmul_tile{64, 128, 2}, matmul_tile{64, 64}};
inline constexpr int tf32_k = 32;             ///< of a step
inline constexpr int tf32_with_function = 2;  ///< the tile that takes a user's function
inline constexpr int tf32_narrow = 64;  ///< columns: where no more are left of C, no more are multiplied
inline constexpr std::array bf16x6_tiles = {matmul_tile{128, 128}, matmul_tile{128, 128, 2},
                                            matmul_tile{128, 128}};
/// Its kernels: boxes that the tensor memory accelerator loads, by one block or a pair; elements, loaded one by one.
inline constexpr std::size_t bf16x6_boxes = 0, bf16x6_pairs = 1, bf16x6_elements = 2;
inline constexpr matmul_tile fp16x3_tile{128, 192};

/// A tile of the kernels that multiply by FFMA, and of mma_sync, one to a block.
struct block_tile : matmul_tile {
    int blocks_per_sm;
    int shared_bytes = 0;  ///< of a block, beyond what every device has
};
inline constexpr std::array pipelined_tiles = {
    block_tile{{128, 128}, 2, 66 << 10}, block_tile{{64, 128}, 1, 128 << 10},
    block_tile{{32, 64}, 1, 64 << 10}, block_tile{{64, 64}, 4, 51 << 10}};
/// Where C's shorter side, or k, is short; of C^T where C is low. Three stages of the largest take the shared memory.
inline constexpr std::array thin_tiles = {block_tile{{128, 64}, 3}, block_tile{{256, 32}, 3},
                                          block_tile{{256, 16}, 3}, block_tile{{256, 8}, 3}};
inline constexpr int max_adders = 32;  ///< threads that add up a place of split_k's parts
inline constexpr block_tile tma_pipelined_tile{{128, 128}, 2};
inline constexpr block_tile warp_tiled_tile{{128, 128}, 2};
inline constexpr std::array mma_sync_tiles = {block_tile{{128, 128}, 2}, block_tile{{32, 32}, 14},
                                              block_tile{{128, 32}, 3}, block_tile{{32, 128}, 3}};
/// Whether a tile of mma_sync also reads element by element, not in packets of 16 bytes alone.
constexpr bool takes_elements(const matmul_tile& tile) {
    return tile.m + tile.n <= 160;
}
inline constexpr int tf32x3_m = 128, tf32x3_n = 64, tf32x3_k = 16;

/// A tile of the kernels whose blocks share tiles of C along k: 64 high.
struct skinny_shape {
    int n;
    int k;  ///< of a step
};
inline constexpr int skinny_height = 64;
inline constexpr std::array skinny_tiles = {skinny_shape{16, 64}, skinny_shape{64, 64}};
inline constexpr std::array skinny_tf32_tiles = {skinny_shape{16, 32}, skinny_shape{32, 32},
                                                 skinny_shape{64, 32}};
/// The longest that C's shorter side may be.
inline constexpr std::int64_t max_skinny_side = skinny_tiles.back().n;
inline constexpr int max_cluster = 8;  ///< blocks, on any device that has clusters

/// The same of float: rows of C to a block.
inline constexpr std::array skinny_float_rows = {1, 4, 16};
inline constexpr std::int64_t max_skinny_float_side = 64;
inline constexpr int skinny_float_shared_bytes = 200 * 1024;  ///< that a block may take

/// How the rung `vector` takes the matrix of a product with a vector.
enum class vector_kind : std::size_t {
    rows,         ///< that lie along k
    short_rows,   ///< vector_short_rows a thread
    columns,      ///< whose packets begin at the same rows
    odd_columns,  ///< element by element
    elements      ///< rows that a few lanes have, an element each
};
inline constexpr int vector_threads = 256;
inline constexpr int vector_packets = 4;  ///< of 16 bytes, that a thread reads at once
inline constexpr int vector_short_rows = 2;
inline constexpr int vector_element_rows = 8;  ///< that a thread has of `elements`
inline constexpr int vector_blocks_per_sm = 3;
inline constexpr int vector_staged = 8192;  ///< elements of x that a block keeps

/// What a workspace begins with, zero between calls: those who share a tile draw one. Sums and copies come behind them.
inline constexpr std::int64_t max_tickets = 1024;
inline constexpr std::int64_t workspace_ticket_bytes = max_tickets * std::int64_t{sizeof(unsigned)};

/// A workspace's parts, which may lie apart; each is null where the plan needs none.
struct product_workspace {
    unsigned* tickets = nullptr;
    std::byte* scratch = nullptr;
};

}  // namespace heddle::kernels::matmul
