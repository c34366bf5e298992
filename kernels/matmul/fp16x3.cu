// fp16x3: computes a float32 product as three half products on the tensor cores, accurate relative to rows and columns.
//
//   64 along k of a row of A or a column of B are scaled by a power of two that brings the largest into [2^14, 2^15)
//   x = x0 + x1: each piece is the remainder, rounded to eleven bits; error at most 2^-23 |x|, or 2^-39 of the largest
//   a b = a0 b0 + (a0 b1 + a1 b0), up to an error of 2^-21 |a b|
//
//   split     | A: read once, pieces and powers written | B |
//   product                                                 | 64 along k: tensor cores | times the powers, to total | ...
//
// Half has three bits more than bfloat16, so two pieces and three products are enough. Its range is small, so each element
// is scaled by the largest of the 64 elements around it. A kernel before the product splits, with one read and one write.
// The tensor cores truncate sums. So the small products come first, and FMA adds each sum of 64 terms to the total. The
// consumers take turns at the tensor cores: one adds while the other multiplies. Needs scratch memory and compute
// capability 9.0. What limits it: power, and the 8 bytes per element that splitting moves.

#include "kernels/device/ptx/tensor_copy.cuh"
#include "kernels/frame/turns.cuh"
#include "kernels/frame/warp_specialized.cuh"
#include "kernels/matmul/fp16x3_split.cuh"
#include "kernels/matmul/launch.hpp"
#include "kernels/matmul/warpgroup.cuh"

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

using namespace fp16x3;

struct tile : frame::tile_defaults {
    static constexpr int m = fp16x3_tile.m;
    static constexpr int n = fp16x3_tile.n;
    static constexpr int k = step_k;
    static constexpr int consumers = m / warpgroup_m;
    static constexpr int stages = 5;  ///< each for one piece of A and of B
};

struct split_product : tensor_product<float> {
    CUtensorMap a_powers{};
    CUtensorMap b_powers{};
};

template <bool k_major>
using a_tile = warpgroup_tile<half, tile::m, k_major>;
template <bool k_major>
using b_tile = warpgroup_tile<half, tile::n, k_major>;
constexpr int a_bytes = a_tile<true>::bytes, b_bytes = b_tile<true>::bytes;
static_assert(a_tile<true>::depth == tile::k);
static_assert(a_tile<false>::bytes == a_bytes && b_tile<false>::bytes == b_bytes);

struct fp16x3_mainloop : frame::mainloop_defaults {
    using tile = matmul::tile;
    static constexpr int loads = pieces;

    struct storage {
        unsigned char a[tile::stages][a_bytes];
        unsigned char b[tile::stages][b_bytes];
        float a_powers[tile::stages][tile::m];  ///< stored with the first pieces
        float b_powers[tile::stages][tile::n];
    };

    int group;
    frame::step_turns turn;
    static_assert(tile::consumers == 2, "two take turns");

    __device__ fp16x3_mainloop(int group, int /*thread*/)
        : group(group), turn(frame::first_free_barrier<tile>, group) {}
    __device__ void end() const { turn.end(); }

    static __device__ void prefetch(const split_product& p) {
        ptx::prefetch(p.a);
        ptx::prefetch(p.b);
    }

    static __device__ void load(storage& to, int stage, const split_product& p, const frame::tile_place& from,
                                ptx::mbarrier* full) {
        const int step = from.load / pieces, piece = from.load % pieces;
        constexpr int a_power_bytes = sizeof(to.a_powers[0]), b_power_bytes = sizeof(to.b_powers[0]);
        const bool has_powers = piece == 0;
        ptx::arrive_and_expect(full, a_bytes + b_bytes + (has_powers ? a_power_bytes + b_power_bytes : 0));
        in_order_of(p, [&]<bool a_k_major, bool b_k_major>() {
            a_tile<a_k_major>::template load<1>(to.a[stage], p.a, from.row, step * tile::k, piece, 0, full);
            b_tile<b_k_major>::template load<1>(to.b[stage], p.b, from.col, step * tile::k, piece, 0, full);
        });
        if (!has_powers) return;
        ptx::load_box(to.a_powers[stage], p.a_powers, from.row, step, 0, full);
        ptx::load_box(to.b_powers[stage], p.b_powers, from.col, step, 0, full);
    }

