#pragma once

#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/prefetch.cuh"
#include "kernels/frame/warp_specialized.cuh"
#include "kernels/matmul/tf32.cuh"

#include <cstdint>
#include <type_traits>

/// Stores the sums of the rung `tf32` to C.
namespace heddle::kernels::matmul {

/// Sums are stored directly from registers, in pairs of neighbours, or through shared memory.
template <class Tile, class Activation>
struct tf32_epilogue {
    using product = tensor_product<float, Activation>;
    using result = matmul::result<float, Activation>;
    /// C is staged in chunks of 64 x 32, in lines of 64 or of 32. Their pitches let threads write to different banks.
    static constexpr int long_pitch = warpgroup_m + 2, short_pitch = chunk_cols + 4;
    static constexpr int staged_floats = warpgroup_m * short_pitch;
    static_assert(chunk_cols * long_pitch <= staged_floats);
    static constexpr int per_thread = warpgroup_m * chunk_cols / warpgroup_threads;  ///< of a chunk

    struct storage {
        float staged[Tile::consumers][staged_floats];
    };

    const product& p;
    storage& shared;
    int group;
    int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
    int apart;  ///< from a thread's first row to its second

    __device__ tf32_epilogue(const product& p, storage& shared, int group)
        : p(p),
          shared(shared),
          group(group),
          apart(p.a_k_major ? a_of_thread<Tile::m, true>::apart : a_of_thread<Tile::m, false>::apart) {}

    static __device__ void prefetch(const product&) {}
    static __device__ void init(storage&) {}
    static __device__ void end(int) {}

    /// Prefetches into L2 what is added to the sums, while the tensor cores multiply. Skips shared tiles, as another consumer
    /// may store those.
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
        const result c = result_of(p, place.batch);
        const bool down = c.row_stride == 1;
        const bool neighbours = (down && apart == 1) || c.col_stride == 1;
        const std::int64_t line_stride = down ? c.col_stride : c.row_stride;
        const bool in_pairs = neighbours && line_stride % 2 == 0 &&
                              reinterpret_cast<std::uintptr_t>(c.data) % sizeof(float2) == 0;
        const bool is_inside = row + warpgroup_m <= c.rows && col + n <= c.cols;
        const int first_row = p.a_k_major ? a_of_thread<Tile::m, true>(group, thread).row()
                                          : a_of_thread<Tile::m, false>(group, thread).row();
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
    /// Prefetches this consumer's part of the tile from a matrix of C's shape, sector by sector.
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

    /// Stores a thread's sums in pairs that are neighbours in C. If C lies in columns, pairs are of two rows.
    template <int n, bool finishes>
    __device__ void store_pairs(const result& c, int row, int col, bool down,
                                const float (&sums)[n / 2]) const {
        const auto& e = c.epilogue;
        float* const begin = c.data + row * c.row_stride + col * c.col_stride;
        float* const second = begin + (down ? c.col_stride : apart * c.row_stride);
        float by_row[2]{};
        if (finishes && e.column_bias != nullptr)
#pragma unroll
            for (int i = 0; i < 2; ++i) by_row[i] = e.column_bias[(row + i * apart) * e.column_bias_stride];
#pragma unroll
        for (int j = 0; j < n / 8; ++j) {
            float by_col[2]{};
            if (finishes && e.row_bias != nullptr)
#pragma unroll
                for (int i = 0; i < 2; ++i)
                    by_col[i] = __ldg(e.row_bias + (col + 8 * j + i) * e.row_bias_stride);
            float x[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                x[i] = c.alpha * sums[4 * j + i];
                if constexpr (finishes)
                    x[i] = e.scale * short_activation(e, x[i] + by_col[i % 2] + by_row[i / 2]);
            }
            const std::int64_t at = 8 * j * c.col_stride;
            *reinterpret_cast<float2*>(begin + at) = make_float2(x[0], down ? x[2] : x[1]);
            *reinterpret_cast<float2*>(second + at) = make_float2(down ? x[1] : x[2], x[3]);
        }
    }

