// tma_pipelined: the arithmetic of pipelined on boxes that the tensor memory accelerator loads.
//
//   a ring of three stages:  | empty -- load --> full -- transpose --> transposed -- multiply --> empty |
//
//   four warps load and transpose   each a box of 32 x 32 of A and one of B, with swizzled rows of 128 bytes
//   four warps multiply             each 64 x 64, with 4 x 8 lanes of 16 x 8 elements of C
//
// In pipelined every thread computes addresses and starts copies, and one barrier keeps all warps together. Here one
// instruction copies a box, and a ring's barriers replace the block's. Fragments of operands along k would cause conflicts
// of register banks (docs/notebook/matmul.md). So the warp that loads such a box transposes it in place, 4 x 4 elements a
// thread at a time. Needs compute capability 9.0. Needs rows or columns of A and of B that are contiguous and 16-byte
// aligned, or a workspace for such copies. With a workspace, tiles of a partial round are divided along k, as in split_k.
// What limits it: reads of fragments beside FFMAs, and the single tile size.

#include "kernels/device/launch.hpp"
#include "kernels/device/pipeline.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/fragment.cuh"
#include "kernels/matmul/tile_loader.cuh"
#include "kernels/matmul/tile_split.cuh"
#include "kernels/matmul/warpgroup.cuh"

#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

struct tile {
    static constexpr int lanes_m = 4;
    static constexpr int lanes_n = 8;
    static constexpr int thread_m = 16;
    static constexpr int thread_n = 8;
    static constexpr int warp_m = lanes_m * thread_m;
    static constexpr int warp_n = lanes_n * thread_n;
    static constexpr int warps_n = 2;
    static constexpr int warps = warpgroup_threads / 32;
    static constexpr int m = warps / warps_n * warp_m;
    static constexpr int n = warps_n * warp_n;
    static constexpr int k = swizzle_bytes / static_cast<int>(sizeof(float));
    static constexpr int unrolled = 8;          ///< along k; more would not fit the instruction cache
    static constexpr int turns = k / unrolled;  ///< of the loop for one stage
    static constexpr int stages = 3;
    static constexpr int blocks_per_sm = 2;
    static constexpr int threads = 2 * warpgroup_threads;
    static constexpr int producer_registers = 48;
    static constexpr int consumer_registers = 208;
    static_assert(m == n, "A's and B's tiles are loaded by one function");
    static_assert(unrolled % 2 == 0, "two fragments take turns");
};

constexpr int box_side = tile::k;
constexpr int box_bytes = box_side * swizzle_bytes;
constexpr int tile_bytes = tile::m / box_side * box_bytes;
static_assert(tile::warps * box_side == tile::m, "a warp loads and transposes a box");

/// A, or B transposed. Its rows lie along m (or n).
struct operand {
    CUtensorMap map;
    bool is_k_major;
};

struct shared_storage {
    unsigned char a[tile::stages][tile_bytes];
    unsigned char b[tile::stages][tile_bytes];
    stage_barriers<tile::stages> barriers;
    ptx::mbarrier transposed[tile::stages];
};

/// One thread starts the load of a box.
__device__ void load(unsigned char* box, const operand& from, int position, int k, ptx::mbarrier* full) {
    ptx::load_box(box, from.map, from.is_k_major ? k : position, from.is_k_major ? position : k, 0, full);
}

/// A warp transposes a box in place, and a thread takes 4 x 4 elements at a time. The squares (i, i ^ s) of one s lie in
/// different banks, and transposition exchanges them among themselves.
__device__ void transpose(unsigned char* box) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    // The offset of the first of four rows; the others lie at constant distances.
    const auto offset_of = [](int four_rows, int column) {
        return four_rows * 4 * swizzle_bytes + (column ^ four_rows % 2 * 4) * 16;
    };
#pragma unroll 1
    for (int s = lane / 8; s < 8; s += 4) {
        const int i = lane % 8, j = i ^ s;
        const int from = offset_of(i, j), to = offset_of(j, i);
        packet rows[4];
#pragma unroll
        for (int e = 0; e < 4; ++e)
            rows[e] = *reinterpret_cast<const packet*>(box + (from ^ e * 16) + e * swizzle_bytes);
        ptx::sync_warp();  // all have read
#pragma unroll
        for (int e = 0; e < 4; ++e)
            *reinterpret_cast<packet*>(box + (to ^ e * 16) + e * swizzle_bytes) = {rows[0][e], rows[1][e],
                                                                                   rows[2][e], rows[3][e]};
    }
}

