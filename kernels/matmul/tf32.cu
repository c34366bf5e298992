// tf32: float32 operands rounded to the eleven bits of TF32, which the tensor cores multiply at half the rate of bfloat16.
//
//   wgmma takes of TF32 from shared memory only what lies along k, and from registers anything:
//   B, along k:       global --TMA--> shared ------------------------> wgmma
//   A, in any order:  global --TMA--> shared --> a warp's registers -> wgmma
//
//   producer    | load A and B of step 0 | of step 1 | ...
//   consumers   | multiply the first half of a step, read A of the second | multiply that, read A of the next step | ...
//
// One of A and B has to lie along k. Where that is A alone, the kernel computes C^T = B^T A^T; where neither does, or rows are
// odd, copies.cu copies before. The tensor memory accelerator rounds to TF32, where wgmma itself would cut off. A thread may
// have any rows of A: those that lie along m are dealt out so that it reads two neighbours at once, half a warp reads from all
// banks, and four threads fill a sector of C. With a workspace, tiles are shared out along k. What limits it: power.

#include "kernels/frame/warp_specialized.cuh"
#include "kernels/matmul/launch.hpp"
#include "kernels/matmul/schedule.hpp"
#include "kernels/matmul/store.cuh"
#include "kernels/matmul/tf32.cuh"

#include <array>
#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

template <int consumers_, int n_, int stages_, int cluster_ = 1>
struct tf32_tile : frame::tile_defaults {
    static constexpr int consumers = consumers_;
    static constexpr int m = consumers * warpgroup_m;
    static constexpr int n = n_;
    static constexpr int k = tf32_k;
    static constexpr int stages = stages_;
    static constexpr int cluster = cluster_;
};

template <class Tile, bool a_k_major>
struct tf32_mainloop : frame::mainloop_defaults {
    using tile = Tile;
    using a_tile = warpgroup_tile<float, Tile::m, a_k_major>;
    using b_tile = warpgroup_tile<float, Tile::n, true>;
    static_assert(a_tile::depth == Tile::k && b_tile::depth == Tile::k);
    static constexpr int narrow = tf32_narrow;

    struct storage {
        unsigned char a[Tile::stages][a_tile::bytes];
        unsigned char b[Tile::stages][b_tile::bytes];
    };

    a_of_thread<Tile::m, a_k_major> mine;

    __device__ tf32_mainloop(int group, int thread) : mine(group, thread) {}

    static __device__ void prefetch(const tensor_product<float>& p) {
        ptx::prefetch(p.a);
        ptx::prefetch(p.b);
    }

    static __device__ void load(storage& to, int stage, const tensor_product<float>& p,
                                const frame::tile_place& from, ptx::mbarrier* full) {
        ptx::arrive_and_expect(full, a_tile::bytes + b_tile::bytes);
        const int k = from.load * Tile::k;
        a_tile::template load<1>(to.a[stage], p.a, from.row, k, from.batch * p.a_batch_step, 0, full);
        b_tile::template load<Tile::cluster>(to.b[stage], p.b, from.col, k, from.batch * p.b_batch_step,
                                             from.rank, full);
    }

    template <int n>
    __device__ void multiply(auto& kernel, int steps, float (&sums)[1][n / 2]) const {
        multiply_tf32<n, b_tile>(
            mine, kernel.shared.stages, kernel.at, steps, sums[0], [&] { kernel.wait(); },
            [&](int stage) { kernel.release(stage); });
    }

    __device__ void end() const {}
};

/// Straight from registers, in pairs of neighbours, or by way of shared memory.
template <class Tile, bool a_k_major>
struct tf32_epilogue {
    using a_elements = a_of_thread<Tile::m, a_k_major>;
    /// C is staged in chunks of 64 x 32, which is in lines of either, at pitches for which threads write to different banks.
    static constexpr int long_pitch = warpgroup_m + 2, short_pitch = chunk_cols + 8;
    static constexpr int staged_floats = warpgroup_m * short_pitch;
    static_assert(chunk_cols * long_pitch <= staged_floats);

    struct storage {
        float staged[Tile::consumers][staged_floats];
    };

    const tensor_product<float>& p;
    storage& shared;
    int group;
    int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;

    __device__ tf32_epilogue(const tensor_product<float>& p, storage& shared, int group)
        : p(p), shared(shared), group(group) {}

    static __device__ void prefetch(const tensor_product<float>&) {}
    __device__ void fetch(int, int, int) const {}
    static __device__ void end(int) {}

    /// Stores 64 rows from `row` on.
    template <int n>
    __device__ void store(int /*half*/, int row, int col, int batch, const float (&sums)[n / 2]) const {
        const a_elements mine(group, thread);
        const result<float> c = result_of(p, batch);
        const bool down = c.row_stride == 1;
        const bool neighbours = (down && a_elements::apart == 1) || c.col_stride == 1;
        const std::int64_t line_stride = down ? c.col_stride : c.row_stride;
        const bool in_pairs = neighbours && line_stride % 2 == 0 &&
                              reinterpret_cast<std::uintptr_t>(c.data) % sizeof(float2) == 0;
        const bool is_inside = row + warpgroup_m <= c.rows && col + n <= c.cols;
        const int first_row = mine.row();
        if (!c.epilogue.is_identity)
            down ? store_staged<n, true, true>(c, first_row, row, col, sums)
                 : store_staged<n, false, true>(c, first_row, row, col, sums);
        else if (in_pairs && is_inside && c.beta == 0)
            store_pairs<n>(c, row + first_row, col + thread % 4 * 2, down, sums);
        else
            down ? store_staged<n, true, false>(c, first_row, row, col, sums)
                 : store_staged<n, false, false>(c, first_row, row, col, sums);
    }

