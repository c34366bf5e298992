#pragma once

#include "kernels/device/ptx/bfloat16.cuh"
#include "kernels/device/ptx/bulk_copy.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/warp_reduce.cuh"
#include "kernels/frame/sum_exchange.cuh"
#include "kernels/frame/tile_loop.cuh"
#include "kernels/frame/work.cuh"
#include "kernels/matmul/kernels.hpp"
#include "kernels/matmul/warpgroup.cuh"
#include <heddle/types.hpp>

/// The producer of bf16x6, and the data that it shares with the consumers: pieces of elements, stages, and the info of each
/// step.
namespace heddle::kernels::matmul::bf16x6 {

/// A tile of float32 as the tensor memory accelerator loads it: `extent` along m or n by `depth` along k. It has boxes of
/// 32 elements to a row of 128 swizzled bytes. If k-major, rows run along k.
template <int extent, int depth, bool k_major>
struct float_tile {
    static constexpr int row = swizzle_bytes / static_cast<int>(sizeof(float));
    static constexpr int rows = k_major ? extent : depth;
    static constexpr int boxes = extent * depth / (rows * row);
    static constexpr int box_bytes = rows * swizzle_bytes;
    static constexpr int bytes = boxes * box_bytes;

    /// One thread starts the loads.
    static __device__ void load_boxes(unsigned char* to, const CUtensorMap& from, int position, int k,
                                      int batch, ptx::mbarrier* full) {
        ptx::arrive_and_expect(full, bytes);
        for (int box = 0; box < boxes; ++box) {
            const int x = (k_major ? k : position) + box * row;
            ptx::load_box(to + box * box_bytes, from, x, k_major ? position : k, batch, full);
        }
    }

    /// The address of sixteen bytes of a row. `packet` counts through the boxes.
    template <class Byte>
    static __device__ Byte* packet(Byte* begin, int r, int packet) {
        return begin + packet / 8 * box_bytes + r * swizzle_bytes + (packet % 8 ^ r % 8) * 16;
    }

    /// Reads a thread's pairs of neighbours along k. One half of the swizzle is known from the start, and the other is a
    /// constant of the unrolled loop.
    class pairs {
      public:
        /// k is even and less than 8; bit 3 of `position` is 0.
        __device__ pairs(int position, int k)
            : offset_(k_major ? position * swizzle_bytes + (k / 4 ^ position % 8) * 16 + k % 4 * 4
                              : position / row * box_bytes + k * swizzle_bytes +
                                    (position % row / 4 ^ k) * 16 + position % 4 * 4) {}

        /// The element at (position + 8 down, k + 8 along) and the next one along k; down < 2.
        __device__ float2 read(const unsigned char* tile, int down, int along) const {
            constexpr int eight_rows = 8 * swizzle_bytes, eight_elements = 32;
            if constexpr (k_major) {
                const int at =
                    (offset_ ^ along % 4 * eight_elements) + along / 4 * box_bytes + down * eight_rows;
                return *reinterpret_cast<const float2*>(tile + at);
            } else {
                const int at = (offset_ ^ down * eight_elements) + along * eight_rows;
                const int next =
                    (offset_ ^ (down * eight_elements + 16)) + along * eight_rows + swizzle_bytes;
                return {*reinterpret_cast<const float*>(tile + at),
                        *reinterpret_cast<const float*>(tile + next)};
            }
        }

      private:
        int offset_;
    };
};

constexpr int pieces = 3;  ///< of each element

/// Splits two elements. Of an infinite element two pieces are finite, and the last one is infinite.
__device__ inline void split(float2 x, unsigned (&to)[pieces]) {
    const auto subtract = [&](unsigned piece) {
        x.x -= __uint_as_float(piece << 16);
        x.y -= __uint_as_float(piece & 0xffff0000);
    };
    to[0] = ptx::to_finite_bfloat16(x);
    subtract(to[0]);
    to[1] = ptx::to_finite_bfloat16(x);
    subtract(to[1]);
    to[2] = ptx::to_bfloat16(x);
}

struct tile {
    static constexpr int m = bf16x6_kernels[0].tile.m;
    static constexpr int n = bf16x6_kernels[0].tile.n;
    static constexpr int k = 64;
    static constexpr int consumers = m / warpgroup_m;
    static constexpr int sums = n / 2;  ///< of a thread
    static constexpr int instruction_k = 16;
    static constexpr int instructions = k / instruction_k;
};

constexpr int stages = 2;
constexpr int steps_known = 2 * stages;  ///< those being multiplied, and those being loaded

/// The info of a step, written by the producer. The consumers have no registers to go through the tiles themselves.
struct step_info {
    int row;  ///< of the tile, in tiles
    int col;
    int k;  ///< in steps
    int batch;
    int shared_tile;  ///< -1 if no other worker has a part of the tile
    bool is_last_of_tile;
    bool exists;  ///< if not, the previous step was the last
};

__device__ inline int stage_of(int step) {
    return step % stages;
}
/// The parity of the phase that ends when the data of `step` has come. A stage is free once the phase before has ended.
__device__ inline unsigned parity_of(int step) {
    return static_cast<unsigned>(step / stages % 2);
}

/// Goes through the steps of all tiles of a worker.
class step_walker {
  public:
    __device__ step_walker(const frame::tile_schedule& schedule, int worker) : tiles_(schedule, worker) {
        next_tile();
    }