    /// Multiplies a thread's values of a chunk by alpha and adds biases. Arguments: the thread's row, the chunk's column.
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
                const int r = row + i % 4 / 2 * apart;
                if (r < c.rows) values[i] += e.column_bias[r * e.column_bias_stride];
            }
    }

    /// The elements of a chunk at (row, col) that a thread stores: one each of several lines of C. Neighbours have neighbours.
    template <bool down>
    struct chunk_part {
        static constexpr int length = down ? warpgroup_m : chunk_cols, lines = warpgroup_threads / length;
        static constexpr int to_row = down ? 1 : short_pitch, to_col = down ? long_pitch : 1;
        static constexpr int to_next = lines * (down ? to_col : to_row);  ///< in shared memory

        int row;  ///< of the first element
        int col;
        int offset;  ///< where it is staged
        int count;   ///< elements inside of C

        __device__ chunk_part(const result& c, int chunk_row, int chunk_col) {
            const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
            const int line = thread / length, at = thread % length;
            row = chunk_row + (down ? at : line);
            col = chunk_col + (down ? line : at);
            offset = line * (down ? to_col : to_row) + at;
            const bool is_inside = down ? row < c.rows : col < c.cols;
            const int left = down ? c.cols - col : c.rows - row;
            count = is_inside ? ::min(int{per_thread}, (left + lines - 1) / lines) : 0;
        }

        /// The elements of a matrix of C's shape from this thread's first to its next.
        static __device__ std::int64_t step(std::int64_t row_stride, std::int64_t col_stride) {
            return lines * (down ? col_stride : row_stride);
        }
    };

    /// The staged value i of a thread's part of a chunk.
    template <bool down>
    __device__ float& staged(int thread_row, int i) const {
        using part = chunk_part<down>;
        const int r = thread_row + i % 4 / 2 * apart;
        const int s = i / 4 * 8 + thread % 4 * 2 + i % 2;
        return shared.staged[group][r * part::to_row + s * part::to_col];
    }

    /// Stores to any C, in whole lines, through shared memory. The loop is unrolled, as sums have no addresses. Four values at
    /// once are the most without spills.
    template <int n, bool down>
    __device__ void store_lines(const result& c, int thread_row, int row, int col,
                                const float (&sums)[n / 2]) const {
        constexpr int together = 4;
        const std::int64_t step = chunk_part<down>::step(c.row_stride, c.col_stride);
#pragma unroll
        for (int first = 0; first < n; first += chunk_cols) {
            float chunk[chunk_sums];
            pick<n>(sums, first, chunk);
            sync_group();
#pragma unroll
            for (int i = 0; i < chunk_sums; ++i) staged<down>(thread_row, i) = chunk[i];
            sync_group();
            const chunk_part<down> part(c, row, col + first);
            const float* const mine = shared.staged[group] + part.offset;
            float* to = c.data + part.row * c.row_stride + part.col * c.col_stride;
#pragma unroll
            for (int i = 0; i < per_thread; i += together, to += together * step) {
                float values[together];
#pragma unroll
                for (int j = 0; j < together; ++j) values[j] = c.alpha * mine[(i + j) * part.to_next];
#pragma unroll
                for (int j = 0; j < together; ++j)
                    if (i + j < part.count) to[j * step] = values[j];
            }
        }
    }

    /// The same with a whole epilogue, whose code exists once for all chunks. The addend of a chunk, C if beta is not 0 or else
    /// a residual, is loaded to where the chunk is staged.
    template <int n, bool down>
    __device__ void finish_lines(const result& c, int thread_row, int row, int col,
                                 const float (&sums)[n / 2]) const {
        using part_of_thread = chunk_part<down>;
        const auto& e = c.epilogue;
        const bool adds_c = c.beta != 0, adds_residual = e.residual != nullptr;
        const float* const added = adds_c ? c.data : e.residual;
        const std::int64_t row_stride = adds_c ? c.row_stride : e.residual_row_stride;
        const std::int64_t col_stride = adds_c ? c.col_stride : e.residual_col_stride;
        const std::int64_t added_step = part_of_thread::step(row_stride, col_stride);
        const std::int64_t step = part_of_thread::step(c.row_stride, c.col_stride);
#pragma unroll 1
        for (int first = 0; first < n && col + first < c.cols; first += chunk_cols) {
            const part_of_thread part(c, row, col + first);
            float* const mine = shared.staged[group] + part.offset;
            sync_group();
            if (adds_c || adds_residual) {
                const float* from = added + part.row * row_stride + part.col * col_stride;
#pragma unroll
                for (int i = 0; i < per_thread; ++i, from += added_step)
                    if (i < part.count) ptx::cp_async<4>(mine + i * part.to_next, from, 4);
                ptx::cp_async_commit_group();
            }
            float x[chunk_sums];
            pick<n>(sums, first, x);
            add_biases(c, row + thread_row, col + first, x);
            ptx::cp_async_wait_group<0>();
            sync_group();
            const auto add = [&](float factor) {
#pragma unroll
                for (int i = 0; i < chunk_sums; ++i) x[i] = fmaf(factor, staged<down>(thread_row, i), x[i]);
            };
            const auto place = [&](int i) {
                const int r = row + thread_row + i % 4 / 2 * apart;
                const int s = col + first + i / 4 * 8 + thread % 4 * 2 + i % 2;
                return element_place{r, s, r < c.rows && s < c.cols};
            };
            if (adds_c) add(c.beta);
            activate_elements<float>(e.activation, x, place);
#pragma unroll
            for (float& value : x) value *= e.scale;
            if (adds_residual && adds_c)
#pragma unroll
                for (int i = 0; i < chunk_sums; ++i)
                    if (const element_place at = place(i); at.is_inside)
                        x[i] += e.residual[at.row * e.residual_row_stride + at.col * e.residual_col_stride];
            if (adds_residual && !adds_c) add(1);
#pragma unroll
            for (int i = 0; i < chunk_sums; ++i) staged<down>(thread_row, i) = x[i];
            sync_group();
            float* to = c.data + part.row * c.row_stride + part.col * c.col_stride;
#pragma unroll
            for (int i = 0; i < per_thread; ++i, to += step)
                if (i < part.count) *to = mine[i * part.to_next];
        }
    }

    __device__ void sync_group() const {
        ptx::sync_threads(1 + group, warpgroup_threads);
    }
};

}  // namespace heddle::kernels::matmul
