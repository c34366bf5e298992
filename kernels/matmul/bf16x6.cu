// bf16x6: computes a float32 product as six bfloat16 products on the tensor cores.
//
//   x = x0 + x1 + x2: each piece is the remainder, rounded to eight bits. The pieces are exact, as x has 24 bits.
//   a b = a0 b0 + (a0 b1 + a1 b0) + (a0 b2 + a1 b1 + a2 b0), up to an error of less than 2^-22.9 |a b|
//
//   producer     | split B of step 0 | of step 1 | waits until step 0 is multiplied ...
//   consumer 0              | multiply rows  0 ..  63 of step 0, meanwhile split A of step 1 | step 1 | ...
//   consumer 1              | multiply rows 64 .. 127 of step 0, meanwhile split A of step 1 | step 1 | ...
//
// By the datasheet the tensor cores multiply bfloat16 fifteen times as fast as FFMA units multiply float32. A consumer
// splits its rows of A in registers, from which wgmma reads them. Both consumers need B, so a third warpgroup splits it
// into shared memory. In a pair of blocks, each block splits half of B for both. The tensor cores truncate sums instead of
// rounding them. So a0 b0 is summed separately from the small products, and FADD adds both sums to a total. Tiles of a
// partial round are divided along k. Needs compute capability 9.0, and operands that the tensor memory accelerator can
// address, or copies of them. What limits it: splitting and FADD wait for register ports.

#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/ptx/wgmma.cuh"
#include "kernels/matmul/bf16x6.cuh"
#include "kernels/matmul/launch.hpp"
#include "kernels/matmul/warpgroup.cuh"

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

using namespace bf16x6;

template <bool a_k_major, bool b_k_major, int cluster>
struct bf16x6_kernel : producer<a_k_major, b_k_major, cluster> {
    using block = producer<a_k_major, b_k_major, cluster>;
    using block::all, block::shared, block::p, block::thread, block::lane, block::worker, block::rank;
    using block::info_of, block::row_of, block::arrive_by_warp;
    using typename block::a_tile;
    using typename block::piece_tile;

    /// Releases a stage, to which the other block's copies write too. Here every lane arrives, after it has read the step's
    /// info. That is as fast as one arrival a warp, and racecheck can follow it.
    __device__ void release_pieces(int stage) const {
        ptx::sync_warp();
        ptx::arrive(&shared.pieces_empty[stage]);
        if (cluster > 1 && lane == 0) ptx::arrive_at_block(&shared.pieces_empty[stage], rank ^ 1);
    }

    /// The first of a thread's rows among its consumer's; the other is eight below. The rows of wgmma are A's in another order,
    /// in which the rows that half a warp reads at once lie in different banks.
    __device__ int row_of_thread(int consumer) const {
        const int row = lane / 4;
        return consumer * warpgroup_m + thread / warp_size * 16 + row % 4 * 2 + row / 4;
    }