/// Each of four warps loads and transposes its boxes of A and of B. Loads are one step ahead of the transposition.
__device__ void produce(const operand& a, const operand& b, shared_storage& shared, int row, int col,
                        int first_step, int steps) {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int box = warp * box_bytes;
    row += warp * box_side;
    col += warp * box_side;
    stage_position<tile::stages> to_load, to_transpose;
    const auto load_step = [&](int step) {
        if (lane == 0) {
            ptx::mbarrier* const full = &shared.barriers.full[to_load.stage];
            ptx::wait(&shared.barriers.empty[to_load.stage], to_load.parity ^ 1);
            ptx::arrive_and_expect(full, 2 * box_bytes);
            const int k = (first_step + step) * tile::k;
            load(shared.a[to_load.stage] + box, a, row, k, full);
            load(shared.b[to_load.stage] + box, b, col, k, full);
        }
        ptx::sync_warp();
        to_load.advance();
    };
    load_step(0);
    for (int step = 0; step < steps; ++step, to_transpose.advance()) {
        if (step + 1 < steps) load_step(step + 1);
        ptx::wait(&shared.barriers.full[to_transpose.stage], to_transpose.parity);
        if (a.is_k_major) transpose(shared.a[to_transpose.stage] + box);
        if (b.is_k_major) transpose(shared.b[to_transpose.stage] + box);
        ptx::fence_before_copies();
        ptx::arrive(&shared.transposed[to_transpose.stage]);
    }
}

/// Reads a thread's elements of A or B for one k: `count` of the `lanes` x `count` of its warp, from `first` on. One part
/// of the swizzle is known from the start, and the other is a constant of the unrolled loop.
template <int lanes, int count>
class fragment_reader {
  public:
    __device__ fragment_reader(int first, int lane) : offset_(first / box_side * box_bytes + lane * 16) {}

    /// `rows` points to the rows of eight values of k.
    __device__ void read(float (&to)[count], const unsigned char* rows, int k) const {
#pragma unroll
        for (int i = 0; i < count; i += 4) {
            const int packets = lanes * (i / 4), swizzle = k ^ packets % 8;
            const packet read = *reinterpret_cast<const packet*>(rows + (offset_ ^ swizzle * 16) +
                                                                 k * swizzle_bytes + packets / 8 * box_bytes);
#pragma unroll
            for (int e = 0; e < 4; ++e) to[i + e] = read[e];
        }
    }

  private:
    int offset_;
};

