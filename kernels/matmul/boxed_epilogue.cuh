#pragma once

#include "kernels/frame/warp_specialized.cuh"
#include "kernels/matmul/store.cuh"

#include <type_traits>

/// From a tile's sums to C by boxes of the tensor memory accelerator, with what follows a product done on the way.
namespace heddle::kernels::matmul {

/// A warpgroup stages its part of C in boxes of 64 rows. A row of a box has 128 bytes, or 64 where 128 do not divide the tile's.
template <class Out, class Activation, class Tile>
class boxed_epilogue {
  public:
    static constexpr bool has_epilogue = Tile::has_epilogue;
    static constexpr int n = Tile::n;
    static constexpr int out_row = swizzle_bytes / static_cast<int>(sizeof(Out));
    static constexpr int out_cols = n % out_row == 0 ? out_row : out_row / 2;
    static constexpr int box_bytes = warpgroup_m * out_cols * static_cast<int>(sizeof(Out));
    static constexpr int boxes = 2 * out_row / out_cols;  ///< of a warpgroup

    using product = tensor_product<Out, Activation>;

    struct storage {
        unsigned char out[Tile::consumers][boxes][box_bytes];
        float column_biases[Tile::consumers][has_epilogue ? n : 1];
    };

    static __device__ void prefetch(const product& p) {
        if (p.c_map_cols > 0) ptx::prefetch(p.c);
    }

    __device__ boxed_epilogue(const product& p, storage& shared, int group)
        : p(p), shared(shared), group(group) {}

    /// Fetches the biases of 64 rows from `row` on, while the tensor cores multiply.
    __device__ void fetch(int half, int row, int col) {
        if constexpr (has_epilogue) biases[half].fetch(p, row, col);
    }

    template <int columns>
    __device__ void store(int half, int row, int col, int batch, const float (&sums)[n / 2]) {
        static_assert(columns == n, "all of a tile is multiplied");
        const part to{row, col, batch};
        if constexpr (has_epilogue)
            store_with_epilogue(to, sums, biases[half]);
        else
            store_plain(to, sums);
    }

    static __device__ void end(int thread) {
        if (thread == 0) ptx::wait_for_reads_of_stores<0>();
    }

  private:
    /// Where in C the warpgroup's sums belong.
    struct part {
        int row;
        int col;
        int batch;
    };

    /// As many boxes are filled before a store as there is room for: a fence and two barriers take longer than to fill a box.
    static constexpr int cols_together = boxes * out_cols < n ? boxes * out_cols : n;

    __device__ void sync_group() const { ptx::sync_threads(1 + group, warpgroup_threads); }

    /// Waits until no store reads the warpgroup's boxes any more.
    __device__ void wait_for_buffers() {
        if (thread == 0) ptx::wait_for_reads_of_stores<0>();
        sync_group();
    }

    /// Stores the boxes that are filled: columns [begin, end) of the tile.
    __device__ void store_boxes(const part& to, int begin, int end) {
        ptx::fence_before_copies();
        sync_group();
        if (thread != 0) return;
        for (int first = begin; first < end; first += out_cols)
            if (to.row < p.m && to.col + first < p.n)
                ptx::store_box(p.c, shared.out[group][(first - begin) / out_cols], to.col + first, to.row,
                               to.batch);
        ptx::commit_stores();
    }

    /// The threads store a chunk, to any C.
    __device__ void store_by_threads(const part& to, int first, const float (&values)[chunk_sums],
                                     float beta) {
        unsigned char* const staged = shared.out[group][0];
        stage_in_box<float, chunk_cols>(staged, 0, values);
        sync_group();
        store_staged(p, to.row, to.col + first, to.batch, staged, beta);
        sync_group();
    }

    /// Calls finish(values, first) for each chunk, to make of a thread's sums what C gets: `first` is the chunk's column in the
    /// tile. Where the loop is not unrolled, its code stands once for each chunk of cols_at_once columns. The tensor memory
    /// accelerator stores; where it cannot, the threads do, with beta.
    template <int cols_at_once, bool is_unrolled, class Finish>
    __device__ void store_chunks(const part& to, const float (&sums)[n / 2], bool in_boxes, float beta,
                                 Finish finish) {
        static_assert(cols_together % cols_at_once == 0 && (is_unrolled || n % cols_at_once == 0));
#pragma unroll(is_unrolled ? n : 1)
        for (int begin = 0; begin < n; begin += cols_at_once) {
            const int first_in_boxes = begin / cols_together * cols_together;
            if (begin == first_in_boxes) wait_for_buffers();
#pragma unroll
            for (int chunk = 0; chunk < cols_at_once; chunk += chunk_cols) {
                const int first = begin + chunk;
                if (is_unrolled && first >= n) break;
                float values[chunk_sums];
                pick<n, cols_at_once>(sums, first, values, chunk);
                finish(values, first);
                if (in_boxes)
                    stage_in_box<Out, out_cols>(shared.out[group][(first - first_in_boxes) / out_cols],
                                                first % out_cols, values);
                else
                    store_by_threads(to, first, values, beta);
            }
            const int end = ::min(begin + cols_at_once, int{n});
            if (in_boxes && (end % cols_together == 0 || end == n)) store_boxes(to, first_in_boxes, end);
        }
    }

    __device__ void store_plain(const part& to, const float (&sums)[n / 2]) {
        const auto times_alpha = [&](float(&values)[chunk_sums], int) {
#pragma unroll
            for (float& value : values) value *= p.alpha;
        };
        if (to.col + n <= p.c_map_cols)
            store_chunks<cols_together, true>(to, sums, true, 0, times_alpha);
        else
            store_chunks<chunk_cols, false>(to, sums, false, p.beta, times_alpha);
    }

    /// Registers have no addresses, so each round of a loop that is not unrolled takes its sums from among those of all rounds, and
    /// an unrolled epilogue is long: code that is not in the cache yet comes from memory. Biases and the usual activations take two
    /// rounds, all else, in one copy, a round for each chunk.
    __device__ void store_with_epilogue(const part& to, const float (&sums)[n / 2],
                                        const tile_biases<n>& of_tile) {
        float* const columns = shared.column_biases[group];
        of_tile.share(columns);
        const bool in_boxes = to.col + n <= p.c_map_cols;
        if constexpr (std::is_same_v<Activation, matmul_activation>)
            if (in_boxes && p.beta == 0 && p.epilogue.residual == nullptr) {
                const auto store_activated = [&](auto activation) {
                    store_chunks<n / 2, false>(to, sums, true, 0, [&](float(&values)[chunk_sums], int first) {
                        add_biases(p, columns + first, of_tile.of_rows, values);
#pragma unroll
                        for (float& value : values) value = activation(value);
                        scale(p, values);
                    });
                };
                if (is_short(p.epilogue))
                    return store_activated([&](float x) { return short_activation(p.epilogue, x); });
                if (p.epilogue.activation == matmul_activation::gelu_tanh)
                    return store_activated([](float x) { return gelu_tanh_of<Out>(x); });
            }
        store_chunks<chunk_cols, false>(to, sums, in_boxes, 0, [&](float(&values)[chunk_sums], int first) {
            apply_epilogue(p, to.row, to.col + first, columns + first, of_tile.of_rows, values);
        });
    }

    const product& p;
    storage& shared;
    int group;
    int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
    tile_biases<has_epilogue ? n : warpgroup_threads> biases[Tile::halves];
};

}  // namespace heddle::kernels::matmul