    /// Splits a thread's elements of A for one instruction into pieces (wgmma.cuh).
    __device__ void split_a(const unsigned char* a, const typename a_tile::pairs& thread_pairs,
                            int instruction, unsigned (&to)[pieces][4]) const {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            unsigned pair[pieces];
            split(thread_pairs.read(a, i % 2, 2 * instruction + i / 2), pair);
#pragma unroll
            for (int piece = 0; piece < pieces; ++piece) to[piece][i] = pair[piece];
        }
    }

    __device__ frame::sum_exchange<tile::n> exchange(int consumer) const {
        return {all.schedule,
                all.sums,
                worker,
                cluster * tile::consumers,
                rank * tile::consumers + consumer,
                2 + consumer,
                shared.flags[consumer]};
    }

    /// A of the next step is split while the tensor cores multiply this step. Its pieces overwrite those of finished products.
    __device__ void consume() const {
        const int consumer = static_cast<int>(threadIdx.x) / warpgroup_threads - 1;
        const int row = row_of_thread(consumer);
        const typename a_tile::pairs thread_pairs(row, lane % 4 * 2);
        unsigned a[tile::instructions][pieces][4];
        const auto split_for = [&](int step, int i) {
            const int stage = stage_of(step);
            if (i == 0) ptx::wait(&shared.a_full[stage], parity_of(step));
            split_a(shared.a[stage], thread_pairs, i, a[i]);
            if (i + 1 == tile::instructions) arrive_by_warp(&shared.a_empty[stage]);
        };
#pragma unroll
        for (int i = 0; i < tile::instructions; ++i) split_for(0, i);

        float total[tile::sums] = {};
        for (int step = 0, more = true; more; ++step) {
            const int stage = stage_of(step);
            float sums[tile::sums];
            std::uint64_t b[pieces];
#pragma unroll
            for (int piece = 0; piece < pieces; ++piece)
                b[piece] = piece_tile::descriptor(shared.b_pieces[stage][piece], 0);
            const auto multiply = [&](int a_piece, int b_piece, int i, bool accumulate) {
                ptx::wgmma_of_registers<b_k_major>(sums, a[i][a_piece], b[b_piece] + i * piece_tile::advance,
                                                   accumulate);
            };
            const auto add = [&] {
                ptx::wgmma_wait<0>();
                ptx::wgmma_results(sums);
#pragma unroll
                for (int i = 0; i < tile::sums; ++i) total[i] += sums[i];
            };

            ptx::wait(&shared.pieces_full[stage], parity_of(step));
            const bool ends_tile = info_of(step).is_last_of_tile;
            more = info_of(step + 1).exists;
            if (row_of(info_of(step)) + consumer * warpgroup_m >= p.m) {  // no rows of C
                release_pieces(stage);
                if (!more) break;
#pragma unroll
                for (int i = 0; i < tile::instructions; ++i) split_for(step + 1, i);
                continue;
            }
            ptx::wgmma_fence();
#pragma unroll
            for (int i = 0; i < tile::instructions; ++i) multiply(0, 0, i, i > 0);
            ptx::wgmma_commit();
            add();

            ptx::wgmma_fence();
#pragma unroll
            for (int i = 0; i < tile::instructions; ++i) {
                multiply(2, 0, i, i > 0);
                multiply(1, 1, i, true);
                multiply(0, 2, i, true);
                multiply(1, 0, i, true);
                multiply(0, 1, i, true);
                ptx::wgmma_commit();
            }
            const bool finishes = ends_tile && !p.epilogue.is_identity;
            const bool splits_now = more && !finishes;  // an epilogue needs the registers
            if (splits_now) {
                ptx::wgmma_wait<tile::instructions - 1>();
                split_for(step + 1, 0);
                ptx::wgmma_wait<tile::instructions - 2>();
                split_for(step + 1, 1);
                ptx::wgmma_wait<tile::instructions - 3>();
                split_for(step + 1, 2);
            }
            ptx::wgmma_wait<0>();
            const step_info at = info_of(step);
            release_pieces(stage);
            if (splits_now) split_for(step + 1, 3);
            add();
            if (!ends_tile) continue;
            if (at.shared_tile < 0 || exchange(consumer).combine(at.shared_tile, total))
                store_or_finish<tile::n>(result_of(p, at.batch), row_of(at) + row,
                                         at.col * tile::n + lane % 4 * 2, total);
#pragma unroll
            for (float& sum : total) sum = 0;
            if (more && finishes)
#pragma unroll
                for (int i = 0; i < tile::instructions; ++i) split_for(step + 1, i);
        }
    }
};

}  // namespace

void launch_bf16x6(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    const matrix_view<const float>&a = arguments.a, &b = arguments.b;
    const batch_strides& batch = arguments.batch;
    const frame::tile_schedule schedule = schedule_of(plan);
    frame::with_row<bf16x6_kernels>(plan.kernel, [&]<std::size_t row>() {
        with_orders(has_tensor_rows(a), !has_tensor_rows(b), [&]<bool a_k_major, bool b_k_major>() {
            using kernel = bf16x6_kernel<a_k_major, b_k_major, bf16x6_kernels[row].tile.blocks>;
            tensor_product<float> p = make_product(arguments);
            p.a = make_tensor_map(a_k_major ? a : transposed(a), kernel::a_tile::rows, kernel::a_tile::row,
                                  batch.count, batch.a);
            p.b = make_tensor_map(b_k_major ? transposed(b) : b, kernel::b_tile::rows, kernel::b_tile::row,
                                  batch.count, batch.b);
            frame::launch<kernel>({p, schedule, shared_sums_in(plan, arguments.workspace)}, schedule.workers,
                                  stream);
        });
    });
}

}  // namespace heddle::kernels::matmul
