#pragma once

#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/prefetch.cuh"
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
    static constexpr int long_pitch = warpgroup_m + 2, short_pitch = chunk_cols + 4;
    static constexpr int staged_floats = warpgroup_m * short_pitch;
    static_assert(chunk_cols * long_pitch <= staged_floats);
    static constexpr int of_thread = warpgroup_m * chunk_cols / warpgroup_threads;  ///< elements of a chunk
    /// What is added to C comes as many pairs of elements ahead as there is room for.
    static constexpr int at_once = 2;
    static constexpr int ahead = Tile::stages * (Tile::m + Tile::n) * swizzle_bytes > 192 * 1024 ? 2 : 4;

    /// Of each thread, in places that it alone uses.
    struct addends {
        float c[at_once][warpgroup_threads];
        float residual[at_once][warpgroup_threads];
    };

    struct storage {
        float staged[Tile::consumers][staged_floats];
        addends added[Tile::consumers][ahead];
    };

    const product& p;
    storage& shared;
    int group;
    int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;

    __device__ tf32_epilogue(const product& p, storage& shared, int group)
        : p(p), shared(shared), group(group) {}

    static __device__ void prefetch(const product&) {}
    static __device__ void init(storage&) {}
    static __device__ void end(int) {}

    /// What is added to the sums comes into L2 while the tensor cores multiply. Of a tile that others have a part of, this consumer
    /// may not be the one that stores it.
    __device__ void fetch(int /*half*/, const frame::sums_place& place) const {
        if (!place.is_whole) return;
        const auto& e = p.epilogue;
        if (p.beta != 0)
            prefetch_to_l2(p.c_data + place.batch * p.c_batch_stride, p.c_row_stride, p.c_col_stride, place);
        if (e.residual != nullptr)
            prefetch_to_l2(e.residual, e.residual_row_stride, e.residual_col_stride, place);
    }

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
        if constexpr (std::is_same_v<Activation, matmul_activation>)
            if (c.beta == 0) {
                const auto pairs = [&]<bool finishes>() {
                    store_pairs<n, finishes>(c, row + first_row, col + thread % 4 * 2, down, sums);
                };
                const bool may_be_pairs = in_pairs && is_inside;
                if (c.epilogue.is_identity)
                    return may_be_pairs ? pairs.template operator()<false>()
                           : down       ? store_lines<n, true>(c, first_row, row, col, sums)
                                        : store_lines<n, false>(c, first_row, row, col, sums);
                if (may_be_pairs && is_short(c.epilogue)) return pairs.template operator()<true>();
            }
        down ? finish_lines<n, true>(c, first_row, row, col, sums)
             : finish_lines<n, false>(c, first_row, row, col, sums);
    }

  private:
    /// This consumer's part of the tile of a matrix of C's shape, sector by sector.
    __device__ void prefetch_to_l2(const float* from, std::int64_t row_stride, std::int64_t col_stride,
                                   const frame::sums_place& place) const {
        constexpr int sector = 32 / sizeof(float);
        const auto along = [&]<bool down>() {
            constexpr int sectors = (down ? warpgroup_m : Tile::n) / sector;
#pragma unroll 1
            for (int i = thread; i < warpgroup_m * Tile::n / sector; i += warpgroup_threads) {
                const int line = i / sectors, at = i % sectors * sector;
                const int r = place.row + (down ? at : line), s = place.col + (down ? line : at);
                if (r < p.m && s < p.n) ptx::prefetch_to_l2(from + r * row_stride + s * col_stride);
            }
        };
        row_stride == 1 ? along.template operator()<true>() : along.template operator()<false>();
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

    /// alpha times a thread's part of the chunk that begins at (row, col), its first row, and the biases.
    __device__ void add_biases(const result& c, int row, int col, float (&values)[chunk_sums]) const {
        const auto& e = c.epilogue;
#pragma unroll
        for (float& value : values) value *= c.alpha;
        if (e.row_bias != nullptr)
#pragma unroll
            for (int i = 0; i < chunk_sums; ++i) {
                const int s = col + i / 4 * 8 + thread % 4 * 2 + i % 2;
                if (s < c.cols) values[i] += e.row_bias[s * e.row_bias_stride];
            }
        if (e.column_bias != nullptr)
#pragma unroll
            for (int i = 0; i < chunk_sums; ++i) {
                const int r = row + i % 4 / 2 * a_elements::apart;
                if (r < c.rows) values[i] += e.column_bias[r * e.column_bias_stride];
            }
    }

    /// What a thread stores of the chunk that begins at (row, col): elements of several lines of C, where neighbours have neighbours.
    template <bool down>
    struct chunk_part {
        static constexpr int length = down ? warpgroup_m : chunk_cols, lines = warpgroup_threads / length;
        static constexpr int to_row = down ? 1 : short_pitch, to_col = down ? long_pitch : 1;

        const result& c;
        int row;
        int col;
        int line = static_cast<int>(threadIdx.x) % warpgroup_threads / length;
        int at = static_cast<int>(threadIdx.x) % length;

        __device__ element_place place(int i) const {
            const int further = line + i * lines;
            const int r = row + (down ? at : further), s = col + (down ? further : at);
            return {r, s, r < c.rows && s < c.cols};
        }
        /// In shared memory.
        __device__ int offset(int i) const { return (line + i * lines) * (down ? to_col : to_row) + at; }
    };

    template <bool down>
    __device__ void stage(int thread_row, const float (&chunk)[chunk_sums]) const {
        using part = chunk_part<down>;
        sync_group();
#pragma unroll
        for (int i = 0; i < chunk_sums; ++i) {
            const int r = thread_row + i % 4 / 2 * a_elements::apart;
            const int s = i / 4 * 8 + thread % 4 * 2 + i % 2;
            shared.staged[group][r * part::to_row + s * part::to_col] = chunk[i];
        }
        sync_group();
    }

    /// To any C, in whole lines of it: by way of shared memory. All unrolled, as sums have no addresses; no more at once, as registers
    /// spill then.
    template <int n, bool down>
    __device__ void store_lines(const result& c, int thread_row, int row, int col,
                                const float (&sums)[n / 2]) const {
        constexpr int together = 4;
#pragma unroll
        for (int first = 0; first < n; first += chunk_cols) {
            float chunk[chunk_sums];
            pick<n>(sums, first, chunk);
            stage<down>(thread_row, chunk);
            const chunk_part<down> part{c, row, col + first};
            const element_place begin = part.place(0);
            float* to = c.data + begin.row * c.row_stride + begin.col * c.col_stride;
            const std::int64_t line_stride = part.lines * (down ? c.col_stride : c.row_stride);
#pragma unroll
            for (int i = 0; i < of_thread; i += together, to += together * line_stride) {
                float values[together];
#pragma unroll
                for (int j = 0; j < together; ++j)
                    values[j] = c.alpha * shared.staged[group][part.offset(i + j)];
#pragma unroll
                for (int j = 0; j < together; ++j)
                    if (part.place(i + j).is_inside) to[j * line_stride] = values[j];
            }
        }
    }

    /// Starts to read what is added to two elements of a part, from the i-th on: C, with beta, and the residual.
    template <bool down>
    __device__ void read_ahead(const chunk_part<down>& part, int i, addends& to) const {
        const auto& e = part.c.epilogue;
#pragma unroll
        for (int j = 0; j < at_once; ++j) {
            const element_place at = part.place(i + j);
            if (!at.is_inside) continue;
            if (part.c.beta != 0)
                ptx::cp_async<4>(&to.c[j][thread],
                                 part.c.data + at.row * part.c.row_stride + at.col * part.c.col_stride, 4);
            if (e.residual != nullptr)
                ptx::cp_async<4>(&to.residual[j][thread],
                                 e.residual + at.row * e.residual_row_stride + at.col * e.residual_col_stride,
                                 4);
        }
    }

    /// The same with all that an epilogue does. Its code stands once for all elements.
    template <int n, bool down>
    __device__ void finish_lines(const result& c, int thread_row, int row, int col,
                                 const float (&sums)[n / 2]) const {
        const auto& e = c.epilogue;
        const auto start = [&](int element) {
            if (element < n / chunk_cols * of_thread)
                read_ahead<down>({c, row, col + element / of_thread * chunk_cols}, element % of_thread,
                                 shared.added[group][element / at_once % ahead]);
            ptx::cp_async_commit_group();
        };
        for (int i = 0; i < ahead; ++i) start(i * at_once);
#pragma unroll 1
        for (int first = 0; first < n; first += chunk_cols) {
            float chunk[chunk_sums];
            pick<n>(sums, first, chunk);
            add_biases(c, row + thread_row, col + first, chunk);
            stage<down>(thread_row, chunk);
            const chunk_part<down> part{c, row, col + first};
#pragma unroll 1
            for (int i = 0; i < of_thread; i += at_once) {
                const int element = first / chunk_cols * of_thread + i;
                const addends& added = shared.added[group][element / at_once % ahead];
                const auto place = [&](int j) { return part.place(i + j); };
                ptx::cp_async_wait_group<ahead - 1>();
                float x[at_once], residual[at_once];
#pragma unroll
                for (int j = 0; j < at_once; ++j) {
                    x[j] = shared.staged[group][part.offset(i + j)];
                    if (c.beta != 0) x[j] += c.beta * added.c[j][thread];
                    residual[j] = added.residual[j][thread];
                }
                start(element + ahead * at_once);
                activate_elements<float>(e.activation, x, place);
#pragma unroll
                for (int j = 0; j < at_once; ++j) {
                    x[j] *= e.scale;
                    if (e.residual != nullptr) x[j] += residual[j];
                    const element_place at = place(j);
                    if (at.is_inside) c.data[at.row * c.row_stride + at.col * c.col_stride] = x[j];
                }
            }
        }
        ptx::cp_async_wait_group<0>();
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
