#pragma once

#include "kernels/frame/warp_specialized.cuh"
#include "kernels/matmul/launch.hpp"
#include "kernels/matmul/schedule.hpp"
#include "kernels/matmul/store.cuh"
#include "kernels/matmul/tf32.cuh"

#include <cstdint>
#include <type_traits>

/// The kernel of the rung `tf32` that goes from tile to tile.
namespace heddle::kernels::matmul {

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

    static __device__ void prefetch(const auto& p) {
        ptx::prefetch(p.a);
        ptx::prefetch(p.b);
    }

    static __device__ void load(storage& to, int stage, const auto& p, const frame::tile_place& from,
                                ptx::mbarrier* full) {
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
template <class Tile, bool a_k_major, class Activation>
struct tf32_epilogue {
    using product = tensor_product<float, Activation>;
    using result = matmul::result<float, Activation>;
    using a_elements = a_of_thread<Tile::m, a_k_major>;
    /// C is staged in chunks of 64 x 32, which is in lines of either, at pitches for which threads write to different banks.
    static constexpr int long_pitch = warpgroup_m + 2, short_pitch = chunk_cols + 8;
    static constexpr int staged_floats = warpgroup_m * short_pitch;
    static_assert(chunk_cols * long_pitch <= staged_floats);

    struct storage {
        float staged[Tile::consumers][staged_floats];
    };

    const product& p;
    storage& shared;
    int group;
    int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;

    __device__ tf32_epilogue(const product& p, storage& shared, int group)
        : p(p), shared(shared), group(group) {}

    static __device__ void prefetch(const product&) {}
    static __device__ void init(storage&) {}
    __device__ void fetch(int, const frame::sums_place&) const {}
    static __device__ void end(int) {}

    template <int n>
    __device__ void store(int /*half*/, const frame::sums_place& place, const float (&sums)[n / 2]) const {
        const int row = place.row, col = place.col;
        const a_elements mine(group, thread);
        const result c = result_of(p, place.batch);
        const bool down = c.row_stride == 1;
        const bool neighbours = (down && a_elements::apart == 1) || c.col_stride == 1;
        const std::int64_t line_stride = down ? c.col_stride : c.row_stride;
        const bool in_pairs = neighbours && line_stride % 2 == 0 &&
                              reinterpret_cast<std::uintptr_t>(c.data) % sizeof(float2) == 0;
        const bool is_inside = row + warpgroup_m <= c.rows && col + n <= c.cols;
        const int first_row = mine.row();
        const auto staged = [&]<bool finishes>() {
            down ? store_staged<n, true, finishes>(c, first_row, row, col, sums)
                 : store_staged<n, false, finishes>(c, first_row, row, col, sums);
        };
        if constexpr (std::is_same_v<Activation, matmul_activation>) {
            const auto pairs = [&]<bool finishes>() {
                store_pairs<n, finishes>(c, row + first_row, col + thread % 4 * 2, down, sums);
            };
            const bool may_be_pairs = in_pairs && is_inside && c.beta == 0;
            if (c.epilogue.is_identity)
                return may_be_pairs ? pairs.template operator()<false>()
                                    : staged.template operator()<false>();
            if (may_be_pairs && is_short(c.epilogue)) return pairs.template operator()<true>();
        }
        staged.template operator()<true>();
    }

    /// Two elements of a thread that are neighbours in C; in a C that lies in columns, those of two rows.
    template <int n, bool finishes>
    __device__ void store_pairs(const result& c, int row, int col, bool down,
                                const float (&sums)[n / 2]) const {
        const auto& e = c.epilogue;
        float* const begin = c.data + row * c.row_stride + col * c.col_stride;
        float* const second = begin + (down ? c.col_stride : a_elements::apart * c.row_stride);
        float of_rows[2]{};
        if (finishes && e.column_bias != nullptr)
#pragma unroll
            for (int i = 0; i < 2; ++i)
                of_rows[i] = e.column_bias[(row + i * a_elements::apart) * e.column_bias_stride];
#pragma unroll
        for (int j = 0; j < n / 8; ++j) {
            float of_cols[2]{};
            if (finishes && e.row_bias != nullptr)
#pragma unroll
                for (int i = 0; i < 2; ++i)
                    of_cols[i] = __ldg(e.row_bias + (col + 8 * j + i) * e.row_bias_stride);
            float x[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                x[i] = c.alpha * sums[4 * j + i];
                if constexpr (finishes)
                    x[i] = e.scale * short_activation(e, x[i] + of_cols[i % 2] + of_rows[i / 2]);
            }
            const std::int64_t at = 8 * j * c.col_stride;
            *reinterpret_cast<float2*>(begin + at) = make_float2(x[0], down ? x[2] : x[1]);
            *reinterpret_cast<float2*>(second + at) = make_float2(down ? x[1] : x[2], x[3]);
        }
    }

    /// To any C, in whole lines of it: by way of shared memory. All unrolled, as sums have no addresses, but where the epilogue's
    /// code is long; no more at once, as registers spill then.
    template <int n, bool down, bool finishes>
    __device__ void store_staged(const result& c, int thread_row, int row, int col,
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

template <class Tile, bool a_k_major, class Activation = matmul_activation>
using tf32_kernel =
    frame::tile_kernel<tf32_mainloop<Tile, a_k_major>, tf32_epilogue<Tile, a_k_major, Activation>,
                       frame::one_product<tensor_product<float, Activation>>>;

template <class Tile, class Activation>
void launch_tf32_tile(const plan& plan, const product<float, float, Activation>& p, cudaStream_t stream) {
    require_tile_of<Tile>(tf32_tiles[plan.tile]);
    const frame::tile_schedule schedule = schedule_of(plan);
    const auto launch_order = [&]<bool a_k_major>() {
        using mainloop = tf32_mainloop<Tile, a_k_major>;
        frame::launch<tf32_kernel<Tile, a_k_major, Activation>>(
            {make_tf32_product<typename mainloop::a_tile, typename mainloop::b_tile, a_k_major>(
                 p, Tile::cluster),
             schedule, shared_sums_in(p.workspace)},
            schedule.workers, stream);
    };
    has_tensor_rows(p.a) ? launch_order.template operator()<true>()
                         : launch_order.template operator()<false>();
}

/// The tile of the kernel with a user's function. Nobody shares it: no workspace comes here.
struct tf32_function_tile : tf32_tile<2, 128, 6> {
    static constexpr bool streams = false;
};

/// Whether it is compiled for the current device.
template <class Activation>
bool has_tf32_kernel() {
    return frame::is_compiled<tf32_kernel<tf32_function_tile, true, Activation>>();
}

template <class Activation>
void launch_tf32_kernel(const plan& plan, const product<float, float, Activation>& arguments,
                        cudaStream_t stream) {
    launch_tf32_tile<tf32_function_tile>(plan, arguments, stream);
}

}  // namespace heddle::kernels::matmul
