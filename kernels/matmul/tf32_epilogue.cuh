#pragma once

#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/prefetch.cuh"
#include "kernels/frame/warp_specialized.cuh"
#include "kernels/matmul/tf32.cuh"

#include <cstdint>
#include <type_traits>

/// From the sums of the rung `tf32` to C.
namespace heddle::kernels::matmul {

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
        static constexpr int to_next = lines * (down ? to_col : to_row);  ///< where they are staged

        int row;  ///< of the first
        int col;
        int offset;  ///< where it is staged
        int count;   ///< that lie inside of C

        __device__ chunk_part(const result& c, int chunk_row, int chunk_col) {
            const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
            const int line = thread / length, at = thread % length;
            row = chunk_row + (down ? at : line);
            col = chunk_col + (down ? line : at);
            offset = line * (down ? to_col : to_row) + at;
            const bool is_inside = down ? row < c.rows : col < c.cols;
            const int left = down ? c.cols - col : c.rows - row;
            count = is_inside ? ::min(int{of_thread}, (left + lines - 1) / lines) : 0;
        }

        __device__ element_place place(int i) const {
            return {row + (down ? 0 : i * lines), col + (down ? i * lines : 0), i < count};
        }
        /// Elements of a matrix of C's shape from the first to the next.
        static __device__ std::int64_t step(std::int64_t row_stride, std::int64_t col_stride) {
            return lines * (down ? col_stride : row_stride);
        }
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
        const std::int64_t step = chunk_part<down>::step(c.row_stride, c.col_stride);
#pragma unroll
        for (int first = 0; first < n; first += chunk_cols) {
            float chunk[chunk_sums];
            pick<n>(sums, first, chunk);
            stage<down>(thread_row, chunk);
            const chunk_part<down> part(c, row, col + first);
            const float* const mine = shared.staged[group] + part.offset;
            float* to = c.data + part.row * c.row_stride + part.col * c.col_stride;
#pragma unroll
            for (int i = 0; i < of_thread; i += together, to += together * step) {
                float values[together];
#pragma unroll
                for (int j = 0; j < together; ++j) values[j] = c.alpha * mine[(i + j) * part.to_next];
#pragma unroll
                for (int j = 0; j < together; ++j)
                    if (i + j < part.count) to[j * step] = values[j];
            }
        }
    }

    /// The same with all that an epilogue does. Its code stands once for all elements. What is added to a chunk is on its way while
    /// the chunk is staged, and then a few elements ahead.
    template <int n, bool down>
    __device__ void finish_lines(const result& c, int thread_row, int row, int col,
                                 const float (&sums)[n / 2]) const {
        using part_of_thread = chunk_part<down>;
        const auto& e = c.epilogue;
        const bool adds_c = c.beta != 0, adds_residual = e.residual != nullptr;
        const std::int64_t step = part_of_thread::step(c.row_stride, c.col_stride);
        const std::int64_t residual_step = part_of_thread::step(e.residual_row_stride, e.residual_col_stride);
#pragma unroll 1
        for (int first = 0; first < n && col + first < c.cols; first += chunk_cols) {
            const part_of_thread part(c, row, col + first);
            const float* mine = shared.staged[group] + part.offset;
            float* to = c.data + part.row * c.row_stride + part.col * c.col_stride;
            const float* before = to;
            const float* residual =
                e.residual + part.row * e.residual_row_stride + part.col * e.residual_col_stride;
            const auto read_ahead = [&](int i) {
                addends& added = shared.added[group][i / at_once % ahead];
#pragma unroll
                for (int j = 0; j < at_once; ++j, before += step, residual += residual_step) {
                    const bool is_inside = i + j < part.count;
                    if (adds_c && is_inside) ptx::cp_async<4>(&added.c[j][thread], before, 4);
                    if (adds_residual && is_inside) ptx::cp_async<4>(&added.residual[j][thread], residual, 4);
                }
                ptx::cp_async_commit_group();
            };
#pragma unroll 1
            for (int i = 0; i < ahead * at_once; i += at_once) read_ahead(i);
            float chunk[chunk_sums];
            pick<n>(sums, first, chunk);
            add_biases(c, row + thread_row, col + first, chunk);
            stage<down>(thread_row, chunk);
#pragma unroll 1
            for (int i = 0; i < of_thread; i += at_once, mine += at_once * part.to_next) {
                const addends& added = shared.added[group][i / at_once % ahead];
                ptx::cp_async_wait_group<ahead - 1>();
                float x[at_once], last[at_once];
#pragma unroll
                for (int j = 0; j < at_once; ++j) {
                    x[j] = mine[j * part.to_next];
                    if (adds_c) x[j] += c.beta * added.c[j][thread];
                    last[j] = adds_residual ? added.residual[j][thread] : 0;
                }
                read_ahead(i + ahead * at_once);
                activate_elements<float>(e.activation, x, [&](int j) { return part.place(i + j); });
#pragma unroll
                for (int j = 0; j < at_once; ++j, to += step) {
                    x[j] *= e.scale;
                    if (adds_residual) x[j] += last[j];
                    if (i + j < part.count) *to = x[j];
                }
            }
        }
    }

    __device__ void sync_group() const {
        ptx::sync_threads(1 + group, warpgroup_threads);
    }
};

}  // namespace heddle::kernels::matmul