    __device__ step_info step() const {
        return {work_.row, work_.col, k_step_, work_.batch, work_.tile, k_step_ + 1 == work_.last, exists_};
    }
    __device__ void advance() {
        if (++k_step_ == work_.last) next_tile();
    }

  private:
    __device__ void next_tile() {
        exists_ = tiles_.next(work_);
        k_step_ = work_.first;
    }

    frame::tile_worker<> tiles_;
    frame::tile_work work_{};
    int k_step_ = 0;
    bool exists_ = true;
};

/// The producer is a warpgroup that loads A and B, and splits B for the consumers.
template <bool a_k_major, bool b_k_major, int cluster_>
struct producer {
    using Work = frame::one_product<tensor_product<float>, true>;
    static constexpr int cluster = cluster_;
    static constexpr int threads = (1 + tile::consumers) * warpgroup_threads;
    static constexpr int producer_threads = warpgroup_threads;
    static constexpr int producer_registers = 72;
    static constexpr int consumer_registers = 216;

    /// Each block splits its share of B for all blocks of its cluster.
    static_assert(cluster <= 2, "a block has one other to send to");
    static constexpr int share_n = tile::n / cluster;
    using a_tile = float_tile<tile::m, tile::k, a_k_major>;
    using b_tile = float_tile<share_n, tile::k, b_k_major>;
    using piece_tile = warpgroup_tile<bfloat16, tile::n, b_k_major>;
    using piece_share = warpgroup_tile<bfloat16, share_n, b_k_major>;
    struct shared_storage {
        unsigned char a[stages][a_tile::bytes];
        unsigned char b[stages][b_tile::bytes];
        unsigned char b_pieces[stages][pieces][piece_tile::bytes];
        ptx::mbarrier a_full[stages];
        ptx::mbarrier a_empty[stages];
        ptx::mbarrier b_full[stages];
        ptx::mbarrier pieces_full[stages];
        ptx::mbarrier pieces_empty[stages];
        step_info steps[steps_known];
        bool flags[tile::consumers];
    };

    const Work& all;
    shared_storage& shared;
    const tensor_product<float>& p = all.product;
    int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
    int lane = static_cast<int>(threadIdx.x) % warp_size;
    int worker = ptx::block_index() / cluster;
    int rank = cluster == 1 ? 0 : static_cast<int>(ptx::cluster_rank());

    static __device__ void prefetch(const Work& all) {
        ptx::prefetch(all.product.a);
        ptx::prefetch(all.product.b);
    }

    static __device__ void init(shared_storage& shared) {
        constexpr int publishers = cluster == 1 ? producer_threads / warp_size : 1;
        constexpr int consumers = tile::consumers * warpgroup_threads;
        constexpr int consumer_warps = consumers / warp_size;
        for (int stage = 0; stage < stages; ++stage) {
            ptx::init(&shared.a_full[stage], 1);
            ptx::init(&shared.a_empty[stage], consumer_warps);
            ptx::init(&shared.b_full[stage], 1);
            ptx::init(&shared.pieces_full[stage], publishers);
            ptx::init(&shared.pieces_empty[stage], consumers + consumer_warps * (cluster - 1));
        }
        ptx::fence_mbarrier_init();
    }

    __device__ step_info& info_of(int step) const { return shared.steps[step % steps_known]; }
    __device__ int row_of(const step_info& at) const { return (at.row * cluster + rank) * tile::m; }