/// The work of the multiplying warpgroup. `left` is where it leaves sums of a part of a tile; null for whole tiles.
__device__ void consume(const arguments& p, bool stores_packets, shared_storage& shared, int row, int col,
                        int steps, float* left) {
    const int warp = static_cast<int>(threadIdx.x) / 32 % tile::warps,
              lane = static_cast<int>(threadIdx.x) % 32;
    const int lane_m = lane_of_four(lane), lane_n = lane_of_eight(lane);
    const int warp_row = warp / tile::warps_n * tile::warp_m, warp_col = warp % tile::warps_n * tile::warp_n;
    const fragment_reader<tile::lanes_m, tile::thread_m> a_reader(warp_row, lane_m);
    const fragment_reader<tile::lanes_n, tile::thread_n> b_reader(warp_col, lane_n);

    float sums[tile::thread_m][tile::thread_n] = {};
    float as[2][tile::thread_m], bs[2][tile::thread_n];
    const unsigned char *a_now = shared.a[0], *b_now = shared.b[0];
    stage_position<tile::stages> at;
    const auto wait_for_stage = [&] {
        ptx::wait(&shared.barriers.full[at.stage], at.parity);
        ptx::wait(&shared.transposed[at.stage], at.parity);
    };
    const auto read = [&](int k) {
        a_reader.read(as[k % 2], a_now, k);
        b_reader.read(bs[k % 2], b_now, k);
    };
    wait_for_stage();
    read(0);
    int turn = 0;
    const unsigned all_turns = static_cast<unsigned>(steps) * tile::turns;
#pragma unroll 1
    for (unsigned done = 1; done <= all_turns; ++done) {
#pragma unroll
        for (int k = 0; k < tile::unrolled; ++k) {
            if (k + 1 == tile::unrolled) {
                a_now += tile::unrolled * swizzle_bytes;
                b_now += tile::unrolled * swizzle_bytes;
                if (++turn == tile::turns) {
                    turn = 0;
                    ptx::arrive(&shared.barriers.empty[at.stage]);
                    at.advance();
                    a_now = shared.a[at.stage];
                    b_now = shared.b[at.stage];
                    if (done < all_turns) wait_for_stage();
                }
            }
            read((k + 1) % tile::unrolled);  // after the last step it is not needed
            multiply(sums, as[k % 2], bs[k % 2]);
        }
    }

    // store
    const auto down_of = [&](int i) { return warp_row + position<tile::lanes_m>(lane_m, i); };
    const auto across_of = [&](int j) { return warp_col + position<tile::lanes_n>(lane_n, j); };
    if (left == nullptr)
        return store_fragment(
            p, sums, [&](int i) { return row + down_of(i); }, [&](int j) { return col + across_of(j); },
            stores_packets);
        // That sums may be stored `swapped` also decides their registers before: even columns get odd ones, unlike B's. Without
        // it, registers of many FFMAs would conflict (docs/notebook/matmul.md).
#pragma unroll
    for (int i = 0; i < tile::thread_m; ++i)
#pragma unroll
        for (int j = 0; j < tile::thread_n; j += 4)
            *reinterpret_cast<packet*>(left + down_of(i) * tile::n + across_of(j)) =
                swapped({sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]});
}

__global__ void __launch_bounds__(tile::threads, tile::blocks_per_sm)
    tma_pipelined(const __grid_constant__ operand a, const __grid_constant__ operand b,
                  const __grid_constant__ arguments p, bool stores_packets,
                  const __grid_constant__ tile_split tiles) {
    extern __shared__ __align__(1024) unsigned char storage[];
    auto& shared = *reinterpret_cast<shared_storage*>(storage);
    if (threadIdx.x == 0) {
        ptx::prefetch(a.map);
        ptx::prefetch(b.map);
        for (ptx::mbarrier& barrier : shared.transposed) ptx::init(&barrier, warpgroup_threads);
        shared.barriers.init(tile::warps, warpgroup_threads);
    }
    ptx::sync_threads();
    ptx::let_next_grid_begin();
    ptx::wait_for_grids_before();

    // locate
    const tile_part part(tiles, static_cast<int>(blockIdx.x),
                         static_cast<int>((p.a.cols + tile::k - 1) / tile::k));
    const int row = static_cast<int>(part.at.row) * tile::m, col = static_cast<int>(part.at.col) * tile::n;

    if (threadIdx.x < warpgroup_threads) {
        ptx::release_registers<tile::producer_registers>();
        produce(a, b, shared, row, col, part.first_step, part.steps);
    } else {
        ptx::claim_registers<tile::consumer_registers>();
        float* const left =
            part.is_part ? tiles.sums + std::int64_t{part.index} * (tile::m * tile::n) : nullptr;
        consume(p, stores_packets, shared, row, col, part.steps, left);
    }
}

}  // namespace

void launch_tma_pipelined(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    const tile_split tiles = split_of(plan, arguments.workspace);
    const auto operand_of = [](const matrix_view<const float>& view) {
        const bool is_k_major = has_tensor_rows(view);
        return operand{make_tensor_map(is_k_major ? view : transposed(view), box_side, box_side), is_k_major};
    };
    launch({.blocks = {plan.whole + plan.shared() * plan.parts},
            .threads = {tile::threads},
            .shared_bytes = sizeof(shared_storage),
            .shared_limit = sizeof(shared_storage),
            .stream = stream,
            .begins_early = true},
           tma_pipelined, operand_of(arguments.a), operand_of(transposed(arguments.b)), arguments,
           has_packets(arguments.c), tiles);
    if (plan.parts > 1) launch_add_up(plan, arguments, tma_pipelined_kernel, stream);
}

}  // namespace heddle::kernels::matmul