    /// Adds the products of 64 along k to the total of this thread's rows and columns.
    template <bool a_k_major, bool b_k_major>
    __device__ void add_step(auto& kernel, float (&total)[tile::n / 2]) const {
        const storage& stages = kernel.shared.stages;
        float sums[tile::n / 2];
        const int first = kernel.at.stage;
        kernel.wait();
        kernel.at.advance();
        const int second = kernel.at.stage;
        kernel.wait();
        const auto multiply = [&](int a_stage, int b_stage, bool accumulate) {
            const std::uint64_t a = a_tile<a_k_major>::descriptor(stages.a[a_stage], group * warpgroup_m);
            const std::uint64_t b = b_tile<b_k_major>::descriptor(stages.b[b_stage], 0);
#pragma unroll
            for (int i = 0; i < tile::k / a_tile<a_k_major>::step; ++i)
                ptx::wgmma<half, tile::n, a_k_major, b_k_major>(sums, a + i * a_tile<a_k_major>::advance,
                                                                b + i * b_tile<b_k_major>::advance,
                                                                accumulate || i > 0);
        };
        turn.wait();
        ptx::wgmma_fence();
        multiply(first, second, false);
        multiply(second, first, true);
        multiply(first, first, true);
        ptx::wgmma_commit();
        turn.pass();
        ptx::wgmma_wait<0>();
        ptx::wgmma_results(sums);
        kernel.release(second);
        const float* const a_from = stages.a_powers[first] + group * warpgroup_m + row_of_thread(0);
        const float* const b_from = stages.b_powers[first] + col_of_thread();
        const float a_powers[2] = {a_from[0], a_from[8]};
#pragma unroll
        for (int j = 0; j < tile::n / 8; ++j) {
            const float2 b_powers = *reinterpret_cast<const float2*>(b_from + 8 * j);
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int i = 4 * j + 2 * half;
                total[i] = fmaf(sums[i] * a_powers[half], b_powers.x, total[i]);
                total[i + 1] = fmaf(sums[i + 1] * a_powers[half], b_powers.y, total[i + 1]);
            }
        }
        kernel.release(first);
        kernel.at.advance();
    }

    template <int n>
    __device__ void multiply(auto& kernel, const split_product& p, int steps,
                             float (&total)[1][n / 2]) const {
#pragma unroll
        for (float& sum : total[0]) sum = 0;
        in_order_of(p, [&]<bool a_k_major, bool b_k_major>() {
            for (int step = 0; step < steps; ++step) add_step<a_k_major, b_k_major>(kernel, total[0]);
        });
    }
};

/// Stores a tile's sums to C directly from registers.
struct registers_epilogue {
    struct storage {};

    const split_product& p;

    __device__ registers_epilogue(const split_product& p, storage&, int /*group*/) : p(p) {}

    static __device__ void prefetch(const split_product&) {}
    static __device__ void init(storage&) {}
    __device__ void fetch(int, const frame::sums_place&) const {}
    template <int n>
    __device__ void store(int /*half*/, const frame::sums_place& place, const float (&sums)[n / 2]) const {
        store_or_finish<n>(result_of(p), place.row + row_of_thread(0), place.col + col_of_thread(), sums);
    }
    static __device__ void end(int) {}
};

using kernel =
    frame::tile_kernel<fp16x3_mainloop, registers_epilogue, frame::one_product<split_product, tile::streams>>;

CUtensorMap map_of(const split_operand& operand, int box_rows) {
    const matrix_view<const half> first{operand.to, operand.from.rows, operand.from.cols,
                                        operand.layout.stride};
    return make_tensor_map(first, box_rows, a_tile<true>::row, pieces, operand.layout.piece_stride);
}

}  // namespace

void launch_fp16x3(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    const matrix_view<const float>&a = arguments.a, &b = arguments.b;
    const std::int64_t k = a.cols;
    const bool a_k_major = is_split_by_rows(a), b_k_major = !is_split_by_rows(b);
    std::byte* free = arguments.workspace.scratch + plan.sums_bytes;
    constexpr float balance = 0x1p-14F;
    const split_operand split_a = lay_out(a_k_major ? a : transposed(a), a_k_major, tile::m, balance, free);
    const split_operand split_b =
        lay_out(b_k_major ? transposed(b) : b, b_k_major, tile::n, 1 / balance, free);
    const auto map_of_powers = [k](const split_operand& operand, int tile_extent) {
        const matrix_view<const float> powers{operand.powers, divide_up(k, step_k),
                                              operand.layout.power_stride};
        return make_tensor_map(powers, 1, tile_extent);
    };
    split_product p{make_product(arguments), map_of_powers(split_a, tile::m),
                    map_of_powers(split_b, tile::n)};
    p.a_k_major = a_k_major;
    p.b_k_major = b_k_major;
    with_orders(a_k_major, b_k_major, [&]<bool a_along_k, bool b_along_k>() {
        p.a = map_of(split_a, a_tile<a_along_k>::box_rows);
        p.b = map_of(split_b, b_tile<b_along_k>::box_rows);
    });
    const frame::tile_schedule schedule = schedule_of(plan);
    launch_split(split_a, a_k_major, stream);
    launch_split(split_b, b_k_major, stream);
    frame::launch<kernel>({p, schedule, shared_sums_in(plan, arguments.workspace)}, schedule.workers, stream);
}

}  // namespace heddle::kernels::matmul