    __device__ void load_a(int step) const {
        const step_info at = info_of(step);
        if (!at.exists || threadIdx.x != 0) return;
        const int stage = stage_of(step);
        ptx::wait(&shared.a_empty[stage], parity_of(step) ^ 1);
        a_tile::load_boxes(shared.a[stage], p.a, row_of(at), at.k * tile::k, at.batch * p.a_batch_step,
                           &shared.a_full[stage]);
    }

    /// Loads into a stage whose previous data has been split.
    __device__ void load_b(int step) const {
        const step_info at = info_of(step);
        if (!at.exists || threadIdx.x != 0) return;
        const int stage = stage_of(step);
        b_tile::load_boxes(shared.b[stage], p.b, at.col * tile::n + rank * share_n, at.k * tile::k,
                           at.batch * p.b_batch_step, &shared.b_full[stage]);
    }

    /// Splits eight elements at a time. Neighbouring lanes take neighbouring rows, whose packets are in different banks.
    __device__ void split_b(int stage) const {
        constexpr int rows = b_tile::rows, elements = 8, packets = swizzle_bytes / 16;
        constexpr int across = producer_threads / rows;
        const int r = static_cast<int>(threadIdx.x) % rows, first = static_cast<int>(threadIdx.x) / rows;
#pragma unroll
        for (int i = 0; i < share_n * tile::k / elements / producer_threads; ++i) {
            const int at = first + i * across;  // in the row, counted through the boxes
            unsigned pairs[elements / 2][pieces];
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const float4 x =
                    *reinterpret_cast<const float4*>(b_tile::packet(shared.b[stage], r, 2 * at + half));
                split({x.x, x.y}, pairs[2 * half]);
                split({x.z, x.w}, pairs[2 * half + 1]);
            }
            const int place = rank * piece_share::bytes + at / packets * piece_share::box_bytes +
                              r * swizzle_bytes + (at % packets ^ r % 8) * 16;
#pragma unroll
            for (int piece = 0; piece < pieces; ++piece)
                *reinterpret_cast<uint4*>(shared.b_pieces[stage][piece] + place) =
                    make_uint4(pairs[0][piece], pairs[1][piece], pairs[2][piece], pairs[3][piece]);
        }
    }

    __device__ void arrive_by_warp(ptx::mbarrier* barrier) const {
        ptx::sync_warp();
        if (lane == 0) ptx::arrive(barrier);
    }

    /// Publishes this block's pieces of B to its own consumers and, by a copy, to those of the cluster's other block.
    __device__ void publish_pieces(int stage) const {
        const auto ordered = ptx::fence_before_copies();
        if constexpr (cluster == 1) arrive_by_warp(&shared.pieces_full[stage]);
        ptx::sync_threads(1, producer_threads);
        if (cluster == 1 || threadIdx.x != 0) return;
        ptx::arrive_and_expect(&shared.pieces_full[stage], pieces * piece_share::bytes);
        for (int piece = 0; piece < pieces; ++piece)
            ptx::bulk_copy_to_block(shared.b_pieces[stage][piece] + rank * piece_share::bytes,
                                    piece_share::bytes, &shared.pieces_full[stage], rank ^ 1, ordered);
    }

    /// B is loaded two steps before it is split, but A only one: with two, splitting would wait for consumers that lag behind.
    __device__ void produce() const {
        step_walker ahead(all.schedule, worker);
        const auto announce = [&](int step) {
            if (threadIdx.x == 0) info_of(step) = ahead.step();
            ahead.advance();
        };
        for (int step = 0; step < stages; ++step) announce(step);
        ptx::sync_threads(1, producer_threads);
        load_a(0);
        for (int step = 0; step < stages; ++step) load_b(step);
        int step = 0;
        for (; info_of(step).exists; ++step) {
            const int stage = stage_of(step);
            ptx::wait(&shared.b_full[stage], parity_of(step));
            ptx::wait(&shared.pieces_empty[stage], parity_of(step) ^ 1);
            announce(step + stages);
            split_b(stage);
            publish_pieces(stage);
            load_b(step + stages);
            load_a(step + 1);
        }
        if constexpr (cluster > 1)  // no block can arrive at one that ended
            for (int stage = 0; stage < stages; ++stage, ++step)
                ptx::wait(&shared.pieces_empty[stage_of(step)], parity_of(step) ^ 1);
    }
};

}  // namespace heddle::kernels::matmul::bf16x6