    /// Two elements of a thread that are neighbours in C; in a C that lies in columns, those of two rows.
    template <int n>
    __device__ void store_pairs(const result<float>& c, int row, int col, bool down,
                                const float (&sums)[n / 2]) const {
        float* const begin = c.data + row * c.row_stride + col * c.col_stride;
        float* const second = begin + (down ? c.col_stride : a_elements::apart * c.row_stride);
#pragma unroll
        for (int j = 0; j < n / 8; ++j) {
            const float right = c.alpha * sums[4 * j + 1], below = c.alpha * sums[4 * j + 2];
            const std::int64_t at = 8 * j * c.col_stride;
            *reinterpret_cast<float2*>(begin + at) = make_float2(c.alpha * sums[4 * j], down ? below : right);
            *reinterpret_cast<float2*>(second + at) =
                make_float2(down ? right : below, c.alpha * sums[4 * j + 3]);
        }
    }

    /// To any C, in whole lines of it: by way of shared memory. All unrolled, as sums have no addresses, but where the epilogue's
    /// code is long; no more at once, as registers spill then.
    template <int n, bool down, bool finishes>
    __device__ void store_staged(const result<float>& c, int thread_row, int row, int col,
                                 const float (&sums)[n / 2]) const {
        constexpr int length = down ? warpgroup_m : chunk_cols, lines = warpgroup_threads / length;
        constexpr int to_row = down ? 1 : short_pitch, to_col = down ? long_pitch : 1;
        constexpr int to_line = lines * (down ? to_col : to_row);
        constexpr int of_thread = warpgroup_m * chunk_cols / warpgroup_threads, at_once = finishes ? 2 : 4;
        float* const staged = shared.staged[group];
        const int line = thread / length, at = thread % length;
        const float* const mine = staged + line * (down ? to_col : to_row) + at;
        const std::int64_t line_stride = lines * (down ? c.col_stride : c.row_stride);
        constexpr int unrolled = finishes ? 1 : n / chunk_cols;
        constexpr int unrolled_lines = finishes ? 1 : of_thread / at_once;
#pragma unroll unrolled
        for (int first = 0; first < n; first += chunk_cols) {
            float chunk[chunk_sums];
            pick<n>(sums, first, chunk);
            sync_group();
#pragma unroll
            for (int i = 0; i < chunk_sums; ++i) {
                const int r = thread_row + i % 4 / 2 * a_elements::apart;
                const int s = i / 4 * 8 + thread % 4 * 2 + i % 2;
                staged[r * to_row + s * to_col] = chunk[i];
            }
            sync_group();
            const int r = row + (down ? at : line), s = col + first + (down ? line : at);
            if (down ? r >= c.rows : s >= c.cols) continue;
            const int left = down ? c.cols - s : c.rows - r;
            float* to = c.data + r * c.row_stride + s * c.col_stride;
#pragma unroll unrolled_lines
            for (int i = 0; i < of_thread; i += at_once, to += at_once * line_stride) {
                const auto is_inside = [&](int j) { return (i + j) * lines < left; };
                float values[at_once];
#pragma unroll
                for (int j = 0; j < at_once; ++j) values[j] = c.alpha * mine[(i + j) * to_line];
                if (c.beta != 0) {
                    float before[at_once];
#pragma unroll
                    for (int j = 0; j < at_once; ++j) before[j] = is_inside(j) ? to[j * line_stride] : 0;
#pragma unroll
                    for (int j = 0; j < at_once; ++j) values[j] += c.beta * before[j];
                }
                if constexpr (finishes)
                    apply_to_elements(c.epilogue, values, [&](int j) {
                        const int further = (i + j) * lines;
                        return element_place{r + (down ? 0 : further), s + (down ? further : 0),
                                             is_inside(j)};
                    });
#pragma unroll
                for (int j = 0; j < at_once; ++j)
                    if (is_inside(j)) to[j * line_stride] = values[j];
            }
        }
    }

    __device__ void sync_group() const {
        ptx::sync_threads(1 + group, warpgroup_threads);
    }
};

template <class Tile, bool a_k_major>
void launch_order(const plan& plan, const arguments& p, cudaStream_t stream) {
    using mainloop = tf32_mainloop<Tile, a_k_major>;
    using kernel = frame::tile_kernel<mainloop, tf32_epilogue<Tile, a_k_major>,
                                      frame::one_product<tensor_product<float>>>;
    const frame::tile_schedule schedule = schedule_of(plan);
    frame::launch<kernel>(
        {make_tf32_product<typename mainloop::a_tile, typename mainloop::b_tile, a_k_major>(p, Tile::cluster),
         schedule, shared_sums_in(p.workspace)},
        schedule.workers, stream);
}

template <class Tile>
void launch_tile(const plan& plan, const arguments& p, cudaStream_t stream) {
    require_tile_of<Tile>(tf32_tiles[plan.tile]);
    has_tensor_rows(p.a) ? launch_order<Tile, true>(plan, p, stream)
                         : launch_order<Tile, false>(plan, p, stream);
}

}  // namespace

void launch_tf32(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    constexpr std::array launchers = {
        launch_tile<tf32_tile<2, 256, 4>>,    launch_tile<tf32_tile<2, 192, 5>>,
        launch_tile<tf32_tile<2, 128, 6>>,    launch_tile<tf32_tile<1, 128, 8>>,
        launch_tile<tf32_tile<1, 128, 8, 2>>, launch_tile<tf32_tile<1, 64, 12>>};
    static_assert(launchers.size() == tf32_tiles.size());
    launchers.at(plan.tile)(plan, arguments, stream);
}

}  // namespace heddle::kernels::matmul
